/* Taking samples, in virtual time: the clock goes on only as far as the calls and the pauses
 * between them say, and shows whole steps. */
#include "model/fit.h"
#include "model/measure.h"

#include <criterion/criterion.h>
#include <math.h>

#include "support/near.h"

enum { WARMUP = 1, RUNS = 5, MOST_SIZES = 8 };

/* A device, and the clock that it is timed with. */
typedef struct world {
    double now_ns, step_ns;
    syi_cost truth;
    double pause_ns;      /* around each call, and no part of what it takes */
    double cold_ns;       /* the first call of all takes so much longer */
    double make_ns;       /* an element that was not ready takes so long to make ready */
    int64_t ready;        /* elements */
    double slower_from;   /* elements; such calls take ten times as long; 0: none */
    int64_t calls, fails; /* so far; the one that fails, 0: none */
    int64_t sizes[MOST_SIZES], calls_of[MOST_SIZES]; /* how often each size was called */
    int n_sizes, told;
} world;

static double clock_ns(void *user)
{
    const world *w = user;
    return floor(w->now_ns / w->step_ns) * w->step_ns;
}

static sy_status make_ready(void *user, int64_t elements)
{
    world *w = user;
    if (elements > w->ready) {
        w->now_ns += w->make_ns * (double)(elements - w->ready);
        w->ready = elements;
    }
    return SY_OK;
}

static void count_call(world *w, int64_t elements)
{
    w->calls++;
    for (int k = 0; k < w->n_sizes; k++)
        w->calls_of[k] += w->sizes[k] == elements;
}

static sy_status call(void *user, int64_t elements, syi_times *out)
{
    world *w = user;
    const double slower = w->slower_from > 0 && (double)elements >= w->slower_from ? 10 : 1;
    double began;
    count_call(w, elements);
    cr_assert_leq(elements, w->ready);
    if (w->calls == w->fails)
        return SY_ERR_DEVICE;
    w->now_ns += w->pause_ns + (w->calls == 1 ? w->cold_ns : 0);
    began = clock_ns(w);
    for (int p = 0; p < SYI_PHASES; p++) {
        double from = clock_ns(w);
        w->now_ns += slower * syi_curve_ns(&w->truth.phase[p], (double)elements);
        out->phase_ns[p] = clock_ns(w) - from;
    }
    out->whole_ns = clock_ns(w) - began;
    return SY_OK;
}

static sy_status tell(void *user)
{
    ((world *)user)->told++;
    return SY_OK;
}

/* 4,096, 16,384, .. elements; 3 us + 1 ns, 20 us + 2 ns an element, nothing to copy out. */
static world make_world(double step_ns, int n_sizes)
{
    world w = {.step_ns = step_ns,
               .truth = {{syi_curve_line(3e3, 1), syi_curve_line(20e3, 2)}},
               .n_sizes = n_sizes};
    for (int k = 0; k < n_sizes; k++)
        w.sizes[k] = INT64_C(4096) << (2 * k);
    return w;
}

static double truth_ns(const world *w, int64_t elements)
{
    return syi_cost_ns(&w->truth, 0, (double)elements);
}

static syi_meter make_meter(world *w)
{
    return (syi_meter){.user = w,
                       .ready = make_ready,
                       .call = call,
                       .now_ns = clock_ns,
                       .ran = tell,
                       .warmup = WARMUP,
                       .runs = RUNS,
                       .floor_ns = syi_measure_floor(w->step_ns),
                       .until_ns = INFINITY};
}

static syi_measured measure(world *w, const syi_meter *meter)
{
    syi_measured out;
    cr_assert_eq(syi_measure_sizes(meter, w->sizes, w->n_sizes, &out), SY_OK);
    return out;
}

/* A thousand steps at least, and where the clock is fine 100 us. */
Test(measure, floor)
{
    cr_expect_eq(syi_measure_floor(1e6), 1e9);
    cr_expect_eq(syi_measure_floor(25), 100e3);
}

