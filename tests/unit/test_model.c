/*
 * The pure model, part by part: cost curves, their fit from disturbed samples, drift,
 * fingerprints. No clock, no devices.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/drift.h"
#include "model/fingerprint.h"
#include "model/fit.h"
#include "support/near.h"
#include "support/virtual_run.h"

/* ---- cost ---- */

Test(cost, pieces_follow_each_other_without_a_jump)
{
    syi_curve c = {.pieces = 3, .fixed_ns = 100, .until = {10, 30}, .per_element_ns = {1, 2, 4}};
    cr_expect_eq(syi_curve_ns(&c, 0), 0);
    cr_expect_eq(syi_curve_ns(&c, 1), 101);
    cr_expect_eq(syi_curve_ns(&c, 10), 110);
    cr_expect_eq(syi_curve_ns(&c, 20), 130);
    cr_expect_eq(syi_curve_ns(&c, 30), 150);
    cr_expect_eq(syi_curve_ns(&c, 40), 190);
}

Test(cost, chunks_pay_each_phase)
{
    syi_cost cost = {{syi_curve_line(10, 1), syi_curve_line(20, 3), syi_curve_line(30, 2)}};
    /* 100 elements: 110 + 320 + 230. */
    cr_expect_eq(syi_cost_ns(&cost, 0, 100), 660);
    cr_expect_eq(syi_cost_ns(&cost, 100, 100), 660);
    cr_expect_eq(syi_cost_ns(&cost, 100, 300), 3 * 660);
    cr_expect_eq(syi_cost_fixed_ns(&cost), 60);
    syi_cost_scale(&cost, 2);
    cr_expect_eq(syi_cost_ns(&cost, 100, 300), 2 * 3 * 660);
}

/* ---- fit ---- */

enum { REPEATS = 7, SAMPLES = SYI_FIT_SIZES * REPEATS };

/* Samples of `truth` with 3 % noise, of which a part `spikes` takes 2 to 10 times as long. */
static int disturbed(const syi_curve *truth, const int64_t *sizes, int n, double noise,
                     double spikes, uint64_t seed, syi_sample *out)
{
    int count = 0;
    for (int s = 0; s < n; s++)
        for (int r = 0; r < REPEATS; r++, count++) {
            uint64_t k = (uint64_t)count;
            out[count].elements = (double)sizes[s];
            out[count].ns =
                syi_curve_ns(truth, out[count].elements) * (1 + noise * virtual_noise(seed, k));
            if (virtual_uniform(seed + 1000, k) < spikes)
                out[count].ns *= 2 + 8 * virtual_uniform(seed + 2000, k);
        }
    return count;
}

Test(fit, finds_the_line_exactly_without_noise)
{
    int64_t sizes[SYI_FIT_SIZES];
    int n = syi_ladder(4096, 1 << 24, 4, sizes, SYI_FIT_SIZES);
    syi_curve truth = syi_curve_line(25000, 0.75), got;
    syi_sample samples[SAMPLES];
    cr_assert_eq(syi_fit(samples, disturbed(&truth, sizes, n, 0, 0, 1, samples), &got), SY_OK);
    cr_expect_eq(got.pieces, 1);
    near(got.fixed_ns, 25000, 1e-9, "fixed");
    near(got.per_element_ns[0], 0.75, 1e-9, "slope");
    cr_expect_lt(got.spread, 1e-12);
}

/* 200 machines for each kind of disturbance: the prediction at every size of the ladder. */
Test(fit, is_not_poisoned_by_spikes)
{
    static const double spikes[] = {0, 0.1, 0.3};
    for (int k = 0; k < 3; k++) {
        int bad = 0, all = 0;
        for (uint64_t seed = 0; seed < 200; seed++) {
            int64_t sizes[SYI_FIT_SIZES];
            int n = syi_ladder(1024, 1 << 24, 4, sizes, SYI_FIT_SIZES);
            syi_curve truth = syi_curve_line(1e3 + 1e5 * virtual_uniform(seed, 1),
                                             0.05 + 2 * virtual_uniform(seed, 2)),
                      got;
            syi_sample samples[SAMPLES];
            int count = disturbed(&truth, sizes, n, 0.03, spikes[k], seed, samples);
            cr_assert_eq(syi_fit(samples, count, &got), SY_OK);
            cr_assert(got.fixed_ns >= 0 && got.per_element_ns[0] > 0);
            for (int s = 0; s < n; s++, all++) {
                double x = (double)sizes[s];
                bad += fabs(syi_curve_ns(&got, x) / syi_curve_ns(&truth, x) - 1) > 0.06;
            }
            cr_expect_lt(got.spread, 0.05, "spread %g", got.spread);
        }
        cr_expect_leq(bad, all / 100, "%d of %d predictions off by more than 6 %% with %g spikes",
                      bad, all, spikes[k]);
    }
}

