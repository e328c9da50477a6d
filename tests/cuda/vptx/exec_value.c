/* Instructions that only compute: rows of values, masks of predicates, and the switch that also
 * reaches memory. */
#include "internal.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define ROW(w, o) ((void *)((w)->rows + (o).at))

/* ---- rows and masks ---- */

#define BLEND(type)                                                                                \
    do {                                                                                           \
        type __attribute__((may_alias)) *to = d;                                                   \
        const type __attribute__((may_alias)) *from = s;                                           \
        for (uint32_t i = 0; i < LANES; i++)                                                       \
            to[i] = mask >> i & 1 ? from[i] : to[i];                                               \
    } while (0)

#define HAS_NAN(type)                                                                              \
    do {                                                                                           \
        const type __attribute__((may_alias)) *x = row;                                            \
        int any = 0;                                                                               \
        for (uint32_t i = 0; i < LANES; i++)                                                       \
            any |= x[i] != x[i];                                                                   \
        return any != 0;                                                                           \
    } while (0)

static bool has_nan_f32(const void *row)
{
    HAS_NAN(float);
}

/* Of loops over masks the compiler makes much longer ones. */
#ifdef __AVX512F__

static void blend_4(void *d, const void *s, uint32_t mask)
{
    for (int i = 0; i < 2; i++, mask >>= 16)
        _mm512_mask_storeu_epi32((char *)d + 64 * i, (__mmask16)mask,
                                 _mm512_loadu_si512((const char *)s + 64 * i));
}

static void blend_8(void *d, const void *s, uint32_t mask)
{
    for (int i = 0; i < 4; i++, mask >>= 8)
        _mm512_mask_storeu_epi64((char *)d + 64 * i, (__mmask8)mask,
                                 _mm512_loadu_si512((const char *)s + 64 * i));
}

static bool has_nan_f64(const void *row)
{
    __mmask8 any = 0;
    for (int i = 0; i < 4; i++) {
        const __m512d x = _mm512_loadu_pd((const char *)row + 64 * i);
        any |= _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q);
    }
    return any != 0;
}

#elif defined(__AVX2__)

/* From s what `chosen` says, all bits or none of each element. */
static void blend_32(void *d, const void *s, __m256i chosen)
{
    const __m256i from = _mm256_loadu_si256(s), to = _mm256_loadu_si256(d);
    _mm256_storeu_si256(d, _mm256_blendv_epi8(to, from, chosen));
}

static void blend_4(void *d, const void *s, uint32_t mask)
{
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (int i = 0; i < 4; i++, mask >>= 8) {
        const __m256i own = _mm256_and_si256(_mm256_set1_epi32((int)mask), bits);
        blend_32((char *)d + 32 * i, (const char *)s + 32 * i, _mm256_cmpeq_epi32(own, bits));
    }
}

static void blend_8(void *d, const void *s, uint32_t mask)
{
    const __m256i bits = _mm256_setr_epi64x(1, 2, 4, 8);
    for (int i = 0; i < 8; i++, mask >>= 4) {
        const __m256i own = _mm256_and_si256(_mm256_set1_epi64x(mask), bits);
        blend_32((char *)d + 32 * i, (const char *)s + 32 * i, _mm256_cmpeq_epi64(own, bits));
    }
}

