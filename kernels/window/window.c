/* What the rolling workloads share outside the hot loops: checks, and the exact decisions. */
#include "window/window.h"

#include "exact/decide.h"
#include "exact/limbs.h"
#include "fast/window.h"
#include "window/decide.h"

int64_t syi_window_halo(const double *params)
{
    return (int64_t)params[0] - 1;
}

int64_t syi_window_joined_from(const double *params)
{
    const int64_t short_period = 200; /* takes less than beginning a row */
    return params[0] <= (double)short_period ? (int64_t)params[0] : 2 * syi_window_halo(params);
}

int64_t syi_squares_joined_from(const double *params)
{
    const int are_short = params[0] > 1.0 && params[0] <= (double)SYI_BESIDE_PERIOD;
    return are_short ? (int64_t)params[0] : INT64_MAX;
}

int64_t syi_spread_joined_from(const double *params)
{
    if (params[0] > SYI_SCAN_MOST)
        return INT64_MAX; /* exact ones (window/squares.h) need values that are alike */
    return params[0] < SYI_SCAN_LEAST ? syi_window_joined_from(params) : (int64_t)params[0];
}

sy_status syi_window_check(double period, double ddof)
{
    if (ddof < period)
        return SY_OK;
    return syi_fail(SY_ERR_ARGUMENT,
                    "ddof %.0f leaves nothing of period %.0f to divide by; choose a smaller ddof",
                    ddof, period);
}

sy_status syi_window_repair(const sy_segment *row, int64_t first, int64_t last, int n_outputs,
                            syi_run_fn run)
{
    const double *in[1] = {row->in[0] + first};
    double *out[3];
    int64_t halo = syi_window_halo(row->params);
    syi_piece piece = {.segment = *row};
    for (int k = 0; k < n_outputs; k++)
        out[k] = row->out[k] + first;
    piece.segment.in = in;
    piece.segment.out = out;
    piece.segment.first = first;
    piece.segment.count = last - first;
    piece.segment.left = halo < first ? halo : first;
    return run(&piece);
}

/* (x - mean) / deviation, = T sqrt(free / (count * N)) for T = count * x - S in the moments' units.
 * NaN for a flat window. */
static double decide_score(const syi_moments *m, double x)
{
    syi_parts parts = syi_split(syi_is_finite(x) ? x : 0.0);
    syi_big distance, square, divisor = m->spread;
    if (m->spread.size == 0)
        return syi_nan();
    syi_big_set(&distance, &parts.mantissa, 1);
    syi_big_scale(&distance, (uint64_t)m->count);
    syi_big_shift_left(&distance, (int64_t)parts.exponent - m->exponent);
    int negative = syi_big_add_signed(&distance, parts.negative, &m->sum, !m->negative);
    syi_big_square(&square, &distance);
    syi_big_scale(&square, (uint64_t)m->free);
    syi_big_scale(&divisor, (uint64_t)m->count);
    return syi_decide_root(negative, &square, &divisor);
}

void syi_window_decide(const syi_window *window, int bottom, int limbs, const uint64_t *sum,
                       const uint64_t *spread, double newest, double *const *out)
{
    syi_moments moments = {
        .count = window->period, .free = window->period - window->ddof, .exponent = bottom};
    uint64_t magnitude[SYI_SUM_LIMBS];
    memcpy(magnitude, sum, (size_t)limbs * sizeof *sum);
    moments.negative = syi_limbs_magnitude(magnitude, limbs);
    syi_big_set(&moments.sum, magnitude, limbs);
    moments.spread.size = 0;
    if (window->kind != SYI_WINDOW_MEAN)
        syi_big_set(&moments.spread, spread, 2 * limbs);
    switch (window->kind) {
    case SYI_WINDOW_MEAN:
        *out[0] = syi_decide_band(&moments, 1, 0.0);
        break;
    case SYI_WINDOW_DEVIATION:
        *out[0] = syi_decide_band(&moments, 0, 1.0);
        break;
    case SYI_WINDOW_SCORE:
        *out[0] = decide_score(&moments, newest);
        break;
    case SYI_WINDOW_BANDS:
        for (int k = 0; k < 3; k++)
            if (out[k])
                *out[k] = syi_decide_band(&moments, 1, (1.0 - k) * window->width);
        break;
    }
}
