/* The list of stretches whose rounding a kernel did not certify. */
#include "kernel.h"

#include "base/mem.h"

#include <stdlib.h>

/* Columns this near become one stretch: deciding the few between costs less than a list entry. */
#define NEAR 64

static sy_status make_room(syi_doubts *doubts, int64_t more)
{
    const int64_t need = doubts->count + more, twice = 2 * doubts->capacity;
    const int64_t capacity = need > twice ? need : twice;
    syi_doubt *list;
    if (need <= doubts->capacity)
        return SY_OK;
    list = syi_realloc(doubts->list, (size_t)capacity, sizeof *list);
    if (list == NULL)
        return syi_no_memory((uint64_t)capacity * sizeof *list);
    doubts->list = list;
    doubts->capacity = capacity;
    return SY_OK;
}

sy_status syi_doubts_add(syi_doubts *doubts, int64_t row, int64_t column)
{
    if (doubts->count > 0) {
        syi_doubt *last = &doubts->list[doubts->count - 1];
        if (last->row == row && column >= last->first && column < last->last + NEAR) {
            if (column >= last->last)
                last->last = column + 1;
            return SY_OK;
        }
    }
    return syi_doubts_add_stretch(doubts, row, column, column + 1);
}

sy_status syi_doubts_add_stretch(syi_doubts *doubts, int64_t row, int64_t first, int64_t last)
{
    SYI_TRY(make_room(doubts, 1));
    doubts->list[doubts->count++] = (syi_doubt){row, first, last};
    return SY_OK;
}

sy_status syi_doubts_join(syi_doubts *doubts, const syi_doubts *more)
{
    SYI_TRY(make_room(doubts, more->count));
    if (more->count > 0)
        memcpy(doubts->list + doubts->count, more->list, (size_t)more->count * sizeof *more->list);
    doubts->count += more->count;
    return SY_OK;
}

static int by_row_and_first(const void *left, const void *right)
{
    const syi_doubt *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

void syi_doubts_sort(syi_doubts *doubts)
{
    if (doubts->count > 0)
        qsort(doubts->list, (size_t)doubts->count, sizeof *doubts->list, by_row_and_first);
}

void syi_doubts_clear(syi_doubts *doubts)
{
    syi_free(doubts->list);
    *doubts = (syi_doubts){NULL, 0, 0};
}
