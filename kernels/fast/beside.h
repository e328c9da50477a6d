/*
 * Short rows of a recurrence in fast accuracy side by side, one a lane. The operations on a column
 * are those of chain.h and reduce.h, so its bits are the same, but no row's beginning is waited
 * for. A row that this is not for, say for a value that is not finite, is left to the walk.
 */
#ifndef SYI_KERNELS_FAST_BESIDE_H
#define SYI_KERNELS_FAST_BESIDE_H

#include "exact/columns.h"
#include "fast/reduce_run.h"
#include "fast/walk.h"

/* Columns of a row at most: longer ones are walked as fast, the sooner the fewer registers there
 * are, but for quotients, which a walk's steps wait for. And up to its seed. */
enum {
    SYI_BESIDE_LONGEST = 16 * SYI_WIDTH,
    SYI_BESIDE_QUOTIENTS = 48 * SYI_WIDTH,
    SYI_BESIDE_SEED = 2 * SYI_FAST_LANES
};

#if SYI_HAVE_VECTORS

/* Computes the walk's row and as many behind it as make a row a lane, from their seeds on. Gives
 * those that it did, as bits. */
typedef uint8_t (*syi_beside_fn)(const void *task, const syi_walk *walk);

SYI_INLINE int64_t syi_beside_columns(const syi_walk *walk)
{
    return walk->rows->piece.segment.columns;
}

/* Runs as many rows as there are lanes; `run` is a constant. */
SYI_INLINE uint8_t syi_beside_run(const syi_walk *walk, syi_beside_fn run, const void *task)
{
    const int64_t columns = syi_beside_columns(walk);
    const uint8_t done = run(task, walk);
    for (int k = 0; k < walk->outputs; k++)
        for (int l = 0; l < SYI_VECTOR; l++)
            syi_fast_blank(walk->rows->out[k] + l * columns, walk->shown);
    return done;
}

/* The same of floats, by way of a room. Rows that are left to the walk are written by it. */
SYI_INLINE uint8_t syi_beside_run_floats(const syi_walk *walk, syi_beside_fn run, const void *task)
{
    enum { MOST = SYI_VECTOR * SYI_BESIDE_QUOTIENTS };
    double in[SYI_WALK_ARRAYS][MOST], out[SYI_WALK_ARRAYS][MOST];
    const int64_t count = SYI_VECTOR * syi_beside_columns(walk);
    syi_walk_rows *const rows = walk->rows;
    uint8_t done;
    for (int k = 0; k < walk->inputs; k++) {
        syi_walk_widen(in[k], rows->in_floats[k], count, 0);
        rows->in[k] = in[k];
    }
    for (int k = 0; k < walk->outputs; k++)
        rows->out[k] = out[k];
    done = syi_beside_run(walk, run, task);
    for (int k = 0; k < walk->outputs; k++)
        syi_walk_narrow(rows->out_floats[k], out[k], count, 0);
    return done;
}

/* Whether the walk's row, of `longest` columns at most, has been done; `run` is a constant. */
SYI_INLINE int syi_beside_did(const syi_walk *walk, int64_t longest, syi_beside_fn run,
                              const void *task)
{
    syi_walk_rows *const rows = walk->rows;
    const int64_t columns = syi_beside_columns(walk);
    if (rows->tried == 0 && rows->left >= (SYI_VECTOR - 1) * columns && columns > walk->shown &&
        columns <= longest && walk->seed < SYI_BESIDE_SEED) {
        rows->done =
            rows->floats ? syi_beside_run_floats(walk, run, task) : syi_beside_run(walk, run, task);
        rows->tried = SYI_VECTOR;
    }
    const int did = rows->done & 1;
    rows->done >>= 1;
    rows->tried -= rows->tried > 0;
    return did;
}

/* The columns from `at` on of a step of input k; zeros behind the row's end. */
SYI_INLINE void syi_beside_load(const syi_walk *walk, int k, int64_t at, syi_vector *x)
{
    const double *from = walk->rows->in[k] + at;
    const int64_t columns = syi_beside_columns(walk), left = columns - at;
    SYI_UNROLL(4)
    for (int i = 0; i < SYI_STEP; i += SYI_VECTOR)
        if (i + SYI_VECTOR <= left)
            syi_lanes_load_some(x + i, from + i, columns, SYI_VECTOR);
        else if (i < left)
            syi_lanes_load_some(x + i, from + i, columns, (int)left - i);
        else
            memset(x + i, 0, SYI_VECTOR * sizeof *x);
}

