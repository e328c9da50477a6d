/* The list of stretches whose rounding a kernel did not certify. */
#include "kernel.h"

#include "base/mem.h"

#include <stdlib.h>

/* Columns this near become one stretch: deciding the few between costs less than a list entry. */
#define NEAR 64

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
    if (doubts->count == doubts->capacity) {
        int64_t capacity = doubts->capacity > 0 ? 2 * doubts->capacity : 16;
        syi_doubt *list = syi_realloc(doubts->list, (size_t)capacity, sizeof *list);
        if (list == NULL)
            return syi_no_memory((uint64_t)capacity * sizeof *list);
        doubts->list = list;
        doubts->capacity = capacity;
    }
    doubts->list[doubts->count++] = (syi_doubt){row, first, last};
    return SY_OK;
}

sy_status syi_doubts_join(syi_doubts *doubts, const syi_doubts *more)
{
    const int64_t need = doubts->count + more->count;
    if (need > doubts->capacity) {
        syi_doubt *grown = syi_realloc(doubts->list, (size_t)need, sizeof *grown);
        if (grown == NULL)
            return syi_no_memory((uint64_t)need * sizeof *grown);
        doubts->list = grown;
        doubts->capacity = need;
    }
    if (more->count > 0)
        memcpy(doubts->list + doubts->count, more->list, (size_t)more->count * sizeof *more->list);
    doubts->count = need;
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
