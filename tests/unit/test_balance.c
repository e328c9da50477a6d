/*
 * The split against searches over all possibilities, and whole calls in virtual time: what share of
 * the ideal is reached with a profile, without one, with a wrong one, when a device changes or
 * fails. No clock: the numbers are the same on every machine.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/drift.h"
#include "model/split.h"
#include "support/virtual_run.h"

/* ---- split ---- */

enum { FEW = 4 };

typedef struct problem {
    syi_cost costs[VIRTUAL_DEVICES];
    syi_split_device devices[VIRTUAL_DEVICES];
    int count;
    syi_split_work work;
    syi_part parts[VIRTUAL_DEVICES];
    syi_split split;
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
    return syi_split_make(p->devices, p->count, &p->work, p->parts, &p->split);
}

/* The least makespan of all integer splits, tried one by one. */
static double best_of_all(const problem *p, int device, int64_t left, syi_part *parts)
{
    double best = INFINITY;
    if (device == p->count - 1) {
        syi_split split;
        parts[device].tiles = left;
        syi_split_predict(p->devices, p->count, &p->work, parts, &split);
        return split.makespan_ns;
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
        p->devices[i].way = (syi_way)(v[5] * 3);
        p->devices[i].chunk_tiles = 1 + (int64_t)(v[6] * 5);
        if (p->devices[i].way != SYI_WAY_WHOLE)
            p->devices[i].memory = v[7] < 0.3 ? 4096 * 16 * 3 : 0;
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
        cr_assert(p.split.makespan_ns <= best * (1 + 1e-9), "seed %d: %g, best %g", (int)seed,
                  p.split.makespan_ns, best);
    }
}

Test(split, on_shared_links_is_near_the_best)
{
    double worst = 1;
    for (uint64_t seed = 0; seed < 400; seed++) {
        problem p = {0};
        syi_part parts[VIRTUAL_DEVICES] = {0};
        double best;
        random_problem(&p, seed, 1);
        cr_assert_eq(make(&p), SY_OK);
        cr_assert_eq(total(&p), p.work.tiles);
        best = best_of_all(&p, 0, p.work.tiles, parts);
        worst = fmax(worst, p.split.makespan_ns / best);
    }
    cr_expect_leq(worst, 1.03, "%g times the best", worst);
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
    cr_expect_eq(p.split.makespan_ns, 3000);
    cr_expect_eq(p.parts[0].phase_ns[SYI_COPY_IN], 2000);
    cr_expect_eq(p.parts[0].limit, SYI_LIMIT_COPY_IN);
    /* 15 and 5 by hand: the short copy takes 2 * 500, the long one 1500 + 500. */
    p.parts[0].tiles = 15;
    p.parts[1].tiles = 5;
    syi_split_predict(p.devices, 2, &p.work, p.parts, &p.split);
    cr_expect_float_eq(p.parts[1].phase_ns[SYI_COPY_IN], 1000, 1e-6);
    cr_expect_float_eq(p.parts[0].phase_ns[SYI_COPY_IN], 2000, 1e-6);
    p.devices[1].link = -1;
    syi_split_predict(p.devices, 2, &p.work, p.parts, &p.split);
    cr_expect_eq(p.parts[0].phase_ns[SYI_COPY_IN], 1500);
}

/* The makespan of a subset, independent of the code under test: the level at which its devices
 * hold everything, by bisection, in parts of tiles. Not above any integer split of the subset. */
