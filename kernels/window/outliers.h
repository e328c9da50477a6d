/*
 * Of stretches (stretches.h), a lane in which a few values are far from the others, say spikes: in
 * its copy they are the usual value, and its windows are told what the difference makes of them.
 *
 * Where a value s was r, both told from the pivot, a window's sum S lacks d = s - r and its spread
 * c Q - S^2 lacks
 *
 *     c e - d^2 - 2 d S,   e = s^2 - r^2 = d (s + r),
 *
 * and where several were the same with the sums of their d and e. What is lost in that is relative
 * to what is added; of the windows that hold such a value the results are tested with it.
 */
#ifndef SYI_KERNELS_WINDOW_OUTLIERS_H
#define SYI_KERNELS_WINDOW_OUTLIERS_H

#include "exact/dd.h"
#include "exact/vector.h"

#if SYI_HAVE_VECTORS

/* A lane has so many at most, and of a period's columns on average: where hardly a window has none
 * blocks do better. */
enum { OUTLIERS_MOST = 32, OUTLIERS_A_WINDOW = 3 };

/* Columns of a lane, with those before it, at most. */
enum { OUTLIERS_COLUMNS = 2048 };

/* Times the usual value; what is not so large blocks (blocks.h) compute like any other. */
#define OUTLIERS_ABOVE 0x1p12
/* How many times as far as the others are from the pivot they may be: the square of that, as often
 * as they are, is a float. */
#define OUTLIERS_FAR 0x1p56

typedef struct outlier {
    int64_t at; /* its column of the lane, < 0 before the first one */
    double value;
    syi_dd change, square; /* d and c e */
    syi_dd alone, newest;  /* c e - d^2 and c d */
} outlier;

typedef struct outliers {
    outlier of[OUTLIERS_MOST + 1]; /* behind the last one one that is never reached */
    int count, first, end;         /* [first, end) are in the last column's window */
    double usual;
    int lost; /* values that are not finite, whose windows have no results */
    int most; /* of all these */
} outliers;

/* What those in the windows of a column come to, in each lane. */
typedef struct outlying {
    syi_vec change, change_low;      /* d */
    syi_vec spread, spread_low;      /* c e - d^2 */
    syi_vec newest, newest_low;      /* c d of that which is the value of the column gone to */
    syi_vec sum_error, spread_error; /* what sums and spreads are off by at most */
    syi_bits_vec lanes;              /* which have any */
    int any;                         /* of all lanes together */
} outlying;

/* What of that results want to know. */
typedef struct outlying_window {
    syi_bits_vec lanes;
    syi_vec sum_error, spread_error;
} outlying_window;

/* Makes the copy of a lane, tile[..][lane], again what it was. */
SYI_INLINE void outliers_put_back(outliers *o, int64_t before, syi_vec *tile, int lane)
{
    for (int k = 0; k < o->count; k++)
        tile[before + o->of[k].at][lane] = o->of[k].value;
    o->count = 0;
}

