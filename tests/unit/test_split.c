/*
 * The split against searches over all possibilities, and the queue on small works, where a packet
 * too many would cost more than it brings. No clock, no devices.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "base/mem.h"
#include "model/split.h"
#include "support/virtual_run.h"

enum { FEW = 4 };

typedef struct problem {
    syi_cost costs[VIRTUAL_DEVICES];
    syi_split_device devices[VIRTUAL_DEVICES];
    int count;
    syi_split_work work;
    syi_part parts[VIRTUAL_DEVICES];
    double makespan_ns;
} problem;

static void set_device(problem *p, int i, double in, double fixed, double compute, double out)
{
    p->costs[i] = (syi_cost){{in > 0 ? syi_curve_line(fixed / 4, in) : (syi_curve){0},
                              syi_curve_line(fixed / 2, compute),
                              out > 0 ? syi_curve_line(fixed / 4, out) : (syi_curve){0}}};
    p->devices[i] = (syi_split_device){.cost = &p->costs[i], .link = -1};
}

static int64_t total(const problem *p)
{
    int64_t sum = 0;
    for (int i = 0; i < p->count; i++)
        sum += p->parts[i].tiles;
    return sum;
}

static sy_status make(problem *p)
{
    int64_t shares[VIRTUAL_DEVICES];
    SYI_TRY(syi_split_make(p->devices, p->count, &p->work, shares));
    for (int i = 0; i < p->count; i++)
        p->parts[i].tiles = shares[i];
    return syi_split_predict(p->devices, p->count, &p->work, p->parts, &p->makespan_ns);
}

/* The least makespan of all integer splits, tried one by one. */
static double best_of_all(const problem *p, int device, int64_t left, syi_part *parts)
{
    double best = INFINITY;
    if (device == p->count - 1) {
        double makespan_ns;
        parts[device].tiles = left;
        syi_split_predict(p->devices, p->count, &p->work, parts, &makespan_ns);
        return makespan_ns;
    }
    for (int64_t k = 0; k <= left; k++) {
        parts[device].tiles = k;
        best = fmin(best, best_of_all(p, device + 1, left - k, parts));
    }
    return best;
}

static void random_problem(problem *p, uint64_t seed, int shared)
{
    double u[40];
    for (uint64_t k = 0; k < 40; k++)
        u[k] = virtual_uniform(seed, k);
    p->count = 2 + (int)(u[0] * (FEW - 1));
    p->work = (syi_split_work){1 + (int64_t)(u[1] * 14), 4096, 4096 * 16};
    for (int i = 0; i < p->count; i++) {
        const double *v = u + 2 + 8 * i;
        set_device(p, i, v[0] < 0.3 ? 0 : v[1], 50000 * v[2] * v[2], 0.1 + 3 * v[3], v[4] * 0.5);
        p->devices[i].memory = v[5] < 0.3 ? 4096 * 16 * (1 + (int)(v[6] * 5)) : 0;
        p->devices[i].link = shared ? (int)(v[7] * 2) : -1;
    }
    p->costs[0].phase[SYI_COMPUTE].pieces = 2; /* one has a cache */
    p->costs[0].phase[SYI_COMPUTE].until[0] = 10000;
    p->costs[0].phase[SYI_COMPUTE].per_element_ns[1] =
        2 * p->costs[0].phase[SYI_COMPUTE].per_element_ns[0];
}

/* Without shared links the split is not only good: no other has a smaller makespan. */
Test(split, is_the_best_of_all_integer_splits)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        problem p = {0};
        syi_part parts[VIRTUAL_DEVICES] = {0};
        double best;
        random_problem(&p, seed, 0);
        cr_assert_eq(make(&p), SY_OK);
        cr_assert_eq(total(&p), p.work.tiles);
        best = best_of_all(&p, 0, p.work.tiles, parts);
        cr_assert(p.makespan_ns <= best * (1 + 1e-9), "seed %d: %g, best %g", (int)seed,
                  p.makespan_ns, best);
    }
}

Test(split, on_shared_links_is_near_the_best)
{
    double worst = 1;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        problem p = {0};
        syi_part parts[VIRTUAL_DEVICES] = {0};
        double best;
        random_problem(&p, seed, 1);
        cr_assert_eq(make(&p), SY_OK);
        cr_assert_eq(total(&p), p.work.tiles);
        best = best_of_all(&p, 0, p.work.tiles, parts);
        worst = fmax(worst, p.makespan_ns / best);
    }
    cr_expect_leq(worst, 1.03, "%g times the best", worst);
}

