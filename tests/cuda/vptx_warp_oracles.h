/* What each thread should see of the checks in test_vptx_warp.c, in plain C, and the PTX fragments
 * that several of them share. */
#ifndef VPTX_WARP_ORACLES_H
#define VPTX_WARP_ORACLES_H

#include "vptx_host.h"

enum { THREADS = 64, INPUTS = 3, OUTPUTS = 4, ROUNDS = 8 };

typedef uint64_t u64;
typedef int64_t i64;
typedef uint32_t u32;
__extension__ typedef unsigned __int128 u128;
typedef u64 inputs[THREADS][INPUTS];

/* ---- shuffles: segments of 4 to 32 lanes, as the manual of the C intrinsics describes them ----
 */

#define SHUFFLE(mode, last)                                                                        \
    "and.b32 %r4, %r2, 3;\nadd.u32 %r4, %r4, 2;\nshl.b32 %r4, 1, %r4;\nsub.u32 %r4, 32, %r4;\n"    \
    "shl.b32 %r4, %r4, 8;\nor.b32 %r4, %r4, " last ";\nand.b32 %r5, %r1, 31;\n"                    \
    "shfl.sync." mode                                                                              \
    ".b32 %r6|%p1, %r0, %r5, %r4, -1;\ncvt.u64.u32 %o0, %r6;\nselp.u64 %o1, 1, 0, %p1;\n"

static void shuffled(inputs in, int t, int source, bool inside, u64 *out)
{
    out[0] = (u32)in[inside ? t / 32 * 32 + source : t][0];
    out[1] = inside;
}

static int segment_of(inputs in, int t)
{
    return 4 << (in[t][2] & 3);
}

static void up(inputs in, int t, u64 *out)
{
    const int lane = t % 32, source = lane - (int)(in[t][1] & 31), w = segment_of(in, t);
    shuffled(in, t, source, source >= lane / w * w, out);
}

static void down(inputs in, int t, u64 *out)
{
    const int lane = t % 32, source = lane + (int)(in[t][1] & 31), w = segment_of(in, t);
    shuffled(in, t, source, source < lane / w * w + w, out);
}

static void butterfly(inputs in, int t, u64 *out)
{
    const int lane = t % 32, source = lane ^ (int)(in[t][1] & 31), w = segment_of(in, t);
    shuffled(in, t, source, source < lane / w * w + w, out);
}

static void indexed(inputs in, int t, u64 *out)
{
    const int lane = t % 32, w = segment_of(in, t);
    shuffled(in, t, lane / w * w + (int)(in[t][1] & 31) % w, true, out);
}

/* ---- votes and matches: the first warp agrees in the first rounds, see make_inputs ---- */

static int count_odd(inputs in, int t)
{
    int odd = 0;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; i++)
        odd += in[i][0] & 1;
    return odd;
}

static void votes(inputs in, int t, u64 *out)
{
    const int odd = count_odd(in, t);
    for (int i = 0; i < 32; i++)
        out[0] |= (in[t / 32 * 32 + i][0] & 1) << i;
    out[1] = odd == 32;
    out[2] = odd > 0;
    out[3] = odd == 32 || odd == 0;
}

static void not_votes(inputs in, int t, u64 *out)
{
    const int odd = count_odd(in, t);
    out[0] = odd == 0;
    out[1] = odd < 32;
}

static u64 equal_lanes(inputs in, int t, u64 mask, u64 *all)
{
    u64 lanes = 0;
    *all = 1;
    for (int i = 0; i < 32; i++) {
        const bool same = ((in[t / 32 * 32 + i][0] ^ in[t][0]) & mask) == 0;
        lanes |= (u64)same << i;
        *all &= same;
    }
    return lanes;
}

static void matches(inputs in, int t, u64 *out)
{
    u64 all;
    out[0] = equal_lanes(in, t, 3, &all);
    out[1] = equal_lanes(in, t, (u64)3 << 62, &all);
    out[0] |= equal_lanes(in, t, 1, &all) == 0xffffffff ? (u64)1 << 40 : 0;
    equal_lanes(in, t, 1, &all);
    out[2] = all ? 0xffffffff : 0;
    out[3] = all;
}

static void reductions(inputs in, int t, u64 *out)
{
    u32 sum = 0, and = ~0u, or = 0, xor = 0, low = ~0u, high = 0;
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; i++) {
        const u32 x = (u32)in[i][1];
        sum += x, and &= x | 0xf0, or |= x & 0xff00, xor ^= x;
        low = x < low ? x : low, high = x > high ? x : high;
        least = (int32_t)x < least ? (int32_t)x : least,
        most = (int32_t)x > most ? (int32_t)x : most;
    }
    out[0] = (u64)low << 32 | sum;
    out[1] = (u64) or << 32 | and;
    out[2] = (u64)high << 32 | xor;
    out[3] = (u64)(u32)most << 32 | (u32)least;
}

/* ---- the block ---- */

static void block_votes(inputs in, int t, u64 *out)
{
    (void)t;
    for (int i = 0; i < THREADS; i++)
        out[0] += in[i][0] & 1;
    out[1] = out[0] == THREADS;
    out[2] = out[0] > 0;
}

static void special(inputs in, int t, u64 *out)
{
    const u32 lane = (u32)t % 32, own = 1u << lane;
    (void)in;
    out[0] = (u64)own << 32 | (own - 1);
    out[1] = (u64) ~(own - 1) << 32 | ((own - 1) | own);
    out[2] = (u64) ~((own - 1) | own) << 32 | (lane | (u32)t / 32 << 8 | 2u << 16 | THREADS << 20);
    out[3] = 0xffffffff;
}

