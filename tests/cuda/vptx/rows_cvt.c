/* cvt: conversions between the number types as CUDA defines them (saturating, NaN to 0 or to the
 * top bit). Rounding other than to nearest is derived from the nearest result and an exact
 * comparison, so that no rounding mode of the host is touched. */
#include "rows.h"

#include <math.h>

typedef enum rounding { ROUND_ZERO, ROUND_DOWN, ROUND_UP } rounding;

/* Whether a nearest result has to move down (-1), up (1) or stay; `error` is its sign minus exact.
 */
static inline int correction(rounding mode, int error, bool negative)
{
    const bool down = mode == ROUND_DOWN || (mode == ROUND_ZERO && !negative);
    if (error > 0)
        return down ? -1 : 0;
    return error < 0 && !down ? 1 : 0;
}

static inline float narrow(double x, rounding mode)
{
    const float f = (float)x;
    const int step = correction(mode, ((double)f > x) - ((double)f < x), x < 0);
    return step ? nextafterf(f, step < 0 ? -INFINITY : INFINITY) : f;
}

/* The magnitude with its sign beside it; the floating result compares exactly with the integer in
 * 128 bits. */
static inline float int_to_f32(s128 x, rounding mode)
{
    const float f = (float)x;
    const s128 back = (s128)f;
    const int step = correction(mode, (back > x) - (back < x), x < 0);
    return step ? nextafterf(f, step < 0 ? -INFINITY : INFINITY) : f;
}

static inline double int_to_f64(s128 x, rounding mode)
{
    const double f = (double)x;
    const s128 back = (s128)f;
    const int step = correction(mode, (back > x) - (back < x), x < 0);
    return step ? nextafter(f, step < 0 ? -INFINITY : INFINITY) : f;
}

/* `x` is integral or not a number; `nan` is what NaN becomes. */
static inline int64_t to_signed(double x, int bits, int64_t nan)
{
    const double limit = ldexp(1.0, bits - 1);
    if (x != x)
        return nan;
    if (x >= limit)
        return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    return x <= -limit ? (int64_t)(~(uint64_t)0 << (bits - 1)) : (int64_t)x;
}

static inline uint64_t to_unsigned(double x, int bits, uint64_t nan)
{
    if (x != x)
        return nan;
    if (x <= 0)
        return 0;
    return x >= ldexp(1.0, bits) ? ~(uint64_t)0 >> (64 - bits) : (uint64_t)x;
}

/* NaN gives 0 from f32 to at most 32 bits, else only the top bit. */
#define FROM_INT(t, T)                                                                             \
    R1(cvt_rn, f32##t, "f32." #t, F32, T, a)                                                       \
    R1(cvt_rz, f32##t, "f32." #t, F32, T, int_to_f32(a, ROUND_ZERO))                               \
    R1(cvt_rm, f32##t, "f32." #t, F32, T, int_to_f32(a, ROUND_DOWN))                               \
    R1(cvt_rp, f32##t, "f32." #t, F32, T, int_to_f32(a, ROUND_UP))                                 \
    R1(cvt_rn, f64##t, "f64." #t, F64, T, a)                                                       \
    R1(cvt_rz, f64##t, "f64." #t, F64, T, int_to_f64(a, ROUND_ZERO))                               \
    R1(cvt_rm, f64##t, "f64." #t, F64, T, int_to_f64(a, ROUND_DOWN))                               \
    R1(cvt_rp, f64##t, "f64." #t, F64, T, int_to_f64(a, ROUND_UP))
#define TO_INT(mode, round)                                                                        \
    R1(cvt_##mode, u16f32, "u16.f32", U16, F32, to_unsigned(round((double)a), 16, 0))              \
    R1(cvt_##mode, s16f32, "s16.f32", S16, F32, to_signed(round((double)a), 16, 0))                \
    R1(cvt_##mode, u32f32, "u32.f32", U32, F32, to_unsigned(round((double)a), 32, 0))              \
    R1(cvt_##mode, s32f32, "s32.f32", S32, F32, to_signed(round((double)a), 32, 0))                \
    R1(cvt_##mode, u64f32, "u64.f32", U64, F32,                                                    \
       to_unsigned(round((double)a), 64, (uint64_t)1 << 63))                                       \
    R1(cvt_##mode, s64f32, "s64.f32", S64, F32, to_signed(round((double)a), 64, INT64_MIN))        \
    R1(cvt_##mode, u16f64, "u16.f64", U16, F64, to_unsigned(round(a), 16, 0x8000))                 \
    R1(cvt_##mode, s16f64, "s16.f64", S16, F64, to_signed(round(a), 16, INT16_MIN))                \
    R1(cvt_##mode, u32f64, "u32.f64", U32, F64, to_unsigned(round(a), 32, 0x80000000))             \
    R1(cvt_##mode, s32f64, "s32.f64", S32, F64, to_signed(round(a), 32, INT32_MIN))                \
    R1(cvt_##mode, u64f64, "u64.f64", U64, F64, to_unsigned(round(a), 64, (uint64_t)1 << 63))      \
    R1(cvt_##mode, s64f64, "s64.f64", S64, F64, to_signed(round(a), 64, INT64_MIN))

#include "rows_cvt.def"

#define ROWS_TABLE
#include "rows.h"
const row_entry vptx_rows_cvt[] = {
#include "rows_cvt.def"
    {0}};
