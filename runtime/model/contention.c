#include "model/contention.h"

#include <stdlib.h>

static int by_link(const void *left, const void *right)
{
    const syi_link_copy *a = left, *b = right;
    return a->link != b->link ? (a->link > b->link) - (a->link < b->link) : a->device - b->device;
}

static int by_time(const void *left, const void *right)
{
    const syi_link_copy *a = left, *b = right;
    return a->ns != b->ns ? (a->ns > b->ns) - (a->ns < b->ns) : a->device - b->device;
}

/* The copies of one link. They are few as a rule, and nearly in order from the round before. */
static void sort_by_time(syi_link_copy *copies, int count)
{
    enum { FEW = 32 };
    if (count > FEW) {
        qsort(copies, (size_t)count, sizeof *copies, by_time);
        return;
    }
    for (int i = 1; i < count; i++) {
        syi_link_copy moved = copies[i];
        int k = i;
        for (; k > 0 && by_time(&moved, &copies[k - 1]) < 0; k--)
            copies[k] = copies[k - 1];
        copies[k] = moved;
    }
}

static bool has_link(const syi_split_device *device, const syi_lane *lane)
{
    return device->link >= 0 && lane->usable;
}

sy_status syi_contention_list(const syi_split_device *devices, const syi_lane *lanes, int count,
                              syi_arena *memory, syi_contention *out)
{
    size_t linked = 0;
    *out = (syi_contention){0};
    for (int i = 0; i < count; i++)
        linked += has_link(&devices[i], &lanes[i]);
    if (linked == 0)
        return SY_OK;
    out->copies = syi_arena_alloc(memory, linked, sizeof *out->copies);
    if (!out->copies)
        return syi_no_memory(linked * sizeof *out->copies);
    for (int i = 0; i < count; i++)
        if (has_link(&devices[i], &lanes[i]))
            out->copies[out->count++] = (syi_link_copy){devices[i].link, i, 0};
    qsort(out->copies, linked, sizeof *out->copies, by_link);
    return SY_OK;
}

/* Copies of one link begin together and share it evenly: each is slowed down by every other one
 * for as long as the shorter of the two lasts. One that copies nothing yet would get an even part.
 */
static void share_one(syi_lane *lanes, const syi_split_work *work, const int64_t *shares,
                      syi_phase phase, syi_link_copy *copies, int count)
{
    double shorter = 0;
    int copying = 0;
    for (int k = 0; k < count; k++) {
        double elements = (double)shares[copies[k].device] * work->elements_per_tile;
        copies[k].ns = syi_lane_link_ns(&lanes[copies[k].device], phase, elements);
        copying += copies[k].ns > 0;
    }
    sort_by_time(copies, count);
    for (int k = 0; k < count; k++) {
        double ns = copies[k].ns;
        lanes[copies[k].device].slower[phase] =
            ns > 0 ? (shorter + ns * (count - k)) / ns : copying + 1;
        shorter += ns;
    }
}

void syi_contention_apply(const syi_contention *contention, syi_lane *lanes,
                          const syi_split_work *work, const int64_t *shares)
{
    syi_link_copy *copies = contention->copies;
    if (contention->count < 2)
        return;
    for (int from = 0, to; from < contention->count; from = to) {
        for (to = from; to < contention->count && copies[to].link == copies[from].link; to++)
            ;
        share_one(lanes, work, shares, SYI_COPY_IN, copies + from, to - from);
        share_one(lanes, work, shares, SYI_COPY_OUT, copies + from, to - from);
    }
}
