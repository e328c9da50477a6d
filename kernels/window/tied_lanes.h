/* What ties.h decides of blocks, of the windows of stretches: of a column of all lanes at once. */
#ifndef SYI_KERNELS_WINDOW_TIED_LANES_H
#define SYI_KERNELS_WINDOW_TIED_LANES_H

#include "window/stretches.h"
#include "window/ties.h"

#if SYI_HAVE_VECTORS

typedef int64_t tied_integers __attribute__((vector_size(8 * SYI_VECTOR)));

/* Modulo 2^64, about the lanes' pivots. */
typedef struct tied_moments_lanes {
    syi_bits_vec sum, square;
} tied_moments_lanes;

/* Of the windows that end before column `at` of the stretches: each lane's steps without a move, or
 * more than it matters; and the moments. */
typedef struct tied_lanes {
    int64_t steps_at, moments_at;
    syi_vec steps;
    tied_moments_lanes moments;
    syi_bits_vec passed[LANE]; /* of a batch's columns: which windows are, or have outliers */
} tied_lanes;

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

/* The bits of the windows of a batch's column k. */
SYI_INLINE uint64_t bits_of_column(syi_bits_vec which, int k)
{
    const syi_vec one = syi_vec_of(1.0), here = (syi_vec)((syi_bits_vec)one & which);
    return syi_vec_mask_bits(syi_vec_mask_ordered(syi_vec_mask_full(), one, here))
           << (k * SYI_VECTOR);
}

/* Which lanes' windows of a batch's column have outliers, which the copy of the values does not. */
SYI_INLINE syi_bits_vec outlying_of(const squares_batch *b, int k)
{
    return b->is_outlying ? b->outlying[k].lanes : (syi_bits_vec){0};
}

/* Puts the windows of a batch that are flat, and gives their bits. */
static uint64_t put_flat_windows(const squares *s, const stretches *t, squares_batch *b, int64_t at,
                                 tied_lanes *known)
{
    const syi_vec *column = t->tile + t->before + at;
    const syi_vec one = syi_vec_of(1.0), enough = syi_vec_of((double)(s->period - 1));
    syi_vec steps = known->steps_at == at ? known->steps : steps_before(column, s->period);
    uint64_t flat = 0;
    for (int k = 0; k < LANE; k++) {
        const syi_vec value =
            s->kind == SYI_WINDOW_BANDS ? column[k] + 0.0 : syi_vec_of(flat_result(s->kind, 0.0));
        steps = (syi_vec)((syi_bits_vec)(steps + one) & (syi_bits_vec)(column[k] == column[k - 1]));
        const syi_bits_vec outlying = outlying_of(b, k);
        const syi_bits_vec here = (syi_bits_vec)(steps >= enough) & ~outlying;
        known->passed[k] = here | outlying;
        for (int j = 0; j < syi_window_outputs(s->kind); j++)
            b->out[j][k] = syi_vec_pick(here, value, b->out[j][k]);
        flat |= bits_of_column(here, k);
    }
    known->steps_at = at + LANE;
    known->steps = steps;
    return squares_by_lanes(flat);
}

/* Distances in units of s->per_unit, of which they are multiples. */
SYI_INLINE syi_bits_vec units_of(const squares *s, syi_vec distance)
{
    return (syi_bits_vec) __builtin_convertvector(distance * s->per_unit, tied_integers);
}

/* The windows lose `out` and get `in`. */
SYI_INLINE void tied_change(const squares *s, tied_moments_lanes *m, syi_vec in, syi_vec out)
{
    const syi_bits_vec more = units_of(s, in - s->pivot), less = units_of(s, out - s->pivot);
    m->sum += more - less;
    m->square += more * more - less * less;
}

/* The windows that end before column[0], which is column `at`; gives the columns that are read. */
static int64_t tied_go_to(const squares *s, tied_lanes *m, const syi_vec *column, int64_t at)
{
    const int64_t period = s->period, behind = at - m->moments_at;
    if (m->moments_at >= 0 && behind < period / 2) {
        for (int64_t k = -behind; k < 0; k++)
            tied_change(s, &m->moments, column[k], column[k - period]);
        return 2 * behind;
    }
    m->moments = (tied_moments_lanes){{0}, {0}};
    for (int64_t k = -period; k < 0; k++)
        tied_change(s, &m->moments, column[k], s->pivot);
    return period;
}

