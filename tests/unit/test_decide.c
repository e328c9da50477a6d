/* CPU or GPU, by the times that both took before. No clock, no devices. */
#include <criterion/criterion.h>
#include <math.h>

#include "model/decide.h"
#include "support/near.h"
#include "support/virtual_run.h"

static double disturbed_ms(double ms, uint64_t seed, uint64_t k)
{
    ms *= 1 + 0.05 * virtual_noise(seed, k);
    return virtual_uniform(seed + 77, k) < 0.05 ? ms * (2 + 8 * virtual_uniform(seed + 78, k)) : ms;
}

Test(decide, is_right_after_three_calls_of_each)
{
    int wrong = 0, cases = 20000;
    for (int c = 0; c < cases; c++) {
        uint64_t seed = (uint64_t)c, k = 0;
        double cpu = 0.1 + 10 * virtual_uniform(seed, 5000);
        double factor = 1.1 + (c % 2 ? 0.9 : 9) * virtual_uniform(seed, 5001);
        double ms[2] = {cpu, c % 4 < 2 ? cpu * factor : cpu / factor};
        syi_timing timing = {.size = 1000};
        syi_verdict v;
        for (;;) {
            v = syi_decide(&timing, 1, 1000, SYI_SIDE_NONE);
            if (!v.probe)
                break;
            syi_timing_add(&timing, v.side, disturbed_ms(ms[v.side], seed, k++));
            cr_assert_leq(k, 20);
        }
        wrong += v.side != (ms[0] < ms[1] ? SYI_SIDE_CPU : SYI_SIDE_GPU);
    }
    cr_expect_leq(wrong, cases / 100, "%d of %d wrong", wrong, cases);
}

/* Equal times that scatter. */
Test(decide, does_not_flap)
{
    syi_timing timing = {.size = 1};
    syi_side last = SYI_SIDE_NONE;
    int changes = 0;
    for (uint64_t k = 0; k < 10000; k++) {
        syi_verdict v = syi_decide(&timing, 1, 1, last);
        syi_timing_add(&timing, v.side, disturbed_ms(1, 3, k));
        if (v.probe)
            continue;
        changes += last != SYI_SIDE_NONE && v.side != last;
        last = v.side;
    }
    cr_expect_leq(changes, 10, "%d changes in 10000 calls", changes);
}

/* By hand: up to 5 % the last choice stays, whichever it was; without one the faster is taken. */
Test(decide, stays_while_the_other_is_only_a_little_faster)
{
    static const syi_side last[] = {SYI_SIDE_CPU, SYI_SIDE_GPU, SYI_SIDE_NONE};
    static const double cpu[] = {1, 1, 0.96, 0.94}, gpu[] = {0.96, 0.94, 1, 1};
    static const syi_side expected[][3] = {{SYI_SIDE_CPU, SYI_SIDE_GPU, SYI_SIDE_GPU},
                                           {SYI_SIDE_GPU, SYI_SIDE_GPU, SYI_SIDE_GPU},
                                           {SYI_SIDE_CPU, SYI_SIDE_GPU, SYI_SIDE_CPU},
                                           {SYI_SIDE_CPU, SYI_SIDE_CPU, SYI_SIDE_CPU}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            syi_timing known = {1, {{.value = cpu[i], .samples = 3}, {gpu[i], .samples = 3}}};
            cr_expect_eq(syi_decide(&known, 1, 1, last[k]).side, expected[i][k]);
        }
}

Test(decide, follows_a_side_that_became_slower)
{
    syi_timing timing = {.size = 1, .ms = {{.value = 2, .samples = 5}, {.value = 1, .samples = 5}}};
    syi_side last = SYI_SIDE_GPU;
    int calls = 0;
    for (; last == SYI_SIDE_GPU && calls < 10; calls++) {
        syi_timing_add(&timing, SYI_SIDE_GPU, 3);
        last = syi_decide(&timing, 1, 1, last).side;
    }
    cr_expect(last == SYI_SIDE_CPU && calls <= 3, "%d calls", calls);
}

