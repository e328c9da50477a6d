/* The caller's floating-point environment takes no part in what is computed, and is left as it was.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fenv.h>

#include "support/lab.h"
#include "support/series.h"

enum { MOST = 41000 };

static double x[MOST];

static void fill(void)
{
    series_fill(SERIES_TICK, 3, x, MOST);
}

TestSuite(environment, .init = fill);

/* The caller's rounding mode takes no part, and is the same afterwards. */
static void check_rounding_modes(sy_dtype dtype)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const char *const workloads[] = {"sma", "bollinger", "ema", "macd", "sum", "variance"};
    for (int m = 0; m < 3; m++)
        for (int w = 0; w < 6; w++) {
            sy_context *context = lab_open("sim:a:speed=1e6," LAB_CPU(2), NULL, NULL);
            lab_case c = {
                .workload = workloads[w], .rows = 3, .columns = 9000, .dtype = dtype, .x = x};
            cr_assert(context && lab_prepare(&c));
            cr_assert_eq(fesetround(modes[m]), 0);
            cr_expect_eq(lab_run(context, &c, NULL, NULL), SY_OK);
            cr_expect_eq(fegetround(), modes[m]);
            fesetround(FE_TONEAREST);
            cr_expect(lab_as_on_cpu(&c), "%s", workloads[w]);
            lab_release(&c);
            sy_context_destroy(&context);
        }
}

Test(environment, rounding_modes)
{
    check_rounding_modes(SY_F64);
    lab_round_to_floats(x, MOST);
    check_rounding_modes(SY_F32);
}

#ifdef FE_NOMASK_ENV
/* A caller who wants to be stopped at the first NaN of its own, or where anything is rounded, is
 * not at what happens inside. */
static void check_traps(const char *workload, int64_t columns)
{
    static double y[3][MOST];
    sy_context *context = lab_open("sim:a:speed=2," LAB_CPU(2), NULL, NULL);
    const void *const in[] = {x};
    void *const out[] = {y[0], y[1], y[2]};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = workload,
                          .rows = 1,
                          .columns = columns,
                          .inputs = in,
                          .outputs = out};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_decision decision = {.struct_size = sizeof decision};
    cr_assert(context);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
    cr_expect_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
    cr_expect_eq(sy_decide(context, &work, NULL, &decision), SY_OK);
    cr_expect_eq(distribute_workload(context, &work, NULL, NULL), SY_OK);
    fedisableexcept(FE_ALL_EXCEPT);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

Test(environment, traps)
{
    static const char *const workloads[] = {"sma", "bollinger", "ema", "macd", "rsi", "variance"};
    for (int w = 0; w < 6; w++) {
        check_traps(workloads[w], 1000);
        check_traps(workloads[w], 41000);
    }
}
#endif

#if defined(_OPENMP) && defined(__SSE2_MATH__)
#include <xmmintrin.h>

/* The threads that a call was the first to need are the program's, too, and have its arithmetic. */
Test(environment, own_threads)
{
    enum { FLUSH = 0x8040, THREADS = 4 };
    sy_context *context = lab_open("cpu:threads=4", NULL, NULL);
    lab_case c = {.workload = "sma", .rows = 1, .columns = MOST, .x = x};
    int flush = 0;
    cr_assert(context && lab_prepare(&c));
    _mm_setcsr(_mm_getcsr() | FLUSH);
    cr_expect_eq(lab_run(context, &c, NULL, NULL), SY_OK);
#pragma omp parallel num_threads(THREADS) reduction(+ : flush)
    flush += (_mm_getcsr() & FLUSH) == FLUSH;
    cr_expect_eq(flush, THREADS);
    _mm_setcsr(_mm_getcsr() & ~(unsigned)FLUSH);
    cr_expect(lab_as_on_cpu(&c));
    lab_release(&c);
    sy_context_destroy(&context);
}
#endif
