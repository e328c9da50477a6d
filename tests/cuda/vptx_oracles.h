/* What the PTX manual says that its instructions give, computed another way than
 * the interpreter does it: bit by bit, in long double, or under the host's rounding modes. Included
 * by test_vptx_ops.c only. */
#ifndef VPTX_ORACLES_H
#define VPTX_ORACLES_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t i64;
typedef uint64_t u64;
typedef uint32_t u32;
__extension__ typedef __int128 i128;

static double as_f64(u64 bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static u64 f64(double x)
{
    u64 bits;
    memcpy(&bits, &x, 8);
    return bits;
}

static float as_f32(u64 bits)
{
    const u32 low = (u32)bits;
    float x;
    memcpy(&x, &low, 4);
    return x;
}

static u64 f32(float x)
{
    u32 bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static i64 sx(u64 x, int bits)
{
    return bits == 64 ? (i64)x
                      : (i64)((x & (((u64)1 << bits) - 1)) ^ ((u64)1 << (bits - 1))) -
                            ((i64)1 << (bits - 1));
}

static u64 field(u64 a, u64 b, u64 c, int bits, bool is_signed)
{
    const int position = b & 255, length = c & 255;
    const int top = position + length - 1 < bits - 1 ? position + length - 1 : bits - 1;
    const u64 sign = is_signed && length ? a >> top & 1 : 0;
    u64 d = 0;
    for (int i = 0; i < bits; i++)
        d |= (i < length && position + i < bits ? a >> (position + i) & 1 : sign) << i;
    return d;
}

static u64 put_field(u64 a, u64 b, u64 c, u64 e, int bits)
{
    for (int i = 0; i < (int)(e & 255) && (int)(c & 255) + i < bits; i++) {
        const int at = (int)(c & 255) + i;
        b = (b & ~((u64)1 << at)) | (a >> i & 1) << at;
    }
    return b;
}

static u64 permuted(u64 a, u64 b, const int nibbles[4])
{
    u64 d = 0;
    for (int i = 0; i < 4; i++) {
        const int n = nibbles[i];
        u64 byte = ((n & 7) < 4 ? a >> 8 * (n & 7) : b >> 8 * ((n & 7) - 4)) & 255;
        if (n & 8)
            byte = byte >> 7 ? 255 : 0;
        d |= byte << 8 * i;
    }
    return d;
}

static u64 permuted_by(u64 a, u64 b, u64 c)
{
    const int nibbles[4] = {c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15};
    return permuted(a, b, nibbles);
}

static u64 permuted_mode(u64 a, u64 b, u64 c, const char *four)
{
    const char *row = four + 5 * (c & 3); /* the manual's tables, most significant byte first */
    const int nibbles[4] = {row[3] - '0', row[2] - '0', row[1] - '0', row[0] - '0'};
    return permuted(a, b, nibbles);
}

static u64 reversed(u64 a, int bits)
{
    u64 d = 0;
    for (int i = 0; i < bits; i++)
        d |= (a >> i & 1) << (bits - 1 - i);
    return d;
}

static u64 highest(u64 a, int bits, bool is_signed, bool shift)
{
    if (is_signed && a >> (bits - 1) & 1)
        a = ~a;
    for (int i = bits - 1; i >= 0; i--)
        if (a >> i & 1)
            return (u64)(shift ? bits - 1 - i : i);
    return 0xffffffff;
}

static u64 shifted_pair(u64 a, u64 b, u64 c, bool left, bool wrap)
{
    u64 d = 0;
    const int n = wrap ? (int)(c & 31) : c > 32 ? 32 : (int)c;
    for (int i = 0; i < 32; i++) {
        const int from = left ? 32 + i - n : i + n;
        d |= (from < 32 ? a >> from & 1 : from < 64 ? b >> (from - 32) & 1 : 0) << i;
    }
    return d;
}

static u64 looked_up(u64 a, u64 b, u64 c, int table)
{
    u64 d = 0;
    for (int i = 0; i < 32; i++)
        d |= (u64)(table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return d;
}

static u64 high_product(u64 a, u64 b)
{
    const u64 al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
    const u64 middle = (al * bl >> 32) + (ah * bl & 0xffffffff) + (al * bh & 0xffffffff);
    return ah * bh + (ah * bl >> 32) + (al * bh >> 32) + (middle >> 32);
}

static u64 high_signed(u64 a, u64 b)
{
    return high_product(a, b) - ((i64)a < 0 ? b : 0) - ((i64)b < 0 ? a : 0);
}

static u64 dot(u64 a, u64 b, u64 c, bool sa, bool sb)
{
    i64 sum = (i64)c;
    for (int i = 0; i < 4; i++)
        sum += (sa ? sx(a >> 8 * i, 8) : (i64)(a >> 8 * i & 255)) *
               (sb ? sx(b >> 8 * i, 8) : (i64)(b >> 8 * i & 255));
    return (u64)sum;
}

/* Conversions under the host's rounding modes, through long double, which holds all 64 bits. */
static u64 to_float(long double x, int mode, bool narrow)
{
    volatile long double exact = x;
    volatile float f;
    volatile double d;
    fesetround(mode);
    f = (float)exact;
    d = (double)exact;
    fesetround(FE_TONEAREST);
    return narrow ? f32(f) : f64(d);
}

static u64 to_int(long double x, int mode, int bits, bool is_signed, bool from_f64)
{
    const long double low = is_signed ? -ldexpl(1, bits - 1) : 0;
    const long double high = ldexpl(1, is_signed ? bits - 1 : bits) - 1;
    volatile long double rounded;
    if (isnan(x))
        return from_f64 || bits == 64 ? (u64)1 << (bits - 1) : 0;
    fesetround(mode);
    rounded = rintl(x);
    fesetround(FE_TONEAREST);
    rounded = rounded < low ? low : rounded > high ? high : rounded;
    return is_signed ? (u64)(i64)rounded : (u64)rounded;
}

static u64 integral(double x, int mode)
{
    volatile double y = x;
    fesetround(mode);
    y = nearbyint(y);
    fesetround(FE_TONEAREST);
    return f64(y);
}

static double least(double a, double b, bool greatest)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b)
        return (signbit(a) != 0) != greatest ? a : b;
    return (a < b) != greatest ? a : b;
}

#define D(x) as_f64(x)
#define F(x) as_f32(x)

#endif
