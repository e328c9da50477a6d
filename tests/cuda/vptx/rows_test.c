/* Comparisons (setp, set, testp), whose result is a mask, and the additions that read or write the
 * carry flag. */
#include "rows.h"

#include <math.h>

/* Byte i, 0 or 1, becomes bit i. */
uint32_t vptx_pack_mask(const uint8_t *bytes)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LANES; i += 8) {
        uint64_t eight = 0;
        for (uint32_t j = 0; j < 8; j++)
            eight |= (uint64_t)bytes[i + j] << 8 * j;
        mask |= (uint32_t)(eight * 0x0102040810204080u >> 56) << i;
    }
    return mask;
}

#define DEF_T(compare, tag, types, S, expression)                                                  \
    static uint32_t test_##compare##_##tag(const void *va, const void *vb, uint32_t lane)          \
    {                                                                                              \
        uint8_t result[LANES];                                                                     \
        FOR_LANE_OR_EACH(TAKE(S, a) TAKE(S, b)(void) b; result[i] = (expression) ? 1 : 0;)         \
        return lane < LANES ? (uint32_t)result[lane] << lane : vptx_pack_mask(result);             \
    }
#define TAB_T(compare, tag, types, S, expression) {#compare, types, K_##S, test_##compare##_##tag},

#define EQUALITY(T, tag, w, S)                                                                     \
    T(eq, tag, "b" w " u" w " s" w, S, a == b)                                                     \
    T(ne, tag, "b" w " u" w " s" w, S, a != b)