/* As round_tied() of ties.h, of each lane. */
SYI_INLINE syi_vec round_tied_lanes(const syi_window *window, const squares *s,
                                    const tied_moments_lanes *m, double width, syi_vec y)
{
    const uint64_t c = (uint64_t)s->period, f = c - (uint64_t)window->ddof;
    const uint64_t wide = (uint64_t)(int64_t)(FINE * width);
    const syi_bits_vec zero = {0}, bits = (syi_bits_vec)y;
    const syi_bits_vec under = bits + ((syi_bits_vec)(y > 0.0) | (zero + 1)); /* -1 or 1 */
    const syi_bits_vec half = units_of(s, 0.5 * (y - (syi_vec)under));
    const syi_bits_vec middle = units_of(s, y - s->pivot) - half, apart = middle * c - m->sum;
    const syi_bits_vec spread = m->square * c - m->sum * m->sum;
    const tied_integers more =
        (tied_integers)(spread * (wide * wide * c) - apart * apart * (FINE * FINE * f));
    const syi_bits_vec other_side =
        (syi_bits_vec)((tied_integers)(apart ^ wide) < 0) & (syi_bits_vec)(apart != 0);
    const syi_bits_vec is_more = (syi_bits_vec)(width < 0.0 ? more < 0 : more > 0);
    const syi_bits_vec is_even = (syi_bits_vec)((bits & 1) == 0);
    const syi_bits_vec above = is_more | ((syi_bits_vec)(more == 0) & is_even);
    const syi_bits_vec outer = width < 0.0 ? zero : ~zero;
    return syi_vec_pick((other_side & outer) | (~other_side & above), y, (syi_vec)under);
}

/* Which of column k's bands, the upper or the lower ones, are not sure. */
SYI_INLINE syi_bits_vec tied_unsure(const squares_batch *b, int k, int lower)
{
    return ~(syi_bits_vec)(b->out[2 * lower][k] <= b->least[lower][k]);
}

/* Whether such a band is too far from the pivot. */
SYI_INLINE syi_bits_vec tied_is_far(const squares *s, const squares_batch *b, int k)
{
    syi_bits_vec far = {0};
    for (int lower = 0; lower < 2 && s->band_reach < INFINITY; lower++) {
        const syi_vec away = syi_vec_abs(b->out[2 * lower][k] - s->pivot);
        far |= tied_unsure(b, k, lower) & ~(syi_bits_vec)(away < s->band_reach);
    }
    return far;
}

/* Decides bands of a batch's windows that are not sure, of which there are the bits; gives the bits
 * of the others. *spare pays for columns that are read again. */
static uint64_t decide_tied_lanes(const syi_window *window, const squares *s, const stretches *t,
                                  squares_batch *b, int64_t at, uint64_t unsure, tied_lanes *known,
                                  int64_t *spare)
{
    const syi_vec *column = t->tile + t->before + at;
    tied_moments_lanes moments[LANE];
    syi_bits_vec tied[2][LANE];
    uint64_t decided = 0, any = 0;
    if (!unsure || s->decidable == 0.0 || *spare <= 0)
        return unsure;
    *spare -= tied_go_to(s, known, column, at);
    for (int k = 0; k < LANE; k++) {
        const syi_bits_vec here =
            (syi_bits_vec)(b->half[k] < s->decidable) & ~known->passed[k] & ~tied_is_far(s, b, k);
        tied_change(s, &known->moments, column[k], column[k - s->period]);
        moments[k] = known->moments;
        for (int lower = 0; lower < 2; lower++) {
            tied[lower][k] = here & tied_unsure(b, k, lower);
            any |= (uint64_t)syi_vec_any(tied[lower][k]) << (LANE * lower + k);
        }
        decided |= bits_of_column(here, k);
    }
    known->moments_at = at + LANE;
    /* One after another, for whether a column has any is hard to foretell. */
    for (; any; any &= any - 1) {
        const int lower = __builtin_ctzll(any) / LANE, k = __builtin_ctzll(any) % LANE;
        syi_vec *const band = &b->out[2 * lower][k];
        const double width = lower ? -window->width : window->width;
        const syi_vec decision = round_tied_lanes(window, s, &moments[k], width, *band);
        *band = syi_vec_pick(tied[lower][k], decision, *band);
    }
    return unsure & ~squares_by_lanes(decided);
}

/* Decides those of two prices, one by one; gives the bits of the others. Of a lane whose sums are
 * no numbers any more all are left. */
static uint64_t decide_lanes_of_two(const syi_window *window, const stretches *t, squares_batch *b,
                                    int64_t at, uint64_t unsure, const tied_lanes *known)
{
    uint64_t left = 0;
    for (; unsure; unsure &= unsure - 1) {
        const int64_t i = __builtin_ctzll(unsure), k = i % LANE, l = i / LANE;
        if (known->passed[k][l] != 0 || !(b->half[k][l] > 0.0) ||
            !decide_two_prices(window, b, t->x + l * t->stride + at + k, k, l))
            left |= unsure & -unsure;
    }
    return left;
}

#endif
#endif
