/* Deciding a stretch of Wilder's averages in pairs of doubles (recurrence/repair.h). */
#ifndef SYI_KERNELS_WILDER_PAIRS_H
#define SYI_KERNELS_WILDER_PAIRS_H

#include "recurrence/repair.h"
#include "wilder/state.h"

/* What is known of a state at a column that closes so: that its sums are of moves or ranges within
 * the peak. */
static inline syi_wilder_state syi_wilder_within(double close, double period, int is_range,
                                                 double peak)
{
    const double most = 2.0001 * SYI_PER_FINE * period * peak;
    syi_wilder_state s = {.phase = SYI_PHASE_RUNNING, .period = period, .close = close};
    s.total.error = most;
    s.up.error = is_range ? 0.0 : most;
    return s;
}

static inline void syi_wilder_in_pairs(const sy_segment *row, syi_attempt *attempt, int is_range)
{
    const double period = row->params[0];
    const syi_factor_dd factor = syi_wilder_factor(period);
    const int inputs = is_range ? 3 : 1;
    double price[3]; /* of a column */
    const syi_wilder_prices x = {&price[0], &price[1], &price[inputs - 1]};
    int64_t t = attempt->from_seed ? (int64_t)period : attempt->start;
    syi_wilder_state s = {.period = period};
    int is_in_range;
    if (attempt->from_seed) {
        const syi_wilder_prices row_x = {row->in[0], is_range ? row->in[1] : NULL,
                                         row->in[inputs - 1]};
        syi_wilder_seed(&s, &row_x, t, is_range);
        is_in_range = s.phase == SYI_PHASE_RUNNING;
    } else {
        s = syi_wilder_within(syi_input(attempt->in, inputs - 1, t), period, is_range,
                              attempt->peak);
        is_in_range = attempt->peak <= SYI_HUGE;
    }
    for (;;) {
        if (t >= attempt->first) {
            double y;
            const int is_certain = is_in_range && syi_wilder_settle(&s, is_range, &y) == 0.0;
            if (is_certain)
                row->out[0][t] = y;
            syi_attempt_tell(attempt, t, is_certain);
        }
        if (++t >= attempt->last)
            return;
        for (int k = 0; k < inputs; k++)
            price[k] = syi_input(attempt->in, k, t);
        is_in_range &= syi_wilder_largest(&x, 0, is_range) <= SYI_HUGE;
        syi_wilder_advance(&s, &x, 0, is_range, &factor);
    }
}

#endif
