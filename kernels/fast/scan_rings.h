/*
 * Results of scanned windows in a ring for each lane (fast/scan_past.h), from which they are put
 * past the cache soon after they have been made.
 */
#ifndef SYI_KERNELS_FAST_SCAN_RINGS_H
#define SYI_KERNELS_FAST_SCAN_RINGS_H

/* Columns of a ring: the line that is made, those that wait, and what they have of one before. */
enum { SCAN_RING = 4 * SYI_LINE };

/* What is not finite is marked before it goes past the cache. */
enum { SCAN_MARKS_AT_ONCE = 1 };

typedef struct scan_past {
    /* Of each lane; behind its end is its first line once more, for lines begin anywhere. */
    double ring[SYI_WIDTH][PARTS][SCAN_RING + SYI_LINE];
    int64_t back[SYI_WIDTH]; /* so many columns before a line of columns is the one that is put */
} scan_past;

static void scan_past_open(scan_past *past, int waits)
{
    (void)past, (void)waits;
}

/* A batch, whose lanes have been placed. Of lines that are put one after another every other one is
 * at an odd place, for where all are at even places, or all at odd ones, an Intel processor
 * takes 1.3 times as long. */
static void scan_past_begin(scan_past *past, scan_lane *lanes)
{
    const uintptr_t line = SYI_LINE * sizeof(double);
    for (int l = 0; l < SYI_WIDTH; l++) {
        const uintptr_t at = (uintptr_t)lanes[l].to[0], waits = (at / line + (uintptr_t)l) % 2;
        past->back[l] = (int64_t)((at % line + waits * line) / sizeof(double));
    }
}

/* Keeps what has been made of lane l's columns from `first` on; `strange`: something is not finite.
 */
SYI_INLINE void scan_past_keep(scan_past *past, const scan_lane *lane, int l, int64_t first,
                               int count, const syi_vector *part, int strange)
{
    const int64_t place = first & (SCAN_RING - 1);
    double *row[PARTS];
    (void)lane;
    for (int j = 0; j < PARTS; j++) {
        row[j] = past->ring[l][j] + place;
        scan_put(row[j], part[j], count);
    }
    if (strange)
        mark(row, PARTS, count);
    for (int j = 0; j < PARTS && place == 0; j++)
        SYI_STORE(row[j] + SCAN_RING, SYI_LOAD(row[j]));
}

/* Puts what lane l has of a line that begins before it or ends behind it. */
static void scan_past_put_some(const scan_past *past, const scan_lane *lane, int l, int64_t column,
                               int64_t columns)
{
    const int64_t first = column > 0 ? column : 0;
    const int64_t end = column + SYI_LINE < columns ? column + SYI_LINE : columns;
    const double *part[PARTS];
    double *out[OUTPUTS];
    for (int j = 0; j < PARTS; j++)
        part[j] = past->ring[l][j] + (first & (SCAN_RING - 1));
    for (int j = 0; j < OUTPUTS; j++)
        out[j] = lane->to[j] + first;
    scan_put_columns(out, part, end - first);
}

/* Puts lane l's line that begins with a column. */
SYI_INLINE void scan_past_put(const scan_past *past, const scan_lane *lane, int l, int64_t column,
                              int64_t columns)
{
    const int64_t place = column & (SCAN_RING - 1);
    const syi_vector part[] = {SYI_LOAD(past->ring[l][0] + place),
                               SYI_LOAD(past->ring[l][PARTS - 1] + place)};
    syi_vector out[OUTPUTS];
    if (column < 0 || column > columns - SYI_LINE) {
        scan_past_put_some(past, lane, l, column, columns);
        return;
    }
    scan_results(part, out);
    for (int j = 0; j < OUTPUTS; j++)
        syi_store_past(lane->to[j] + column, out[j]);
}

/* While column `at` of the lanes, of so many, is computed: a lane puts a line. */
SYI_INLINE void scan_past_meanwhile(scan_past *past, const scan_lane *lanes, int64_t at,
                                    int64_t columns)
{
    const int l = (int)(at & (SYI_LINE - 1));
    if (at < (columns & -SYI_LINE))
        scan_past_put(past, &lanes[l], l, at - l - SYI_LINE - past->back[l], columns);
}

/* All columns of the lanes have been made. */
static void scan_past_end(scan_past *past, const scan_lane *lanes, int64_t columns, int64_t total)
{
    const int64_t last = (columns & -SYI_LINE) - SYI_LINE;
    (void)total;
    for (int l = 0; l < SYI_WIDTH; l++)
        for (int64_t i = last - past->back[l]; i < columns; i += SYI_LINE)
            scan_past_put(past, &lanes[l], l, i, columns);
}

static void scan_past_close(scan_past *past)
{
    (void)past;
}

#endif
