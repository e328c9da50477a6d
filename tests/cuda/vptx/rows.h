/* How a list of row operations (rows_*.def) becomes functions and a table of them: the list is
 * included twice, with ROWS_TABLE undefined and defined.
 *
 * Rn(op, tag, types, D, A.., expression): `op` is the mnemonic with its modifiers joined by '_',
 * `tag` makes the function's name unique, D and A.. are the kinds of the result and of the sources
 * a, b, c, e in the expression. */
#ifndef VPTX_ROWS_H
#define VPTX_ROWS_H

#include "internal.h"

/* One row is read as integers here and as floats there. */
#define MAY_ALIAS __attribute__((may_alias))
typedef MAY_ALIAS uint16_t t_U16;
typedef MAY_ALIAS int16_t t_S16;
typedef MAY_ALIAS uint32_t t_U32;
typedef MAY_ALIAS int32_t t_S32;
typedef MAY_ALIAS uint64_t t_U64;
typedef MAY_ALIAS int64_t t_S64;
typedef MAY_ALIAS float t_F32;
typedef MAY_ALIAS double t_F64;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* A destination row is a source row or does not overlap it. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* not every loop can be vectorised */
#define EACH_LANE                                                                                  \
    _Pragma("clang loop vectorize(assume_safety)") for (uint32_t i = 0; i < LANES; i++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (uint32_t i = 0; i < LANES; i++)
#endif
/* The statements for lane i, which is `lane` or, when that is LANES, each. */
#define FOR_LANE_OR_EACH(...)                                                                      \
    if (lane < LANES) {                                                                            \
        const uint32_t i = lane;                                                                   \
        __VA_ARGS__                                                                                \
    } else {                                                                                       \
        EACH_LANE                                                                                  \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

#define ROW_HEAD(op, tag)                                                                          \
    static bool op##_##tag(void *vd, const void *va, const void *vb, const void *vc,               \
                           const void *ve, uint32_t lane)
#define TAKE(K, x)          const t_##K x = ((const t_##K *)v##x)[i];
#define GIVE(K, expression) ((t_##K *)vd)[i] = (t_##K)(expression);
/* Of integers, never. */
#define IS_NAN(K) (lane < LANES && ((t_##K *)vd)[lane] != ((t_##K *)vd)[lane])
#define DEF_R1(op, tag, types, D, A, expression)                                                   \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        (void)vb, (void)vc, (void)ve;                                                              \
        FOR_LANE_OR_EACH(TAKE(A, a) GIVE(D, expression))                                           \
        return IS_NAN(D);                                                                          \
    }
#define DEF_R2(op, tag, types, D, A, B, expression)                                                \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        (void)vc, (void)ve;                                                                        \
        FOR_LANE_OR_EACH(TAKE(A, a) TAKE(B, b) GIVE(D, expression))                                \
        return IS_NAN(D);                                                                          \
    }
#define DEF_R3(op, tag, types, D, A, B, C, expression)                                             \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        (void)ve;                                                                                  \
        FOR_LANE_OR_EACH(TAKE(A, a) TAKE(B, b) TAKE(C, c) GIVE(D, expression))                     \
        return IS_NAN(D);                                                                          \
    }
#define DEF_R4(op, tag, types, D, A, B, C, E, expression)                                          \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        FOR_LANE_OR_EACH(TAKE(A, a) TAKE(B, b) TAKE(C, c) TAKE(E, e) GIVE(D, expression))          \
        return IS_NAN(D);                                                                          \
    }
#define TAB_R1(op, tag, types, D, A, expression)    {#op, types, K_##D, {K_##A}, op##_##tag},
#define TAB_R2(op, tag, types, D, A, B, expression) {#op, types, K_##D, {K_##A, K_##B}, op##_##tag},
#define TAB_R3(op, tag, types, D, A, B, C, expression)                                             \
    {#op, types, K_##D, {K_##A, K_##B, K_##C}, op##_##tag},
#define TAB_R4(op, tag, types, D, A, B, C, E, expression)                                          \
    {#op, types, K_##D, {K_##A, K_##B, K_##C, K_##E}, op##_##tag},

#endif

#undef R1
#undef R2
#undef R3
#undef R4
#ifdef ROWS_TABLE
#define R1 TAB_R1
#define R2 TAB_R2
#define R3 TAB_R3
#define R4 TAB_R4
#else
#define R1 DEF_R1
#define R2 DEF_R2
#define R3 DEF_R3
#define R4 DEF_R4
#endif
