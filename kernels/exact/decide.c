/*
 * Rounding by exact comparison. The doubles are ordered, and so are the points half way between
 * neighbours; a search over them needs only the sign of (value - half-way point), which integers
 * decide by squaring. Ties, zeros, subnormals and overflow are no special cases.
 */
#include "exact/decide.h"

#include "exact/round.h"

#include <math.h>
#include <stdlib.h>

/* A double's rank in the order of all doubles: -infinity, ..., zero (one of them), ..., infinity.
 */
#define ZERO (UINT64_C(0x7ff) << 52)
#define LAST (2 * ZERO)

static uint64_t rank_of(double x)
{
    uint64_t bits = syi_bits(x), magnitude = bits & (UINT64_MAX >> 1);
    if (magnitude > ZERO)
        return ZERO;
    return bits >> 63 ? ZERO - magnitude : ZERO + magnitude;
}

static double double_at(uint64_t rank)
{
    return rank < ZERO ? -syi_from_bits(ZERO - rank) : syi_from_bits(rank - ZERO);
}

/* fraction * 2^exponent, all but the last places of a true value. */
typedef struct rough {
    double fraction;
    int64_t exponent;
} rough;

static rough rough_of(const syi_big *a)
{
    const int top = a->size - 1;
    if (top < 0)
        return (rough){0.0, 0};
    const int shift = __builtin_clzll(a->limb[top]);
    uint64_t bits = a->limb[top] << shift;
    if (top > 0)
        bits |= a->limb[top - 1] >> 1 >> (63 - shift);
    return (rough){(double)bits, 64 * (int64_t)top - shift};
}

static rough rough_root(rough a)
{
    const int64_t odd = a.exponent & 1;
    return (rough){sqrt(odd ? 2.0 * a.fraction : a.fraction), (a.exponent - odd) / 2};
}

static rough rough_sum(rough a, rough b)
{
    const rough low = a.exponent < b.exponent ? a : b;
    rough sum = a.exponent < b.exponent ? b : a;
    if (sum.fraction == 0.0)
        return low;
    if (sum.exponent - low.exponent < 1000)
        sum.fraction += low.fraction * syi_pow2((int)(low.exponent - sum.exponent));
    return sum;
}

static double double_of(rough a)
{
    const syi_parts parts = syi_split(a.fraction);
    return syi_round_to_double(parts.negative, parts.mantissa, parts.exponent + a.exponent, 0);
}

/* A question is the band and what stays the same in every comparison. */
typedef struct question {
    const syi_moments *moments;
    int with_mean;
    int side;       /* the sign of width * deviation */
    syi_big square; /* width^2 * N * count, in units of 4^width_exponent */
    int width_exponent;
} question;

static void ask(question *q, const syi_moments *moments, int with_mean, double width)
{
    syi_parts parts = syi_split(width);
    q->moments = moments;
    q->with_mean = with_mean;
    q->side = 0;
    if (width == 0.0 || moments->spread.size == 0)
        return;
    q->side = parts.negative ? -1 : 1;
    int zeros = __builtin_ctzll(parts.mantissa);
    q->width_exponent = parts.exponent + zeros;
    syi_big_copy(&q->square, &moments->spread);
    syi_big_scale(&q->square, parts.mantissa >> zeros);
    syi_big_scale(&q->square, parts.mantissa >> zeros);
    syi_big_scale(&q->square, (uint64_t)moments->count);
}

/* The sum and the reach, which point to opposite sides, by the difference of their squares: the
 * closer they are, the less is left of their own places. */
static rough rough_difference(const question *q, rough sum, rough reach)
{
    const syi_moments *m = q->moments;
    const int64_t below = q->width_exponent < 0 ? -2 * (int64_t)q->width_exponent : 0;
    const int64_t above = q->width_exponent > 0 ? 2 * (int64_t)q->width_exponent : 0;
    syi_big squares, square;
    syi_big_square(&squares, &m->sum);
    syi_big_scale(&squares, (uint64_t)m->free);
    syi_big_shift_left(&squares, below);
    syi_big_copy(&square, &q->square);
    syi_big_shift_left(&square, above);
    const int is_less = syi_big_add_signed(&squares, 0, &square, 1);
    rough difference = rough_of(&squares);
    sum.fraction = fabs(sum.fraction);
    reach.fraction = fabs(reach.fraction);
    sum = rough_sum(sum, reach);
    difference.fraction /= sum.fraction * (double)m->free * (is_less != m->negative ? -1.0 : 1.0);
    difference.exponent -= sum.exponent + below;
    return difference;
}

static rough rough_band(const question *q)
{
    const syi_moments *m = q->moments;
    rough sum = {0.0, 0}, reach = {0.0, 0}, all, most;
    if (q->with_mean)
        sum = rough_of(&m->sum);
    if (m->negative)
        sum.fraction = -sum.fraction;
    if (q->side != 0) {
        reach = rough_of(&q->square);
        reach.fraction /= (double)m->free;
        reach = rough_root(reach);
        reach.fraction *= q->side;
        reach.exponent += q->width_exponent;
    }
    all = rough_sum(sum, reach);
    most = sum.exponent == all.exponent ? sum : reach;
    if (fabs(all.fraction) < 0x1p-6 * fabs(most.fraction))
        all = rough_difference(q, sum, reach);
    return (rough){all.fraction / (double)m->count, all.exponent + m->exponent};
}

/* T = point * count - with_mean * S, for the point (-1)^negative * mantissa * 2^exponent, in units
 * of 2^*unit relative to the data's. Returns its sign. */
