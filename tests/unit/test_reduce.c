/*
 * The reductions against their definitions evaluated with MPFR, bit for bit, over hard series, for
 * every instruction set of the build that this processor has, merged in more than one order.
 */
#include "kernel.h"
#include "series.h"

#include <criterion/criterion.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

extern const syi_workload syi_workload_sum, syi_workload_mean, syi_workload_variance;
extern const syi_workload syi_workload_dot, syi_workload_min, syi_workload_max;

enum { SUM, MEAN, VARIANCE };
static const syi_workload *const workloads[] = {&syi_workload_sum, &syi_workload_mean,
                                                &syi_workload_variance};

/* The definition. IEEE's answer for a sum or mean with infinities, NaN for such a variance. */
static double expect(int which, const double *x, int64_t n, int64_t ddof)
{
    mpfr_t sum, squares, term;
    double plain = 0, value;
    int finite = 1;
    mpfr_inits2(5000, sum, squares, term, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(squares, 1);
    for (int64_t i = 0; i < n; i++) {
        finite &= isfinite(x[i]) != 0;
        plain += isfinite(x[i]) ? 0 : x[i];
        mpfr_add_d(sum, sum, x[i], MPFR_RNDN);
        mpfr_set_d(term, x[i], MPFR_RNDN);
        mpfr_sqr(term, term, MPFR_RNDN);
        mpfr_add(squares, squares, term, MPFR_RNDN);
    }
    if (which == VARIANCE && finite) {
        mpfr_mul_si(squares, squares, (long)n, MPFR_RNDN);
        mpfr_sqr(term, sum, MPFR_RNDN);
        mpfr_sub(sum, squares, term, MPFR_RNDN);
        mpfr_set_si(term, (long)n, MPFR_RNDN);
        mpfr_mul_si(term, term, (long)(n - ddof), MPFR_RNDN);
        mpfr_div(sum, sum, term, MPFR_RNDN);
    } else if (which == MEAN && finite && n > 0) {
        mpfr_div_si(sum, sum, (long)n, MPFR_RNDN);
    }
    value = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(sum, squares, term, (mpfr_ptr)0);
    if ((which == MEAN && n == 0) || (which == VARIANCE && (n <= ddof || !finite)))
        return syi_nan();
    if (!finite)
        return isnan(plain) ? syi_nan() : plain;
    return value == 0 ? 0 : value;
}

/* Partials of canonical tiles, merged as a balanced tree or from the left. */
static void fold(const syi_workload *workload, unsigned char *partials, int64_t tiles, int balanced)
{
    size_t size = workload->partial_size;
    if (!balanced)
        for (int64_t t = 1; t < tiles; t++)
            workload->combine(partials, partials + (size_t)t * size);
    for (int64_t width = 1; balanced && width < tiles; width *= 2)
        for (int64_t t = 0; t + width < tiles; t += 2 * width)
            workload->combine(partials + (size_t)t * size, partials + (size_t)(t + width) * size);
}

static double reduce(const syi_workload *workload, int isa, const double *x, int64_t n, double ddof,
                     int balanced, int *doubt)
{
    int64_t tiles = n > 0 ? (n + SYI_TILE - 1) / SYI_TILE : 1;
    unsigned char *partials = calloc((size_t)tiles, workload->partial_size);
    double params[1] = {ddof}, value;
    syi_piece piece = {.segment = {.in = &x, .count = n, .columns = n, .params = params},
                       .partials = partials};
    cr_assert_eq(workload->run[isa](&piece), SY_OK);
    fold(workload, partials, tiles, balanced);
    workload->finish(partials, n, params, &value, doubt);
    free(partials);
    if (*doubt) {
        double *out[1] = {&value};
        sy_segment row = {.in = &x, .out = out, .count = n, .columns = n, .params = params};
        value = syi_nan();
        cr_assert_eq(workload->repair(&row, 0, n, &(syi_past){0}), SY_OK);
    }
    return value;
}

static void check(int which, int kind, uint64_t seed, const double *x, int64_t n, double ddof)
{
    double want = expect(which, x, n, (int64_t)ddof);
    for (int isa = SYI_ISA_BASE; isa <= (int)syi_isa_detect(); isa++)
        for (int balanced = 0; balanced < 2 && workloads[which]->run[isa] != NULL; balanced++) {
            int doubt = 0;
            double got = reduce(workloads[which], isa, x, n, ddof, balanced, &doubt);
            if (memcmp(&got, &want, sizeof got) != 0) {
                fprintf(stderr, "%s isa %d series %d seed %llu n %lld ddof %g: %a, not %a\n",
                        workloads[which]->name, isa, kind, (unsigned long long)seed, (long long)n,
                        ddof, got, want);
                cr_assert_fail("wrong bits");
            }
            /* The slow way must stay the exception. */
            int easy = kind == SERIES_WALK || kind == SERIES_OFFSET || kind == SERIES_TINY_TICKS;
            cr_assert(!easy || !doubt || n < 1000, "%s doubts series %d", workloads[which]->name,
                      kind);
        }
}

static void check_all(int which)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 31, 32, 33, 64, 100, 1000, 4096, 4097, 30011};
    double *x = malloc(30011 * sizeof *x);
    uint64_t seed = 1;
    for (int kind = 0; kind < SERIES_COUNT; kind++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++, seed++) {
            series_make(kind, seed, lengths[k], x);
            check(which, kind, seed, x, lengths[k], (double)(seed % 2));
            if (which == VARIANCE)
                check(which, kind, seed, x, lengths[k], (double)(seed % 2 + 5));
        }
    free(x);
}