/* The clock makes steps of 1 ms, the calls take 35, 72, 220 and 809 us. */
Test(measure, tells_calls_far_below_the_clocks_step)
{
    world w = make_world(1e6, 4);
    syi_meter meter = make_meter(&w);
    syi_measured got = measure(&w, &meter);
    cr_expect_eq(got.size, 4096 * 64);
    near(got.median_ns, truth_ns(&w, got.size), 1e-3, "the largest size");
    for (int k = 0; k < w.n_sizes; k++) {
        double n = (double)w.sizes[k];
        near(syi_cost_ns(&got.cost, 0, n), truth_ns(&w, w.sizes[k]), 2e-3, "size");
        near(syi_curve_ns(&got.cost.phase[SYI_COPY_IN], n),
             syi_curve_ns(&w.truth.phase[SYI_COPY_IN], n), 5e-3, "copy in");
    }
    cr_expect_eq(got.cost.phase[SYI_COPY_OUT].pieces, 0);
}

/* What passes between the calls is not theirs. */
Test(measure, leaves_out_what_is_between_the_calls)
{
    world w = make_world(1e6, 4);
    syi_meter meter = make_meter(&w);
    syi_measured got;
    w.pause_ns = 17.3e3;
    got = measure(&w, &meter);
    for (int k = 0; k < w.n_sizes; k++)
        near(syi_cost_ns(&got.cost, 0, (double)w.sizes[k]), truth_ns(&w, w.sizes[k]), 5e-3, "size");
}

/* 35, 72, 220 and 809 us with a floor of 100: 4, 2, 1 and 1 call a sample. */
Test(measure, repeats_no_more_than_it_must)
{
    static const int64_t repeats[] = {4, 2, 1, 1};
    world w = make_world(1, 4);
    syi_meter meter = make_meter(&w);
    syi_measured got = measure(&w, &meter);
    for (int k = 0; k < w.n_sizes; k++)
        cr_expect_eq(w.calls_of[k], WARMUP + RUNS * repeats[k], "size %d: %lld calls", k,
                     (long long)w.calls_of[k]);
    cr_expect_eq(w.told, 4 * (WARMUP + RUNS));
    near(got.median_ns, truth_ns(&w, got.size), 1e-5, "the largest size");
    near(got.cost.phase[SYI_COMPUTE].fixed_ns, 20e3, 1e-3, "fixed");
    near(got.cost.phase[SYI_COMPUTE].per_element_ns[0], 2, 1e-5, "slope");
}

/* A cold start of seconds: in the warm-up it counts for nothing, and without
 * one it is in a single sample, which the others outvote. */
Test(measure, the_first_call_counts_for_nothing)
{
    for (int warmup = 0; warmup < 2; warmup++) {
        world w = make_world(1, 1);
        syi_meter meter = make_meter(&w);
        syi_measured got;
        w.cold_ns = 5e9;
        meter.warmup = warmup;
        got = measure(&w, &meter);
        near(got.median_ns, truth_ns(&w, 4096), 1e-5, "the call");
        near(syi_cost_ns(&got.cost, 0, 4096), truth_ns(&w, 4096), 1e-5, "the cost");
    }
}

/* To make a size ready, and all its runs, a call each. */
static double size_ns(const world *w, int64_t size)
{
    return w->make_ns * (double)size + (WARMUP + RUNS) * truth_ns(w, size);
}

/* Whatever the time, it is not exceeded by more than the first size, which is measured in any case,
 * or a call and the floor. What comes out is that of the sizes that were finished, and the next
 * one, at the rate of the largest, would have taken a third of the time by itself, without any
 * repeats. */