static bool has_nan_f64(const void *row)
{
    __m256d any = _mm256_setzero_pd();
    for (int i = 0; i < 8; i++) {
        const __m256d x = _mm256_loadu_pd((const double *)row + 4 * i);
        any = _mm256_or_pd(any, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
    }
    return _mm256_movemask_pd(any) != 0;
}

#else

static void blend_4(void *d, const void *s, uint32_t mask)
{
    BLEND(uint32_t);
}

static void blend_8(void *d, const void *s, uint32_t mask)
{
    BLEND(uint64_t);
}

static bool has_nan_f64(const void *row)
{
    HAS_NAN(double);
}

#endif

void vptx_blend(void *d, const void *s, uint32_t mask, uint32_t width)
{
    if (width == 8)
        blend_8(d, s, mask);
    else if (width == 4)
        blend_4(d, s, mask);
    else
        BLEND(uint16_t);
}

void vptx_put_row(warp *w, operand d, const void *from, uint32_t exec, uint32_t width)
{
    vptx_blend(ROW(w, d), from, exec, width);
    w->defined[d.reg] |= exec;
}

void vptx_put_mask(warp *w, operand d, uint32_t value, uint32_t exec)
{
    if (d.reg < REG_FIRST) /* none wanted */
        return;
    w->predicates[d.reg] = (w->predicates[d.reg] & ~exec) | (value & exec);
    w->defined[d.reg] |= exec;
}

/* Which NaN an operation gives is the hardware's choice: give one that nobody expects. */
static void poison(launch *l, warp *w, const instr *in, uint32_t exec)
{
    if (in->width == 8 && has_nan_f64(ROW(w, in->d[0]))) {
        uint64_t __attribute__((may_alias)) *x = ROW(w, in->d[0]);
        FOR_LANES(i, exec)
        if ((x[i] & ~((uint64_t)1 << 63)) > (uint64_t)0x7ff << 52)
            x[i] = vptx_random(&l->random) | (uint64_t)0x7ff8 << 48;
    } else if (in->width == 4 && has_nan_f32(ROW(w, in->d[0]))) {
        uint32_t __attribute__((may_alias)) *x = ROW(w, in->d[0]);
        FOR_LANES(i, exec)
        if ((x[i] & 0x7fffffffu) > 0x7f800000u)
            x[i] = (uint32_t)vptx_random(&l->random) | 0x7fc00000u;
    }
}

/* ---- values ---- */

static bool sources_defined(launch *l, const warp *w, const instr *in, uint32_t exec)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < in->sources; i++)
        missing |= exec & ~w->defined[in->s[i].reg];
    if (!missing)
        return true;
    for (uint32_t i = 0; i < in->sources; i++)
        if (!vptx_check_defined(l, w, exec, &in->s[i]))
            return false;
    return true;
}

typedef union row_buffer {
    uint64_t u64[LANES];
    uint32_t u32[LANES];
    uint16_t u16[LANES];
} row_buffer;

static void row_instruction(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    const bool whole = (exec | ~w->born) == ALL;
    void *to = whole ? ROW(w, in->d[0]) : &buffer;
    if (!sources_defined(l, w, in, exec))
        return;
    in->fn.row(to, ROW(w, in->s[0]), ROW(w, in->s[1]), ROW(w, in->s[2]), ROW(w, in->s[3]));
    if (whole)
        w->defined[in->d[0].reg] |= exec;
    else
        vptx_put_row(w, in->d[0], to, exec, in->width);
    if (in->is_float && !l->config->keep_nans)
        poison(l, w, in, exec);
}

static void carry_instruction(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    uint32_t carry;
    if (!sources_defined(l, w, in, exec))
        return;
    carry = in->fn.carry(&buffer, ROW(w, in->s[0]), ROW(w, in->s[1]), ROW(w, in->s[2]), w->carry);
    vptx_put_row(w, in->d[0], &buffer, exec, in->width);
    if (in->carry_out)
        w->carry = (w->carry & ~exec) | (carry & exec);
}

static void move(warp *w, const instr *in, uint32_t exec)
{
    const uint32_t was = w->defined[in->d[0].reg];
    const uint32_t defined = w->defined[in->s[0].reg];
    vptx_put_row(w, in->d[0], ROW(w, in->s[0]), exec, in->width);
    w->defined[in->d[0].reg] = (was & ~exec) | (defined & exec);
}

static uint32_t combine(uint8_t how, uint32_t a, uint32_t b)
{
    return how == '&' ? a & b : how == '|' ? a | b : how == '^' ? a ^ b : a;
}

static void test(launch *l, warp *w, const instr *in, uint32_t exec)
{
    uint32_t result, opposite, other;
    if (!sources_defined(l, w, in, exec) || !vptx_check_defined(l, w, exec, &in->s[2]))
        return;
    result = in->fn.test(ROW(w, in->s[0]), ROW(w, in->s[1]));
    other = w->predicates[in->s[2].reg] ^ (in->combine_negated ? ALL : 0);
    opposite = combine(in->sub, ~result, other);
    result = combine(in->sub, result, other);
    if (in->op == OP_SET) {
        row_buffer buffer;
        for (uint32_t i = 0; i < LANES; i++)
            buffer.u32[i] = result >> i & 1 ? (uint32_t)in->imm : 0;
        vptx_put_row(w, in->d[0], &buffer, exec, 4);
    } else {
        vptx_put_mask(w, in->d[0], result, exec);
        vptx_put_mask(w, in->q, opposite, exec);
    }
}

