/*
 * The rolling kernels and the reductions against their definitions evaluated with MPFR, bit for
 * bit, over hard series, for every instruction set of the build that this processor has.
 */
#include "kernel.h"
#include "series.h"

#include <criterion/criterion.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 700
#define EDGE    8 /* poisoned columns on both sides */

extern const syi_workload syi_workload_sma, syi_workload_rolling_std, syi_workload_bollinger;
extern const syi_workload syi_workload_sum, syi_workload_mean, syi_workload_variance;

/* Enough for exact sums of squares of doubles; the deviation's root is exact where it can be. */
static mpfr_prec_t precision_for(int kind)
{
    int wide = kind == SERIES_SUBNORMALS || kind == SERIES_EXTREMES || kind == SERIES_BITS ||
               kind == SERIES_HUGE;
    return wide ? 9000 : 1200;
}

static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* S and N = n Q - S^2 of n doubles; 0 when one of them is not finite. */
static int moments_of(const double *x, int64_t n, mpfr_t sum, mpfr_t spread)
{
    mpfr_t square;
    mpfr_init2(square, mpfr_get_prec(spread));
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(spread, 1);
    int finite = 1;
    for (int64_t i = 0; finite && i < n; i++) {
        finite = isfinite(x[i]);
        if (!finite)
            break;
        mpfr_add_d(sum, sum, x[i], MPFR_RNDN);
        mpfr_set_d(square, x[i], MPFR_RNDN);
        mpfr_sqr(square, square, MPFR_RNDN);
        mpfr_add(spread, spread, square, MPFR_RNDN);
    }
    mpfr_mul_si(spread, spread, (long)n, MPFR_RNDN);
    mpfr_sqr(square, sum, MPFR_RNDN);
    mpfr_sub(spread, spread, square, MPFR_RNDN);
    mpfr_clear(square);
    return finite;
}

/* (with_mean * S * free + width * sqrt(N n free)) / (n free): exact before the division whenever
 * the root is rational, so that ties are met. */