Test(fit, finds_the_bend_of_a_cache)
{
    int good = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        int64_t sizes[SYI_FIT_SIZES];
        int n = syi_ladder(1024, 1 << 26, 2, sizes, SYI_FIT_SIZES), right = 1;
        syi_curve truth = {.pieces = 2,
                           .fixed_ns = 5000,
                           .until = {262144},
                           .per_element_ns = {0.2, 0.8}},
                  got;
        syi_sample samples[SAMPLES];
        int count = disturbed(&truth, sizes, n, 0.02, 0.2, seed, samples);
        cr_assert_eq(syi_fit(samples, count, &got), SY_OK);
        for (int s = 0; s < n; s++) {
            double x = (double)sizes[s];
            right &= fabs(syi_curve_ns(&got, x) / syi_curve_ns(&truth, x) - 1) < 0.08;
        }
        good += right && got.pieces >= 2;
    }
    cr_expect_geq(good, 95, "%d of 100", good);
}

Test(fit, works_with_few_sizes_and_odd_times)
{
    syi_curve c;
    cr_assert_eq(syi_fit((syi_sample[]){{1000, 500}}, 1, &c), SY_OK);
    cr_expect_eq(c.fixed_ns, 0);
    cr_expect_eq(c.per_element_ns[0], 0.5);
    cr_assert_eq(syi_fit((syi_sample[]){{4000, 2100}, {1000, 600}}, 2, &c), SY_OK);
    near(c.fixed_ns, 100, 1e-12, "fixed");
    near(c.per_element_ns[0], 0.5, 1e-12, "slope");
    /* More than proportional: the fixed part would be negative. */
    cr_assert_eq(syi_fit((syi_sample[]){{1000, 500}, {2000, 1500}}, 2, &c), SY_OK);
    cr_expect(c.fixed_ns == 0 && c.per_element_ns[0] > 0);
    /* Times that fall or stay. */
    cr_assert_eq(syi_fit((syi_sample[]){{1000, 900}, {2000, 900}, {4000, 800}}, 3, &c), SY_OK);
    cr_expect(c.fixed_ns > 0 && c.per_element_ns[0] > 0);
    near(syi_curve_ns(&c, 2000), 900, 0.02, "flat");
}

Test(fit, refuses_what_is_no_sample)
{
    syi_curve c = {.pieces = 9};
    syi_sample many[SYI_FIT_SIZES + 1];
    for (int i = 0; i <= SYI_FIT_SIZES; i++)
        many[i] = (syi_sample){i + 1, i + 1};
    cr_expect_eq(syi_fit(many, 0, &c), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_fit(many, SYI_FIT_SIZES + 1, &c), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_fit((syi_sample[]){{1, NAN}}, 1, &c), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_fit((syi_sample[]){{0, 1}}, 1, &c), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_fit((syi_sample[]){{1, INFINITY}}, 1, &c), SY_ERR_ARGUMENT);
    syi_mem_fail_at(1);
    cr_expect_eq(syi_fit(many, 2, &c), SY_ERR_MEMORY);
    cr_expect_eq(c.pieces, 9);
}

Test(fit, ladder_reaches_both_ends_and_fits)
{
    int64_t sizes[8];
    int n = syi_ladder(10, 10, 4, sizes, 8);
    cr_expect(n == 1 && sizes[0] == 10);
    n = syi_ladder(1, 1 << 30, 2, sizes, 8);
    cr_expect(n >= 4 && n <= 8 && sizes[0] == 1 && sizes[n - 1] == 1 << 30);
    for (int i = 1; i < n; i++)
        cr_expect_lt(sizes[i - 1], sizes[i]);
}

/* ---- drift ---- */

Test(drift, noise_does_not_make_it_wander)
{
    syi_drift d = syi_drift_start(0.03, 1);
    for (uint64_t k = 0; k < 10000; k++) {
        double noise = 1 + 0.05 * virtual_noise(5, k);
        if (virtual_uniform(6, k) < 0.02)
            noise *= 4;
        cr_assert_eq(syi_drift_add(&d, 1e6, 1e6 * noise, 0.1) & SYI_DRIFT_SAY, 0);
        cr_assert(fabs(d.slower.value - 1) < 0.1, "%g after %d", d.slower.value, (int)k);
    }
}

