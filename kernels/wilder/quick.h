/* Tiles one after another on a grid (grid.h), for as long as the prices are for it. */
#ifndef SYI_KERNELS_WILDER_QUICK_H
#define SYI_KERNELS_WILDER_QUICK_H

#include "wilder/moves.h"
#include "wilder/ranges.h"

#if SYI_HAVE_VECTORS

typedef struct grids {
    grid total, up;
} grids;

SYI_INLINE price_traits take_first(const syi_wilder_prices *x, double close, tile *t)
{
    return IS_RANGE ? take_first_ranges(x, close, t) : take_first_moves(x->close, close, t);
}

/* What the relative error of a tile's values may be, `columns` before the end of a piece that has a
 * right neighbour. */
SYI_INLINE double most_error(double period, int64_t columns)
{
    if (IS_RANGE)
        return MOST_RANGE_ERROR;
    return (double)columns > LAST_PERIODS * period ? MOST_MOVE_ERROR : LAST_MOVE_ERROR;
}

/* Sums up the terms of the tile at x, which are like `what`, moving the state past it; returns the
 * relative error of its values, NaN when they are not for this way. */
SYI_INLINE double sum_quickly(const weights *w, tile *t, const price_traits *what, grids *g,
                              syi_wilder_state *s, const syi_wilder_prices *x)
{
    const double heaviest = w->high[t->steps - 1];
    double most = heaviest * s->period * (1.0 + 0x1p-40) * apart(what), error = LAST_ERROR;
    if (!(most >= 0.0) || !choose_grid(&g->total, t, s->total.value.high, most))
        return syi_nan();
    if (!IS_RANGE && (!(most > 0.0) || heaviest > MOST_WEIGHT || s->lifted != 0.0 ||
                      !choose_grid(&g->up, t, s->up.value.high, most)))
        return syi_nan();
    for (int q = 0; q < GROUPS; q++)
        if (IS_RANGE)
            sum_ranges(w, t, &g->total, q, x);
        else
            sum_moves(w, t, &g->total, &g->up, q, x);
    error += chain_grid(w, t, &g->total, &t->last, &s->total, &t->total_start);
    if (!IS_RANGE)
        error += chain_grid(w, t, &g->up, &t->up_last, &s->up, &t->up_start);
    return s->total.value.high > 0.0 ? error : syi_nan();
}

/* The values to y; returns not 0 when one is in doubt. Meanwhile the terms of the next tile, whose
 * outputs are to lie at `ahead`, are taken from x, unless it is NULL, so that the processor waits
 * for neither memory nor arithmetic. */
SYI_INLINE int settle_quickly(const weights *w, tile *t, const grids *g, double error, double *y,
                              int past, const syi_wilder_prices *x, const double *ahead,
                              price_traits *what)
{
    /* Held here, or they would be read again after each store. */
    const int64_t steps = t->steps, half = half_of(t), next = t->ahead;
    const syi_wilder_prices from = x ? *x : (syi_wilder_prices){NULL, NULL, NULL};
    syi_bits_vec unsure = {0};
    int64_t taken = 0;
    for (int q = 0; q < GROUPS; q++) {
        double *const to = y + q * SYI_VECTOR * steps;
        group_sum total = start_of(&t->total_start, &g->total, q), up = total;
        if (!IS_RANGE)
            up = start_of(&t->up_start, &g->up, q);
        for (int64_t i = 0; i < steps; i += SYI_VECTOR) {
            if (IS_RANGE) {
                if (i == half)
                    start_half(t, q, &total);
                settle_ranges(w, t, i, q, total, error, &unsure, to + i, steps, past);
                if (x)
                    take_ranges(&from, taken, next, t, what, ahead);
            } else {
                settle_moves(t, i, q, total, up, error, &unsure, to + i, steps, past);
                if (x)
                    take_moves(from.close, taken, t, what, ahead);
            }
            taken += SYI_VECTOR * SYI_VECTOR;
        }
    }
    return syi_vec_any(unsure);
}

/* Whole tiles of columns at x, `most` of them and at least one, with as many more `behind` them as
 * most_error() has to know of; returns how many it has done. The next one is not for this way, or
 * one of the two next ones has a value in doubt: what the second inherits from this way has faded
 * when the first is done otherwise. y may be NULL; `past`: it is put past the cache. Not inline:
 * the compiler would lose sight of the vectors of what calls it. */
static __attribute__((noinline)) int64_t run_tiles(const weights *w,
                                                   const syi_wilder_prices *prices, double *y,
                                                   int past, tile *t, syi_wilder_state *s,
                                                   int64_t most, int64_t behind)
{
    const int64_t count = LANES * t->steps;
    syi_wilder_prices x = *prices;
    syi_wilder_state before = *s;
    price_traits what = take_first(&x, s->close, t);
    for (int64_t done = 0; done < most; done++) {
        const int64_t next = done + 1 < most ? count : 0;
        syi_wilder_state state = *s;
        grids g = {0};
        double error;
        t->ahead = next;
        if (!IS_RANGE)
            syi_wilder_catch_up(&state, &w->b);
        error = sum_quickly(w, t, &what, &g, &state, &x);
        state.close = x.close[count - 1];
        if (!(fabs(state.close) <= MOST_PRICE) ||
            !(error <= most_error(s->period, behind + (most - done - 1) * count)))
            return done;
        x.close += next;
        if (IS_RANGE)
            x = (syi_wilder_prices){x.high + next, x.low + next, x.close};
        what =
            (price_traits){syi_vec_of(state.close), syi_vec_of(state.close), syi_vec_mask_full()};
        if (y) {
            double *to = y + done * count;
            if (settle_quickly(w, t, &g, error, to, past, next ? &x : NULL,
                               past ? x.close : to + next, &what)) {
                *s = before;
                return done > 0 ? done - 1 : 0;
            }
        } else {
            what = take_first(&x, state.close, t);
        }
        before = *s;
        *s = state;
    }
    return most;
}

#endif
#endif