static double band_of(mpfr_t sum, mpfr_t spread, int64_t n, int64_t free, int with_mean,
                      double width)
{
    mpfr_t root, mean;
    mpfr_inits2(mpfr_get_prec(spread), root, mean, (mpfr_ptr)0);
    mpfr_mul_si(root, spread, (long)(n * free), MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    mpfr_mul_d(root, root, width, MPFR_RNDN);
    mpfr_mul_si(mean, sum, with_mean ? (long)free : 0, MPFR_RNDN);
    mpfr_add(root, root, mean, MPFR_RNDN);
    mpfr_div_si(root, root, (long)(n * free), MPFR_RNDN);
    double value = mpfr_get_d(root, MPFR_RNDN);
    mpfr_clears(root, mean, (mpfr_ptr)0);
    return value == 0 ? 0 : value;
}

/* The expected outputs for the window of `period` values at x. */
static void expect_last(const syi_workload *workload, int kind, const double *x,
                        const double *params, double *const *out)
{
    int bands = workload == &syi_workload_bollinger, means = workload == &syi_workload_sma;
    int64_t period = (int64_t)params[0], ddof = means ? 0 : (int64_t)params[bands ? 2 : 1];
    mpfr_t sum, spread;
    mpfr_inits2(precision_for(kind), sum, spread, (mpfr_ptr)0);
    int finite = moments_of(x, period, sum, spread);
    for (int k = 0; k < workload->n_outputs; k++) {
        double width = bands ? (1 - k) * params[1] : means ? 0 : 1;
        out[k][0] =
            finite ? band_of(sum, spread, period, period - ddof, bands || means, width) : syi_nan();
    }
    mpfr_clears(sum, spread, (mpfr_ptr)0);
}

static void expect_window(const syi_workload *workload, int kind, const double *x, int64_t n,
                          const double *params, double *const *out)
{
    int64_t warmup = workload->warmup(params);
    for (int64_t i = 0; i < n; i++) {
        double *to[3] = {out[0] + i, out[1] + i, out[2] + i};
        if (i >= warmup)
            expect_last(workload, kind, x + i - warmup, params, to);
        for (int k = 0; i < warmup && k < workload->n_outputs; k++)
            *to[k] = syi_nan();
    }
}

/* Runs columns [first, last) from a copy that holds just the halo, poison around it. */
static void run_piece(const syi_workload *workload, syi_isa isa, const double *x, int64_t n,
                      int64_t first, int64_t last, const double *params, double **out)
{
    int64_t left = workload->halo(params) < first ? workload->halo(params) : first;
    int64_t count = last - first, total = left + count + 2 * EDGE;
    double *copy = malloc((size_t)total * sizeof *copy);
    double *result[3] = {NULL, NULL, NULL};
    for (int64_t i = 0; i < total; i++)
        copy[i] = series_bits(UINT64_C(0x7ff4deadbeef0001));
    memcpy(copy + EDGE, x + first - left, (size_t)(left + count) * sizeof *copy);
    for (int k = 0; k < workload->n_outputs; k++) {
        result[k] = malloc((size_t)(count + 2) * sizeof *result[k]);
        for (int64_t i = 0; i < count + 2; i++)
            result[k][i] = -12345.0;
    }
    const double *in[1] = {copy + EDGE + left};
    double *to[3] = {result[0] + 1, result[1] ? result[1] + 1 : NULL,
                     result[2] ? result[2] + 1 : NULL};
    syi_piece piece = {.segment = {.in = in,
                                   .out = to,
                                   .first = first,
                                   .count = count,
                                   .left = left,
                                   .columns = n,
                                   .params = params}};
    cr_assert_eq(workload->run[isa](&piece), SY_OK);
    for (int k = 0; k < workload->n_outputs; k++) {
        cr_assert(result[k][0] == -12345.0 && result[k][count + 1] == -12345.0,
                  "%s wrote outside its piece", workload->name);
        memcpy(out[k] + first, to[k], (size_t)count * sizeof(double));
        free(result[k]);
    }
    free(copy);
}

static void compare(const syi_workload *workload, int isa, int kind, uint64_t seed, int64_t n,
                    const double *params, double **got, double **want)
{
    for (int k = 0; k < workload->n_outputs; k++)
        for (int64_t i = 0; i < n; i++) {
            if (same(got[k][i], want[k][i]))
                continue;
            fprintf(stderr,
                    "%s isa %d series %d seed %llu params %g %g %g output %d column %lld: %a, not "
                    "%a\n",
                    workload->name, isa, kind, (unsigned long long)seed, params[0], params[1],
                    params[2], k, (long long)i, got[k][i], want[k][i]);
            cr_assert_fail("wrong bits");
        }
}

/* One series through one workload: whole, and in random pieces, on every instruction set. */
static void check_window(const syi_workload *workload, int kind, uint64_t seed, int64_t n,
                         const double *params)
{
    double *x = malloc((size_t)n * sizeof *x), *got[3], *want[3];
    for (int k = 0; k < 3; k++) {
        got[k] = malloc((size_t)n * sizeof **got);
        want[k] = malloc((size_t)n * sizeof **want);
    }
    series_make(kind, seed, n, x);
    expect_window(workload, kind, x, n, params, want);
    for (int isa = SYI_ISA_BASE; isa <= (int)syi_isa_detect(); isa++) {
        if (workload->run[isa] == NULL)
            continue;
        run_piece(workload, isa, x, n, 0, n, params, got);
        compare(workload, isa, kind, seed, n, params, got, want);
        for (int64_t first = 0, last; first < n; first = last) {
            last = first + (int64_t)(syi_random(seed, 9, (uint64_t)first) % 150);
            last = last < n ? last : n;
            run_piece(workload, isa, x, n, first, last, params, got);
            last += last == first;
        }
        compare(workload, isa, kind, seed, n, params, got, want);
    }
    sy_segment row = {
        .in = (const double *const[]){x}, .out = got, .count = n, .columns = n, .params = params};
    int64_t first = n / 3, last = n / 2;
    for (int k = 0; k < workload->n_outputs; k++)
        memset(got[k] + first, 0x55, (size_t)(last - first) * sizeof **got);
    cr_assert_eq(workload->repair(&row, first, last, &(syi_past){0}), SY_OK);
    compare(workload, -1, kind, seed, n, params, got, want);
    for (int k = 0; k < 3; k++) {
        free(got[k]);
        free(want[k]);
    }
    free(x);
}

/* A long series at some columns only: blocks, windows longer than a block, and none at all. */
static void check_long(const syi_workload *workload, int kind, uint64_t seed, double period)
{
    enum { N = 12000 };
    double params[3] = {period, workload == &syi_workload_bollinger ? 2 : 0, 0};
    double *x = malloc(N * sizeof *x), value[3], *want[3] = {value, value + 1, value + 2}, *got[3];
    series_make(kind, seed, N, x);
    for (int k = 0; k < 3; k++)
        got[k] = malloc(N * sizeof **got);
    for (int isa = SYI_ISA_BASE; isa <= (int)syi_isa_detect(); isa++) {
        if (workload->run[isa] == NULL)
            continue;
        run_piece(workload, isa, x, N, 0, N, params, got);
        for (int64_t at = 0; at < 60; at++) {
            int64_t i = (int64_t)(syi_random(seed, 8, (uint64_t)at) % N),
                    from = i - (int64_t)period;
            if (from < -1) {
                cr_assert(same(got[0][i], syi_nan()));
                continue;
            }
            double *there[3] = {got[0] + i, got[1] + i, got[2] + i};
            expect_last(workload, kind, x + from + 1, params, want);
            compare(workload, isa, kind, seed, 1, params, there, want);
        }
    }
    for (int k = 0; k < 3; k++)
        free(got[k]);
    free(x);
}

static const double periods[] = {1, 2, 3, 5, 7, 14, 20, 64, 98, 103, 196, 200, 600};

static void check_all(const syi_workload *workload, int bands, int rounds)
{
    static const double widths[] = {2, 1.5, 0.1, 3, 0, 1, 0x1p-1070};
    uint64_t seed = 1;
    const char *given = getenv("SYI_TEST_SEED");
    if (given != NULL)
        seed = strtoull(given, NULL, 10);
    for (int round = 0; round < rounds; round++)
        for (int kind = 0; kind < SERIES_COUNT; kind++)
            for (size_t p = 0; p < sizeof periods / sizeof *periods; p++, seed++) {
                double ddof = periods[p] > 1 ? (double)(seed % 2) : 0;
                double params[3] = {periods[p], ddof, 0};
                int64_t n = precision_for(kind) > 5000 && periods[p] < 100 ? COLUMNS / 4 : COLUMNS;
                if (bands)
                    params[1] = widths[seed / 2 % 7], params[2] = ddof;
                check_window(workload, kind, seed, n, params);
            }
}

Test(window, sma)
{
    check_all(&syi_workload_sma, 0, 1);
}

Test(window, rolling_std)
{
    check_all(&syi_workload_rolling_std, 0, 1);
}

Test(window, bollinger)
{
    check_all(&syi_workload_bollinger, 1, 1);
}

Test(window, long_series)
{
    static const syi_workload *const all[] = {&syi_workload_sma, &syi_workload_rolling_std,
                                              &syi_workload_bollinger};
    static const double lengths[] = {20, 1000, 3000, 5001, 12000, 12001, 16777216};
    static const int kinds[] = {SERIES_WALK, SERIES_SPIKES, SERIES_VOLATILE, SERIES_HOLES};
    for (int w = 0; w < 3; w++)
        for (int k = 0; k < 4; k++)
            for (int p = 0; p < 7; p++)
                check_long(all[w], kinds[k], (uint64_t)(100 * w + 10 * k + p), lengths[p]);
}

/* Every width of the sums at its limits: the data fill all their bits, with one sign. */
Test(window, widths_of_sums)
{
    static const syi_workload *const all[] = {&syi_workload_sma, &syi_workload_rolling_std,
                                              &syi_workload_bollinger};
    static const double lengths[] = {1, 2, 3, 20, 64, 65};
    for (int w = 0; w < 3; w++)
        for (uint64_t gap = 0; gap < 80; gap++)
            for (int p = 0; p < 6; p++) {
                double params[3] = {lengths[p], w == 2 ? 2 : 0, 0};
                check_window(all[w], SERIES_GAP, gap, 150, params);
            }
}
