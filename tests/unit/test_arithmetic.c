/*
 * The environment of all arithmetic: inside, the defaults, whatever the caller has set; outside,
 * what the caller had, and nothing raised inside shows or traps.
 */
#define _GNU_SOURCE
#include "base/arithmetic.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <float.h>

static volatile double tiny = DBL_MIN, one = 1, three = 3;
static volatile long double one_long = 1, three_long = 3;

/* What rounding, traps and flushing make of the same divisions. */
static void expect_defaults(const char *when)
{
    cr_expect_eq(fegetround(), FE_TONEAREST, "%s", when);
    cr_expect_eq(one / three, 0x1.5555555555555p-2, "%s", when);
    cr_expect_eq(-one / three, -0x1.5555555555555p-2, "%s", when);
#if LDBL_MANT_DIG == 64
    cr_expect_eq(one_long / three_long, 0xa.aaaaaaaaaaaaaabp-5L, "%s", when);
#endif
    cr_expect_gt(tiny / 4, 0, "%s: flushed to zero", when);
    cr_expect_gt(tiny / 4 * 4, 0, "%s: denormals are zero", when);
#ifdef FE_NOMASK_ENV
    cr_expect_eq(fegetexcept(), 0, "%s", when);
#endif
}

Test(arithmetic, rounding_modes)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int m = 0; m < 4; m++) {
        cr_assert_eq(fesetround(modes[m]), 0);
        const syi_arithmetic saved = syi_arithmetic_enter();
        expect_defaults("inside");
        fesetround(FE_DOWNWARD);
        syi_arithmetic_renew();
        expect_defaults("renewed");
        fesetround(FE_DOWNWARD);
        syi_arithmetic_leave(saved);
        cr_expect_eq(fegetround(), modes[m]);
        fesetround(FE_TONEAREST);
    }
}

#ifdef __SSE2_MATH__
#include <xmmintrin.h>

Test(arithmetic, flushing)
{
    const unsigned flush = 0x8040; /* results and operands */
    unsigned before;
    _mm_setcsr(_mm_getcsr() | flush);
    cr_assert_eq(tiny / 4, 0);
    before = _mm_getcsr();
    const syi_arithmetic saved = syi_arithmetic_enter();
    expect_defaults("inside");
    syi_arithmetic_leave(saved);
    cr_expect_eq(_mm_getcsr(), before);
    _mm_setcsr(before & ~flush);
}
#endif

/* Whoever had raised some finds these and no others. */
Test(arithmetic, flags)
{
    static const int raised[] = {0, FE_INEXACT, FE_OVERFLOW | FE_INVALID, FE_ALL_EXCEPT};
    for (int k = 0; k < 4; k++) {
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(raised[k]);
        const int before = fetestexcept(FE_ALL_EXCEPT); /* some raise inexact with an overflow */
        const syi_arithmetic saved = syi_arithmetic_enter();
        feraiseexcept(FE_UNDERFLOW | FE_DIVBYZERO);
        cr_expect_gt(one_long / three_long, 0); /* inexact, where `long double` is computed */
        syi_arithmetic_leave(saved);
        cr_expect_eq(fetestexcept(FE_ALL_EXCEPT), before);
    }
    feclearexcept(FE_ALL_EXCEPT);
}

#ifdef FE_NOMASK_ENV
Test(arithmetic, traps)
{
    feclearexcept(FE_ALL_EXCEPT);
    if (feenableexcept(FE_ALL_EXCEPT) == -1)
        cr_skip_test("this processor has no traps");
    const syi_arithmetic saved = syi_arithmetic_enter();
    expect_defaults("inside");
    feraiseexcept(FE_ALL_EXCEPT);
    syi_arithmetic_leave(saved);
    const int traps = fegetexcept();
    const long double sum = one_long + three_long; /* would trap now if something was left */
    fedisableexcept(FE_ALL_EXCEPT);
    cr_expect_eq(traps, FE_ALL_EXCEPT);
    cr_expect_eq(sum, 4);
}
#endif
