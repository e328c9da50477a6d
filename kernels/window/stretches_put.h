/* The results of stretches (stretches.h), with what is not sure of them decided. */
#ifndef SYI_KERNELS_WINDOW_STRETCHES_PUT_H
#define SYI_KERNELS_WINDOW_STRETCHES_PUT_H

#include "window/blocks.h"
#include "window/tied_lanes.h"

#if SYI_HAVE_VECTORS

/* Windows that are decided by integers: of a batch, where more are a sign of many, and of all. */
enum { INTEGERS_BATCH = 2, INTEGERS_ALL = SYI_VECTOR };

/* Decides windows of a batch by integers, if they are few, and not bands, of which those that are
 * left then are seldom alone; gives the others. *done counts them. */
static uint64_t decide_by_integers(const syi_window *window, const stretches *t, squares_batch *b,
                                   int64_t at, uint64_t unsure, int *done, chunk *c)
{
    const int count = __builtin_popcountll(unsure);
    if (window->kind == SYI_WINDOW_BANDS || count > INTEGERS_BATCH || *done + count > INTEGERS_ALL)
        return unsure;
    *done += count;
    for (; unsure; unsure &= unsure - 1) {
        const int64_t i = __builtin_ctzll(unsure), k = i % LANE, l = i / LANE;
        double result, *const to[] = {&result, NULL, NULL};
        run_block(window, t->x + l * t->stride + at + k, to, 0, 1, c);
        b->out[0][k][l] = result;
    }
    return 0;
}

/* Decides what of a batch is not sure, or its lanes are lost; gives how many windows are flat. */
static int64_t decide_stretches(const syi_window *window, const squares *s, stretches *t,
                                squares_batch *b, int64_t at, tied_lanes *known, int64_t *spare,
                                int *done, chunk *c)
{
    const uint64_t flat = put_flat_windows(s, t, b, at, known);
    unsure_windows either;
    uint64_t asked = 0, unsure;
    for (int l = 0; l < SYI_VECTOR; l++)
        asked |= t->done[l] > at ? windows_of(l) : 0;
    either = unsure_of(s, b, asked & ~flat);
    unsure = decide_tied_lanes(window, s, t, b, at, either.upper | either.lower, known, spare);
    if (s->kind == SYI_WINDOW_BANDS)
        unsure = decide_lanes_of_two(window, t, b, at, unsure, known);
    unsure = decide_by_integers(window, t, b, at, unsure, done, c);
    for (int l = 0; l < SYI_VECTOR; l++)
        if (unsure & windows_of(l))
            stretches_lose(t, l, at);
    return __builtin_popcountll(asked & flat);
}

/* `count` columns of a batch that is not whole. */
static void put_some(const stretches *t, const syi_vec *column, int64_t count, double *y)
{
    double lane[BATCH];
    lanes_put_scaled(lane, LANE, column, t->scale);
    for (int l = 0; l < SYI_VECTOR; l++)
        memcpy(y + l * t->apart, lane + l * LANE, (size_t)count * sizeof *y);
}

/* All of them, `count` columns of each, to to[..]. Gives how many windows are flat. */
static int64_t put_stretches(const syi_window *window, squares *s, stretches *t, int64_t count,
                             double *const *to, chunk *c)
{
    int64_t spare = SQUARES_SPARE * t->columns * SYI_VECTOR, at = 0, flat = 0;
    int done = 0;
    squares_batch batch;
    tied_lanes known = {.steps_at = -1, .moments_at = -1};
    s->decidable = decidable_of(window, s);
    while ((at = SYI_ISA_NAME(syi_stretches_run)(s, t, &batch, to, at)) < t->columns) {
        flat += decide_stretches(window, s, t, &batch, at, &known, &spare, &done, c);
        for (int k = 0; k < syi_window_outputs(s->kind); k++)
            if (at < t->whole)
                stretches_put(t, batch.out[k], to[k] + at, s->past);
            else
                put_some(t, batch.out[k], count - at, to[k] + at);
        at += LANE;
    }
    return flat;
}

/* Those of a lane's `count` columns are done that come before the one given: it begins at column
 * `first`, and windows with something that is not finite are lost. */
static int64_t end_lane(const syi_window *window, const stretches *t, int lane, const double *x,
                        double *const *out, int64_t first, int64_t count)
{
    const int64_t done = t->done[lane] < count ? t->done[lane] : count;
    if (t->outliers[lane].lost)
        put_lost_windows(window, x, out, first, first + done);
    return first + done;
}

#endif
#endif
