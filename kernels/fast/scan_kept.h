/*
 * Results of a batch of scanned windows (fast/scan_past.h), which are put past the cache in the
 * order of their columns, while the next batch is computed.
 */
#ifndef SYI_KERNELS_FAST_SCAN_KEPT_H
#define SYI_KERNELS_FAST_SCAN_KEPT_H

/* Parts of results whose whole lines are put, those of columns [first, end). Each output goes once
 * around, from where it is as far behind the others as it has to be (syi_lags). */
typedef struct scan_kept {
    double *out[OUTPUTS];
    const double *part[PARTS];
    int64_t first, end, at[OUTPUTS];
    int64_t left; /* columns */
} scan_kept;

/* Lanes are marked as a whole. */
enum { SCAN_MARKS_AT_ONCE = 0 };

typedef struct scan_past {
    double part[2][PARTS][SCAN_LANE_PAST * SYI_WIDTH];
    int which;      /* of them are this batch's; the other ones, */
    scan_kept kept; /* the batch's before, are put meanwhile */
    double *out[OUTPUTS];
    int waits; /* as in syi_piece */
} scan_past;

static void scan_past_open(scan_past *past, int waits)
{
    past->which = 0;
    past->kept.left = 0;
    past->waits = waits;
}

/* A batch, whose lanes have been placed: what is made goes to where it is kept. */
static void scan_past_begin(scan_past *past, scan_lane *lanes)
{
    for (int j = 0; j < OUTPUTS; j++)
        past->out[j] = lanes[0].to[j];
    for (int l = 0; l < SYI_WIDTH; l++) {
        const int64_t behind = lanes[l].to[0] - past->out[0];
        for (int j = 0; j < PARTS; j++)
            lanes[l].to[j] = past->part[past->which][j] + behind;
    }
}

/* Keeps what has been made of a lane's columns from `first` on. */
SYI_INLINE void scan_past_keep(scan_past *past, const scan_lane *lane, int l, int64_t first,
                               int count, const syi_vector *part, int strange)
{
    (void)past, (void)l, (void)strange;
    for (int j = 0; j < PARTS; j++)
        scan_put(lane->to[j] + first, part[j], count);
}

/* Puts a kept line of each output. */
SYI_INLINE void scan_put_line(scan_kept *kept)
{
    for (int j = 0; j < OUTPUTS; j++) {
        const int64_t at = kept->at[j];
        for (int i = 0; i < SYI_LINE; i += SYI_WIDTH) {
            const syi_vector part[] = {SYI_LOAD(kept->part[0] + at + i),
                                       SYI_LOAD(kept->part[PARTS - 1] + at + i)};
            syi_vector out[OUTPUTS];
            scan_results(part, out);
            syi_store_past(kept->out[j] + at + i, out[j]);
        }
        kept->at[j] = at + SYI_LINE < kept->end ? at + SYI_LINE : kept->first;
    }
    kept->left -= SYI_LINE;
}

/* While a column of the lanes is computed. */
SYI_INLINE void scan_past_meanwhile(scan_past *past, const scan_lane *lanes, int64_t at,
                                    int64_t columns)
{
    (void)lanes, (void)at, (void)columns;
    if (past->kept.left > 0)
        scan_put_line(&past->kept);
}

static void scan_past_close(scan_past *past)
{
    while (past->kept.left > 0)
        scan_put_line(&past->kept);
}

/* Of `total` columns of the outputs, which are in line, keeps the whole lines, and puts the ends.
 */
static void scan_keep(scan_past *past, int64_t total)
{
    scan_kept *const kept = &past->kept;
    const double *tail[PARTS];
    double *rest[OUTPUTS];
    kept->first = syi_line_after(past->out[0], 0, total);
    kept->left = (total - kept->first) / SYI_LINE * SYI_LINE;
    kept->end = kept->first + kept->left;
    for (int j = 0; j < PARTS; j++) {
        kept->part[j] = past->part[past->which][j];
        tail[j] = kept->part[j] + kept->end;
    }
    for (int j = 0; j < OUTPUTS; j++) {
        kept->out[j] = past->out[j];
        rest[j] = kept->out[j] + kept->end;
    }
    syi_lags(past->waits, kept->out, OUTPUTS, SYI_LATE_UNIT, kept->at);
    for (int j = 0; j < OUTPUTS; j++)
        kept->at[j] =
            kept->at[j] < kept->left && kept->at[j] > 0 ? kept->end - kept->at[j] : kept->first;
    scan_put_columns(kept->out, kept->part, kept->first);
    scan_put_columns(rest, tail, total - kept->end);
}

/* All columns of the lanes have been made, `total` in all. */
static void scan_past_end(scan_past *past, const scan_lane *lanes, int64_t columns, int64_t total)
{
    (void)lanes, (void)columns;
    scan_past_close(past);
    scan_keep(past, total);
    past->which = !past->which;
}

#endif
