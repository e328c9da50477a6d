/* The arithmetic of the interpreter, one function per instruction and type, each a loop over the 32
 * lanes of a row. Lanes that are switched off are computed too and thrown away, so no operation may
 * trap. Division by zero, which PTX leaves open, gives all ones. */
#include "rows.h"

#include <math.h>

static inline int64_t clamp_s32(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

static inline uint32_t dot4(uint32_t a, uint32_t b, bool a_signed, bool b_signed)
{
    uint32_t sum = 0;
    for (int byte = 0; byte < 32; byte += 8) {
        const int32_t x = a_signed ? (int8_t)(a >> byte) : (uint8_t)(a >> byte);
        const int32_t y = b_signed ? (int8_t)(b >> byte) : (uint8_t)(b >> byte);
        sum += (uint32_t)(x * y);
    }
    return sum;
}

static inline uint32_t reverse32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

static inline uint32_t top_bit(uint64_t x)
{
    return x ? 63u - (uint32_t)__builtin_clzll(x) : ~0u;
}

static inline uint64_t low_bits(uint32_t count)
{
    return count > 63 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

/* The `length` bits of `x` from `position`; beyond the end of x a signed field repeats its top bit.
 */
static inline uint64_t extract(uint64_t x, uint32_t position, uint32_t length, uint32_t width,
                               bool is_signed)
{
    const uint32_t top = position + length - 1 < width ? position + length - 1 : width - 1;
    const uint64_t field = (position > 63 ? 0 : x >> position) & low_bits(length);
    const uint32_t kept = position >= width ? 0 : width - position;
    if (!is_signed || !length || !(x >> top & 1))
        return field;
    return field | ~low_bits(length < kept ? length : kept);
}

static inline uint64_t insert(uint64_t field, uint64_t into, uint32_t position, uint32_t length,
                              uint32_t width)
{
    const uint64_t mask = position >= width ? 0 : low_bits(length) << position;
    return (into & ~mask) | (position >= width ? 0 : field << position & mask);
}

static inline uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = pair(a, b);
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t select = selector >> 4 * i & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (select & 7)) & 255;
        if (select & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* The selector of a prmt mode: four of them, the first in the low 16 bits. */
static inline uint32_t pick(uint32_t c, uint64_t four)
{
    return (uint32_t)(four >> 16 * (c & 3)) & 0xffff;
}

static inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

static inline bool below(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

#include "rows_int.def"
#include "rows_bits.def"
#include "rows_float.def"

#define ROWS_TABLE
#include "rows.h"
const row_entry vptx_rows_int[] = {
#include "rows_int.def"
    {0}};
const row_entry vptx_rows_bits[] = {
#include "rows_bits.def"
    {0}};
const row_entry vptx_rows_float[] = {
#include "rows_float.def"
    {0}};

row_fn *vptx_add_row(void)
{
    return add_64;
}

#if defined(__x86_64__) && !defined(__FMA__)
__attribute__((target("fma"))) ROW_HEAD(fused, f32)
{
    (void)ve;
    FOR_LANE_OR_EACH(TAKE(F32, a) TAKE(F32, b) TAKE(F32, c) GIVE(F32, __builtin_fmaf(a, b, c)))
    return IS_NAN(F32);
}

__attribute__((target("fma"))) ROW_HEAD(fused, f64)
{
    (void)ve;
    FOR_LANE_OR_EACH(TAKE(F64, a) TAKE(F64, b) TAKE(F64, c) GIVE(F64, __builtin_fma(a, b, c)))
    return IS_NAN(F64);
}

row_fn *vptx_fma_row(bool is_f64)
{
    if (__builtin_cpu_supports("fma"))
        return is_f64 ? fused_f64 : fused_f32;
    return is_f64 ? fma_rn_f64 : fma_rn_f32;
}
#else
row_fn *vptx_fma_row(bool is_f64)
{
    return is_f64 ? fma_rn_f64 : fma_rn_f32;
}
#endif

#define RESIZE(D, A)                                                                               \
    ROW_HEAD(resize_##D, A)                                                                        \
    {                                                                                              \
        const uint32_t keep = ((const t_U32 *)vb)[0], is_signed = ((const t_U32 *)vc)[0];          \
        (void)ve;                                                                                  \
        FOR_LANE_OR_EACH(const uint64_t high = (uint64_t)((const t_##A *)va)[i] << keep;           \
                         GIVE(D, is_signed ? (uint64_t)((int64_t)high >> keep) : high >> keep))    \
        return false;                                                                              \
    }
RESIZE(U16, U16)
RESIZE(U16, U32)
RESIZE(U16, U64)
RESIZE(U32, U16)
RESIZE(U32, U32)
RESIZE(U32, U64)
RESIZE(U64, U16)
RESIZE(U64, U32)
RESIZE(U64, U64)

row_fn *vptx_resize_row(uint32_t to_width, uint32_t from_width)
{
    static row_fn *const table[3][3] = {
        {resize_U16_U16, resize_U16_U32, resize_U16_U64},
        {resize_U32_U16, resize_U32_U32, resize_U32_U64},
        {resize_U64_U16, resize_U64_U32, resize_U64_U64},
    };
    return table[to_width / 4][from_width / 4];
}
