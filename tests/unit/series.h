/* Series that are hard for rolling and reducing arithmetic, made from a seed. */
#ifndef STEELYARD_TESTS_SERIES_H
#define STEELYARD_TESTS_SERIES_H

#include "base/philox.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    SERIES_WALK,        /* prices rounded to 0.01 */
    SERIES_SPIKES,      /* the same with 1e12 now and then */
    SERIES_OFFSET,      /* 1e8 and noise */
    SERIES_FLAT,        /* one price for long stretches */
    SERIES_TINY_TICKS,  /* near 0.0016, rounded to 1e-7 */
    SERIES_ALTERNATING, /* +-1, and 0.9998 against 0.9999 */
    SERIES_RETURNS,     /* small, around zero */
    SERIES_VOLATILE,    /* a walk that moves by a tenth a step */
    SERIES_INTEGERS,    /* small whole numbers: ties and rational deviations */
    SERIES_SUBNORMALS,  /* around and below the least normal number */
    SERIES_EXTREMES,    /* 1e300 beside 1e-300 */
    SERIES_BITS,        /* random bit patterns, finite */
    SERIES_HOLES,       /* a walk with NaN and infinities */
    SERIES_HUGE,        /* near the largest double: sums overflow */
    SERIES_SELDOM,      /* ticks near each other, one move in ten */
    SERIES_COUNT,
    SERIES_GAP /* the largest numbers of one binade above few of another, `seed` binades below */
};

static inline double series_uniform(uint64_t seed, uint32_t stream, int64_t i)
{
    return (double)(syi_random(seed, stream, (uint64_t)i) >> 11) * 0x1p-53;
}

static inline double series_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void series_make(int kind, uint64_t seed, int64_t n, double *x)
{
    double price = 100;
    for (int64_t i = 0; i < n; i++) {
        double u = series_uniform(seed, 1, i), v = series_uniform(seed, 2, i);
        uint64_t r = syi_random(seed, 3, (uint64_t)i);
        price *= 1 + (u - 0.5) * (kind == SERIES_VOLATILE ? 0.2 : 0.004);
        if (price < 1e-3 || price > 1e6)
            price = 100;
        x[i] = nearbyint(price * 100) / 100;
        switch (kind) {
        case SERIES_SPIKES:
            x[i] = r % 97 == 0 ? 1e12 * (v - 0.3) : x[i];
            break;
        case SERIES_OFFSET:
            x[i] = 1e8 + v;
            break;
        case SERIES_FLAT:
            x[i] = i % 700 < 350 ? 101.37 : x[i];
            break;
        case SERIES_TINY_TICKS:
            x[i] = nearbyint(16000 + 40 * v) / 1e7;
            break;
        case SERIES_ALTERNATING:
            x[i] = i % 500 < 250 ? (i % 2 ? 1 : -1) : (i % 3 ? 0.9998 : 0.9999);
            break;
        case SERIES_RETURNS:
            x[i] = (u + v - 1) * 0.001;
            break;
        case SERIES_INTEGERS:
            x[i] = (double)(r % 7) - (seed % 2 ? 3 : 0);
            break;
        case SERIES_SUBNORMALS:
            x[i] = series_bits((r >> 11) | (r & 1) << 63) * (r % 5 ? 1 : 0x1p-40);
            break;
        case SERIES_EXTREMES:
            x[i] = (r % 3 == 0 ? 1e300 : r % 3 == 1 ? 1e-300 : 1) * (r % 11 ? 1 : -1);
            x[i] *= r % 2 ? 1 : u;
            break;
        case SERIES_BITS:
            x[i] = series_bits(r);
            x[i] = isfinite(x[i]) ? x[i] : 1.5;
            break;
        case SERIES_HOLES:
            x[i] = r % 61 == 0 ? NAN : r % 67 == 0 ? INFINITY : r % 71 == 0 ? -INFINITY : x[i];
            break;
        case SERIES_HUGE:
            x[i] = (0.5 + v / 2) * 0x1.fffffffffffffp1023 * (r % 5 ? 1 : -1);
            break;
        case SERIES_SELDOM:
            x[i] = (seed % 3 ? 1 : -1) * nearbyint(10000 + 8 * v) / (seed % 2 ? 100 : 128);
            x[i] = i > 0 && r % 10 ? x[i - 1] : x[i];
            break;
        case SERIES_GAP:
            x[i] = i % 40 ? ldexp(0x1.fffffffffffffp0, (int)seed) : 0x1.0000000000001p0;
            break;
        default:
            break;
        }
    }
}

#endif