static int distance(const question *q, const syi_parts *point, syi_big *out, int *unit)
{
    const syi_moments *m = q->moments;
    int above = point->exponent - m->exponent;
    syi_big sum;
    syi_big_set(out, &point->mantissa, 1);
    syi_big_scale(out, (uint64_t)m->count);
    if (above > 0)
        syi_big_shift_left(out, above);
    *unit = above < 0 ? above : 0;
    if (!q->with_mean || m->sum.size == 0)
        return point->negative ? -1 : 1;
    syi_big_copy(&sum, &m->sum);
    if (above < 0)
        syi_big_shift_left(&sum, -(int64_t)above);
    int negative = syi_big_add_signed(out, point->negative, &sum, !m->negative);
    return out->size == 0 ? 0 : negative ? -1 : 1;
}

static int compare_band(const void *value, const syi_parts *point)
{
    const question *q = value;
    syi_big rest, square;
    int unit, sign = distance(q, point, &rest, &unit);
    if (q->side == 0)
        return -sign;
    if (sign != q->side)
        return q->side;
    syi_big_square(&square, &rest);
    syi_big_scale(&square, (uint64_t)q->moments->free);
    if (unit > q->width_exponent) {
        syi_big_shift_left(&square, 2 * (int64_t)(unit - q->width_exponent));
        return q->side * syi_big_compare(&q->square, &square);
    }
    syi_big_copy(&rest, &q->square);
    syi_big_shift_left(&rest, 2 * (int64_t)(q->width_exponent - unit));
    return q->side * syi_big_compare(&rest, &square);
}

/* (-1)^negative * sqrt(number / divisor) */
typedef struct root {
    int negative;
    const syi_big *number, *divisor;
} root;

static int compare_root(const void *value, const syi_parts *point)
{
    const root *r = value;
    int sign = r->number->size == 0 ? 0 : r->negative ? -1 : 1, side = point->negative ? -1 : 1;
    syi_big left, right;
    if (sign != side)
        return sign < side ? -1 : 1;
    syi_big_copy(&left, r->number);
    syi_big_copy(&right, r->divisor);
    syi_big_scale(&right, point->mantissa);
    syi_big_scale(&right, point->mantissa);
    syi_big_shift_left(point->exponent < 0 ? &left : &right, 2 * (int64_t)abs(point->exponent));
    return sign * syi_big_compare(&left, &right);
}

/* The sign of (value - point). */
typedef int (*compare_fn)(const void *value, const syi_parts *point);

/* Whether the value rounds to a double beyond `rank`, which is not the last one: whether it lies
 * above the point half way to the next one, a tie going to the even of the two. */
static int is_beyond(compare_fn compare, const void *value, uint64_t rank)
{
    int negative = rank < ZERO;
    syi_parts point = syi_split(syi_from_bits(negative ? ZERO - rank - 1 : rank - ZERO));
    point.mantissa = 2 * point.mantissa + 1;
    point.exponent -= 1;
    point.negative = negative;
    int order = compare(value, &point);
    return order > 0 || (order == 0 && (rank & 1) != 0);
}

/* The next step of a search that gallops away from where it began. */
static uint64_t wider(uint64_t step)
{
    return step < ZERO ? 2 * step : step;
}

/* Fast where the value is about the rough one. */
static double search(compare_fn compare, const void *value, rough about)
{
    uint64_t start = rank_of(double_of(about)), low = start, high = start;
    for (uint64_t step = 1; high < LAST && is_beyond(compare, value, high); step = wider(step)) {
        low = high + 1;
        high = step < LAST - high ? high + step : LAST;
    }
    if (low == start) {
        for (uint64_t step = 1; low > 0 && !is_beyond(compare, value, low - 1);
             step = wider(step)) {
            high = low - 1;
            low = step < low ? low - step : 0;
        }
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (is_beyond(compare, value, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return double_at(low);
}

double syi_decide_band(const syi_moments *moments, int with_mean, double width)
{
    question q;
    ask(&q, moments, with_mean, width);
    return search(compare_band, &q, rough_band(&q));
}

double syi_decide_root(int negative, const syi_big *number, const syi_big *divisor)
{
    const root value = {negative, number, divisor};
    const rough a = rough_of(number), b = rough_of(divisor);
    rough about = rough_root((rough){a.fraction / b.fraction, a.exponent - b.exponent});
    if (negative)
        about.fraction = -about.fraction;
    return search(compare_root, &value, about);
}

double syi_decide_quotient(int negative, syi_big *number, int64_t exponent, uint64_t first,
                           uint64_t second)
{
    int64_t missing = 64 + 128 - syi_big_bit_length(number);
    if (number->size == 0)
        return 0.0;
    if (missing > 0) {
        syi_big_shift_left(number, missing);
        exponent -= missing;
    }
    if (first <= UINT64_MAX / second) {
        first *= second;
        second = 1;
    }
    int sticky = syi_big_divide(number, first) != 0;
    sticky |= syi_big_divide(number, second) != 0;
    int top = number->size - 1;
    int shift = __builtin_clzll(number->limb[top]);
    uint64_t mantissa = number->limb[top] << shift;
    if (top > 0) {
        mantissa |= number->limb[top - 1] >> 1 >> (63 - shift);
        sticky |= number->limb[top - 1] << shift != 0;
    }
    for (int k = top - 2; k >= 0; k--)
        sticky |= number->limb[k] != 0;
    return syi_round_to_double(negative, mantissa, exponent + 64 * (int64_t)top - shift, sticky);
}
