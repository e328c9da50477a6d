/* How far a block of a MACD's lanes may be off. */
#ifndef SYI_KERNELS_MACD_ERROR_H
#define SYI_KERNELS_MACD_ERROR_H

#include "macd/slab.h"

#if SYI_HAVE_VECTORS

/* high + low */
typedef struct macd_pair {
    syi_vec high, low;
} macd_pair;

/* What a block adds to its stages' errors; what its macd may be off by: the averages' errors, and
 * the difference's rounding; and what the tests of the macd's and the signal's rounding lose. */
typedef struct macd_noise {
    syi_vec stage[STAGES];
    syi_vec macd, macd_test, signal_test;
} macd_noise;

/* By the most that lows can be. */
SYI_INLINE macd_noise macd_noise_at_most(const macd_slab *s, const syi_stage_grid *grid, int count)
{
    const syi_stage_terms *const terms = macd_terms(s, count);
    const double lows = terms[FAST].low_most + terms[SLOW].low_most;
    const double averages = terms[FAST].noise + terms[SLOW].noise + SYI_STAGE_LOSS * lows;
    macd_noise noise;
    for (int k = 0; k < STAGES; k++)
        noise.stage[k] = grid->unit * syi_vec_of(terms[k].noise);
    noise.macd = grid->unit * syi_vec_of(averages);
    noise.macd_test = grid->unit * syi_vec_of(SYI_STAGE_LOSS * lows);
    noise.signal_test = grid->unit * syi_vec_of(2.0 * SYI_STAGE_LOSS * terms[SIGNAL].low_most);
    return noise;
}

/* What a block adds to the averages, by what their lows are when it begins, the most of which
 * together it gives; and what of that is the macd's. */
SYI_INLINE syi_vec macd_noise_of_averages(const macd_slab *s, const syi_stage_terms *terms,
                                          syi_vec unit, macd_noise *noise)
{
    const syi_vec input = unit * 0.5;
    syi_vec low[SIGNAL];
    for (int k = 0; k < SIGNAL; k++) {
        low[k] = syi_stage_low(&terms[k], s->lanes.stage[k].low, input, unit);
        noise->stage[k] = syi_stage_noise(&terms[k], low[k], input, unit);
    }
    const syi_vec lows = low[FAST] + low[SLOW];
    noise->macd_test = syi_vec_of(SYI_STAGE_LOSS) * lows;
    noise->macd = noise->stage[FAST] + noise->stage[SLOW] + noise->macd_test;
    return lows;
}

/* By what lows are when the block begins: where averages are long that is far less. The signal
 * takes up the averages' ones. Not inline: so the compiler makes nothing slower of other blocks. */
static __attribute__((noinline)) macd_noise macd_noise_now(const macd_slab *s,
                                                           const syi_stage_grid *grid, int count)
{
    const syi_stage_terms *const terms = macd_terms(s, count);
    macd_noise noise;
    const syi_vec input = macd_noise_of_averages(s, terms, grid->unit, &noise);
    const syi_vec low =
        syi_stage_low(&terms[SIGNAL], s->lanes.stage[SIGNAL].low, input, grid->unit);
    noise.stage[SIGNAL] = syi_stage_noise(&terms[SIGNAL], low, input, grid->unit);
    noise.signal_test = syi_vec_of(SYI_STAGE_LOSS) * (low + low);
    return noise;
}

/* The same where the signal is on a grid of its own. What it smooths has as low part also what its
 * grid does not take up, which is added with one rounding more; the histogram's low part takes two
 * more. */
static __attribute__((noinline)) macd_noise macd_noise_apart(const macd_slab *s,
                                                             const syi_stage_grid *grid, int count)
{
    const syi_stage_terms *const terms = macd_terms(s, count);
    const syi_vec coarse = s->coarse.unit;
    macd_noise noise;
    const syi_vec lows = macd_noise_of_averages(s, terms, grid->unit, &noise);
    const syi_vec input = (coarse * 0.5 + lows) * 1.5, more = coarse * terms[SIGNAL].low_more;
    const syi_vec low = syi_vec_abs(s->lanes.stage[SIGNAL].low) + (more + input);
    noise.stage[SIGNAL] = syi_stage_noise(&terms[SIGNAL], low, input, coarse);
    noise.signal_test = syi_vec_of(SYI_STAGE_LOSS) * (low + lows + coarse) * 4.0;
    return noise;
}

SYI_INLINE macd_noise macd_noise_of(const macd_slab *s, const syi_stage_grid *grid, int count)
{
    macd_noise noise = s->is_apart  ? macd_noise_apart(s, grid, count)
                       : s->is_long ? macd_noise_now(s, grid, count)
                                    : macd_noise_at_most(s, grid, count);
    noise.macd += s->lanes.stage[FAST].error + s->lanes.stage[SLOW].error;
    return noise;
}

/* How far the outputs of a block may be off; and of steps what the pivot makes of the macd. */
typedef struct macd_errors {
    syi_vec macd, signal, histogram;
    macd_pair tilt;
} macd_errors;

/* `signal`: what the signal is off by when the block begins. */
SYI_INLINE macd_errors macd_errors_of(const macd_noise *noise, syi_vec signal)
{
    const syi_vec fine = syi_vec_of(SYI_FINE * (1.0 + 0x1p-40));
    macd_errors error = {.macd = (noise->macd + noise->macd_test) * fine};
    error.signal = error.macd + (signal + noise->stage[SIGNAL] + noise->signal_test) * fine;
    error.histogram = error.macd + error.macd + error.signal;
    return error;
}

/* Adds what a block of steps has to it: the pivot's part, whose rests and all lows take two more
 * additions. */
SYI_INLINE void macd_tilt(const macd_slab *s, const syi_stage_grid *grid, macd_errors *error)
{
    const syi_vec weight = syi_vec_of(s->weight[SIGNAL]), tilt = weight * grid->pivot;
    const double lows =
        s->terms[FAST].low_most + s->terms[SLOW].low_most + s->terms[SIGNAL].low_most;
    const syi_vec lost = syi_vec_abs(tilt) * syi_vec_of(0x1p-102) +
                         grid->unit * syi_vec_of(0x1p-52 * (lows + 1.0) * (1.0 + 0x1p-40));
    error->tilt = (macd_pair){tilt, syi_vec_fma(weight, grid->pivot, -tilt)};
    error->macd += lost;
    error->signal += lost;
}

#endif
#endif
