/* The MACD on a GPU. */
#include "cuda/stretch.h"

#include "macd/macd.h"
#include "macd/step.h"

typedef struct macd_values {
    double macd, signal, histogram;
} macd_values;

/* The averages' own beginning: columns up to the signal's first. Not 0.0: in doubt. */
SYI_DEVICE double macd_seeding(const syi_macd *macd, const syi_macd_terms *k, syi_macd_state *s,
                               const double *x, int64_t column, macd_values *y)
{
    if (column >= macd->seeded_slow)
        syi_macd_advance(k, s, x[0]);
    syi_deviation value = syi_macd_value(k, s);
    s->sum = syi_deviation_plus(s->sum, value.value, value.error);
    if (column < syi_macd_warmup(macd))
        return 0.0;
    syi_macd_seed_signal(k, macd, s);
    return syi_macd_settle(k, s, &y->macd, &y->signal, &y->histogram);
}

/* Beyond the fast arithmetic's range: left to the host. */
SYI_DEVICE double macd_huge(const syi_macd *macd, int64_t column, macd_values *y)
{
    if (column < syi_macd_warmup(macd))
        return 0.0;
    y->macd = y->signal = y->histogram = 0.0;
    return 1.0;
}

/* The values at a column of the row, and the state after it; not 0.0 when they are in doubt. */
SYI_DEVICE double macd_column(const syi_macd *macd, const syi_macd_terms *k, syi_macd_state *s,
                              const double *x, int64_t column, macd_values *y)
{
    y->macd = y->signal = y->histogram = syi_nan();
    if (s->phase == SYI_PHASE_BEFORE) {
        if (column < macd->seeded_slow - 1)
            return 0.0;
        s->phase =
            syi_phase_of_seed(x + 1 - macd->seeded_slow, macd->seeded_slow, SYI_PHASE_SEEDING);
        if (s->phase == SYI_PHASE_SEEDING)
            syi_macd_begin(s, x, macd);
    }
    if (s->phase == SYI_PHASE_SEEDING || s->phase == SYI_PHASE_RUNNING) {
        if (syi_macd_leaves_range(s, x[0]))
            return s->phase == SYI_PHASE_HUGE ? macd_huge(macd, column, y) : 0.0;
        if (s->phase == SYI_PHASE_SEEDING)
            return macd_seeding(macd, k, s, x, column, y);
        syi_macd_smooth_signal(k, s, syi_macd_advance(k, s, x[0]));
        return syi_macd_settle(k, s, &y->macd, &y->signal, &y->histogram);
    }
    if (s->phase == SYI_PHASE_HUGE && syi_is_finite(x[0]))
        return macd_huge(macd, column, y);
    s->phase = SYI_PHASE_POISONED;
    return 0.0;
}

SYI_KERNEL __launch_bounds__(SYI_STRETCH_THREADS, 4) syi_gpu_macd(const syi_launch launch)
{
    syi_macd macd = syi_macd_of(launch.params);
    syi_macd_terms terms = syi_macd_terms_of(&macd);
    syi_stretch stretch;
    if (!syi_stretch_of(&launch, syi_macd_halo(&macd), &stretch))
        return;
    const double *x = stretch.x;
    double *out[3] = {syi_unit_out(&launch, &stretch.unit, launch.out[0]),
                      syi_unit_out(&launch, &stretch.unit, launch.out[1]),
                      syi_unit_out(&launch, &stretch.unit, launch.out[2])};
    syi_macd_state state = {};
    macd_values y;
    int exact = stretch.left == stretch.first;
    state.phase = SYI_PHASE_BEFORE;
    state.from_start = 1.0;
    if (!exact)
        state = syi_macd_assume(x - stretch.left, stretch.left);
    for (int64_t i = -stretch.left; i < 0; i++)
        macd_column(&macd, &terms, &state, x + i, stretch.first + i, &y);
    if (!exact)
        syi_macd_claim(&state);
    memcpy(syi_stretch_assumed(&launch, &stretch), &state, sizeof state);
    for (int64_t i = 0; i < stretch.unit.count; i++) {
        if (macd_column(&macd, &terms, &state, x + i, stretch.first + i, &y) != 0.0)
            syi_stretch_doubt(&stretch, i);
        out[0][i] = y.macd;
        out[1][i] = y.signal;
        out[2][i] = y.histogram;
    }
    memcpy(syi_stretch_end(&launch, &stretch), &state, sizeof state);
    syi_unit_doubt(&launch, &stretch.unit, stretch.doubt_first, stretch.doubt_last);
}
