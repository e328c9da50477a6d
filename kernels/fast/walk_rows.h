/*
 * The rows of a recurrence's piece in fast accuracy, and their columns in memory: doubles are used
 * where they lie, floats are widened in a room, some columns at a time, and narrowed from one.
 */
#ifndef SYI_KERNELS_FAST_WALK_ROWS_H
#define SYI_KERNELS_FAST_WALK_ROWS_H

#include "element/convert.h"
#include "fast/chain.h"
#include "fast/reduce_run.h"
#include "fast/results.h"

enum { SYI_WALK_ARRAYS = 3 };

/* A piece, or of several whole rows one after another. */
typedef struct syi_walk_rows {
    syi_piece piece;
    const double *in[SYI_WALK_ARRAYS];
    double *out[SYI_WALK_ARRAYS];
    int floats; /* the arrays are these: */
    const float *in_floats[SYI_WALK_ARRAYS];
    float *out_floats[SYI_WALK_ARRAYS];
    double last;  /* of the first output, before it was narrowed */
    int is_inner; /* there is a row before this one */
    int64_t left; /* columns behind this row's */
    /* Side by side (fast/beside.h): how many rows from the next one on have been tried, and which
     * have been done, as bits. In a byte, for of a mask that becomes a longer number gcc 12 may
     * keep no more than that, whatever the others were. */
    int tried;
    uint8_t done;
} syi_walk_rows;

typedef struct syi_walk {
    syi_walk_rows *rows;
    int64_t seed; /* the column where the chains begin; the outputs begin at `shown` */
    int64_t shown;
    syi_chain_cut cut;
    int inputs, outputs;
} syi_walk;

/* Doubles of `count` columns and of the one before them. */
#define SYI_WALK_ROOM(count) (SYI_LINE + (count))

/* Where rows meet lines are written in parts, and read again, for which what has gone past the
 * cache is waited for: rows of fewer columns than that stay in it. */
enum { SYI_WALK_LONG = 512 };

SYI_INLINE void syi_walk_begin(syi_walk_rows *rows, const syi_piece *piece, int inputs, int outputs)
{
    const sy_segment *all = &piece->segment;
    const int64_t count = all->count < all->columns ? all->count : all->columns;
    rows->piece = *piece;
    rows->floats = piece->in_floats != NULL;
    rows->last = syi_nan();
    for (int k = 0; k < inputs; k++) {
        rows->in[k] = rows->floats ? NULL : all->in[k];
        rows->in_floats[k] = rows->floats ? piece->in_floats[k] : NULL;
    }
    for (int k = 0; k < outputs; k++) {
        rows->out[k] = rows->floats ? NULL : all->out[k];
        rows->out_floats[k] = rows->floats ? piece->out_floats[k] : NULL;
    }
    rows->left = all->count - count;
    rows->is_inner = rows->tried = rows->done = 0;
    rows->piece.segment.in = rows->in;
    rows->piece.segment.out = rows->out;
    rows->piece.segment.count = count;
    rows->piece.behind += rows->left;
    if (rows->left > 0 && all->columns < SYI_WALK_LONG)
        rows->piece.past_cache = 0;
}

/* On to the next row; gives whether there is one. */
SYI_INLINE int syi_walk_next_row(syi_walk_rows *rows, int inputs, int outputs)
{
    const int64_t columns = rows->piece.segment.columns;
    if (rows->left == 0)
        return 0;
    for (int k = 0; k < inputs; k++)
        if (rows->floats)
            rows->in_floats[k] += columns;
        else
            rows->in[k] += columns;
    for (int k = 0; k < outputs; k++)
        if (rows->floats)
            rows->out_floats[k] += columns;
        else
            rows->out[k] += columns;
    rows->left -= columns;
    rows->is_inner = 1;
    rows->piece.behind -= columns;
    return 1;
}

/* Functions of their own, for what doubles need is to be all that a loop has around it. */
static __attribute__((noinline)) void syi_walk_widen(double *to, const float *from, int64_t count,
                                                     int64_t ahead)
{
    syi_floats_widen(to, from, count, ahead);
}

static __attribute__((noinline)) void syi_walk_narrow(float *to, const double *from, int64_t count,
                                                      int past)
{
    if (past)
        syi_floats_narrow_past(to, from, count);
    else
        syi_floats_narrow(to, from, count);
}

/* Input k from column `column` of the row on: `count` columns, and the one before them where there
 * is one. Of floats they are in `room`, and what is `ahead` of them is asked for. */
SYI_INLINE const double *syi_walk_columns(const syi_walk_rows *rows, int k, int64_t column,
                                          int64_t count, int64_t ahead, double *room)
{
    const int64_t index = column - rows->piece.segment.first;
    const int before = column > 0 || rows->is_inner;
    if (!rows->floats)
        return rows->in[k] + index;
    if (before)
        room[SYI_LINE - 1] = rows->in_floats[k][index - 1];
    syi_walk_widen(room + SYI_LINE, rows->in_floats[k] + index, count, ahead);
    return room + SYI_LINE;
}

/* Writes columns of output k, of floats `past` the cache or not. */
SYI_INLINE void syi_walk_write(syi_walk_rows *rows, int k, int64_t column, int64_t count,
                               const double *from, int past)
{
    const int64_t index = column - rows->piece.segment.first, last = rows->piece.segment.count - 1;
    if (!rows->floats) {
        memcpy(rows->out[k] + index, from, (size_t)count * sizeof *from);
        return;
    }
    if (k == 0 && index <= last && last < index + count)
        rows->last = from[last - index];
    syi_walk_narrow(rows->out_floats[k] + index, from, count, past);
}

/* NaN in columns [from, to) of all outputs. */
SYI_INLINE void syi_walk_blank(const syi_walk *walk, int64_t from, int64_t to)
{
    const syi_walk_rows *rows = walk->rows;
    const int64_t first = rows->piece.segment.first;
    for (int k = 0; k < walk->outputs && from < to; k++) {
        if (!rows->floats)
            syi_fast_blank(rows->out[k] + (from - first), to - from);
        for (int64_t i = from; rows->floats && i < to; i++)
            rows->out_floats[k][i - first] = (float)syi_nan();
    }
}

/* The last of the first output's values of a piece, of one row; any where that is not finite. */
SYI_INLINE double syi_walk_last(const syi_walk_rows *rows)
{
    return rows->floats ? rows->last : rows->out[0][rows->piece.segment.count - 1];
}

/* syi_fast_sum() of columns of input k. */
SYI_INLINE double syi_walk_sum(const syi_walk_rows *rows, int k, int64_t column, int64_t count)
{
    const int64_t at = column - rows->piece.segment.first;
    const double *const in[] = {rows->in[k]};
    const float *const floats[] = {rows->in_floats[k]};
    const syi_tile tile = {.in = in, .floats = floats, .at = at, .count = count};
    return rows->floats ? syi_fast_sum_tile(tile, 0, 1) : syi_fast_sum_tile(tile, 0, 0);
}

#endif