static syi_timing timing_of(int64_t size, double cpu, double gpu)
{
    return (syi_timing){size, {{.value = cpu, .samples = 3}, {.value = gpu, .samples = 3}}};
}

Test(decide, reads_between_the_sizes)
{
    /* cpu 1e-5 n; gpu 0.1 + 1e-6 n: equal at n = 11111. */
    syi_timing known[] = {timing_of(1000, 0.01, 0.101), timing_of(1000000, 10, 1.1)};
    syi_verdict v = syi_decide(known, 2, 10000, SYI_SIDE_NONE);
    cr_expect(v.side == SYI_SIDE_CPU && !v.probe);
    near(v.ms[0], 0.1, 1e-9, "cpu");
    near(v.ms[1], 0.11, 1e-9, "gpu");
    cr_expect_eq(syi_decide(known, 2, 12500, SYI_SIDE_NONE).side, SYI_SIDE_GPU);
    v = syi_decide(known, 2, 4000000, SYI_SIDE_NONE);
    cr_expect(v.side == SYI_SIDE_GPU && !v.probe);
    near(v.ms[1], 4.1, 1e-9, "gpu beyond");
    cr_expect(syi_decide(known, 2, 4000001, SYI_SIDE_NONE).probe);
    cr_expect(!syi_decide(known, 2, 250, SYI_SIDE_NONE).probe);
    cr_expect(syi_decide(known, 2, 249, SYI_SIDE_NONE).probe);
    /* A line that noise has made steep does not end below the time that is in proportion. */
    syi_timing steep[] = {timing_of(1000, 1, 1), timing_of(1200, 3, 1)};
    v = syi_decide(steep, 2, 600, SYI_SIDE_NONE);
    near(v.ms[0], 0.5, 1e-9, "cpu, steep");
}

Test(decide, probes_the_side_it_knows_less_of)
{
    syi_timing none = {.size = 5}, cpu = {.size = 5, .ms = {{.value = 1, .samples = 3}}};
    syi_verdict v = syi_decide(&none, 1, 5, SYI_SIDE_NONE);
    cr_expect(v.probe && v.side == SYI_SIDE_CPU && isnan(v.ms[0]) && isnan(v.ms[1]));
    v = syi_decide(&cpu, 1, 5, SYI_SIDE_NONE);
    cr_expect(v.probe && v.side == SYI_SIDE_GPU);
}

/* Of 100,000 both times are known, of 150,000 one time of the CPU, and that a wrong one. */
Test(decide, a_size_nearby_counts_for_more_than_a_line_to_what_is_hardly_known)
{
    syi_timing known[] = {timing_of(100000, 1, 0.1), {150000, {{.value = 0.01, .samples = 1}}}};
    syi_verdict v = syi_decide(known, 2, 115000, SYI_SIDE_NONE);
    cr_expect(v.side == SYI_SIDE_GPU && !v.probe);
    near(v.ms[0], 1.15, 1e-9, "cpu");
    near(v.ms[1], 0.115, 1e-9, "gpu");
    cr_expect(syi_decide(known, 2, 125000, SYI_SIDE_NONE).probe);
    known[1].ms[SYI_SIDE_CPU] = (syi_track){.value = 2, .samples = 3};
    v = syi_decide(known, 2, 115000, SYI_SIDE_NONE);
    near(v.ms[0], 1.3, 1e-9, "on the line");
}

Test(decide, sizes_that_stand_for_each_other)
{
    const syi_timing known[] = {{.size = 1}, {.size = 1000}, {.size = 1100}, {.size = 1210}};
    static const int64_t sizes[] = {1, 2, 833, 834, 1000, 1048, 1049, 1154, 1451, 1452};
    static const int expected[] = {0, -1, -1, 1, 1, 1, 2, 3, 3, -1};
    for (int i = 0; i < 10; i++)
        cr_expect_eq(syi_timing_alike(known, 4, sizes[i]), expected[i], "%d", (int)sizes[i]);
    cr_expect_eq(syi_timing_alike(known, 0, 1000), -1);
}
