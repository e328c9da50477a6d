/*
 * The quick way through a stretch of rolling means. A value is cut on a grid, x = a + b, a being a
 * multiple of g; g is chosen so that the sums of the a and those of the b are exact in a double
 * each. So the window slides exactly: what SYI_VECTOR columns change is a sum of sums of 1, 2, 4
 * columns, in any order, and vectors of windows follow each other by one addition.
 *
 * With |x| < 2^top, all of them multiples of u = 2^bottom, a window of at most 2^length values and
 * g = 2^(top + length - 51): what the sums of the a go through, and their differences, stay below
 * 2^53 g, and those of the b below 2^(top + 2 length - 51), which is to be 2^53 u at most. Where it
 * is more, as of long windows with a spike, each b is cut once more, to multiples of h = 2^(top + 2
 * length - 103), and the sums of what that leaves stay below 2^(top + 3 length - 103).
 *
 * Of values of which none is more than twice another the differences are exact: it is the change of
 * the window that is cut, and where the changes of SYI_VECTOR columns add up exactly, that sum of
 * them, by adding it to a sum that is large enough to have the grid itself. What is cut off then no
 * longer goes when its value goes: after n columns its sum is up to n g / 2. With g = 2^(top +
 * length - 49) the sums stay within 2^51 g of their beginning, 1.5 * 2^52 g.
 *
 * The quotient's correction has an error of 2^-49 ulp. Exact quotients come out exactly, ties among
 * them; any other lies at least min(ulp / 2, 2^bottom) / period away from a tie. So where that is
 * larger than the error nothing is ever in doubt.
 *
 * Of near values it is the sum of the a that is divided: the mean is 2^(top - 2) at least, and what
 * the quotient lacks is exact, and with the b below 2^(top + columns - 49) for 2^columns >= 2 n. So
 * the correction's error is below 2^(top + columns - 101), while a tie is 2^(top - 56 - length) or
 * 2^(bottom - length) away.
 *
 * Where all values are multiples of a larger u, as whole numbers are, and the sums of a window's
 * are doubles, nothing is cut either.
 *
 * Where near values are so close that the sums of their distances from a pivot are doubles, nothing
 * is cut. A mean that is off by one place leaves a rest of few units, a double; what is added for
 * it is off by 2^-53 of a place, and exact where that is half a place: then the quotient of the
 * rest is a double, too, of which a division by 53 more bits of the reciprocal loses nothing.
 */
#ifndef SYI_KERNELS_WINDOW_GRID_CUT_H
#define SYI_KERNELS_WINDOW_GRID_CUT_H

#include "window/certify.h"
#include "window/lanes.h"

#if SYI_HAVE_VECTORS

typedef enum grid_way {
    GRID_DEEP,  /* values are cut twice */
    GRID_FAR,   /* once */
    GRID_WIDE,  /* no value is more than twice another */
    GRID_NEAR,  /* and sums of SYI_VECTOR changes are doubles */
    GRID_CLOSE, /* and nothing is cut: the sum is of distances from a pivot */
    GRID_WHOLE  /* nothing is cut */
} grid_way;

/* How values are cut; one that is equal to another cuts alike. */
typedef struct grid_cut {
    double shift; /* adding and taking it away rounds to a multiple of g, or the pivot, or anything;
                     0: this way does not go */
    grid_way way;
    double shift_low; /* the same to a multiple of h */
} grid_cut;

/* Whether it is each value that is cut. */
SYI_INLINE int grid_is_far(grid_way way)
{
    return way <= GRID_FAR;
}

/* Whether sums have a lower part. */
SYI_INLINE int grid_cuts(grid_way way)
{
    return way <= GRID_NEAR;
}

/* The pivot of close values: that of the block before, if they are with it; 0: they are not. */
SYI_INLINE double grid_pivot(const window_range *range, int64_t period, double before)
{
    window_range both = *range;
    both.least = before < both.least ? before : both.least;
    both.most = before > both.most ? before : both.most;
    if (window_is_close(&both, period))
        return before;
    return window_is_close(range, period) ? 0.5 * range->least + 0.5 * range->most : 0.0;
}

/* Whether all of x[0 .. count), below 2^top, are multiples of 2^(top + length - 52): so the sums of
 * 2^length of them are doubles. What is not whole is so soon, as a rule. */
SYI_INLINE int grid_is_whole(const double *x, int64_t count, int top, int length)
{
    enum { STEP = 8 * SYI_VECTOR };
    const syi_vec shift = syi_vec_of(1.5 * syi_pow2(top + length));
    for (int64_t i = 0; i < count; i += STEP) {
        syi_bits_vec rest = {0};
        for (int64_t k = i; k < i + STEP && k < count; k += SYI_VECTOR) {
            const syi_vec next = window_next(x, k, count);
            rest |= (syi_bits_vec)((next + shift) - shift != next);
        }
        if (syi_vec_any(rest))
            return 0;
    }
    return 1;
}

/* Whether the sums of the parts of such values, two or three, are exact. */
SYI_INLINE int grid_holds(const syi_span *span, int length, int parts)
{
    const int bits = span->top - span->bottom, most = parts == 2 ? 103 : 155;
    return bits <= most - parts * length && bits <= 99 - length && span->bottom >= -850;
}

/* Whether near values are cut as such, in blocks of at most `stride` columns. */
SYI_INLINE int grid_is_near(const window_range *range, int64_t period, int64_t stride)
{
    const int length = window_length(period), columns = window_length(2 * (period + stride));
    return window_is_near(range) && grid_holds(&range->span, length, 2) &&
           range->span.top - range->span.bottom + length + columns <= 100 && length + columns <= 44;
}

/* For blocks of at most `stride` columns, of which x[0 .. count) is one with the windows before it,
 * and `range` what it is made of; `before`: how the one before is cut. */
SYI_INLINE grid_cut grid_cut_of(const double *x, int64_t count, window_range range, int64_t period,
                                int64_t stride, grid_cut before)
{
    const int length = window_length(period), top = range.span.top;
    const double held = before.way == GRID_CLOSE ? before.shift : 0.0; /* close to 0 is nothing */
    if (range.span.has_non_finite || top > 850)
        return (grid_cut){0.0, GRID_FAR, 0.0};
    const int near = grid_is_near(&range, period, stride);
    const double pivot = near ? grid_pivot(&range, period, held) : 0.0;
    if (pivot != 0.0)
        return (grid_cut){pivot, GRID_CLOSE, 0.0};
    if (top > -700 && grid_is_whole(x, count, top, length > 0 ? length : 1))
        return (grid_cut){1.0, GRID_WHOLE, 0.0};
    window_bottom(&range, x, count);
    if (!grid_holds(&range.span, length, 3))
        return (grid_cut){0.0, GRID_FAR, 0.0};
    if (!near)
        return (grid_cut){1.5 * syi_pow2(top + length + 1),
                          grid_holds(&range.span, length, 2) ? GRID_FAR : GRID_DEEP,
                          1.5 * syi_pow2(top + 2 * length - 51)};
    return (grid_cut){1.5 * syi_pow2(top + length + 3),
                      window_is_close(&range, SYI_VECTOR) ? GRID_NEAR : GRID_WIDE, 0.0};
}

#endif
#endif
