#include "model/share.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

typedef struct claim {
    double rest;
    int index;
} claim;

static int by_rest(const void *left, const void *right)
{
    const claim *a = left, *b = right;
    if (a->rest != b->rest)
        return a->rest > b->rest ? -1 : 1;
    return a->index - b->index;
}

static double quota_of(const double *ratios, int i, double sum, int64_t tiles)
{
    return ratios[i] / sum * (double)tiles;
}

/* What is left of the tiles goes to the largest remainders. */
static sy_status share_rest(const double *ratios, int count, double sum, int64_t tiles,
                            int64_t left, int64_t *shares)
{
    claim *claims = syi_alloc((size_t)count, sizeof *claims);
    if (!claims)
        return syi_no_memory((uint64_t)count * sizeof *claims);
    for (int i = 0; i < count; i++) {
        double quota = quota_of(ratios, i, sum, tiles);
        claims[i] = (claim){ratios[i] > 0 ? quota - floor(quota) : -1, i};
    }
    qsort(claims, (size_t)count, sizeof *claims, by_rest);
    for (int i = 0; left > 0; i = i + 1 < count ? i + 1 : 0)
        if (claims[i].rest >= 0)
            shares[claims[i].index]++, left--;
    syi_free(claims);
    return SY_OK;
}

sy_status syi_share_tiles(const double *ratios, int count, int64_t tiles, int64_t *shares)
{
    double sum = 0;
    int64_t left = tiles;
    for (int i = 0; i < count; i++)
        sum += ratios[i];
    for (int i = 0; i < count; i++) {
        int64_t whole = (int64_t)quota_of(ratios, i, sum, tiles);
        /* Rounding must not hand out more than there is. */
        shares[i] = whole < left ? whole : left;
        left -= shares[i];
    }
    return left > 0 ? share_rest(ratios, count, sum, tiles, left, shares) : SY_OK;
}

/* Of equal ones the first. */
static int largest(const int64_t *shares, int count)
{
    int found = 0;
    for (int i = 1; i < count; i++)
        if (shares[i] > shares[found])
            found = i;
    return found;
}

void syi_share_with_all(const double *ratios, int count, int64_t *shares)
{
    int64_t tiles = 0, wanted = 0;
    for (int i = 0; i < count; i++) {
        tiles += shares[i];
        wanted += ratios[i] > 0;
    }
    for (int i = 0; i < count && tiles >= wanted; i++)
        if (ratios[i] > 0 && shares[i] == 0) {
            shares[largest(shares, count)]--;
            shares[i]++;
        }
}