/* And of output k. */
SYI_INLINE void syi_beside_store(const syi_walk *walk, int k, int64_t at, const syi_vector *y)
{
    double *to = walk->rows->out[k] + at;
    const int64_t columns = syi_beside_columns(walk), left = columns - at;
    SYI_UNROLL(4)
    for (int i = 0; i < SYI_STEP; i += SYI_VECTOR) {
        if (i >= left)
            break;
        syi_lanes_store_some(to + i, columns, y + i,
                             i + SYI_VECTOR <= left ? SYI_VECTOR : (int)left - i, 0);
    }
    for (int i = 0; i < SYI_STEP; i += SYI_LINE)
        syi_lanes_ask_to_write(to + i, columns, SYI_STEP);
}

/* At most SYI_BESIDE_SEED of the first columns of input k. */
SYI_INLINE void syi_beside_first(const syi_walk *walk, int k, int64_t count, syi_vector *x)
{
    syi_lanes_load(x, walk->rows->in[k], syi_beside_columns(walk), (int)count);
}

/* syi_fast_sum() of SYI_BESIDE_SEED columns at most, which are lost. */
SYI_INLINE syi_vector syi_beside_sum(syi_vector *x, int64_t count)
{
    int64_t lanes = count < SYI_FAST_LANES ? count : SYI_FAST_LANES;
    for (int64_t k = 0; k < lanes; k++)
        x[k] = syi_plus_zero(x[k]);
    for (int64_t k = SYI_FAST_LANES; k < count; k++)
        x[k - SYI_FAST_LANES] += x[k];
    for (int64_t width = SYI_FAST_LANES / 2; width > 0; width /= 2) {
        for (int64_t k = 0; k + width < lanes; k++)
            x[k] += x[k + width];
        lanes = lanes < width ? lanes : width;
    }
    return x[0];
}

/* A chain of each row: the last of each sum, by pairs of columns. */
typedef struct syi_beside_chain {
    syi_vector p, q[2], r[4], z[SYI_STEP / 2];
} syi_beside_chain;

/* A step's inputs x become z. */
SYI_INLINE void syi_beside_step(const syi_chain *chain, syi_beside_chain *state, syi_vector *x)
{
    enum { PAIRS = SYI_STEP / 2 };
    SYI_UNROLL(8)
    for (int k = 0; k < PAIRS; k++) {
        const syi_vector before = state->z[(k + PAIRS - 1) % PAIRS];
        const syi_vector p = syi_fused(x[2 * k], chain->b1, x[2 * k + 1]);
        const syi_vector q = syi_fused(state->p, chain->b2, p);
        const syi_vector r = syi_fused(state->q[k % 2], chain->b4, q);
        const syi_vector s = syi_fused(state->r[k % 4], chain->b8, r);
        state->p = p;
        state->q[k % 2] = q;
        state->r[k % 4] = r;
        state->z[k] = syi_fused(state->z[k], chain->b16, s);
        x[2 * k] = syi_fused(before, chain->b1, x[2 * k]);
        x[2 * k + 1] = state->z[k];
    }
}

/* Makes a step's inputs those of chains that begin with `value` at the one with number `index`. */
SYI_INLINE void syi_beside_begin(syi_vector *x, int64_t index, syi_vector value)
{
    for (int64_t i = 0; i < index; i++)
        x[i] = (syi_vector){0};
    x[index] = value;
}

/* The averages of a step, from its z. */
SYI_INLINE void syi_beside_scale(const syi_chain *chain, syi_vector *z)
{
    for (int i = 0; i < SYI_STEP; i++)
        z[i] = syi_plus_zero(z[i] * chain->a);
}

/* Rows in which nothing has been met that is not finite, nor is in `other`, as bits. */
SYI_INLINE uint8_t syi_beside_sound(const syi_beside_chain *state, syi_vector other)
{
    syi_vector strange = other - other;
    for (int k = 0; k < SYI_STEP / 2; k++)
        strange += state->z[k] - state->z[k];
    return (uint8_t)syi_equal(strange, (syi_vector){0});
}

#else
#define syi_beside_did(walk, longest, run, task) 0
#endif
#endif
