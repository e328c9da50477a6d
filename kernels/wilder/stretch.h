/* A unit of Wilder's averages on a GPU; `is_range` is a constant in each of its two kernels. */
#ifndef SYI_KERNELS_WILDER_STRETCH_H
#define SYI_KERNELS_WILDER_STRETCH_H

#include "cuda/stretch.h"

#include "wilder/state.h"

/* The value at column i, which is `column` of the row, and the state after it; not 0.0 when the
 * value is in doubt. */
SYI_DEVICE double wilder_column(syi_wilder_state *s, const syi_wilder_prices *x, int64_t i,
                                int64_t column, int is_range, const syi_factor_dd *factor,
                                double *y)
{
    double size = syi_wilder_largest(x, i, is_range && column > 0);
    *y = syi_nan();
    if (s->phase == SYI_PHASE_BEFORE) {
        if (column < (int64_t)s->period)
            return 0.0;
        syi_wilder_seed(s, x, i, is_range);
        if (s->phase == SYI_PHASE_RUNNING)
            return syi_wilder_settle(s, is_range, y);
    }
    if (s->phase == SYI_PHASE_RUNNING && !(size <= SYI_HUGE))
        s->phase = SYI_PHASE_HUGE;
    if (s->phase == SYI_PHASE_RUNNING) {
        syi_wilder_advance(s, x, i, is_range, factor);
        return syi_wilder_settle(s, is_range, y);
    }
    if (s->phase == SYI_PHASE_HUGE && syi_is_finite(size)) {
        *y = 0.0;
        return 1.0;
    }
    s->phase = SYI_PHASE_POISONED;
    return 0.0;
}

/* Runs the columns before the unit: the state at its beginning. */
SYI_DEVICE syi_wilder_state wilder_start(const syi_stretch *stretch, const syi_wilder_prices *x,
                                         double period, int is_range, const syi_factor_dd *factor)
{
    syi_wilder_state s = {.phase = SYI_PHASE_BEFORE, .from_start = 1.0, .period = period};
    const int exact = stretch->left == stretch->first;
    syi_wilder_most most = {0.0, 0.0};
    double y;
    if (!exact) {
        syi_wilder_look(&most, x, 1 - stretch->left, 0, is_range);
        s = syi_wilder_assume(x, -stretch->left, period, is_range, &most);
    }
    for (int64_t i = (exact ? 0 : 1) - stretch->left; i < 0; i++)
        wilder_column(&s, x, i, stretch->first + i, is_range, factor, &y);
    if (!exact)
        syi_wilder_claim(&s);
    return s;
}

SYI_DEVICE void wilder_unit(const syi_launch *launch, int is_range)
{
    const double period = launch->params[0];
    const syi_factor_dd factor = syi_wilder_factor(period);
    syi_stretch stretch;
    if (!syi_stretch_of(launch, syi_wilder_halo(period), &stretch))
        return;
    double *out = syi_unit_out(launch, &stretch.unit, launch->out[0]), y;
    syi_wilder_prices x = {NULL, NULL, stretch.x};
    if (is_range) {
        x.high = stretch.x;
        x.low = syi_unit_in(launch, &stretch.unit, launch->in[1]);
        x.close = syi_unit_in(launch, &stretch.unit, launch->in[2]);
    }
    syi_wilder_state state = wilder_start(&stretch, &x, period, is_range, &factor);
    memcpy(syi_stretch_assumed(launch, &stretch), &state, sizeof state);
    for (int64_t i = 0; i < stretch.unit.count; i++) {
        if (wilder_column(&state, &x, i, stretch.first + i, is_range, &factor, &y) != 0.0)
            syi_stretch_doubt(&stretch, i);
        out[i] = y;
    }
    memcpy(syi_stretch_end(launch, &stretch), &state, sizeof state);
    syi_unit_doubt(launch, &stretch.unit, stretch.doubt_first, stretch.doubt_last);
}

#endif