/* An undefined value that is not chosen does no harm. */
static void select_value(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    uint32_t p, defined, was;
    if (!vptx_check_defined(l, w, exec, &in->s[2]))
        return;
    p = w->predicates[in->s[2].reg] ^ (in->combine_negated ? ALL : 0);
    was = w->defined[in->d[0].reg];
    defined = (w->defined[in->s[0].reg] & p) | (w->defined[in->s[1].reg] & ~p);
    memcpy(&buffer, ROW(w, in->s[1]), in->width * LANES);
    vptx_blend(&buffer, ROW(w, in->s[0]), p, in->width);
    vptx_put_row(w, in->d[0], &buffer, exec, in->width);
    w->defined[in->d[0].reg] = (was & ~exec) | (defined & exec);
}

static void predicate_logic(launch *l, warp *w, const instr *in, uint32_t exec)
{
    uint32_t a, b;
    if (!vptx_check_defined(l, w, exec, &in->s[0]) || !vptx_check_defined(l, w, exec, &in->s[1]))
        return;
    a = w->predicates[in->s[0].reg] ^ (in->combine_negated ? ALL : 0);
    b = w->predicates[in->s[1].reg];
    vptx_put_mask(w, in->d[0], in->sub == '!' ? ~a : combine(in->sub, a, b), exec);
}

static void pack(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    if (!sources_defined(l, w, in, exec))
        return;
    for (uint32_t i = 0; i < in->sources; i++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            memcpy((char *)&buffer + lane * in->width + i * in->size,
                   (char *)ROW(w, in->s[i]) + lane * in->size, in->size);
    vptx_put_row(w, in->d[0], &buffer, exec, in->width);
}

static void unpack(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer from, buffer;
    if (!sources_defined(l, w, in, exec))
        return;
    memcpy(&from, ROW(w, in->s[0]), in->size * LANES);
    for (uint32_t i = 0; i < in->size / in->width; i++) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            memcpy((char *)&buffer + lane * in->width,
                   (char *)&from + lane * in->size + i * in->width, in->width);
        vptx_put_row(w, in->d[i], &buffer, exec, in->width);
    }
}

static void read_clock(const launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    for (uint32_t i = 0; i < LANES; i++)
        if (in->width == 8)
            buffer.u64[i] = l->report->warp_instructions;
        else
            buffer.u32[i] = (uint32_t)l->report->warp_instructions;
    vptx_put_row(w, in->d[0], &buffer, exec, in->width);
}

static void active_mask(warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    for (uint32_t i = 0; i < LANES; i++)
        buffer.u32[i] = exec;
    vptx_put_row(w, in->d[0], &buffer, exec, 4);
}

/* ---- all that do not decide where to go on ---- */

void vptx_exec_value(launch *l, warp *w, const instr *in, uint32_t exec)
{
    switch ((opcode)in->op) {
    case OP_ROW:
        row_instruction(l, w, in, exec);
        break;
    case OP_MOV:
        move(w, in, exec);
        break;
    case OP_TEST:
    case OP_SET:
        test(l, w, in, exec);
        break;
    case OP_CARRY:
        carry_instruction(l, w, in, exec);
        break;
    case OP_SELP:
        select_value(l, w, in, exec);
        break;
    case OP_PRED:
        predicate_logic(l, w, in, exec);
        break;
    case OP_PACK:
        pack(l, w, in, exec);
        break;
    case OP_UNPACK:
        unpack(l, w, in, exec);
        break;
    case OP_CLOCK:
        read_clock(l, w, in, exec);
        break;
    case OP_LOAD:
        vptx_exec_load(l, w, in, exec);
        break;
    case OP_STORE:
        vptx_exec_store(l, w, in, exec);
        break;
    case OP_ATOM:
        vptx_exec_atom(l, w, in, exec);
        break;
    case OP_ACTIVEMASK:
        active_mask(w, in, exec);
        break;
    default:
        break;
    }
}