#define UNSIGNED(T, tag, w, S)                                                                     \
    T(lt, u##tag, "u" w, S, a < b)                                                                 \
    T(le, u##tag, "u" w, S, a <= b)                                                                \
    T(gt, u##tag, "u" w, S, a > b)                                                                 \
    T(ge, u##tag, "u" w, S, a >= b)                                                                \
    T(lo, u##tag, "u" w, S, a < b)                                                                 \
    T(ls, u##tag, "u" w, S, a <= b)                                                                \
    T(hi, u##tag, "u" w, S, a > b)                                                                 \
    T(hs, u##tag, "u" w, S, a >= b)
#define SIGNED(T, tag, w, S)                                                                       \
    T(lt, s##tag, "s" w, S, a < b)                                                                 \
    T(le, s##tag, "s" w, S, a <= b)                                                                \
    T(gt, s##tag, "s" w, S, a > b)                                                                 \
    T(ge, s##tag, "s" w, S, a >= b)
#define FLOATING(T, tag, S)                                                                        \
    T(eq, tag, #tag, S, a == b)                                                                    \
    T(ne, tag, #tag, S, a<b || a> b)                                                               \
    T(lt, tag, #tag, S, a < b)                                                                     \
    T(le, tag, #tag, S, a <= b)                                                                    \
    T(gt, tag, #tag, S, a > b)                                                                     \
    T(ge, tag, #tag, S, a >= b)                                                                    \
    T(equ, tag, #tag, S, !(a < b || a > b))                                                        \
    T(neu, tag, #tag, S, a != b)                                                                   \
    T(ltu, tag, #tag, S, !(a >= b))                                                                \
    T(leu, tag, #tag, S, !(a > b))                                                                 \
    T(gtu, tag, #tag, S, !(a <= b))                                                                \
    T(geu, tag, #tag, S, !(a < b))                                                                 \
    T(num, tag, #tag, S, a == a && b == b)                                                         \
    T(nan, tag, #tag, S, a != a || b != b)                                                         \
    T(finite, tag, #tag, S, isfinite(a))                                                           \
    T(infinite, tag, #tag, S, isinf(a))                                                            \
    T(number, tag, #tag, S, a == a)                                                                \
    T(notanumber, tag, #tag, S, a != a)                                                            \
    T(normal, tag, #tag, S, isnormal(a))                                                           \
    T(subnormal, tag, #tag, S, a != 0 && isfinite(a) && !isnormal(a))
#define TESTS(T)                                                                                   \
    EQUALITY(T, 16, "16", U16)                                                                     \
    EQUALITY(T, 32, "32", U32)                                                                     \
    EQUALITY(T, 64, "64", U64)                                                                     \
    UNSIGNED(T, 16, "16", U16)                                                                     \
    UNSIGNED(T, 32, "32", U32)                                                                     \
    UNSIGNED(T, 64, "64", U64)                                                                     \
    SIGNED(T, 16, "16", S16)                                                                       \
    SIGNED(T, 32, "32", S32)                                                                       \
    SIGNED(T, 64, "64", S64)                                                                       \
    FLOATING(T, f32, F32)                                                                          \
    FLOATING(T, f64, F64)

TESTS(DEF_T)
const test_entry vptx_tests[] = {TESTS(TAB_T){0}};

/* sum: the exact value, two's complement in twice the width; its bit above the width is the carry,
 * or after a subtraction the borrow. x is the carry in. */
#define DEF_C(op, tag, types, S, n, wide, bits, sum)                                               \
    static uint32_t carry_##op##_##tag(void *vd, const void *va, const void *vb, const void *vc,   \
                                       uint32_t carry)                                             \
    {                                                                                              \
        uint32_t out = 0;                                                                          \
        for (uint32_t i = 0; i < LANES; i++) {                                                     \
            const wide a = ((const t_##S *)va)[i];                                                 \
            const wide b = ((const t_##S *)vb)[i];                                                 \
            const wide c = (n) > 2 ? ((const t_##S *)vc)[i] : 0;                                   \
            const wide x = carry >> i & 1;                                                         \
            const wide result = (sum);                                                             \
            (void)c, (void)x;                                                                      \
            ((t_##S *)vd)[i] = (t_##S)result;                                                      \
            out |= (uint32_t)(result >> (bits)&1) << i;                                            \
        }                                                                                          \
        return out;                                                                                \
    }
#define TAB_C(op, tag, types, S, n, wide, bits, sum) {#op, types, K_##S, n, carry_##op##_##tag},

#define LOW(T, x) ((T)(x))
#define CARRIES(C)                                                                                 \
    C(add, 32, "u32 s32 b32", U32, 2, uint64_t, 32, a + b)                                         \
    C(add, 64, "u64 s64 b64", U64, 2, u128, 64, a + b)                                             \
    C(addc, 32, "u32 s32 b32", U32, 2, uint64_t, 32, a + b + x)                                    \
    C(addc, 64, "u64 s64 b64", U64, 2, u128, 64, a + b + x)                                        \
    C(sub, 32, "u32 s32 b32", U32, 2, uint64_t, 32, a - b)                                         \
    C(sub, 64, "u64 s64 b64", U64, 2, u128, 64, a - b)                                             \
    C(subc, 32, "u32 s32 b32", U32, 2, uint64_t, 32, a - b - x)                                    \
    C(subc, 64, "u64 s64 b64", U64, 2, u128, 64, a - b - x)                                        \
    C(mad_lo, 32, "u32 s32", U32, 3, uint64_t, 32, LOW(uint32_t, a *b) + c)                        \
    C(mad_lo, 64, "u64 s64", U64, 3, u128, 64, LOW(uint64_t, a *b) + c)                            \
    C(mad_hi, 32, "u32", U32, 3, uint64_t, 32, (a * b >> 32) + c)                                  \
    C(mad_hi, 64, "u64", U64, 3, u128, 64, (a * b >> 64) + c)                                      \
    C(madc_lo, 32, "u32 s32", U32, 3, uint64_t, 32, LOW(uint32_t, a *b) + c + x)                   \
    C(madc_lo, 64, "u64 s64", U64, 3, u128, 64, LOW(uint64_t, a *b) + c + x)                       \
    C(madc_hi, 32, "u32", U32, 3, uint64_t, 32, (a * b >> 32) + c + x)                             \
    C(madc_hi, 64, "u64", U64, 3, u128, 64, (a * b >> 64) + c + x)

CARRIES(DEF_C)
const carry_entry vptx_carries[] = {CARRIES(TAB_C){0}};
