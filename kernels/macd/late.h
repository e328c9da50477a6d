/*
 * Lines of a MACD's outputs that go past the cache, where the outputs begin at the same place of a
 * page: one output is a line or two behind another then (syi_lags).
 */
#ifndef SYI_KERNELS_MACD_LATE_H
#define SYI_KERNELS_MACD_LATE_H

#include "recurrence/stage.h"

#if SYI_HAVE_VECTORS

/* A line of each lane of a group that is to be put at y, unless that is NULL. */
typedef struct macd_lines {
    double *y;
    syi_vec out[SYI_LINE];
} macd_lines;

typedef struct macd_late {
    int64_t lag[3]; /* lines: 0, 1 or 2 */
    syi_vec made[3][SYI_LINE];
    macd_lines waiting[3][2];
    int turn; /* which of two has waited longer */
} macd_late;

/* For outputs that are at y; gives whether some are behind others. */
SYI_INLINE int macd_late_begin(macd_late *late, int waits, double *const *y)
{
    const int any = syi_lags(waits, y, 3, SYI_LINE, late->lag);
    late->turn = 0;
    for (int k = 0; k < 3; k++) {
        late->lag[k] /= SYI_LINE;
        late->waiting[k][0].y = late->waiting[k][1].y = NULL;
    }
    return any;
}

static void macd_late_put_lines(macd_lines *lines, int64_t stride)
{
    if (lines->y)
        syi_lanes_store(lines->y, stride, lines->out, 1, SYI_LINE, 1);
    lines->y = NULL;
}

/* Puts the lines `made` of a group, lanes `stride` apart, at `column` of the outputs y, or what has
 * waited in their stead. */
static __attribute__((noinline)) void macd_late_put(macd_late *late, double *const *y,
                                                    int64_t column, int64_t stride)
{
    for (int k = 0; k < 3; k++) {
        macd_lines *const lines = &late->waiting[k][late->lag[k] == 2 ? late->turn : 0];
        if (late->lag[k] == 0) {
            syi_lanes_store(y[k] + column, stride, late->made[k], 1, SYI_LINE, 1);
            continue;
        }
        macd_late_put_lines(lines, stride);
        lines->y = y[k] + column;
        memcpy(lines->out, late->made[k], sizeof lines->out);
    }
    late->turn = !late->turn;
}

/* Puts all that wait, of lanes so far apart. */
static void macd_late_end(macd_late *late, int64_t stride)
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 2; i++)
            macd_late_put_lines(&late->waiting[k][i], stride);
}

#endif
#endif
