/*
 * How the stretches of a window are joined, from the newest on, in fast accuracy: to their mean,
 * and to how far their values are spread (fast/spread.h).
 */
#ifndef SYI_KERNELS_FAST_JOIN_H
#define SYI_KERNELS_FAST_JOIN_H

#include "fast/either.h"
#include "window/window.h"

enum { SYI_SPREAD_LENGTHS = 5 }; /* up to SYI_SCAN_LEAST */

/* The mean of the `have` newest columns, of which there is the mean, and the stretch of `length`
 * before them. */
SYI_EITHER syi_vector syi_join_mean(syi_vector newer, syi_vector sum, int64_t length, int64_t have)
{
    syi_vector mean = sum * (1.0 / (double)length);
    return have ? syi_fused(mean - newer, (double)length / (double)(length + have), newer) : mean;
}

/* How a stretch joins what is behind it. The squares of what is joined are counted times the
 * longest stretch's length; those of a single stretch, and its distance, as they come. */
typedef struct syi_joint {
    double up, behind, apart; /* of the stretch's square, of those behind it, of the gap's */
    double shift, distance;   /* of the gap and the distance so far in the mean's distance */
    double lead;              /* of the gap in the next one */
    int first, second;        /* whether nothing, one stretch is behind it */
} syi_joint;

/* What has been joined: its squares, its mean's distance from the newest value, and what the next
 * gap has to be led by. */
typedef struct syi_spread {
    syi_vector square, distance, lead;
} syi_spread;

/* The joint with so many columns behind it: where that is known when this is compiled, so is what
 * it has to do. */
SYI_EITHER syi_joint syi_known_joint(syi_joint joint, int64_t behind)
{
    joint.first = behind == 0;
    joint.second = (behind & (behind - 1)) == 0;
    return joint;
}

/* The joint of the stretch of `length` in a period; `length` is in it. */
SYI_EITHER syi_joint syi_joint_of(int64_t period, int64_t length)
{
    const int64_t behind = period & (length - 1), both = length + behind;
    const int64_t older = period & ~(both | (length - 1)), next = older & -older;
    const double most = syi_pow2(63 - __builtin_clzll((unsigned long long)period));
    const double part = (double)behind / ((double)length * (double)both);
    syi_joint joint = syi_known_joint((syi_joint){0}, behind);
    joint.up = most / (double)length;
    joint.behind = joint.second && behind ? most / (double)behind : 1.0;
    joint.distance = joint.second && behind ? 1.0 / (double)behind : 1.0;
    joint.apart = most * part;
    joint.shift = 1.0 / (double)both;
    joint.lead = part * (double)next;
    return joint;
}

/* `last`: it is the longest. */
SYI_EITHER void syi_join(const syi_joint *joint, int last, syi_vector square, syi_vector gap,
                         syi_spread *all)
{
    if (joint->first) {
        all->square = square;
        all->distance = last ? gap * joint->shift : gap;
        return;
    }
    if (!joint->second)
        gap += all->lead;
    all->square = syi_product_sum(
        gap * joint->apart, gap,
        syi_scaled_sum(all->square, joint->behind, last ? square : square * joint->up));
    all->distance = syi_fused(gap, joint->shift, all->distance * joint->distance);
    all->lead = gap * joint->lead;
}

/* Makes the variance, or bands' reach, of a window's squares. */
SYI_EITHER double syi_spread_factor(const syi_window *window)
{
    const double most = syi_pow2(63 - __builtin_clzll((unsigned long long)window->period));
    const double factor = 1.0 / (most * (double)(window->period - window->ddof));
    return window->kind == SYI_WINDOW_BANDS ? window->width * sqrt(factor) : factor;
}

/* What comes of a window, of all of whose columns there is the spread. */
SYI_EITHER void syi_spread_result(syi_window_kind kind, double factor, syi_vector newest,
                                  const syi_spread *all, syi_vector *out)
{
    if (kind == SYI_WINDOW_BANDS) {
        syi_vector reach = syi_root(all->square) * factor;
        out[1] = newest + all->distance;
        out[0] = out[1] + reach;
        out[2] = out[1] - reach;
        return;
    }
    const syi_vector variance = all->square * factor;
    out[0] = kind == SYI_WINDOW_SCORE ? syi_score(all->distance, variance) : syi_root(variance);
}

#endif
