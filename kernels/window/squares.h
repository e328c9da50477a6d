/*
 * The quick way through a stretch of rolling deviations, scores and bands. Values are taken as
 * distances d from a pivot among them. The sum of the d slides exactly, as in window/grid.h, that
 * of their squares as Q = high + low, high being a sum large enough to have a grid g itself: adding
 * to it cuts what is added, and low gets what was cut off. The mean is certain, what is made of
 * the deviation is tested.
 *
 * Where no value is more than twice another, the window changes by i - o and the sum of the squares
 * by (i - o) (i + o), with both factors exact. Else the pivot is 0, and squares come and go, and if
 * a sum of what is cut off the values of a long window is no double, that is cut once more. Where
 * the values are so close that any sum of a window's distances is a double, nothing of it is cut.
 *
 * With |d| < 2^top and windows of c <= 2^length values Q stays below 2^50 g for g = 2^(2 top +
 * length - 50), and the sums within 2^51 g of their beginning, 1.5 * 2^52 g. A column adds a cut of
 * g / 2 at most to low, or two where the pivot is 0. What low has of g goes to high after every
 * batch, so low is never more than the cuts of a batch and one. Each addition loses 2^-53 of what
 * it gives at most: in a lane the cuts there so far, where lanes and batches are joined all of them
 * (squares_lost). Times c that is what c Q - S^2 is off by, also where what is made of high and low
 * loses something because low is the larger one.
 */
#ifndef SYI_KERNELS_WINDOW_SQUARES_H
#define SYI_KERNELS_WINDOW_SQUARES_H

#include "window/certify.h"
#include "window/lanes.h"
#include "window/outliers.h"
#include "window/window.h"

#if SYI_HAVE_VECTORS

/* Of longer windows some are not sure, each of which costs a period. */
#define SQUARES_LONGEST (INT64_C(1) << 19)

/* What is made of a spread's root is off by this much of itself at most, and by what the spread is.
 */
#define SQUARES_SLACK 0x1p-85

typedef enum squares_way {
    SQUARES_DEEP, /* as FAR, and sums have a third part */
    SQUARES_FAR,
    SQUARES_NEAR,  /* no value is more than twice another */
    SQUARES_CLOSE, /* and the sums' low parts are 0 */
    SQUARES_WHOLE  /* they are 0, too, and spreads exact: values are multiples of a unit, the pivot
                      is 0 (stretches.h) */
} squares_way;

/* Whether values are taken as they are, and cut each. */
SYI_INLINE int squares_are_far(squares_way way)
{
    return way <= SQUARES_FAR;
}

/* Whether sums have low parts. */
SYI_INLINE int squares_have_low(squares_way way)
{
    return way <= SQUARES_NEAR;
}

typedef struct squares_moments {
    syi_vec sum, sum_low, sum_least, square, square_low;
} squares_moments;

typedef struct squares {
    squares_moments before; /* of the window so far, in each element */
    squares_moments start;  /* what sums of changes begin with */
    syi_vec pivot, shift;
    syi_vec shift_low; /* for what is cut off to be cut */
    window_divisor by; /* the period */
    /* Times the spread's root: the deviation, or the bands' distance from the mean; a score is
     * divided by the root and multiplied by this. */
    syi_vec factor, factor_low;
    /* Times 0.5 / root: the bound of the result's error. A score's: times its square, times the
     * score. Where spreads are exact: times the root, and of bands `mean_error` more; a score's:
     * times the score. */
    syi_vec error, mean_error;
    syi_vec least;    /* windows with a larger spread are not flat */
    syi_vec down, up; /* 2^-2e and 2^-e, spreads being below 2^2e */
    int64_t period;
    double width;    /* |factor| */
    double reach;    /* all distances are at most that */
    double per_unit; /* 1 / a quarter of the values' unit */
    /* Below which 0.5 / root is for bands to be decided (window/ties.h), and how far from the pivot
     * they may be for that: infinite, if none are farther. */
    double decidable, band_reach;
    syi_window_kind kind;
    squares_way way;
    int past;      /* whole batches go past the cache */
    int64_t known; /* columns of the segment that are there (traffic.h) */
    int64_t ahead; /* columns from a batch to what is asked for on the way */
    int64_t spare; /* columns that may be read again, of blocks and of windows that begin anew */
} squares;

SYI_INLINE double squares_larger(double a, double b)
{
    return a > b ? a : b;
}

/* What low loses at most, in 2^-53 cuts, on the way through `count` columns, of batches of which
 * three are not whole: for each column its cuts, as they are made; what is added up in its lane, on
 * average half of the lane's; and its part of the four times that a whole batch is added up, in
 * three steps and then to those before. For what is made of the last batch a few times that. */