static void keep_to_the_time(syi_cost truth, double make_ns)
{
    int64_t size = 0;
    for (double budget_ns = 1; budget_ns < 4e9; budget_ns *= 1.01) {
        world w = make_world(1, MOST_SIZES);
        syi_meter meter = make_meter(&w);
        syi_measured got;
        w.truth = truth;
        w.make_ns = make_ns;
        meter.until_ns = budget_ns;
        got = measure(&w, &meter);
        size = got.size;
        cr_expect_leq(w.now_ns,
                      fmax(budget_ns, size_ns(&w, w.sizes[0])) + truth_ns(&w, size) + 100e3,
                      "%g of %g ns", w.now_ns, budget_ns);
        if (size < w.sizes[MOST_SIZES - 1])
            cr_expect_gt(4 * size_ns(&w, size), budget_ns / 3, "%lld elements in %g ns",
                         (long long)size, budget_ns);
        cr_expect_eq(w.told % (WARMUP + RUNS), 0, "a size begun in vain");
        near(got.median_ns, truth_ns(&w, size), 1e-4, "the largest size");
    }
    cr_expect_eq(size, 4096 << 14);
}

Test(measure, keeps_to_the_time)
{
    const world w = make_world(1, MOST_SIZES);
    const syi_cost little = {{[SYI_COMPUTE] = syi_curve_line(20e3, 1e-3)}};
    keep_to_the_time(w.truth, 0);
    keep_to_the_time(little, 0);
    keep_to_the_time(w.truth, 20);
    keep_to_the_time(little, 5);
}

/* Time enough, had the fifth size not been ten times slower than those before it promised. */
Test(measure, drops_a_size_that_time_ran_out_in)
{
    enum { CLEAN = 4 };
    const double budget_ns = 120e6;
    world w = make_world(1, MOST_SIZES);
    syi_meter meter = make_meter(&w);
    syi_measured got;
    w.slower_from = (double)w.sizes[CLEAN];
    meter.until_ns = budget_ns;
    got = measure(&w, &meter);
    cr_expect_gt(w.calls_of[CLEAN], WARMUP + 1);
    cr_expect_lt(w.calls_of[CLEAN], WARMUP + RUNS);
    cr_expect_eq(w.calls_of[CLEAN + 1], 0);
    cr_expect_eq(got.size, w.sizes[CLEAN - 1]);
    near(got.median_ns, truth_ns(&w, got.size), 1e-5, "the call");
    near(syi_cost_ns(&got.cost, 0, 1e6), truth_ns(&w, 1000000), 1e-3, "the cost");
    cr_expect_leq(w.now_ns, budget_ns + 10 * truth_ns(&w, w.sizes[CLEAN]));
}

/* When the first call alone takes more than all the time, nothing is repeated after it. */
Test(measure, repeats_nothing_when_the_time_is_up)
{
    world w = make_world(1, 2);
    syi_meter meter = make_meter(&w);
    w.cold_ns = 5e9;
    meter.until_ns = 1e9;
    measure(&w, &meter);
    cr_expect_eq(w.calls_of[0], WARMUP + RUNS);
    cr_expect_eq(w.calls_of[1], 0);
}

/* A coarse clock and little time: less exact, but every sample to the same degree. */
Test(measure, spreads_little_time_over_all_samples)
{
    world w = make_world(1e6, 1);
    syi_meter meter = make_meter(&w);
    syi_measured got;
    meter.until_ns = 2e9;
    got = measure(&w, &meter);
    near(syi_cost_ns(&got.cost, 0, 4096), truth_ns(&w, 4096), 0.1, "the cost");
    cr_expect_leq(w.now_ns, 2e9 + 1e6);
}

Test(measure, passes_a_failure_on)
{
    world w = make_world(1, 4);
    syi_meter meter = make_meter(&w);
    syi_measured out;
    w.fails = 3;
    cr_expect_eq(syi_measure_sizes(&meter, w.sizes, w.n_sizes, &out), SY_ERR_DEVICE);
    cr_expect_eq(w.calls, 3);
}