/* The one of three that is between the others. */
SYI_INLINE double outliers_usual(double a, double b, double c)
{
    const double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* A value of a lane's copy becomes the usual one. Gives whether it is an outlier. */
SYI_INLINE int outliers_take_one(outliers *o, double value, int64_t at, syi_vec *copy, int lane)
{
    if (o->count + o->lost == o->most)
        return 0;
    if (!syi_is_finite(value))
        o->lost++;
    else if (fabs(value) > OUTLIERS_ABOVE * fabs(o->usual))
        o->of[o->count++] = (outlier){.at = at, .value = value};
    else
        return 0;
    (*copy)[lane] = o->usual;
    return 1;
}

/* A vector's values that are far from the usual one, as bits. */
typedef struct outliers_far {
    int16_t at;
    uint8_t values;
} outliers_far;

/* Vectors of x[0 .. count) in which values are not within `reach` of the usual one; the others'
 * extremes. Without branches, which nobody could foretell. */
SYI_INLINE int outliers_find(const double *x, int64_t count, double usual, double reach,
                             outliers_far *found, double *least, double *most)
{
    const syi_vec middle = syi_vec_of(usual);
    syi_vec low = middle, high = middle;
    int n = 0;
    for (int64_t i = 0; i < count; i += SYI_VECTOR) {
        const syi_vec value = syi_vec_load(x + i);
        const syi_bits_vec near = (syi_bits_vec)(syi_vec_abs(syi_vec_less(value, middle)) <= reach);
        const syi_vec kept = syi_vec_pick(near, value, middle);
        found[n] = (outliers_far){(int16_t)i, (uint8_t)syi_vec_which(~near)};
        n += found[n].values != 0;
        low = syi_vec_min(kept, low);
        high = syi_vec_max(kept, high);
    }
    *least = syi_vec_least(low);
    *most = syi_vec_most(high);
    return n;
}

/* Takes a lane's outliers, of x[0 .. count), `before` of which come before its first column, out of
 * its copy. Gives whether it is then one of values from *least to *most, of which as a rule none is
 * more than twice another; if not, the copy is as it was, but for what is not finite. */
SYI_INLINE int outliers_take(outliers *o, const double *x, int64_t before, int64_t count,
                             int64_t period, syi_vec *tile, int lane, double *least, double *most)
{
    const int64_t few = OUTLIERS_A_WINDOW * count / period;
    const double usual = outliers_usual(x[0], x[count / 2], x[count - 1]);
    const double reach = 0.33 * fabs(usual);
    const int near = (fabs(x[0] - usual) <= reach) + (fabs(x[count / 2] - usual) <= reach) +
                     (fabs(x[count - 1] - usual) <= reach);
    outliers_far found[OUTLIERS_COLUMNS / SYI_VECTOR + 1];
    if (near < 2) /* as if they changed all the time */
        return 0;
    o->usual = usual;
    o->most = few < OUTLIERS_MOST ? (int)few : OUTLIERS_MOST;
    const int n = outliers_find(x, count, usual, reach, found, least, most);
    for (int k = 0; k < n; k++)
        for (unsigned far = found[k].values; far; far &= far - 1) {
            const int64_t at = found[k].at + __builtin_ctz(far);
            if (!outliers_take_one(o, x[at], at - before, &tile[at], lane)) {
                outliers_put_back(o, before, tile, lane);
                return 0;
            }
        }
    return 1;
}

/* a + b, whose low part may be larger than a place of the high one. */
SYI_INLINE syi_dd outliers_sum(syi_dd a, syi_dd b)
{
    const syi_dd sum = syi_dd_of_sum(a.high, b.high);
    return (syi_dd){sum.high, sum.low + (a.low + b.low)};
}

SYI_INLINE syi_dd outliers_spread(syi_dd square, syi_dd change)
{
    return outliers_sum(square, syi_dd_negative(syi_dd_multiply(change, change)));
}

/* Of a lane with this pivot, from which its other values are at most `reach`. Gives whether none
 * is too far away. */
SYI_INLINE int outliers_set(outliers *o, double pivot, double reach, double period)
{
    for (int k = 0; k < o->count; k++) {
        outlier *const here = &o->of[k];
        if (!(fabs(here->value) < OUTLIERS_FAR * reach))
            return 0;
        here->change = syi_dd_of_sum(here->value, -o->usual);
        const syi_dd both = syi_dd_of_sum(here->value, o->usual);
        const syi_dd sum = syi_dd_add(both, (syi_dd){-2.0 * pivot, 0.0});
        here->square = syi_dd_scale(syi_dd_multiply(here->change, sum), period);
        here->alone = outliers_spread(here->square, here->change);
        here->newest = syi_dd_scale(here->change, period);
    }
    return 1;
}

/* What some outliers come to, and the sums of their sizes. */
typedef struct outliers_all {
    syi_dd change, spread;
    double changes, squares;
} outliers_all;

/* Those in the last column's window: as a rule one or none, which nobody could foretell. */
SYI_INLINE outliers_all outliers_add_up(const outliers *o)
{
    static const outlier none = {.at = 0};
    const outlier *const one = o->first < o->end ? &o->of[o->first] : &none;
    syi_dd square = one->square;
    outliers_all all = {one->change, one->alone, fabs(one->change.high), fabs(one->square.high)};
    if (__builtin_expect(o->end - o->first < 2, 1))
        return all;
    for (int k = o->first + 1; k < o->end; k++) {
        const outlier *const here = &o->of[k];
        all.change = outliers_sum(all.change, here->change);
        square = outliers_sum(square, here->square);
        all.changes += fabs(here->change.high);
        all.squares += fabs(here->square.high);
    }
    all.spread = outliers_spread(square, all.change);
    return all;
}

/* Puts a number in a lane: not by itself, for which whoever reads the vector next would wait. */
SYI_INLINE void outliers_put(syi_vec *to, syi_bits_vec lane, double value)
{
    *to = syi_vec_pick(lane, syi_vec_of(value), *to);
}

/* A lane's outliers in the windows of a column; `reach` as in outliers_set(). */
SYI_INLINE void outliers_tell(const outliers *o, int64_t column, double reach, double period,
                              outlying *now, int lane)
{
    static const uint64_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const syi_bits_vec all_lanes = (syi_bits_vec)syi_vec_load((const double *)numbers);
    const syi_bits_vec here = (syi_bits_vec)(all_lanes == (uint64_t)lane);
    const outliers_all all = outliers_add_up(o);
    const outlier *const last = &o->of[o->end > 0 ? o->end - 1 : 0];
    const double any = o->first < o->end ? 1.0 : 0.0, is_new = last->at == column ? 1.0 : 0.0;
    const double newest = is_new * last->newest.high;
    outliers_put(&now->change, here, all.change.high);
    outliers_put(&now->change_low, here, all.change.low);
    outliers_put(&now->spread, here, all.spread.high);
    outliers_put(&now->spread_low, here, all.spread.low);
    outliers_put(&now->newest, here, newest);
    outliers_put(&now->newest_low, here, is_new * last->newest.low);
    outliers_put(&now->sum_error, here,
                 any * 0x1p-98 * (all.changes + fabs(newest) + period * reach));
    outliers_put(&now->spread_error, here,
                 0x1p-97 * (all.squares + all.changes * (2.0 * period * reach + all.changes)));
    now->lanes = (now->lanes & ~here) | (here & (syi_bits_vec)(syi_vec_of(any) > 0.0));
}

/* Before column 0. */
SYI_INLINE void outliers_begin(outliers *o, int64_t period)
{
    o->of[o->count].at = INT64_MAX / 2;
    o->first = o->end = 0;
    while (o->of[o->end].at < 0)
        o->end++;
    while (o->of[o->first].at < -period)
        o->first++;
}

/* On to a column, which one of them comes to or leaves, or both. */
SYI_INLINE void outliers_step(outliers *o, int64_t column, int64_t period)
{
    o->end += o->of[o->end].at == column;
    o->first += o->of[o->first].at == column - period;
}

#endif
#endif