SYI_INLINE double squares_lost(squares_way way, int64_t count)
{
    const double cuts = squares_are_far(way) ? 2.0 : 1.0, batch = (double)BATCH;
    const double each = cuts + 0.5 * cuts * cuts * (double)(LANE + 1) + 4.0 * cuts + 1.0;
    return ((double)count + 4.0 * batch) * each + 16.0 * (cuts * batch + 2.0);
}

/* Grids and bounds for values of which |d| < 2^top, of which low loses so much. Spreads that differ
 * by e have roots that differ by e / the larger one at most; what is in proportion to a root is so
 * to the largest one's square / the root. */
SYI_INLINE void squares_bound(squares *s, int top, double lost, double largest)
{
    const int length = window_length(s->period);
    const double grid = syi_pow2(2 * top + length - 50), period = (double)s->period;
    const double most = period * syi_pow2(top); /* of a root */
    const double spread_error = 1.0625 * period * 0.5 * grid * lost * 0x1p-53;
    double error = 2.0 * spread_error + 2.0 * SQUARES_SLACK * most * most;
    error *= s->kind == SYI_WINDOW_SCORE ? 2.125 : 1.0625 * s->width;
    if (s->kind == SYI_WINDOW_BANDS) /* and 2^-98 of the mean */
        error += 0x1p-97 * largest * most;
    s->error = syi_vec_of(error);
    s->least = syi_vec_of(spread_error);
    s->shift = syi_vec_of(1.5 * syi_pow2(top + length + (squares_are_far(s->way) ? 1 : 3)));
    s->shift_low = syi_vec_of(1.5 * syi_pow2(top + 2 * length - 52));
    s->start.sum = syi_vec_of(s->way == SQUARES_NEAR ? s->shift[0] : 0.0);
    s->start.square = syi_vec_of(1.5 * grid * 0x1p52);
    s->down = syi_vec_of(syi_pow2(-2 * (top + length)));
    s->up = syi_vec_of(syi_pow2(-(top + length)));
}

/* Whether bands' means are larger than what is added to them, of near values: those deviate by half
 * of what they are apart at most. */
SYI_INLINE int squares_bands_fit(const squares *s, double least, double most)
{
    const double step = s->width * (double)s->period * (most - least) * (0.5 + 0x1p-30);
    return s->kind != SYI_WINDOW_BANDS || step <= squares_larger(least, -most);
}

/* Bits that values may have for their sums' last parts to be doubles where each is cut, once or
 * twice: a window has up to 2^length of these, of half a unit of the part before each, and is
 * changed by as many whole ones, or those of a batch if these are fewer. */
SYI_INLINE int squares_bits(int length, squares_way way)
{
    const int bits = way == SQUARES_DEEP ? 158 - 3 * length : 105 - 2 * length;
    return length > 6 ? bits : bits - 1;
}

/* Chooses pivot, if it can the one given, and grids for `count` values, columns - period + 1, which
 * are not all the same. Gives whether there are such. */
SYI_INLINE int squares_begin(squares *s, const window_range *range, double pivot, int64_t count)
{
    const syi_span *span = &range->span;
    const double least = range->least, most = range->most;
    const double size = squares_larger(most - pivot, pivot - least);
    const int length = window_length(s->period), bits = span->top - span->bottom;
    if (span->has_non_finite)
        return 0;
    if (bits > squares_bits(length, SQUARES_DEEP) || bits > 99 - length || span->bottom < -400 ||
        span->top > 400)
        return 0;
    int top = syi_split(size).exponent + 53;
    const squares_way far = bits <= squares_bits(length, SQUARES_FAR) ? SQUARES_FAR : SQUARES_DEEP;
    const int near = far == SQUARES_FAR && window_is_near(range) && top - span->bottom <= 52 &&
                     squares_bands_fit(s, least, most);
    s->way = !near ? far : window_is_close(range, s->period) ? SQUARES_CLOSE : SQUARES_NEAR;
    s->pivot = syi_vec_of(near ? pivot : 0.0);
    s->per_unit = syi_pow2(2 - span->bottom);
    s->reach = near ? size : squares_larger(most, -least);
    top = near ? top : span->top;
    squares_bound(s, top, squares_lost(s->way, count), squares_larger(most, -least));
    return 1;
}

