/* Prices of several kinds. Most are a walk in cents; the others are what is hard for somebody:
 * stretches without a move, also such that what is left of averages passes the least of doubles,
 * ticks of which one in ten moves, single values of 1e12, moves of a fifth, values around zero; a
 * cent up in every column, or the line between prices that are far from each other; and what is no
 * price: zeros and ones, and shares traded, of which there are none in six of ten columns.
 */
#include "series.h"

#include "harness.h"

#include <stddef.h>
#include <string.h>

const char *const bench_series_kinds[] = {"walk",   "flat",     "halted",  "illiquid", "ticks",
                                          "spikes", "volatile", "returns", "climb",    "joined",
                                          "binary", "lots",     NULL};

typedef struct source {
    uint64_t state;
    int64_t last; /* cents that a line comes from */
} source;

static int64_t next(source *s, int64_t below)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((s->state >> 33) % (uint64_t)below);
}

/* Between 10 and a million, in cents. */
static int64_t walk(int64_t cents, int64_t step)
{
    cents += step;
    return cents < 1000 ? 1000 : cents > 100000000 ? 100000000 : cents;
}

/* Columns in which such prices stand still; 0: they do not. */
static int64_t still_of(const char *kind)
{
    switch (kind[0]) {
    case 'f':
        return 5000;
    case 'h':
        return 12000;
    case 'i':
        return 700;
    default:
        return 0;
    }
}

/* Columns from one price to the next, where those between are filled in. */
enum { JOINED = 1000 };

/* On the line from a walk's last price to the next one, which is *cents. */
static double joined(source *s, int64_t i, int64_t *cents)
{
    if (i % JOINED == 0) {
        s->last = *cents;
        *cents = walk(*cents, next(s, 2001) - 1000);
    }
    return ((double)s->last + (double)((*cents - s->last) * (i % JOINED)) / JOINED) / 100;
}

static double close_of(const char *kind, source *s, int64_t i, int64_t *cents)
{
    switch (kind[0]) {
    case 'f':
    case 'h':
    case 'i':
        if (i % still_of(kind) == 0)
            *cents = walk(*cents, next(s, 2001) - 1000);
        return (double)*cents / 100;
    case 't':
        *cents = walk(*cents, next(s, 10) > 0 ? 0 : next(s, 2) > 0 ? 1 : -1);
        return (double)*cents / 100;
    case 's':
        *cents = walk(*cents, next(s, 21) - 10);
        return next(s, 1000) == 0 ? 1e12 : (double)*cents / 100;
    case 'v':
        *cents = walk(*cents, *cents / 500 * (next(s, 201) - 100));
        return (double)*cents / 100;
    case 'r':
        return (double)(next(s, 2000001) - 1000000) / 1e8;
    case 'c':
        *cents = walk(*cents, 1);
        return (double)*cents / 100;
    case 'j':
        return joined(s, i, cents);
    case 'b':
        return (double)next(s, 2);
    case 'l':
        return next(s, 10) < 6 ? 0 : (double)(1 + next(s, INT64_C(1) << next(s, 21)));
    default:
        *cents = walk(*cents, next(s, 21) - 10);
        return (double)*cents / 100;
    }
}

void bench_series_fill(const char *kind, int which, double *x, int64_t n)
{
    source prices = {which == 3 ? 521288629u : 88172645463325252u, 0}, ranges = {362436069u, 0};
    int64_t cents = 10000;
    for (int64_t i = 0; i < n; i++) {
        double above = (double)next(&ranges, 50) / 100, below = (double)next(&ranges, 50) / 100;
        x[i] = close_of(kind, &prices, i, &cents);
        if (which == 1 || which == 2) {
            double unit = kind[0] == 'r' ? 1e-3 : still_of(kind) > 0 ? 0 : 1;
            x[i] += which == 1 ? above * unit : -below * unit;
        }
    }
}

/* ---- the store ---- */

enum { KINDS = sizeof bench_series_kinds / sizeof *bench_series_kinds - 1 };

static int64_t size;
static double *store[2][KINDS][BENCH_SERIES];

void bench_series_size(int64_t n)
{
    for (int i = 0; i < 2 * KINDS * BENCH_SERIES; i++) {
        bench_array_free((&store[0][0][0])[i]);
        (&store[0][0][0])[i] = NULL;
    }
    size = n;
}

static double *narrowed(const double *from, int which)
{
    double *array = bench_array(size / 2 + 1, which);
    for (int64_t i = 0; i < size; i++) {
        float value = (float)from[i];
        memcpy((char *)array + (size_t)i * sizeof value, &value, sizeof value);
    }
    return array;
}

const double *bench_series(const char *kind, int which, int narrow)
{
    int row = 0;
    double **place;
    while (strcmp(bench_series_kinds[row], kind))
        row++;
    place = &store[narrow][row][which];
    if (*place)
        return *place;
    if (narrow)
        return *place = narrowed(bench_series(kind, which, 0), which);
    *place = bench_array(size, which);
    bench_series_fill(kind, which, *place, size);
    return *place;
}