/* Up to 1e9 tiles: no tile is better off with another device. */
Test(split, no_single_move_helps_with_many_tiles)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        problem p = {0};
        random_problem(&p, seed, 0);
        p.work.tiles = (int64_t)pow(10, 9 * virtual_uniform(seed, 50));
        if (make(&p) != SY_OK)
            continue;
        cr_assert_eq(total(&p), p.work.tiles);
        for (int move = 0; move < p.count * p.count; move++) {
            problem other = p;
            int from = move / p.count, to = move % p.count;
            if (from == to || p.parts[from].tiles == 0)
                continue;
            other.parts[from].tiles--;
            other.parts[to].tiles++;
            cr_assert_eq(
                syi_split_predict(p.devices, p.count, &p.work, other.parts, &other.makespan_ns),
                SY_OK);
            cr_assert(other.makespan_ns >= p.makespan_ns * (1 - 1e-9),
                      "seed %d: a tile from %d to %d", (int)seed, from, to);
        }
    }
}

/* By hand: two devices on one link, data of 100 ns per tile to copy, then 100 ns of computing. Each
 * copies at half speed while both do, so n tiles each take 200 n + 100 n. */
Test(split, a_shared_link_slows_both_down)
{
    problem p = {.count = 2, .work = {20, 1, 8}};
    for (int i = 0; i < 2; i++) {
        set_device(&p, i, 100, 0, 100, 0);
        p.devices[i].link = 7;
    }
    cr_assert_eq(make(&p), SY_OK);
    cr_expect(p.parts[0].tiles == 10 && p.parts[1].tiles == 10);
    cr_expect_eq(p.makespan_ns, 3000);
    cr_expect_eq(p.parts[0].phase_ns[SYI_COPY_IN], 2000);
    cr_expect_eq(p.parts[0].limit, SYI_LIMIT_COPY_IN);
    /* 15 and 5 by hand: the short copy takes 2 * 500, the long one 1500 + 500. */
    p.parts[0].tiles = 15;
    p.parts[1].tiles = 5;
    syi_split_predict(p.devices, 2, &p.work, p.parts, &p.makespan_ns);
    cr_expect_float_eq(p.parts[1].phase_ns[SYI_COPY_IN], 1000, 1e-6);
    cr_expect_float_eq(p.parts[0].phase_ns[SYI_COPY_IN], 2000, 1e-6);
    p.devices[1].link = -1;
    syi_split_predict(p.devices, 2, &p.work, p.parts, &p.makespan_ns);
    cr_expect_eq(p.parts[0].phase_ns[SYI_COPY_IN], 1500);
}

/* The makespan of a subset, independent of the code under test: the level at which its devices
 * hold everything, by bisection, in parts of tiles. Not above any integer split of the subset. */
static double subset_level(const problem *p, unsigned subset)
{
    bool alone = (subset & (subset - 1)) == 0;
    double low = 0, high = 1e18;
    for (int step = 0; step < 200; step++) {
        double level = (low + high) / 2, held = 0;
        for (int i = 0; i < p->count; i++) {
            double fixed = alone ? 0 : p->devices[i].start_ns, slope = 0;
            for (int f = 0; f < SYI_PHASES; f++)
                if (p->costs[i].phase[f].pieces) {
                    fixed += p->costs[i].phase[f].fixed_ns;
                    slope += p->costs[i].phase[f].per_element_ns[0];
                }
            if (subset & 1u << i && level > fixed)
                held += (level - fixed) / (slope * p->work.elements_per_tile);
        }
        if (held >= (double)p->work.tiles)
            high = level;
        else
            low = level;
    }
    return high;
}

/* Every decade from 1e2 to 1e8 elements, and between: a CPU that begins at once, GPUs that do not.
 */
static void compare_with_subsets(double start_ns)
{
    for (double n = 1e2; n <= 1e8; n *= 1.3) {
        problem p = {.count = 4};
        double best = INFINITY;
        p.work.tiles = (int64_t)ceil(n / 4096);
        p.work.elements_per_tile = n / (double)p.work.tiles;
        p.work.bytes_per_tile = p.work.elements_per_tile * 32;
        set_device(&p, 0, 0, 500, 2, 0);
        set_device(&p, 1, 0.3, 60000, 0.05, 0.3);
        set_device(&p, 2, 0.6, 40000, 0.2, 0.6);
        set_device(&p, 3, 0.6, 4000000, 0.4, 0.6);
        for (int i = 0; i < 4; i++)
            p.devices[i].start_ns = start_ns;
        cr_assert_eq(make(&p), SY_OK);
        for (unsigned subset = 1; subset < 16; subset++)
            best = fmin(best, subset_level(&p, subset));
        /* Whole tiles: one of them cannot be cut. */
        if (p.work.tiles < 100) {
            syi_part parts[VIRTUAL_DEVICES] = {0};
            double whole = p.work.tiles < 40 ? best_of_all(&p, 0, p.work.tiles, parts) : best;
            cr_assert(p.makespan_ns <= fmax(whole, best) * 1.03, "n %g", n);
        } else {
            cr_assert(p.makespan_ns <= best * 1.03, "n %g: %g, best %g", n, p.makespan_ns, best);
        }
    }
}

