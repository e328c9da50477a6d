/*
 * Exact sliding sums in three widths: 1 limb for the sum and 2 for the squares, which is what most
 * data need, 2 and 4, and as many as it takes. A chunk receives the moments of successive windows
 * as limbs (for decisions) and as doubles of 106 bits (for the fast way).
 */
#ifndef SYI_KERNELS_WINDOW_SLIDE_H
#define SYI_KERNELS_WINDOW_SLIDE_H

#include "exact/limbs.h"
#include "exact/wide.h"
#include "window/certify.h"

#define CHUNK 256

typedef struct chunk {
    int limbs, capacity; /* limbs of a sum; windows that fit */
    double sum_high[CHUNK], sum_low[CHUNK], sum_error[CHUNK];
    double spread_high[CHUNK], spread_low[CHUNK];
    uint64_t sum[2 * CHUNK], spread[4 * CHUNK];
} chunk;

/* The sums of the windows' values, in units of 2^bottom; non-finite values count as zero. */
typedef struct slide {
    int64_t period;
    int bottom, limbs;
    int squares; /* whether the squares are wanted */
    int full;    /* the window has its `period` values: an old one goes when a new one comes */
    int64_t narrow_sum;
    syi_u128 narrow_squares;
    syi_i128 wide_sum;
    syi_u256 wide_squares;
    uint64_t sum[SYI_SUM_LIMBS], square[SYI_SQUARES_LIMBS];
} slide;

/* ---- one limb ---- */

SYI_INLINE void narrow_fill(slide *s, const double *x, int64_t count)
{
    double scale = syi_pow2(-s->bottom);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = syi_narrow_value(x[i], scale);
        s->narrow_sum += value;
        s->narrow_squares += (syi_u128)((syi_i128)value * value);
    }
}

/* The conversions are loops of their own, which vectorise; what is left of the chain of sums then
 * takes a cycle a column. */
SYI_INLINE void narrow_step(slide *s, chunk *c, const double *restrict x, int n, int squares)
{
    double scale = syi_pow2(-s->bottom);
    int64_t in[CHUNK], out[CHUNK];
    int64_t sum = s->narrow_sum;
    syi_u128 square = s->narrow_squares;
    for (int j = 0; j < n; j++)
        in[j] = syi_narrow_value(x[j], scale);
    out[0] = s->full ? syi_narrow_value(x[-s->period], scale) : 0;
    for (int j = 1; j < n; j++)
        out[j] = syi_narrow_value(x[j - s->period], scale);
    for (int j = 0; j < n; j++) {
        sum += in[j] - out[j];
        c->sum[j] = (uint64_t)sum;
        if (squares) {
            square += (syi_u128)((syi_i128)(in[j] - out[j]) * (in[j] + out[j]));
            syi_u128 spread = square * (uint64_t)s->period - (syi_u128)((syi_i128)sum * sum);
            c->spread[2 * j] = (uint64_t)spread;
            c->spread[2 * j + 1] = (uint64_t)(spread >> 64);
        }
    }
    s->narrow_sum = sum;
    s->narrow_squares = square;
}

SYI_INLINE void narrow_doubles(chunk *c, int n, int squares)
{
    for (int j = 0; j < n; j++) {
        syi_approx sum = syi_narrow_sum((int64_t)c->sum[j]);
        c->sum_high[j] = sum.high;
        c->sum_low[j] = sum.low;
        c->sum_error[j] = 0.0;
    }
    for (int j = 0; squares && j < n; j++)
        syi_narrow_spread(c->spread[2 * j + 1], c->spread[2 * j], &c->spread_high[j],
                          &c->spread_low[j]);
}

/* ---- two limbs ---- */

SYI_INLINE void wide_fill(slide *s, const double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        syi_i128 value = syi_wide_value(x[i], s->bottom);
        s->wide_sum += value;
        s->wide_squares = syi_wide_add(s->wide_squares, syi_wide_signed_product(value, value));
    }
}

SYI_INLINE void wide_store(uint64_t *to, syi_u128 value)
{
    to[0] = (uint64_t)value;
    to[1] = (uint64_t)(value >> 64);
}

