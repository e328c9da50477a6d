/*
 * Lines of a MACD's outputs that go past the cache, where the outputs begin at the same place of a
 * page: one output is a line or two behind another then (syi_lags).
 */
#ifndef SYI_KERNELS_MACD_LATE_H
#define SYI_KERNELS_MACD_LATE_H

#include "recurrence/stage.h"

#if SYI_HAVE_VECTORS

/* A line of each lane, of all outputs, and where each is to be put; NULL: nowhere. */
typedef struct macd_lines {
    double *y[3];
    syi_vec out[3][SYI_LINE];
} macd_lines;

/* The last ones, of which `next` is the one being made. */
#define MACD_LAST 3

typedef struct macd_late {
    int64_t lag[3]; /* lines: 0, 1 or 2 */
    macd_lines last[MACD_LAST];
    int next;
} macd_late;

/* For outputs that are at y; gives whether some are behind others. */
SYI_INLINE int macd_late_begin(macd_late *late, int waits, double *const *y)
{
    const int any = syi_lags(waits, y, 3, SYI_LINE, late->lag);
    late->next = 0;
    for (int k = 0; k < 3; k++) {
        late->lag[k] /= SYI_LINE;
        for (int i = 0; i < MACD_LAST; i++)
            late->last[i].y[k] = NULL;
    }
    return any;
}

static void macd_late_put_line(macd_lines *lines, int k, int64_t stride)
{
    if (lines->y[k])
        syi_lanes_store(lines->y[k], stride, lines->out[k], SYI_LINE, 1);
    lines->y[k] = NULL;
}

/* The next lines, lanes `stride` apart, belong at `column` of the outputs y; puts of each output
 * what has waited long enough. */
static __attribute__((noinline)) void macd_late_put(macd_late *late, double *const *y,
                                                    int64_t column, int64_t stride)
{
    for (int k = 0; k < 3; k++) {
        late->last[late->next].y[k] = y[k] + column;
        macd_late_put_line(&late->last[(late->next + MACD_LAST - late->lag[k]) % MACD_LAST], k,
                           stride);
    }
    late->next = (late->next + 1) % MACD_LAST;
}

/* Puts all that wait, of lanes so far apart. */
static void macd_late_end(macd_late *late, int64_t stride)
{
    for (int i = 0; i < MACD_LAST; i++)
        for (int k = 0; k < 3; k++)
            macd_late_put_line(&late->last[i], k, stride);
}

#endif
#endif