/* Also when all but a device alone have to be started. */
Test(split, is_within_3_percent_of_the_best_subset_for_every_size)
{
    compare_with_subsets(0);
    compare_with_subsets(30e3);
    compare_with_subsets(1e6);
}

/* By hand: 1 ns a tile and device. Alone 1000; both, 500 and the start: worth it below 500. */
Test(split, a_second_device_has_to_pay_for_its_start)
{
    static const struct {
        double start_ns, makespan_ns;
        int64_t second;
    } rows[] = {{0, 500, 500}, {499, 999, 500}, {501, 1000, 0}, {1e9, 1000, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        problem p = {.count = 2, .work = {1000, 1, 8}};
        for (int k = 0; k < 2; k++) {
            set_device(&p, k, 0, 0, 1, 0);
            p.devices[k].start_ns = rows[i].start_ns;
        }
        cr_assert_eq(make(&p), SY_OK);
        cr_expect_eq(p.parts[1].tiles, rows[i].second, "start %g", rows[i].start_ns);
        cr_expect_eq(p.makespan_ns, rows[i].makespan_ns, "start %g", rows[i].start_ns);
    }
}

Test(split, shares_are_exact_for_exact_speeds)
{
    static const double speed[] = {8, 4, 2, 1};
    problem p = {.count = 4, .work = {1500, 4096, 65536}};
    for (int i = 0; i < 4; i++)
        set_device(&p, i, 0, 0, 8 / speed[i], 0);
    cr_assert_eq(make(&p), SY_OK);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(p.parts[i].tiles, (int64_t)(100 * speed[i]));
    cr_expect_eq(p.makespan_ns, 800 * 4096.0);
    cr_expect_str_eq(syi_limit_word(p.parts[0].limit), "compute");
}

Test(split, equal_devices_break_ties_by_index)
{
    problem p = {.count = 3, .work = {8, 1, 8}};
    for (int i = 0; i < 3; i++)
        set_device(&p, i, 0, 0, 10, 0);
    cr_assert_eq(make(&p), SY_OK);
    cr_expect(p.parts[0].tiles == 3 && p.parts[1].tiles == 3 && p.parts[2].tiles == 2);
}

Test(split, says_why_a_device_is_left_out)
{
    problem p = {.count = 6, .work = {10, 100, 800}};
    for (int i = 0; i < 6; i++)
        set_device(&p, i, 0, 0, 1, 0);
    set_device(&p, 1, 0, 1e6, 0.001, 0);
    set_device(&p, 2, 0, 0, 1e5, 0);
    p.devices[3].memory = 100;
    p.devices[4].cost = NULL;
    p.count = 5;
    cr_assert_eq(make(&p), SY_OK);
    cr_expect_eq(p.parts[0].tiles, 10);
    cr_expect_eq(p.parts[1].limit, SYI_LIMIT_LATENCY);
    cr_expect_eq(p.parts[2].limit, SYI_LIMIT_SPEED);
    cr_expect_eq(p.parts[3].limit, SYI_LIMIT_MEMORY);
    cr_expect_eq(p.parts[4].limit, SYI_LIMIT_UNUSED);
    cr_assert_eq(make(&p), SY_OK);
    p.work.tiles = 0;
    cr_assert_eq(make(&p), SY_OK);
}

Test(split, has_a_word_for_who_takes_part)
{
    static const struct {
        int used, cpus, usable;
        const char *word;
    } rows[] = {{0, 0, 3, "none"}, {1, 1, 3, "cpu"},  {1, 0, 3, "one"}, {1, 0, 1, "one"},
                {2, 1, 3, "some"}, {2, 0, 3, "some"}, {3, 1, 3, "all"}, {2, 0, 2, "all"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_str_eq(syi_extent_word(syi_extent_of(rows[i].used, rows[i].cpus, rows[i].usable)),
                         rows[i].word);
}

Test(split, keeps_to_the_memory)
{
    problem p = {.count = 2, .work = {100, 1, 1000}};
    set_device(&p, 0, 0, 0, 1, 0);
    set_device(&p, 1, 0, 0, 100, 0);
    p.devices[0].memory = 30500; /* it can take any number, 30 at a time */
    cr_assert_eq(make(&p), SY_OK);
    cr_expect_gt(p.parts[0].tiles, 30);
    p.devices[0].memory = p.devices[1].memory = 999;
    cr_expect_eq(make(&p), SY_ERR_MEMORY);
    p.devices[0].cost = p.devices[1].cost = NULL;
    cr_expect_eq(make(&p), SY_ERR_NO_DEVICE);
}

/* Nobody else helps with a single tile, so the quickest alone gets it, started or not, if it fits.
 */
Test(split, a_single_tile_goes_to_the_quickest)
{
    problem p = {.count = 3, .work = {1, 1000, 8000}};
    for (int i = 0; i < 3; i++) { /* 7000, 6000, 6000 */
        set_device(&p, i, 0, i ? 2000 : 0, i ? 5 : 7, 0);
        p.devices[i].start_ns = 1e6 * i;
    }
    for (int quickest = 1; quickest < 3; quickest++) {
        cr_assert_eq(make(&p), SY_OK);
        cr_expect(p.parts[quickest].tiles == 1 && p.makespan_ns == 6000);
        p.devices[quickest].memory = 7999;
    }
    p.devices[0].memory = 7999;
    cr_expect_eq(make(&p), SY_ERR_MEMORY);
}

/* A slow GPU that already has the data beats a faster one that would have to copy them. */
Test(split, goes_where_the_data_are)
{
    problem p = {.count = 2, .work = {100, 4096, 65536}};
    set_device(&p, 0, 10, 100000, 0.1, 0);
    set_device(&p, 1, 10, 100000, 0.3, 0);
    p.costs[1].phase[SYI_COPY_IN] = (syi_curve){0};
    cr_assert_eq(make(&p), SY_OK);
    cr_expect_gt(p.parts[1].tiles, 90);
    cr_expect_eq(p.parts[1].phase_ns[SYI_COPY_IN], 0);
}

Test(split, survives_the_lack_of_memory)
{
    int64_t alive = syi_mem_alive();
    for (int64_t k = 1; k <= 20; k++) {
        problem p = {0};
        sy_status status;
        random_problem(&p, 3, 1);
        syi_mem_fail_at(k);
        status = make(&p);
        syi_mem_fail_at(0);
        cr_expect(status == SY_OK || status == SY_ERR_MEMORY);
        cr_expect(k > 6 || status == SY_ERR_MEMORY);
        cr_expect_eq(syi_mem_alive(), alive);
    }
}

/* Plan and queue together where fixed costs matter: against the plan's makespan, which is the best
 * there is. The devices of is_within_3_percent_of_the_best_subset_for_every_size. */
Test(balance, packets_do_not_spoil_small_works)
{
    static const double fixed[] = {500, 60000, 40000, 4000000}, slope[] = {2, 0.65, 1.4, 1.6};
    for (double n = 1e2; n <= 1e8; n *= 1.3) {
        problem p = {.count = 4};
        syi_queue_device believed[4] = {0};
        virtual_device devices[4] = {0};
        virtual_result result;
        syi_queue *queue;
        p.work.tiles = (int64_t)ceil(n / 4096);
        p.work.elements_per_tile = n / (double)p.work.tiles;
        for (int i = 0; i < 4; i++)
            set_device(&p, i, 0, 2 * fixed[i], slope[i], 0);
        cr_assert_eq(make(&p), SY_OK);
        for (int i = 0; i < 4; i++) {
            devices[i].ns_per_tile = slope[i] * p.work.elements_per_tile;
            devices[i].packet_ns = fixed[i];
            believed[i] =
                (syi_queue_device){p.parts[i].tiles, devices[i].ns_per_tile, fixed[i], 0.01, 0};
        }
        cr_assert_eq(syi_queue_open(believed, 4, SYI_QUEUE_BALANCED, &queue), SY_OK);
        virtual_run(queue, devices, 4, 0, &result);
        syi_queue_close(&queue);
        cr_assert(result.once);
        cr_expect(result.makespan_ns <= p.makespan_ns * 1.03, "n %g: %g of the plan's time", n,
                  result.makespan_ns / p.makespan_ns);
    }
}
