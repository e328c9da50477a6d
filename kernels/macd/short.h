/*
 * A slab's short lanes. They run twice: first each from a guess, then, once what the lanes ended
 * with has been carried from left to right, from where they really start. Where prices lie too
 * nearly on a line for that, both are done again with the steps from price to price.
 */
#ifndef SYI_KERNELS_MACD_SHORT_H
#define SYI_KERNELS_MACD_SHORT_H

#include "macd/block.h"

#if SYI_HAVE_VECTORS

/* Not inline: so the compiler makes nothing slower of the blocks of prices around them. */
static __attribute__((noinline)) void macd_try_steps(macd_slab *s, int64_t at, int count)
{
    macd_try(s, at, count, 1);
}

static __attribute__((noinline)) void macd_write_steps(macd_slab *s, int64_t at, int count)
{
    if (macd_is_bent(s, at))
        macd_write_parts(s, at, count, 0, 1);
    else
        macd_write(s, at, count, 0, 1);
}

/* Whether the steps are doubles. */
SYI_INLINE int macd_has_steps(macd_slab *s)
{
    s->outside = (syi_bits_vec){0};
    for (int64_t at = 0; at < s->length; at += MACD_BLOCK) {
        const int count = macd_block_columns(at, s->length);
        syi_lanes_load(s->tile + at, s->x + at, s->stride, count);
        macd_take_steps(s, at, count);
    }
    return !syi_vec_any(s->outside);
}

/* Whether nothing has moved in a block since before the lanes: then their guesses stay as they are.
 * Not by the extremes, which may know nothing of a NaN. */
SYI_INLINE int macd_stands_still(const macd_slab *s, int64_t at, int count)
{
    const syi_bits_vec pivot = (syi_bits_vec)s->lanes.pivot;
    syi_bits_vec moved = (syi_bits_vec)s->tile[at] ^ pivot;
    for (int i = 1; i < count && !syi_vec_any(moved); i++)
        moved |= (syi_bits_vec)s->tile[at + i] ^ pivot;
    return !syi_vec_any(moved);
}

/* start[0] is known; the others follow. Returns 0 when a value is out of range: a NaN, of which the
 * extremes may know nothing, is still in the state behind it. */
SYI_INLINE int macd_chain(macd_slab *s)
{
    const syi_deviation none = {{0.0, 0.0}, 0.0};
    const syi_macd_triple guess = {none, none, none};
    int is_still = 1;
    s->outside = (syi_bits_vec){0};
    for (int lane = 0; lane < MACD_LANES; lane++)
        macd_set(s, lane, &guess);
    for (int64_t at = 0; at < s->length; at += MACD_BLOCK) {
        const int count = macd_block_columns(at, s->length);
        macd_load(s, at, count);
        is_still = is_still && macd_stands_still(s, at, count);
        if (is_still)
            continue;
        if (s->of_steps)
            macd_try_steps(s, at, count);
        else
            macd_try(s, at, count, 0);
    }
    for (int lane = 0; lane < MACD_LANES; lane++)
        s->start[lane + 1] = syi_macd_carried(macd_end(s, lane), s->start[lane], &s->map);
    return !syi_vec_any(s->outside) && syi_is_finite(s->start[MACD_LANES].signal.value.high);
}

SYI_INLINE void macd_fill(macd_slab *s)
{
    for (int lane = 0; lane < MACD_LANES; lane++)
        macd_set(s, lane, &s->start[lane]);
    for (int64_t at = 0; at < s->length; at += MACD_BLOCK) {
        const int count = macd_block_columns(at, s->length);
        if (s->of_steps)
            macd_write_steps(s, at, count);
        else if (macd_is_bent(s, at))
            macd_write_parts(s, at, count, 0, 0);
        else
            macd_write(s, at, count, 0, 0);
    }
}

#endif
#endif