/* A window gets `in` and loses `out`. */
SYI_INLINE void squares_change(const squares *s, squares_moments *m, syi_vec in, syi_vec out,
                               squares_way way)
{
    syi_vec sum, cut;
    if (!squares_are_far(way)) {
        syi_vec change = syi_vec_less(in, out);
        syi_vec both = syi_vec_fma(syi_vec_of(2.0), syi_vec_less(out, s->pivot), change);
        sum = m->sum + change;
        if (way == SQUARES_NEAR)
            m->sum_low = syi_vec_plus(m->sum_low, change - (sum - m->sum));
        m->sum = sum;
        sum = syi_vec_fma(change, both, m->square);
        m->square_low += syi_vec_fma(change, both, m->square - sum);
        m->square = sum;
        return;
    }
    const window_parts parts = window_cut(in, out, s->shift, s->shift_low, way == SQUARES_DEEP);
    m->sum += parts.high;
    m->sum_low += parts.low;
    if (way == SQUARES_DEEP)
        m->sum_least += parts.least;
    sum = syi_vec_fma(in, in, m->square);
    m->square_low += syi_vec_fma(in, in, m->square - sum);
    cut = syi_vec_fnma(out, out, sum);
    m->square_low -= syi_vec_fma(out, out, cut - sum);
    m->square = cut;
}

/* What comes before the lanes that these changes were made in, those of a batch at most. */
SYI_INLINE squares_moments squares_before(squares *s, const squares_moments *m, squares_way way)
{
    squares_moments *all = &s->before, before = {{0}, {0}, {0}, {0}, {0}};
    syi_vec whole;
    before.sum = lanes_before(&all->sum, m->sum - s->start.sum) - s->start.sum;
    if (squares_have_low(way))
        before.sum_low = lanes_before(&all->sum_low, m->sum_low);
    if (way == SQUARES_DEEP)
        before.sum_least = lanes_before(&all->sum_least, m->sum_least);
    before.square = lanes_before(&all->square, m->square - s->start.square) - s->start.square;
    before.square_low = lanes_before(&all->square_low, m->square_low);
    whole = (all->square_low + s->start.square) - s->start.square; /* a multiple of g */
    all->square += whole;
    all->square_low -= whole;
    return before;
}

/* The first window so far. Zero distances fill up the last vector. */
static inline void squares_fill(squares *s, const double *x, int64_t count)
{
    squares_moments m = s->start;
    s->before = (squares_moments){{0}, {0}, {0}, {0}, {0}};
    for (int64_t i = 0; i < count; i += SYI_VECTOR) {
        const int64_t left = count - i;
        const syi_vec next =
            left < SYI_VECTOR ? syi_vec_load_some(x + i, left, s->pivot) : syi_vec_load(x + i);
        squares_change(s, &m, next, s->pivot, s->way);
        if ((i + SYI_VECTOR) % BATCH == 0 || left <= SYI_VECTOR) {
            squares_before(s, &m, s->way);
            m = s->start;
        }
    }
}

/* BATCH columns on their way (squares_run.c). */
typedef struct squares_batch {
    squares_moments before; /* each lane */
    syi_vec sum[LANE], sum_low[LANE], sum_least[LANE], square[LANE], square_low[LANE];
    syi_vec root[LANE], root_low[LANE], half[LANE]; /* 0.5 / root */
    /* The results with what they may be off by added and, of bands the upper ones and the lower
     * ones, with it taken away: where both are the same they are sure. */
    syi_vec out[3][LANE], least[2][LANE];
    /* Of stretches: whether there are windows with outliers, and what those of each column are. */
    int is_outlying;
    outlying_window outlying[LANE];
    syi_vec shift[LANE], shift_low[LANE]; /* of scores: to what is divided */
} squares_batch;

/* The windows that end at x[0 .. BATCH) and lose old[..]. If all are sure they are put to out[..],
 * where that is not NULL, and it returns 1; else their results stay in the batch. */
int SYI_ISA_NAME(syi_squares_run)(squares *s, squares_batch *b, const double *x, const double *old,
                                  double *const *out, int past);

/* The bits of a batch's windows, of which there are those of each column's lanes. */
SYI_INLINE uint64_t squares_by_lanes(uint64_t columns)
{
    const uint64_t first_lane = UINT64_MAX / ((UINT64_C(1) << SYI_VECTOR) - 1);
    uint64_t windows = 0;
    for (int l = 0; l < SYI_VECTOR; l++)
        windows |= _pext_u64(columns, first_lane << l) << (l * LANE);
    return windows;
}

/* Bit i: the batch's window i is not sure; with `lower` its lower band. */
SYI_INLINE uint64_t squares_unsure(const squares *s, const squares_batch *b, int lower)
{
    uint64_t columns = 0;
    for (int k = 0; k < LANE; k++) {
        syi_vec_mask sure =
            syi_vec_mask_ordered(syi_vec_mask_full(), b->out[2 * lower][k], b->least[lower][k]);
        if (s->kind == SYI_WINDOW_SCORE)
            sure = syi_vec_mask_ordered(sure, s->least, b->square[k]);
        columns |= syi_vec_mask_bits(sure) << (k * SYI_VECTOR);
    }
    return squares_by_lanes(~columns);
}

#endif
#endif