Test(drift, takes_a_change_that_persists_and_says_so_once)
{
    syi_drift d = syi_drift_start(0.02, 1);
    int said = 0, save_at = 0;
    for (int run = 1; run <= 20; run++) {
        unsigned signal = syi_drift_add(&d, 1e6, 3e6, 0.1);
        said += (signal & SYI_DRIFT_SAY) != 0;
        if (signal & SYI_DRIFT_SAVE && !save_at) {
            save_at = run;
            syi_drift_saved(&d);
        }
        if (run < 3)
            cr_expect_eq(d.slower.value, 1);
        if (run >= 3)
            near(d.slower.value, 3, 1e-9, "factor");
    }
    cr_expect_eq(said, 1);
    cr_expect(save_at >= 3 && save_at <= 6, "saved at %d", save_at);
    for (int run = 0; run < 10; run++)
        said += (syi_drift_add(&d, 1e6, 1e6, 0.1) & SYI_DRIFT_SAY) != 0;
    cr_expect_eq(said, 2, "the way back is a drift as well");
}

Test(drift, what_is_not_measured_any_more_fades)
{
    syi_drift d = syi_drift_start(0.02, 9), quick = syi_drift_start(0.02, 0.5);
    for (int run = 0; run < 23; run++) {
        double before = d.slower.value;
        syi_drift_fade(&d);
        cr_expect(d.slower.value < before && d.slower.value > 1);
    }
    near(d.slower.value, 5, 0.05, "half of the excess");
    for (int run = 0; run < 1000; run++)
        syi_drift_fade(&d);
    near(d.slower.value, 1, 1e-9, "all of it");
    syi_drift_fade(&quick);
    cr_expect_eq(quick.slower.value, 0.5, "nobody leaves out who is quick");
}

/* ---- fingerprint ---- */

static const syi_fingerprint print = {.format = 1,
                                      .uuid = "GPU-1234",
                                      .name = "RTX3090",
                                      .compute_major = 8,
                                      .compute_minor = 6,
                                      .units = 82,
                                      .memory_total = 25769803776,
                                      .code = "sm_86",
                                      .workload = "bollinger",
                                      .dtype = "f64",
                                      .workload_version = 3,
                                      .library_major = 0,
                                      .library_minor = 1,
                                      .library_patch = 2,
                                      .driver = "535.104",
                                      .power_limit_mw = 350000,
                                      .clock_mhz = 1695};

#define MUTATION(change, expected)                                                                 \
    do {                                                                                           \
        syi_fingerprint now = print;                                                               \
        char what[128];                                                                            \
        change;                                                                                    \
        cr_expect_eq(syi_fingerprint_compare(&print, &now, what, sizeof what), expected, "%s",     \
                     #change);                                                                     \
        cr_expect(*what &&strstr(what, ", now "), "%s: '%s'", #change, what);                      \
    } while (0)

Test(fingerprint, every_mutation_is_caught_and_graded)
{
    char what[128] = "x";
    cr_expect_eq(syi_fingerprint_compare(&print, &print, what, sizeof what), SYI_TRUST_FULL);
    cr_expect_str_empty(what);
    MUTATION(now.format = 2, SYI_TRUST_NONE);
    MUTATION(now.format = 0, SYI_TRUST_NONE);
    MUTATION(strcpy(now.name, "RTX3080"), SYI_TRUST_NONE);
    MUTATION(now.compute_major = 9, SYI_TRUST_NONE);
    MUTATION(now.compute_minor = 0, SYI_TRUST_NONE);
    MUTATION(now.units = 68, SYI_TRUST_NONE);
    MUTATION(strcpy(now.code, "sm_80"), SYI_TRUST_NONE);
    MUTATION(strcpy(now.workload, "sma"), SYI_TRUST_NONE);
    MUTATION(strcpy(now.dtype, "f32"), SYI_TRUST_NONE);
    MUTATION(now.workload_version = 4, SYI_TRUST_NONE);
    MUTATION(now.library_major = 1, SYI_TRUST_NONE);
    MUTATION(now.library_minor = 0, SYI_TRUST_NONE);
    MUTATION(strcpy(now.uuid, "GPU-1235"), SYI_TRUST_GUESS);
    MUTATION(now.memory_total += 1 << 20, SYI_TRUST_GUESS);
    MUTATION(now.library_patch = 3, SYI_TRUST_GUESS);
    MUTATION(strcpy(now.driver, "550.54"), SYI_TRUST_GUESS);
    MUTATION(*now.driver = '\0', SYI_TRUST_GUESS);
    MUTATION(now.power_limit_mw = 280000, SYI_TRUST_GUESS);
    MUTATION(now.clock_mhz = 1200, SYI_TRUST_GUESS);
    MUTATION((strcpy(now.driver, "550.54"), now.units = 68), SYI_TRUST_NONE);
}