SYI_INLINE void wide_step(slide *s, chunk *c, const double *x, int n, int squares)
{
    for (int j = 0; j < n; j++) {
        syi_i128 in = syi_wide_value(x[j], s->bottom);
        syi_i128 out = j > 0 || s->full ? syi_wide_value(x[j - s->period], s->bottom) : 0;
        s->wide_sum += in - out;
        wide_store(&c->sum[2 * j], (syi_u128)s->wide_sum);
        if (squares) {
            s->wide_squares =
                syi_wide_add(s->wide_squares, syi_wide_signed_product(in - out, in + out));
            syi_u256 scaled = syi_wide_product(s->wide_squares.low, (uint64_t)s->period);
            scaled.high += s->wide_squares.high * (uint64_t)s->period;
            scaled = syi_wide_subtract(scaled, syi_wide_signed_product(s->wide_sum, s->wide_sum));
            wide_store(&c->spread[4 * j], scaled.low);
            wide_store(&c->spread[4 * j + 2], scaled.high);
        }
    }
}

/* Bits first .. first + 41 of a number of limbs. */
SYI_INLINE double piece_of(const uint64_t *limb, int first)
{
    int k = first >> 6, shift = first & 63;
    uint64_t bits = limb[k] >> shift;
    if (shift > 64 - 42)
        bits |= limb[k + 1] << (64 - shift);
    return (double)(int64_t)(bits & ((UINT64_C(1) << 42) - 1)) * syi_pow2(first);
}

/* high + low += the next lower piece, with an error of 2^-53 of the new low. */
SYI_INLINE void append(double *high, double *low, double piece)
{
    double lost;
    syi_two_sum(*high, piece, high, &lost);
    *low += lost;
}

/* Sums stay below 2^126 and spreads below 2^252. */
SYI_INLINE void wide_doubles(chunk *c, int n, int squares)
{
    for (int j = 0; j < n; j++) {
        const uint64_t *limb = &c->sum[2 * j];
        double high, low, rest, lost, top = (double)((int64_t)limb[1] >> 20) * 0x1p84;
        syi_two_sum(top, piece_of(limb, 42), &high, &low);
        syi_two_sum(high, piece_of(limb, 0), &high, &rest);
        syi_two_sum(low, rest, &low, &lost);
        c->sum_high[j] = high;
        c->sum_low[j] = low;
        c->sum_error[j] = fabs(lost);
    }
    for (int j = 0; squares && j < n; j++) {
        const uint64_t *limb = &c->spread[4 * j];
        double high = piece_of(limb, 210), low = 0.0;
        append(&high, &low, piece_of(limb, 168));
        append(&high, &low, piece_of(limb, 126));
        append(&high, &low, piece_of(limb, 84));
        append(&high, &low, piece_of(limb, 42));
        append(&high, &low, piece_of(limb, 0));
        syi_two_sum(high, low, &c->spread_high[j], &c->spread_low[j]);
    }
}

/* ---- any number of limbs ---- */

static inline void long_change(slide *s, double x, int dropped)
{
    syi_parts parts = syi_split(syi_is_finite(x) ? x : 0.0);
    int shift = parts.exponent - s->bottom;
    if (parts.mantissa == 0)
        return;
    syi_limbs_add(s->sum, s->limbs, parts.mantissa, shift, parts.negative ^ dropped);
    if (s->squares)
        syi_limbs_add(s->square, 2 * s->limbs, (syi_u128)parts.mantissa * parts.mantissa, 2 * shift,
                      dropped);
}

static inline void long_step(slide *s, chunk *c, const double *x, int n)
{
    for (int j = 0; j < n; j++) {
        if (j > 0 || s->full)
            long_change(s, x[j - s->period], 1);
        long_change(s, x[j], 0);
        memcpy(&c->sum[j * s->limbs], s->sum, (size_t)s->limbs * sizeof s->sum[0]);
        if (s->squares)
            syi_limbs_spread(&c->spread[j * 2 * s->limbs], s->sum, s->square, s->limbs,
                             (uint64_t)s->period);
    }
}

/* The top 106 bits and more of a magnitude, in units of 2^(64 base). Too small a value is a NaN,
 * which nothing certifies. */