Test(reduce, sum)
{
    check_all(SUM);
}

Test(reduce, mean)
{
    check_all(MEAN);
}

Test(reduce, variance)
{
    check_all(VARIANCE);
}

/* Every width of the sums at its limits: the data fill all their bits, with one sign. */
Test(reduce, widths_of_sums)
{
    double *x = malloc(8192 * sizeof *x);
    for (uint64_t gap = 0; gap < 160; gap++) {
        series_make(SERIES_GAP, gap, 8192, x);
        for (int which = SUM; which <= VARIANCE; which++)
            check(which, SERIES_GAP, gap, x, 8192, 0);
    }
    free(x);
}

/* A row of one tile, by hand, on every instruction set: up to two inputs and two outputs. */
static void check_pair(const syi_workload *workload, const double *x, const double *y, int64_t n,
                       double want, double want_also)
{
    for (int isa = SYI_ISA_BASE; isa <= (int)syi_isa_detect(); isa++) {
        const double *in[2] = {x, y};
        double values[2] = {0, 0}, wanted[2] = {want, want_also}, *out[2] = {values, values + 1};
        uint64_t partial[8] = {0};
        int doubt = 0;
        syi_piece piece = {.segment = {.in = in, .count = n, .columns = n}, .partials = partial};
        if (workload->run[isa] == NULL)
            continue;
        cr_assert(workload->partial_size <= sizeof partial);
        cr_assert_eq(workload->run[isa](&piece), SY_OK);
        workload->finish(partial, n, NULL, values, &doubt);
        if (doubt) {
            sy_segment row = {.in = in, .out = out, .count = n, .columns = n};
            cr_assert_eq(workload->repair(&row, 0, n, &(syi_past){0}), SY_OK);
        }
        cr_expect(memcmp(values, wanted, sizeof values) == 0, "%s isa %d: %a, %a, not %a, %a",
                  workload->name, isa, values[0], values[1], want, want_also);
    }
}

