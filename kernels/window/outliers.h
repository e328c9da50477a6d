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

/* Times the usual value; what is not so large blocks (blocks.h) compute like any other. */
#define OUTLIERS_ABOVE 0x1p12
/* How many times as far as the others are from the pivot they may be: the square of that, as often
 * as they are, is a float. */
#define OUTLIERS_FAR 0x1p56

typedef struct outlier {
    int64_t at; /* its column of the lane, < 0 before the first one */
    double value;
    syi_dd change, square; /* d and c e */
} outlier;

typedef struct outliers {
    outlier of[OUTLIERS_MOST];
    int count, first, end; /* [first, end) are in the last column's window */
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
    int64_t each[SYI_VECTOR];        /* the columns with which that changes */
    int64_t next;                    /* the first of them, */
    int lane;                        /* in this lane */
} outlying;

/* What of that results want to know. */
typedef struct outlying_window {
    syi_bits_vec lanes;
    syi_vec sum_error, spread_error;
} outlying_window;

/* The bits of the values from x[0] on that are not within `reach` of `middle`. */
SYI_INLINE uint64_t outliers_far(const double *x, syi_vec middle, syi_vec reach)
{
    const syi_vec away = syi_vec_abs(syi_vec_less(syi_vec_load(x), middle));
    const syi_vec_mask near = syi_vec_mask_ordered(syi_vec_mask_full(), away, reach);
    return syi_vec_mask_bits(near) ^ ((1 << SYI_VECTOR) - 1);
}

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

/* Takes a lane's outliers, of x[0 .. count), `before` of which come before its first column, out of
 * its copy. Gives whether it is then one of values from *least to *most, of which as a rule none is
 * more than twice another; if not, the copy is as it was, but for what is not finite. */
SYI_INLINE int outliers_take(outliers *o, const double *x, int64_t before, int64_t count,
                             int64_t period, syi_vec *tile, int lane, double *least, double *most)
{
    const int64_t few = OUTLIERS_A_WINDOW * count / period;
    const double usual = outliers_usual(x[0], x[count / 2], x[count - 1]);
    const double reach = 0.33 * fabs(usual);
    const syi_vec middle = syi_vec_of(usual), away = syi_vec_of(reach);
    syi_vec low = middle, high = middle;
    o->usual = usual;
    o->most = few < OUTLIERS_MOST ? (int)few : OUTLIERS_MOST;
    const int near = (fabs(x[0] - usual) <= reach) + (fabs(x[count / 2] - usual) <= reach) +
                     (fabs(x[count - 1] - usual) <= reach);
    if (near < 2) /* as if they changed all the time */
        return 0;
    for (int64_t i = 0; i < count; i += SYI_VECTOR) {
        syi_vec kept = syi_vec_load(x + i);
        for (uint64_t far = outliers_far(x + i, middle, away); far; far &= far - 1) {
            const int k = __builtin_ctzll(far);
            if (!outliers_take_one(o, x[i + k], i + k - before, &tile[i + k], lane)) {
                outliers_put_back(o, before, tile, lane);
                return 0;
            }
            kept[k] = usual;
        }
        low = syi_vec_min(kept, low);
        high = syi_vec_max(kept, high);
    }
    *least = syi_vec_least(low);
    *most = syi_vec_most(high);
    return 1;
}

/* Of a lane with this pivot, from which its other values are at most `reach`. Gives whether none
 * is too far away. */
SYI_INLINE int outliers_set(outliers *o, double pivot, double reach, double period)
{
    o->first = o->end = 0;
    for (int k = 0; k < o->count; k++) {
        outlier *const here = &o->of[k];
        if (!(fabs(here->value) < OUTLIERS_FAR * reach))
            return 0;
        here->change = syi_dd_of_sum(here->value, -o->usual);
        const syi_dd both = syi_dd_of_sum(here->value, o->usual);
        const syi_dd sum = syi_dd_add(both, (syi_dd){-2.0 * pivot, 0.0});
        here->square = syi_dd_scale(syi_dd_multiply(here->change, sum), period);
    }
    return 1;
}

/* a + b, whose low part may be larger than a place of the high one. */
SYI_INLINE syi_dd outliers_sum(syi_dd a, syi_dd b)
{
    const syi_dd sum = syi_dd_of_sum(a.high, b.high);
    return (syi_dd){sum.high, sum.low + (a.low + b.low)};
}

/* What a lane's outliers come to in the windows of a column; `reach` as in outliers_set(). */
SYI_INLINE void outliers_add_up(const outliers *o, int64_t column, double reach, double period,
                                outlying *now, int lane)
{
    syi_dd change = {0.0, 0.0}, square = {0.0, 0.0}, newest = {0.0, 0.0};
    double changes = 0.0, squares = 0.0;
    for (int k = o->first; k < o->end; k++) {
        const outlier *const here = &o->of[k];
        change = outliers_sum(change, here->change);
        square = outliers_sum(square, here->square);
        changes += fabs(here->change.high);
        squares += fabs(here->square.high);
        if (here->at == column)
            newest = syi_dd_scale(here->change, period);
    }
    const syi_dd less = syi_dd_multiply(change, change);
    const syi_dd spread = outliers_sum(square, syi_dd_negative(less));
    now->change[lane] = change.high;
    now->change_low[lane] = change.low;
    now->spread[lane] = spread.high;
    now->spread_low[lane] = spread.low;
    now->newest[lane] = newest.high;
    now->newest_low[lane] = newest.low;
    now->sum_error[lane] =
        o->first < o->end ? 0x1p-98 * (changes + fabs(newest.high) + period * reach) : 0.0;
    now->spread_error[lane] = 0x1p-97 * (squares + changes * (2.0 * period * reach + changes));
    now->lanes[lane] = o->first < o->end ? UINT64_MAX : 0;
}

/* Which lane changes next, and where. */
SYI_INLINE void outlying_find_next(outlying *now)
{
    int64_t lane = 0, next = now->each[0];
    for (int l = 1; l < SYI_VECTOR; l++) { /* without branches, which nobody could foretell */
        const int64_t less = -(int64_t)(now->each[l] < next);
        lane = (lane & ~less) | (l & less);
        next = (next & ~less) | (now->each[l] & less);
    }
    now->lane = (int)lane;
    now->next = next;
}

/* On to a lane's outliers in the windows of a column; gives with which column they change. */
SYI_INLINE int64_t outliers_step(outliers *o, int64_t column, int64_t period)
{
    int64_t next = INT64_MAX;
    while (o->end < o->count && o->of[o->end].at <= column)
        o->end++;
    while (o->first < o->end && o->of[o->first].at <= column - period)
        o->first++;
    if (o->end < o->count)
        next = o->of[o->end].at;
    if (o->first < o->end && o->of[o->first].at + period < next)
        next = o->of[o->first].at + period;
    return next;
}

#endif
#endif
