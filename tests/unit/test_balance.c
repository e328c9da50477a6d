/*
 * Whole calls in virtual time: what share of the ideal is reached with a profile, without one, with
 * a wrong one, when a device changes or fails; and the queue call by call. No clock: the numbers
 * are the same on every machine.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/drift.h"
#include "support/virtual_run.h"

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
    syi_drift drift[2] = {syi_drift_start(0.01, 1), syi_drift_start(0.01, 1)};
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
    for (double at = 1; at < 100; at++) {
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

static void random_devices(uint64_t seed, int count, syi_queue_device *believed,
                           virtual_device *devices, int *failing)
{
    *failing = 0;
    for (int i = 0; i < count; i++) {
        double u[12];
        for (uint64_t k = 0; k < 12; k++)
            u[k] = virtual_uniform(seed, 100 + 12 * (uint64_t)i + k);
        believed[i] = (syi_queue_device){.tiles = (int64_t)(u[0] * (u[1] < 0.5 ? 3000 : 5)),
                                         .ns_per_tile = pow(10, 6 * u[2] - 2),
                                         .packet_ns = u[3] < 0.3 ? 0 : pow(10, 6 * u[3]),
                                         .spread = u[4] < 0.4 ? 1 : u[4] / 3};
        devices[i] =
            (virtual_device){.ns_per_tile = believed[i].ns_per_tile * pow(10, 4 * u[6] - 2),
                             .packet_ns = believed[i].packet_ns * 2 * u[7],
                             .noise = 0.05 * u[8],
                             .fails_at = u[9] < 0.2 ? 1 + (int)(3 * u[10]) : 0};
        *failing += devices[i].fails_at > 0;
    }
}

/* Beliefs off by up to 100 times, devices that fail: as long as one goes on, all gets done. */
Test(balance, whatever_is_believed_every_tile_is_computed_once)
{
    for (uint64_t seed = 0; seed < 5000; seed++) {
        syi_queue_device believed[8];
        virtual_device devices[8];
        virtual_result result;
        syi_queue *queue;
        int count = 1 + (int)(8 * virtual_uniform(seed, 0)), failing;
        random_devices(seed, count, believed, devices, &failing);
        cr_assert_eq(syi_queue_open(believed, count, (syi_queue_mode)(seed % 2), &queue), SY_OK);
        virtual_run(queue, devices, count, seed, &result);
        if (failing < count)
            cr_assert(result.once && syi_queue_left(queue) == 0, "seed %d", (int)seed);
        syi_queue_close(&queue);
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

/* Nothing is known of it, and its packets take other times than expected: 1, 4, 16, ... tiles. */
Test(queue, an_unknown_device_grows_by_four)
{
    static const syi_queue_device unknown[] = {{5000, 10, 0, 1, 0}, {5000, 10, 0, 1, 0}};
    syi_queue *queue;
    syi_packet packet;
    double ns = 10;
    cr_assert_eq(syi_queue_open(unknown, 2, SYI_QUEUE_BALANCED, &queue), SY_OK);
    for (int64_t count = 1; count <= 256; count *= 4, ns *= 8) {
        cr_assert_eq(syi_queue_next(queue, 0, 0, &packet), SYI_TURN_TAKE);
        cr_expect_eq(packet.count, count);
        cr_assert_eq(syi_queue_report(queue, 0, packet.count, ns), SY_OK);
    }
    syi_queue_close(&queue);
}

/* It is only believed to be too slow for its tile, and gets it; one that is known to be waits. */
Test(queue, an_unknown_device_is_tried)
{
    for (int known = 0; known < 2; known++) {
        const syi_queue_device two[] = {{9, 10, 0, 1, 0}, {1, 1000, 0, known ? 0.1 : 1, 0}};
        syi_queue *queue;
        syi_packet packet;
        cr_assert_eq(syi_queue_open(two, 2, SYI_QUEUE_BALANCED, &queue), SY_OK);
        cr_assert_eq(syi_queue_next(queue, 0, 0, &packet), SYI_TURN_TAKE);
        cr_expect_eq(syi_queue_next(queue, 1, 0, &packet), known ? SYI_TURN_WAIT : SYI_TURN_TAKE);
        cr_expect(known || (packet.first == 9 && packet.count == 1 && !packet.tail));
        syi_queue_close(&queue);
    }
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
    for (int64_t k = 1; k <= 2; k++) {
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

/* A program may run for years. */
Test(drift, never_counts_too_far)
{
    syi_drift d = syi_drift_start(0.02, 1);
    d.saved = 2; /* and nobody saves */
    d.slower.samples = 999990;
    for (int run = 0; run < 20; run++)
        syi_drift_add(&d, 1e6, 1e6, 0.1);
    cr_expect_eq(d.slower.samples, 1000000);
    cr_expect_eq(d.off, 3);
    cr_expect_eq(d.worth, 3);
}
