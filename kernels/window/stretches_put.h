/* The results of stretches (stretches.h), with what is not sure of them decided. */
#ifndef SYI_KERNELS_WINDOW_STRETCHES_PUT_H
#define SYI_KERNELS_WINDOW_STRETCHES_PUT_H

#include "window/blocks.h"
#include "window/stretches.h"

#if SYI_HAVE_VECTORS

/* What is known when a batch is decided. */
typedef struct stretches_known {
    int64_t at;    /* the column before which */
    syi_vec steps; /* each lane has had so many steps without a move, or more than it matters */
    int64_t still; /* flat windows so far */
    tied_moments tied[SYI_VECTOR];
} stretches_known;

/* The steps without a move before a column of all lanes, a window's at most. */
static syi_vec steps_before(const syi_vec *column, int64_t period)
{
    syi_bits_vec still = ~(syi_bits_vec){0};
    syi_vec steps = {0};
    for (int64_t k = 1; k < period && syi_vec_any(still); k++) {
        still &= (syi_bits_vec)(column[-k] == column[-k - 1]);
        steps += (syi_vec)(still & (syi_bits_vec)syi_vec_of(1.0));
    }
    return steps;
}

/* Puts the windows of a batch that are flat, and gives their bits. */
static uint64_t put_flat_windows(const squares *s, const stretches *t, squares_batch *b, int64_t at,
                                 stretches_known *known)
{
    const syi_vec *column = t->tile + t->before + at;
    const syi_vec one = syi_vec_of(1.0), enough = syi_vec_of((double)(s->period - 1));
    syi_vec steps = known->at == at ? known->steps : steps_before(column, s->period);
    uint64_t flat = 0;
    for (int k = 0; k < LANE; k++) {
        const syi_vec value =
            s->kind == SYI_WINDOW_BANDS ? column[k] + 0.0 : syi_vec_of(flat_result(s->kind, 0.0));
        steps = (syi_vec)((syi_bits_vec)(steps + one) & (syi_bits_vec)(column[k] == column[k - 1]));
        const syi_bits_vec here = (syi_bits_vec)(steps >= enough);
        for (int j = 0; j < syi_window_outputs(s->kind); j++)
            b->out[j][k] =
                (syi_vec)(((syi_bits_vec)b->out[j][k] & ~here) | ((syi_bits_vec)value & here));
        flat |= syi_vec_mask_bits(syi_vec_mask_ordered(syi_vec_mask_full(), enough, steps))
                << (k * SYI_VECTOR);
    }
    known->at = at + LANE;
    known->steps = steps;
    return squares_by_lanes(flat);
}

/* What of a batch is not sure is decided, or its lanes are lost. */
static void decide_stretches(const syi_window *window, const squares *s, stretches *t,
                             squares_batch *b, const double *x, int64_t at, stretches_known *known,
                             int64_t *spare)
{
    const uint64_t flat = put_flat_windows(s, t, b, at, known);
    uint64_t asked = 0, unsure;
    for (int l = 0; l < SYI_VECTOR; l++)
        asked |= t->done[l] > at ? windows_of(l) : 0;
    known->still += __builtin_popcountll(asked & flat);
    unsure = decide_ties(window, s, b, x + at, t->stride, unsure_of(s, b, asked & ~flat),
                         known->tied, spare);
    for (int l = 0; l < SYI_VECTOR; l++)
        if (unsure & windows_of(l))
            stretches_lose(t, l, at);
}

/* `count` columns of a batch that is not whole. */
static void put_some(const stretches *t, const syi_vec *column, int64_t count, double *y)
{
    double lane[BATCH];
    lanes_put_scaled(lane, LANE, column, t->scale);
    for (int l = 0; l < SYI_VECTOR; l++)
        memcpy(y + l * t->apart, lane + l * LANE, (size_t)count * sizeof *y);
}

/* All of them, `count` columns of each, to to[..]; x[0] is the first lane's first column. Gives how
 * many windows are flat. */
static int64_t put_stretches(const syi_window *window, squares *s, stretches *t, int64_t count,
                             const double *x, double *const *to)
{
    int64_t spare = SQUARES_SPARE * t->columns * SYI_VECTOR, at = 0;
    squares_batch batch;
    stretches_known known = {.at = -1};
    s->decidable = decidable_of(window, s);
    while ((at = SYI_ISA_NAME(syi_stretches_run)(s, t, &batch, to, at)) < t->columns) {
        decide_stretches(window, s, t, &batch, x, at, &known, &spare);
        for (int k = 0; k < syi_window_outputs(s->kind); k++)
            if (at < t->whole)
                stretches_put(t, batch.out[k], to[k] + at, s->past);
            else
                put_some(t, batch.out[k], count - at, to[k] + at);
        at += LANE;
    }
    return known.still;
}

#endif
#endif