static void branches(inputs in, int t, u64 *out)
{
    out[0] = in[t][1] % 4 * 10;
}

/* ---- memory ---- */

static void widths(inputs in, int t, u64 *out)
{
    const u64 a = in[t][0];
    out[0] = (u64)(i64)(int8_t)a;
    out[1] = (u32)(int16_t)(a >> 16);
    out[2] = (u64)(i64)(int32_t)(a >> 32);
    out[3] = (a >> 8 & 0xff) << 48 | (a >> 48) << 16 | (uint16_t)(int8_t)(a >> 56);
}

static void local_and_generic(inputs in, int t, u64 *out)
{
    out[0] = in[t][0];
    out[1] = in[t][1];
    out[2] = in[t][0] >> 32;
    out[3] = in[t][1];
}

#define ATOM(type, op, more)                                                                       \
    "st.global.u64 [%x0+16], %a0;\natom.global." op "." type " %o0, [%x0+16], %a1" more            \
    ";\nld.global.u64 %o2, [%x0+16];\n"
#define ATOM_32(type, op)                                                                          \
    "st.global.u64 [%x0+16], %a0;\natom.global." op "." type                                       \
    " %r9, [%x0+16], %r1;\ncvt.u64.u32 %o0, %r9;\nld.global.u64 %o2, [%x0+16];\n"
#define ATOM_ORACLE(name, value)                                                                   \
    static void name(inputs in, int t, u64 *out)                                                   \
    {                                                                                              \
        const u64 a = in[t][0], b = in[t][1], c = in[t][2];                                        \
        (void)b, (void)c;                                                                          \
        out[0] = a;                                                                                \
        out[2] = (value);                                                                          \
    }
#define ATOM_ORACLE_32(name, value)                                                                \
    static void name(inputs in, int t, u64 *out)                                                   \
    {                                                                                              \
        const u32 a = (u32)in[t][0], b = (u32)in[t][1];                                            \
        out[0] = a;                                                                                \
        out[2] = in[t][0] >> 32 << 32 | (u32)(value);                                              \
    }
ATOM_ORACLE(add_64, a + b)
ATOM_ORACLE(min_u64, a < b ? a : b)
ATOM_ORACLE(max_u64, a > b ? a : b)
ATOM_ORACLE(min_s64, (i64)a < (i64)b ? a : b)
ATOM_ORACLE(max_s64, (i64)a > (i64)b ? a : b)
ATOM_ORACLE(and_64, a &b)
ATOM_ORACLE(or_64, a | b)
ATOM_ORACLE(xor_64, a ^ b)
ATOM_ORACLE(exchange_64, b)
ATOM_ORACLE(swap_64, a == b ? c : a)
ATOM_ORACLE_32(min_s32, (int32_t)a < (int32_t)b ? a : b)
ATOM_ORACLE_32(max_u32, a > b ? a : b)
ATOM_ORACLE_32(up_32, a >= b ? 0 : a + 1)
ATOM_ORACLE_32(down_32, a == 0 || a > b ? b : a - 1)

/* ---- carries: the flag comes from r0 + r1, and goes to o1 ---- */

#define CARRY_32(op, operands)                                                                     \
    "add.cc.u32 %r4, %r0, %r1;\n" op " %r5, " operands ";\naddc.u32 %r6, 0, 0;\n"                  \
    "cvt.u64.u32 %o0, %r5;\ncvt.u64.u32 %o1, %r6;\n"
#define CARRY_64(op, operands)                                                                     \
    "add.cc.u32 %r4, %r0, %r1;\n" op " %o0, " operands ";\naddc.u64 %o1, 0, 0;\n"
#define CARRY_ORACLE(name, bits, sum)                                                              \
    static void name(inputs in, int t, u64 *out)                                                   \
    {                                                                                              \
        const u128 mask = ((u128)1 << bits) - 1;                                                   \
        const u128 a = in[t][0] & mask, b = in[t][1] & mask, c = in[t][2] & mask;                  \
        const u128 x = ((u64)(u32)in[t][0] + (u32)in[t][1]) >> 32, result = (sum);                 \
        (void)b, (void)c, (void)x;                                                                 \
        out[0] = (u64)(result & mask);                                                             \
        out[1] = (u64)(result >> bits) & 1;                                                        \
    }
CARRY_ORACLE(addc_32, 32, a + c + x)
CARRY_ORACLE(addc_64, 64, a + c + x)
CARRY_ORACLE(subc_32, 32, a - c - x)
CARRY_ORACLE(subc_64, 64, a - c - x)
CARRY_ORACLE(sub_64, 64, a - c)
CARRY_ORACLE(mad_lo_32, 32, (a * b & mask) + c)
CARRY_ORACLE(mad_lo_64, 64, (a * b & mask) + c)
CARRY_ORACLE(mad_hi_32, 32, (a * b >> 32) + c)
CARRY_ORACLE(mad_hi_64, 64, (a * b >> 64) + c)
CARRY_ORACLE(madc_lo_32, 32, (a * b & mask) + c + x)
CARRY_ORACLE(madc_lo_64, 64, (a * b & mask) + c + x)
CARRY_ORACLE(madc_hi_32, 32, (a * b >> 32) + c + x)
CARRY_ORACLE(madc_hi_64, 64, (a * b >> 64) + c + x)

#endif