static double subset_level(const problem *p, unsigned subset)
{
    double low = 0, high = 1e18;
    for (int step = 0; step < 200; step++) {
        double level = (low + high) / 2, held = 0;
        for (int i = 0; i < p->count; i++) {
            double fixed = 0, slope = 0;
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
Test(split, is_within_3_percent_of_the_best_subset_for_every_size)
{
    int extents[SYI_EXTENT_ALL + 1] = {0};
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
        p.devices[0].is_cpu = true;
        cr_assert_eq(make(&p), SY_OK);
        for (unsigned subset = 1; subset < 16; subset++)
            best = fmin(best, subset_level(&p, subset));
        /* Whole tiles: one of them cannot be cut. */
        if (p.work.tiles < 100) {
            syi_part parts[VIRTUAL_DEVICES] = {0};
            double whole = p.work.tiles < 40 ? best_of_all(&p, 0, p.work.tiles, parts) : best;
            cr_assert(p.split.makespan_ns <= fmax(whole, best) * 1.03, "n %g", n);
        } else {
            cr_assert(p.split.makespan_ns <= best * 1.03, "n %g: %g, best %g", n,
                      p.split.makespan_ns, best);
        }
        extents[p.split.extent]++;
    }
    cr_expect(extents[SYI_EXTENT_CPU] && extents[SYI_EXTENT_SOME] && extents[SYI_EXTENT_ALL],
              "%d %d %d %d", extents[1], extents[2], extents[3], extents[4]);
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
    cr_expect_eq(p.split.makespan_ns, 800 * 4096.0);
    cr_expect_eq(p.split.extent, SYI_EXTENT_ALL);
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
    p.devices[0].is_cpu = true;
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
    cr_expect_str_eq(syi_extent_word(p.split.extent), "cpu");
    p.devices[0].is_cpu = false;
    cr_assert_eq(make(&p), SY_OK);
    cr_expect_str_eq(syi_extent_word(p.split.extent), "one");
    p.work.tiles = 0;
    cr_assert_eq(make(&p), SY_OK);
    cr_expect_str_eq(syi_extent_word(p.split.extent), "none");
}

Test(split, keeps_to_the_memory)
{
    problem p = {.count = 2, .work = {100, 1, 1000}};
    set_device(&p, 0, 0, 0, 1, 0);
    set_device(&p, 1, 0, 0, 100, 0);
    p.devices[0].memory = 30500;
    cr_assert_eq(make(&p), SY_OK);
    cr_expect(p.parts[0].tiles == 30 && p.parts[0].limit == SYI_LIMIT_MEMORY);
    p.devices[1].memory = 69999;
    cr_expect_eq(make(&p), SY_ERR_MEMORY);
    p.devices[0].way = SYI_WAY_CHUNKS; /* now it can take any number, 30 at a time */
    cr_assert_eq(make(&p), SY_OK);
    cr_expect_eq(p.parts[0].tiles, 100);
    p.devices[0].cost = p.devices[1].cost = NULL;
    cr_expect_eq(make(&p), SY_ERR_NO_DEVICE);
}

/* A slow GPU that already has the data beats a faster one that would have to copy them. */
Test(split, goes_where_the_data_are)
{
    problem p = {.count = 2, .work = {100, 4096, 65536}};
    set_device(&p, 0, 10, 100000, 0.1, 0);
    set_device(&p, 1, 10, 100000, 0.3, 0);
    p.devices[1].without = 1u << SYI_COPY_IN;
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

/* ---- whole calls in virtual time ---- */

/* N = 1e7 in tiles of 4096; 100 ms if perfect; 50 us for each packet. */
enum { TILES = 2442 };
static const double elements = 1e7, ideal_ns = 100e6, packet_ns = 50e3;

typedef struct call {
    const double *speed, *believed; /* relative */
    int count;
    double spread, noise;
    virtual_device devices[VIRTUAL_DEVICES];
    virtual_result result;
    double packet_believed_ns;
    syi_queue_mode mode;
} call;

static double speed_sum(const double *speed, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += speed[i];
    return sum;
}

/* Makes the call and gives its efficiency; the ideal knows nothing of packets and tiles. */
static double make_call(call *c, uint64_t seed)
{
    double unit = elements / 4096 / ideal_ns; /* tiles per ns of all together */
    double truth = speed_sum(c->speed, c->count), belief = speed_sum(c->believed, c->count);
    syi_queue_device believed[VIRTUAL_DEVICES] = {0};
    syi_queue *queue;
    int64_t left = TILES;
    for (int i = 0; i < c->count; i++) {
        int64_t share = (int64_t)(TILES * c->believed[i] / belief + 0.5);
        share = i == c->count - 1 || share > left ? left : share;
        left -= share;
        believed[i] = (syi_queue_device){.tiles = share,
                                         .ns_per_tile = truth / unit / c->believed[i],
                                         .packet_ns = c->packet_believed_ns,
                                         .spread = c->spread};
        c->devices[i].ns_per_tile = truth / unit / c->speed[i];
        c->devices[i].packet_ns = packet_ns;
        c->devices[i].noise = c->noise;
    }
    cr_assert_eq(syi_queue_open(believed, c->count, c->mode, &queue), SY_OK);
    virtual_run(queue, c->devices, c->count, seed, &c->result);
    cr_assert(c->result.once, "every tile exactly once");
    cr_assert_eq(syi_queue_left(queue), 0);
    syi_queue_close(&queue);
    return ideal_ns / c->result.makespan_ns;
}

typedef struct speeds {
    const char *name;
    int count;
    double speed[VIRTUAL_DEVICES];
} speeds;

static const speeds table[] = {{"1:1", 2, {1, 1}},
                               {"1:2", 2, {1, 2}},
                               {"1:4", 2, {1, 4}},
                               {"1:10", 2, {1, 10}},
                               {"8:4:2:1", 4, {8, 4, 2, 1}}};
static call profiled(const double *speed, const double *believed, int count)
{
    return (call){.speed = speed,
                  .believed = believed,
                  .count = count,
                  .spread = 0.01,
                  .packet_believed_ns = packet_ns};
}

enum { ROWS = sizeof table / sizeof *table };
static const double equal[VIRTUAL_DEVICES] = {1, 1, 1, 1};

Test(balance, with_a_profile)
{
    for (int i = 0; i < ROWS; i++) {
        call c = profiled(table[i].speed, table[i].speed, table[i].count);
        double efficiency = make_call(&c, 0), mean = 0;
        cr_expect_geq(efficiency, 0.99, "%s: %g", table[i].name, efficiency);
        c.noise = 0.02;
        for (uint64_t seed = 0; seed < 200; seed++)
            mean += make_call(&c, seed) / 200;
        cr_expect_geq(mean, 0.99, "%s with noise: %g", table[i].name, mean);
        fprintf(stderr, "profile %s: %.4f, noisy %.4f\n", table[i].name, efficiency, mean);
    }
}

Test(balance, without_a_profile)
{
    static const double reversed[] = {10, 1};
    for (int i = 0; i < ROWS; i++) {
        call c = {.speed = table[i].speed, .believed = equal, .count = table[i].count, .spread = 1};
        double efficiency = make_call(&c, 0);
        cr_expect_geq(efficiency, 0.95, "%s: %g", table[i].name, efficiency);
        fprintf(stderr, "no profile %s: %.4f\n", table[i].name, efficiency);
    }
    for (uint64_t seed = 0; seed < 200; seed++) {
        call c = {
            .speed = table[3].speed, .believed = reversed, .count = 2, .spread = 1, .noise = 0.02};
        double efficiency = make_call(&c, seed);
        cr_assert_geq(efficiency, 0.90, "the wrong guess: %g", efficiency);
    }
}

Test(balance, with_a_profile_that_is_wrong_by_20_percent)
{
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 2; k++) {
            double believed[VIRTUAL_DEVICES], efficiency;
            call c = profiled(table[i].speed, believed, table[i].count);
            int fast = i == 4 ? 0 : 1;
            memcpy(believed, table[i].speed, sizeof believed);
            believed[fast] *= k ? 1.2 : 1 / 1.2;
            efficiency = make_call(&c, 0);
            cr_expect_geq(efficiency, 0.985, "%s: %g", table[i].name, efficiency);
            fprintf(stderr, "20 %% wrong %s: %.4f\n", table[i].name, efficiency);
        }
}

/* Profiled at 1:4, then the fast one becomes three times slower. Calls 1 to 6: the same call by the
 * queue alone, the later ones with the feedback as well; the plan is made anew from the costs. */
Test(balance, heals_when_a_device_becomes_slower)
{
    double speed[] = {1, 4.0 / 3}, believed[] = {1, 4};
    syi_drift drift[2] = {syi_drift_start(0.01), syi_drift_start(0.01)};
    for (int run = 1; run <= 6; run++) {
        call c = profiled(speed, believed, 2);
        double efficiency = make_call(&c, 0);
        cr_expect_geq(efficiency, run < 4 ? 0.90 : 0.98, "call %d: %g", run, efficiency);
        fprintf(stderr, "3x slower, call %d: %.4f\n", run, efficiency);
        for (int i = 0; i < 2; i++) {
            double unit = elements / 4096 / ideal_ns, truth = speed[0] + speed[1];
            double profile = (double)c.result.tiles[i] * truth / unit / (i ? 4 : 1) +
                             c.result.packets[i] * packet_ns;
            syi_drift_add(&drift[i], profile, c.result.busy_ns[i], 0.1);
            believed[i] = (i ? 4 : 1) / drift[i].slower.value;
        }
    }
    cr_expect(fabs(believed[1] - 4.0 / 3) < 0.02 && fabs(believed[0] - 1) < 0.02);
}

/* 1:4, and the fast one becomes three times slower after `at` of the 100 ms. By hand: 0.2 T + 0.8
 * at
 * + (T - at) * 0.8 / 3 = 100. */
Test(balance, heals_within_the_call)
{
    for (double at = 10; at < 100; at += 10) {
        double ideal = (100 - at * 0.8 * 2 / 3) / (0.2 + 0.8 / 3), efficiency;
        call c = profiled(table[2].speed, table[2].speed, 2);
        c.devices[1] = (virtual_device){.changes_at_ns = at * 1e6, .slower = 3};
        make_call(&c, 0);
        efficiency = ideal * 1e6 / c.result.makespan_ns;
        cr_expect_geq(efficiency, 0.97, "after %g ms: %g", at, efficiency);
        fprintf(stderr, "3x slower after %2.0f ms: %.4f\n", at, efficiency);
    }
}

/* Whichever fails, in whichever packet: every tile exactly once, the others go on. */
Test(balance, goes_on_without_a_device)
{
    for (int mode = SYI_QUEUE_BALANCED; mode <= SYI_QUEUE_FORCED; mode++)
        for (int failing = 0; failing < 4; failing++)
            for (int k = 1; k <= 3; k++) {
                call c = {.speed = table[4].speed, .believed = equal, .count = 4, .spread = 0.1};
                c.mode = (syi_queue_mode)mode;
                c.devices[failing].fails_at = k;
                make_call(&c, 0);
                if (mode == SYI_QUEUE_FORCED && k > 1)
                    cr_expect_eq(c.result.packets[failing], 1);
            }
}

static const syi_queue_device forced[] = {{75, 10, 0, 0.1, 0}, {25, 10, 0, 0.1, 0}};

Test(queue, forced_shares_are_taken_as_they_are)
{
    syi_queue *queue;
    syi_packet packet;
    cr_assert_eq(syi_queue_open(forced, 2, SYI_QUEUE_FORCED, &queue), SY_OK);
    cr_assert_eq(syi_queue_next(queue, 1, 0, &packet), SYI_TURN_TAKE);
    cr_expect(packet.first == 75 && packet.count == 25 && !packet.tail);
    cr_assert_eq(syi_queue_report(queue, 1, 25, 1), SY_OK);
    cr_expect_eq(syi_queue_next(queue, 1, 1, &packet), SYI_TURN_WAIT);
    cr_assert_eq(syi_queue_next(queue, 0, 1, &packet), SYI_TURN_TAKE);
    cr_expect(packet.first == 0 && packet.count == 75);
    /* Out of memory after 40 tiles: it leaves, and the other one gets the rest. */
    cr_assert_eq(syi_queue_report(queue, 0, 40, 400), SY_OK);
    syi_queue_leave(queue, 0);
    cr_expect_eq(syi_queue_next(queue, 0, 400, &packet), SYI_TURN_DONE);
    cr_expect_eq(syi_queue_left(queue), 35);
    while (syi_queue_next(queue, 1, 400, &packet) == SYI_TURN_TAKE) {
        cr_assert(packet.first >= 40 && packet.first + packet.count <= 75 && packet.tail);
        cr_assert_eq(syi_queue_report(queue, 1, packet.count, 10 * (double)packet.count), SY_OK);
    }
    cr_expect_eq(syi_queue_left(queue), 0);
    syi_queue_close(&queue);
    cr_expect_null(queue);
}

Test(queue, keeps_to_the_largest_packet_and_takes_back)
{
    syi_queue_device one = {100, 10, 0, 0.01, 8};
    syi_queue *queue;
    syi_packet packet;
    int seen[100] = {0}, again = 0;
    cr_assert_eq(syi_queue_open(&one, 1, SYI_QUEUE_BALANCED, &queue), SY_OK);
    while (syi_queue_next(queue, 0, 0, &packet) == SYI_TURN_TAKE) {
        cr_assert_leq(packet.count, 8);
        for (int64_t t = 0; t < packet.count; t++)
            seen[packet.first + t]++;
        cr_assert_eq(syi_queue_report(queue, 0, packet.count, 80), SY_OK);
        if (again++ == 2)
            cr_assert_eq(syi_queue_return(queue, 4, 10), SY_OK);
    }
    for (int t = 0; t < 100; t++)
        cr_expect_eq(seen[t], t >= 4 && t < 14 ? 2 : 1, "tile %d", t);
    syi_queue_close(&queue);
}

/* A device that hangs has its packet for ever; the others do all the rest in the meantime. */
Test(queue, does_not_wait_for_a_hung_device)
{
    syi_queue_device two[] = {{500, 10, 1, 0.01, 0}, {500, 10, 1, 0.01, 0}};
    syi_queue *queue;
    syi_packet hung, packet;
    double now = 0;
    int64_t done = 0;
    cr_assert_eq(syi_queue_open(two, 2, SYI_QUEUE_BALANCED, &queue), SY_OK);
    cr_assert_eq(syi_queue_next(queue, 0, 0, &hung), SYI_TURN_TAKE);
    while (done < 1000 - hung.count) {
        syi_turn turn = syi_queue_next(queue, 1, now, &packet);
        if (turn == SYI_TURN_WAIT) {
            cr_assert(isfinite(packet.retry_ns));
            now = fmax(packet.retry_ns, now) + 1000;
            continue;
        }
        cr_assert_eq(turn, SYI_TURN_TAKE);
        now += 10 * (double)packet.count;
        done += packet.count;
        cr_assert_eq(syi_queue_report(queue, 1, packet.count, 10 * (double)packet.count), SY_OK);
    }
    cr_expect_eq(syi_queue_next(queue, 1, now, &packet), SYI_TURN_WAIT);
    cr_assert_eq(syi_queue_report(queue, 0, 0, 0), SY_OK); /* the watchdog gives it up */
    syi_queue_leave(queue, 0);
    cr_expect_eq(syi_queue_next(queue, 1, now, &packet), SYI_TURN_TAKE);
    syi_queue_close(&queue);
}

Test(queue, survives_the_lack_of_memory)
{
    int64_t alive = syi_mem_alive();
    syi_queue *queue = NULL;
    syi_packet packet;
    for (int64_t k = 1; k <= 3; k++) {
        syi_mem_fail_at(k);
        cr_expect_eq(syi_queue_open(forced, 2, SYI_QUEUE_FORCED, &queue), SY_ERR_MEMORY);
        cr_expect_eq(syi_mem_alive(), alive);
    }
    cr_assert_eq(syi_queue_open(forced, 2, SYI_QUEUE_FORCED, &queue), SY_OK);
    cr_assert_eq(syi_queue_next(queue, 0, 0, &packet), SYI_TURN_TAKE);
    syi_mem_fail_at(1);
    cr_expect_eq(syi_queue_report(queue, 0, 5, 50), SY_ERR_MEMORY);
    cr_expect_eq(syi_queue_report(queue, 0, 5, 50), SY_OK, "once more, with memory");
    cr_expect_eq(syi_queue_left(queue), 95);
    syi_queue_close(&queue);
    cr_expect_eq(syi_mem_alive(), alive);
}