static inline void limbs_to_doubles(const uint64_t *a, int limbs, int base, double *high,
                                    double *low, double *error)
{
    int top = limbs - 1, exact = 1;
    *high = *low = *error = 0.0;
    while (top >= 0 && a[top] == 0)
        top--;
    if (top < 0)
        return;
    int shift = __builtin_clzll(a[top]);
    uint64_t next = top > 0 ? a[top - 1] : 0, third = top > 1 ? a[top - 2] : 0;
    uint64_t first = a[top] << shift | next >> 1 >> (63 - shift);
    uint64_t second = next << shift | third >> 1 >> (63 - shift);
    uint64_t rest = third << shift;
    for (int k = top - 3; k >= 0; k--)
        rest |= a[k];
    uint64_t tail = first << 53 | second >> 11;
    exact = (rest | second << 53 | (tail & 2047)) == 0;
    int exponent = 64 * (top - base) - shift;
    if (exponent < -600) {
        *high = NAN;
        return;
    }
    double unit = syi_pow2(exponent);
    *high = (double)(int64_t)(first >> 11) * 2048.0 * unit;
    *low = (double)(tail >> 11) * 0x1p-42 * unit;
    *error = exact ? 0.0 : *high * 0x1p-100;
}

static inline void limbs_doubles(const slide *s, chunk *c, int n)
{
    int base = s->limbs - 2;
    double error;
    for (int j = 0; j < n; j++) {
        uint64_t magnitude[SYI_SUM_LIMBS];
        memcpy(magnitude, &c->sum[j * s->limbs], (size_t)s->limbs * sizeof magnitude[0]);
        double sign = syi_limbs_magnitude(magnitude, s->limbs) ? -1.0 : 1.0;
        limbs_to_doubles(magnitude, s->limbs, base, &c->sum_high[j], &c->sum_low[j],
                         &c->sum_error[j]);
        c->sum_high[j] *= sign;
        c->sum_low[j] *= sign;
        if (s->squares)
            limbs_to_doubles(&c->spread[j * 2 * s->limbs], 2 * s->limbs, 2 * base,
                             &c->spread_high[j], &c->spread_low[j], &error);
    }
}

/* ---- the choice ---- */

/* Sums of `period` values of the span; 2^62 and 2^126 are what the widths hold, with room for the
 * sums and differences on the way. */
SYI_INLINE void slide_begin(slide *s, const syi_span *span, int64_t period, int squares)
{
    int bits = syi_window_bits(span, period);
    memset(s, 0, sizeof *s);
    s->period = period;
    s->bottom = span->bottom;
    s->squares = squares;
    s->limbs = syi_window_is_narrow(span, period) ? 1 : bits <= 126 ? 2 : (bits + 2 + 63) / 64;
}

/* The exponent of the unit in which a chunk's doubles are. */
SYI_INLINE int slide_unit(const slide *s)
{
    return s->bottom + 64 * (s->limbs > 2 ? s->limbs - 2 : 0);
}

SYI_INLINE int slide_capacity(const slide *s)
{
    return s->limbs <= 2 ? CHUNK : 2 * CHUNK / s->limbs;
}

static inline void slide_fill(slide *s, const double *x, int64_t count)
{
    if (s->limbs == 1) {
        narrow_fill(s, x, count);
    } else if (s->limbs == 2) {
        wide_fill(s, x, count);
    } else {
        for (int64_t i = 0; i < count; i++)
            long_change(s, x[i], 0);
    }
}

/* The windows that end at x[0 .. n), for n <= slide_capacity(). */
static inline void slide_step(slide *s, chunk *c, const double *x, int n)
{
    if (s->limbs == 1 && s->squares)
        narrow_step(s, c, x, n, 1);
    else if (s->limbs == 1)
        narrow_step(s, c, x, n, 0);
    else if (s->limbs == 2 && s->squares)
        wide_step(s, c, x, n, 1);
    else if (s->limbs == 2)
        wide_step(s, c, x, n, 0);
    else
        long_step(s, c, x, n);
    s->full = 1;
    if (s->limbs == 1)
        narrow_doubles(c, n, s->squares);
    else if (s->limbs == 2)
        wide_doubles(c, n, s->squares);
    else
        limbs_doubles(s, c, n);
}

#endif
