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

#define ROW_HEAD(op, tag)                                                                          \
    static void op##_##tag(void *vd, const void *va, const void *vb, const void *vc, const void *ve)
#define DEF_R1(op, tag, types, D, A, expression)                                                   \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        (void)vb, (void)vc, (void)ve;                                                              \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const t_##A a = ((const t_##A *)va)[i];                                                \
            ((t_##D *)vd)[i] = (t_##D)(expression);                                                \
        }                                                                                          \
    }
#define DEF_R2(op, tag, types, D, A, B, expression)                                                \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        (void)vc, (void)ve;                                                                        \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const t_##A a = ((const t_##A *)va)[i];                                                \
            const t_##B b = ((const t_##B *)vb)[i];                                                \
            ((t_##D *)vd)[i] = (t_##D)(expression);                                                \
        }                                                                                          \
    }
#define DEF_R3(op, tag, types, D, A, B, C, expression)                                             \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        (void)ve;                                                                                  \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const t_##A a = ((const t_##A *)va)[i];                                                \
            const t_##B b = ((const t_##B *)vb)[i];                                                \
            const t_##C c = ((const t_##C *)vc)[i];                                                \
            ((t_##D *)vd)[i] = (t_##D)(expression);                                                \
        }                                                                                          \
    }
#define DEF_R4(op, tag, types, D, A, B, C, E, expression)                                          \
    ROW_HEAD(op, tag)                                                                              \
    {                                                                                              \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const t_##A a = ((const t_##A *)va)[i];                                                \
            const t_##B b = ((const t_##B *)vb)[i];                                                \
            const t_##C c = ((const t_##C *)vc)[i];                                                \
            const t_##E e = ((const t_##E *)ve)[i];                                                \
            ((t_##D *)vd)[i] = (t_##D)(expression);                                                \
        }                                                                                          \
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
