/*
 * What a wrong start of a MACD's three averages becomes after n columns: a linear map, in which the
 * averages of the price only shrink, and the signal also takes up what the macd was off by.
 */
#ifndef SYI_KERNELS_MACD_CARRY_H
#define SYI_KERNELS_MACD_CARRY_H

#include "macd/step.h"

typedef struct syi_macd_map {
    syi_factor_dd fast, slow, signal; /* b^n of each */
    syi_dd from_fast, from_slow;      /* the signal's part of theirs; the latter is taken away */
} syi_macd_map;

/* Three averages, the first two as distances from the last price, the signal itself. */
typedef struct syi_macd_triple {
    syi_deviation fast, slow, signal;
} syi_macd_triple;

SYI_INLINE syi_dd syi_macd_part(syi_factor_dd signal, syi_dd before, syi_dd after,
                                syi_factor_dd own)
{
    return syi_dd_add(syi_dd_multiply(signal.b, before), syi_dd_multiply(after, own.b));
}

/* First a, then b. */
SYI_INLINE syi_macd_map syi_macd_map_after(syi_macd_map a, syi_macd_map b)
{
    syi_macd_map c = a;
    c.from_fast = syi_macd_part(b.signal, a.from_fast, b.from_fast, a.fast);
    c.from_slow = syi_macd_part(b.signal, a.from_slow, b.from_slow, a.slow);
    return c;
}

/* For n > 0 columns. */
static inline syi_macd_map syi_macd_map_of(const syi_macd_terms *k, double signal_period, int64_t n)
{
    syi_dd a = syi_dd_divide((syi_dd){2.0, 0.0}, signal_period + 1.0);
    syi_macd_map one = {.fast = k->fast, .slow = k->slow, .signal = k->signal}, map;
    int64_t columns = 1;
    one.from_fast = syi_dd_multiply(a, k->fast.b);
    one.from_slow = syi_dd_multiply(a, k->slow.b);
    map = one;
    for (int64_t bit = INT64_C(1) << (63 - __builtin_clzll((uint64_t)n)) >> 1; bit; bit >>= 1) {
        map = syi_macd_map_after(map, map);
        columns *= 2;
        if (n & bit) {
            map.fast = syi_factor_power(&k->fast, columns);
            map.slow = syi_factor_power(&k->slow, columns);
            map = syi_macd_map_after(map, one);
            columns++;
        }
        map.fast = syi_factor_power(&k->fast, columns);
        map.slow = syi_factor_power(&k->slow, columns);
        map.signal = syi_factor_power(&k->signal, columns);
    }
    return map;
}

/* What a start that was off by `start` makes of `end`. */
SYI_INLINE syi_macd_triple syi_macd_carried(syi_macd_triple end, syi_macd_triple start,
                                            const syi_macd_map *map)
{
    syi_dd fast = syi_dd_multiply(map->from_fast, start.fast.value);
    syi_dd slow = syi_dd_multiply(map->from_slow, start.slow.value);
    double fast_size = fabs(start.fast.value.high), slow_size = fabs(start.slow.value.high);
    double size = fabs(fast.high) + fabs(slow.high);
    double sizes = fast_size + slow_size;
    double error = (1.0 + 0x1p-40) * (map->from_fast.high * start.fast.error +
                                      map->from_slow.high * start.slow.error);
    /* As in syi_deviation_carried(). */
    if (sizes != 0.0)
        error += sizes < SYI_FAINT * 0x1p100 ? SYI_PER_FINE * sizes : 0x1p-960;
    error += 0x1p-92 * SYI_PER_FINE * size;
    end.signal = syi_deviation_carried(end.signal, start.signal, &map->signal);
    end.signal = syi_deviation_plus(end.signal, syi_dd_subtract(fast, slow), error);
    end.fast = syi_deviation_carried(end.fast, start.fast, &map->fast);
    end.slow = syi_deviation_carried(end.slow, start.slow, &map->slow);
    return end;
}

/* By how much the kept deviations are larger for the slope (step.h). */
SYI_INLINE syi_deviation syi_macd_tilt(syi_deviation a, syi_dd slope, double by)
{
    syi_dd tilt = syi_dd_scale(slope, by);
    return syi_deviation_plus(a, tilt, SYI_DD_ERROR * fabs(tilt.high));
}

SYI_INLINE syi_macd_triple syi_macd_triple_of(const syi_macd_terms *k, const syi_macd_state *s)
{
    syi_macd_triple t = {s->fast, s->slow, syi_macd_value(k, s)};
    if (k->tilted != 0.0) {
        t.fast = syi_macd_tilt(t.fast, s->slope, -k->fast_tilt);
        t.slow = syi_macd_tilt(t.slow, s->slope, -k->slow_tilt);
    }
    t.signal = syi_deviation_plus(t.signal, s->signal.value, s->signal.error);
    return t;
}

SYI_INLINE syi_deviation syi_macd_times(syi_deviation a, double power_of_two)
{
    return (syi_deviation){{a.value.high * power_of_two, a.value.low * power_of_two},
                           a.error * power_of_two};
}

/* The same of steps instead of prices (macd/slab.h): twice what the averages are off by but for the
 * slope, and twice the signal as the distance from what that adds to the macd. */
SYI_INLINE syi_macd_triple syi_macd_triple_of_steps(const syi_macd_state *s)
{
    const syi_deviation signal = syi_deviation_plus(s->signal, s->gap.value, s->gap.error);
    return (syi_macd_triple){syi_macd_times(s->fast, 2.0), syi_macd_times(s->slow, 2.0),
                             syi_macd_times(signal, 2.0)};
}

/* The state after price x, the last step and what is held of all of them being `t`. */
SYI_INLINE void syi_macd_state_of_steps(syi_macd_state *s, const syi_macd_triple *t, double x,
                                        double step)
{
    s->x = x;
    s->slope = (syi_dd){step, 0.0};
    s->fast = syi_macd_times(t->fast, 0.5);
    s->slow = syi_macd_times(t->slow, 0.5);
    s->gap = syi_deviation_less(s->fast, s->slow);
    s->signal = syi_deviation_less(syi_macd_times(t->signal, 0.5), s->gap);
}

/* The state after column x[0], the averages being `t`. */
SYI_INLINE void syi_macd_state_set(const syi_macd_terms *k, syi_macd_state *s,
                                   const syi_macd_triple *t, double before, double x)
{
    s->x = x;
    s->slope = syi_dd_of_sum(x, -before);
    s->fast = t->fast;
    s->slow = t->slow;
    if (k->tilted != 0.0) {
        s->fast = syi_macd_tilt(s->fast, s->slope, k->fast_tilt);
        s->slow = syi_macd_tilt(s->slow, s->slope, k->slow_tilt);
    }
    s->gap = syi_deviation_less(s->fast, s->slow);
    s->signal = syi_deviation_less(t->signal, syi_deviation_less(t->fast, t->slow));
}

#endif