Test(reduce, dot_by_hand)
{
    static const double huge = 0x1.fffffffffffffp1023, tiny = 0x1p-1074;
    static const double small = 0x1.0000000000001p-510; /* its square has bits down to 2^-1124 */
    static const struct {
        double x[4], y[4], want;
        int n;
    } rows[] = {{{0}, {0}, 0, 0},
                {{-0.0, -0.0}, {1, 2}, 0, 2},
                /* products beyond the largest double, and below the least, that cancel */
                {{huge, -huge, 3}, {huge, huge, 5}, 15, 3},
                {{tiny, -tiny, tiny}, {tiny, tiny, 7}, 7 * 0x1p-1074, 3},
                {{tiny, tiny, 1}, {0.5, 0.5, tiny}, 2 * 0x1p-1074, 3},
                {{tiny, 0}, {0.5, 0}, 0, 2},
                {{tiny, tiny, tiny}, {0.5, tiny, 1}, 2 * 0x1p-1074, 3},
                /* ties, and what breaks them far below */
                {{1, 0x1p-27}, {1, 0x1p-26}, 1, 2},
                {{1, 0x1p-27, tiny}, {1, 0x1p-26, tiny}, 1 + 0x1p-52, 3},
                {{1, 0x1p-27, tiny}, {1, 0x1p-26, -tiny}, 1, 3},
                {{small, -0x1p-1020, -0x1p-1071, tiny}, {small, 1, 1, 0.5}, tiny, 4},
                {{huge, huge}, {1, 1}, INFINITY, 2},
                {{INFINITY, huge}, {2, -huge}, INFINITY, 2},
                {{-INFINITY, 1}, {tiny, 1}, -INFINITY, 2}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        check_pair(&syi_workload_dot, rows[r].x, rows[r].y, rows[r].n, rows[r].want, 0);
    check_pair(&syi_workload_dot, (const double[]){INFINITY}, (const double[]){0}, 1, syi_nan(), 0);
    check_pair(&syi_workload_dot, (const double[]){INFINITY, 1}, (const double[]){1, -INFINITY}, 2,
               syi_nan(), 0);
    check_pair(&syi_workload_dot, (const double[]){NAN, 1}, (const double[]){0, INFINITY}, 2,
               syi_nan(), 0);
}

/* Ties in and between lanes, the last columns, infinities, NaN and zeros of both signs. */
Test(reduce, extremes_by_hand)
{
    double x[100];
    for (int64_t n = 1; n <= 100; n++)
        for (int64_t at = 0; at < n; at++) {
            for (int64_t i = 0; i < n; i++)
                x[i] = i < at ? 5 : 3 + (double)((i - at) % 3 != 0);
            check_pair(&syi_workload_min, x, NULL, n, 3, (double)at);
            for (int64_t i = 0; i < n; i++)
                x[i] = -x[i];
            check_pair(&syi_workload_max, x, NULL, n, -3, (double)at);
            x[at] = -NAN;
            check_pair(&syi_workload_max, x, NULL, n, syi_nan(), syi_nan());
            check_pair(&syi_workload_min, x, NULL, n, syi_nan(), syi_nan());
        }
    for (int64_t n = 1; n <= 100; n++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = INFINITY;
        check_pair(&syi_workload_min, x, NULL, n, INFINITY, 0);
        check_pair(&syi_workload_max, x, NULL, n, INFINITY, 0);
        for (int64_t i = 0; i < n; i++)
            x[i] = i % 2 ? 0.0 : -0.0;
        check_pair(&syi_workload_min, x, NULL, n, 0, 0);
        check_pair(&syi_workload_max, x, NULL, n, 0, 0);
    }
    check_pair(&syi_workload_min, x, NULL, 0, syi_nan(), syi_nan());
}

/* What cancels, overflows on the way, or ties. */
Test(reduce, hand_made)
{
    static const double rows[][4] = {
        {1e300, 1, -1e300, 0x1p-1074},
        {0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, -0x1p970},
        {0x1.fffffffffffffp1023, 0x1p970, 0, 0},
        {1, 0x1p-53, 0, 0},
        {1, 0x1p-53, 0x1p-1074, 0},
        {-1, -0x1p-53, 0, 0},
        {-0.0, -0.0, -0.0, -0.0},
        {INFINITY, 1, 2, 3},
        {-INFINITY, 1, 2, -INFINITY},
        {INFINITY, -INFINITY, 1, 1},
        {NAN, INFINITY, 0, 0},
        {0x1p-1074, 0, 0, 0},
        {0x1p-1074, 0x1p-1074, 0, 0},
        {3e154, -3e154, 1, 1},
        {1e8, 1e8 + 0x1p-26, 1e8, 1e8}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int which = SUM; which <= VARIANCE; which++)
            for (int64_t n = 1; n <= 4; n++)
                check(which, -1, r, rows[r], n, 0);
}
