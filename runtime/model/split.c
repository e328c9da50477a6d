/*
 * Costs become vessels (polylines in tiles) and are filled with water. What that cannot express is
 * a shared link, where a device's copies last longer the more the others copy: there the shares
 * are computed for assumed slow-downs, the slow-downs from the shares, and so on; the shares that
 * were best when predicted with their own slow-downs count.
 */
#include "model/split.h"

#include "base/mem.h"
#include "model/lane.h"

#include <math.h>
#include <stdlib.h>

enum { LINK_ROUNDS = 12 };
enum { FEW_DEVICES = 16, FEW_TILES = 16 }; /* in all, and per device */
/* A round that makes the makespan less than this much shorter was the last. */
static const double gain = 1e-3;

typedef struct copy {
    int link, device;
    double ns; /* alone on the link */
} copy;

typedef struct bench {
    const syi_split_device *devices;
    const syi_split_work *work;
    int count, linked; /* linked: devices that have a link number */
    syi_lane *lanes;
    syi_vessel *vessels;
    syi_step *steps;
    int64_t *shares;
    copy *copies;
} bench;

static sy_status fill(bench *b)
{
    syi_step *next = b->steps;
    for (int i = 0; i < b->count; i++) {
        syi_vessel *vessel = &b->vessels[i];
        *vessel = (syi_vessel){next, 0, b->lanes[i].most};
        if (b->lanes[i].most > 0)
            vessel->count = syi_lane_steps(&b->lanes[i], b->work, next);
        next += vessel->count;
    }
    return syi_water_fill(b->vessels, b->count, b->work->tiles, b->shares);
}

static int by_link_and_time(const void *left, const void *right)
{
    const copy *a = left, *b = right;
    if (a->link != b->link)
        return a->link > b->link ? 1 : -1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? 1 : -1;
    return a->device - b->device;
}

/* Copies of one link begin together and share it evenly: each is slowed down by every other one
 * for as long as the shorter of the two lasts. One that copies nothing yet would get an even part.
 */
static void share_links(bench *b, syi_phase phase, const int64_t *shares)
{
    int count = 0;
    for (int i = 0; i < b->count; i++)
        if (b->devices[i].link >= 0 && b->lanes[i].most > 0)
            b->copies[count++] =
                (copy){b->devices[i].link, i,
                       syi_lane_link_ns(&b->lanes[i], phase,
                                        (double)shares[i] * b->work->elements_per_tile)};
    qsort(b->copies, (size_t)count, sizeof *b->copies, by_link_and_time);
    for (int from = 0, to; from < count; from = to) {
        double shorter = 0;
        int copying = 0;
        for (to = from; to < count && b->copies[to].link == b->copies[from].link; to++)
            copying += b->copies[to].ns > 0;
        for (int k = from; k < to; k++) {
            double ns = b->copies[k].ns;
            b->lanes[b->copies[k].device].slower[phase] =
                ns > 0 ? (shorter + ns * (to - k)) / ns : copying + 1;
            shorter += ns;
        }
    }
}

static syi_limit limit_of(const syi_lane *l, const syi_part *part, const syi_split_work *work)
{
    syi_phase longest = SYI_COPY_IN;
    for (int p = 1; p < SYI_PHASES; p++)
        if (part->phase_ns[p] > part->phase_ns[longest])
            longest = (syi_phase)p;
    if (part->tiles == l->most && l->most < work->tiles)
        return SYI_LIMIT_MEMORY;
    if (syi_cost_fixed_ns(&l->cost) > part->total_ns / 2)
        return SYI_LIMIT_LATENCY;
    return longest == SYI_COPY_IN   ? SYI_LIMIT_COPY_IN
           : longest == SYI_COMPUTE ? SYI_LIMIT_COMPUTE
                                    : SYI_LIMIT_COPY_OUT;
}

static syi_limit left_out_by(const bench *b, int i, const syi_part *part, double makespan)
{
    if (!b->devices[i].cost)
        return SYI_LIMIT_UNUSED;
    if (b->lanes[i].most == 0)
        return SYI_LIMIT_MEMORY;
    if (syi_cost_fixed_ns(&b->lanes[i].cost) >= makespan)
        return SYI_LIMIT_LATENCY;
    return part->total_ns > makespan ? SYI_LIMIT_SPEED : SYI_LIMIT_NO_WORK;
}

static void predict_part(const bench *b, int i, syi_part *part)
{
    const syi_lane *l = &b->lanes[i];
    syi_cost cost = syi_lane_cost(l);
    double elements = (part->tiles ? (double)part->tiles : 1) * b->work->elements_per_tile;
    for (int p = 0; p < SYI_PHASES; p++)
        part->phase_ns[p] = syi_cost_phase_ns(&cost, (syi_phase)p, l->passage, elements);
    part->total_ns = syi_cost_ns(&cost, l->passage, elements);
}

/* Predicts the parts from their tiles. */
static void predict(bench *b, syi_part *parts, syi_forecast *out)
{
    int used = 0, usable = 0, cpu = 0;
    *out = (syi_forecast){0};
    for (int i = 0; i < b->count; i++)
        b->shares[i] = parts[i].tiles;
    if (b->linked > 1) {
        share_links(b, SYI_COPY_IN, b->shares);
        share_links(b, SYI_COPY_OUT, b->shares);
    }
    for (int i = 0; i < b->count; i++) {
        predict_part(b, i, &parts[i]);
        usable += b->lanes[i].most > 0;
        if (parts[i].tiles == 0)
            continue;
        used++;
        cpu += b->devices[i].is_cpu;
        if (parts[i].total_ns > out->makespan_ns)
            out->makespan_ns = parts[i].total_ns;
    }
    for (int i = 0; i < b->count; i++)
        parts[i].limit = parts[i].tiles ? limit_of(&b->lanes[i], &parts[i], b->work)
                                        : left_out_by(b, i, &parts[i], out->makespan_ns);
    out->extent = syi_extent_of(used, cpu, usable);
}

/* Moves tiles if that makes the makespan shorter. */
static bool try_move(bench *b, syi_part *parts, int from, int to, int64_t tiles, syi_forecast *best)
{
    syi_forecast tried;
    if (tiles == 0 || tiles > parts[from].tiles || parts[to].tiles + tiles > b->lanes[to].most)
        return false;
    parts[from].tiles -= tiles;
    parts[to].tiles += tiles;
    predict(b, parts, &tried);
    if (tried.makespan_ns < best->makespan_ns) {
        *best = tried;
        return true;
    }
    parts[from].tiles += tiles;
    parts[to].tiles -= tiles;
    return false;
}

/* What a tile more or less means on a shared link shows only when it is tried: every device gives
 * one, or half of its tiles, or all of them to every other one, as long as that helps. */
static void move_tiles(bench *b, syi_part *parts, syi_forecast *best)
{
    for (bool helped = true; helped;) {
        helped = false;
        for (int from = 0; from < b->count; from++)
            for (int to = 0; to < b->count; to++)
                helped =
                    (from != to && (try_move(b, parts, from, to, parts[from].tiles, best) ||
                                    try_move(b, parts, from, to, parts[from].tiles / 2, best) ||
                                    try_move(b, parts, from, to, 1, best))) ||
                    helped;
    }
}

static sy_status settle_links(bench *b, syi_part *parts, syi_forecast *best)
{
    bool helped = true;
    for (int i = 0; i < b->count; i++)
        b->lanes[i].kept = parts[i].tiles;
    for (int round = 0; helped && round < LINK_ROUNDS; round++) {
        syi_forecast tried;
        for (int i = 0; i < b->count; i++) { /* half way to what the last shares bring */
            syi_lane *lane = &b->lanes[i];
            for (int p = 0; p < SYI_PHASES; p++)
                lane->slower[p] = lane->assumed[p] = (lane->slower[p] + lane->assumed[p]) / 2;
        }
        SYI_TRY(fill(b));
        for (int i = 0; i < b->count; i++)
            parts[i].tiles = b->shares[i];
        predict(b, parts, &tried);
        helped = tried.makespan_ns < best->makespan_ns * (1 - gain);
        if (tried.makespan_ns >= best->makespan_ns)
            continue;
        *best = tried;
        for (int i = 0; i < b->count; i++)
            b->lanes[i].kept = parts[i].tiles;
    }
    for (int i = 0; i < b->count; i++)
        parts[i].tiles = b->lanes[i].kept;
    if (b->count <= FEW_DEVICES && b->work->tiles <= FEW_TILES * b->count)
        move_tiles(b, parts, best);
    return SY_OK;
}

static void bench_close(bench *b)
{
    syi_free(b->lanes);
    syi_free(b->vessels);
    syi_free(b->steps);
    syi_free(b->shares);
    syi_free(b->copies);
}

static sy_status bench_open(bench *b)
{
    size_t count = (size_t)b->count, steps = 0;
    int usable = 0;
    for (size_t i = 0; i < count; i++) {
        b->linked += b->devices[i].link >= 0;
        steps += SYI_LANE_STEPS;
        for (int p = 0; b->devices[i].cost && p < SYI_PHASES; p++)
            if (b->devices[i].cost->phase[p].pieces > 1)
                steps += (size_t)b->devices[i].cost->phase[p].pieces - 1;
    }
    b->lanes = syi_alloc(count, sizeof *b->lanes);
    b->vessels = syi_alloc(count, sizeof *b->vessels);
    b->steps = syi_alloc(steps, sizeof *b->steps);
    b->shares = syi_alloc(count, sizeof *b->shares);
    b->copies = syi_alloc((size_t)b->linked, sizeof *b->copies);
    if (!b->lanes || !b->vessels || !b->steps || !b->shares || !b->copies)
        return syi_no_memory(count * sizeof *b->lanes);
    for (size_t i = 0; i < count; i++) {
        syi_lane_set(&b->devices[i], b->work, &b->lanes[i]);
        usable += b->devices[i].cost != NULL;
    }
    return usable ? SY_OK
                  : syi_fail(SY_ERR_NO_DEVICE, "no usable device to split the work over; name "
                                               "another device such as cpu");
}

sy_status syi_split_make(const syi_split_device *devices, int count, const syi_split_work *work,
                         syi_part *parts, syi_forecast *out)
{
    bench b = {.devices = devices, .work = work, .count = count};
    syi_forecast split;
    sy_status status = bench_open(&b);
    if (status == SY_OK)
        status = fill(&b);
    if (status == SY_OK) {
        for (int i = 0; i < count; i++)
            parts[i].tiles = b.shares[i];
        predict(&b, parts, &split);
        if (b.linked > 1)
            status = settle_links(&b, parts, &split);
    }
    if (status == SY_OK)
        predict(&b, parts, out);
    bench_close(&b);
    return status;
}

sy_status syi_split_predict(const syi_split_device *devices, int count, const syi_split_work *work,
                            syi_part *parts, syi_forecast *out)
{
    bench b = {.devices = devices, .work = work, .count = count};
    sy_status status = bench_open(&b);
    if (status == SY_OK)
        predict(&b, parts, out);
    bench_close(&b);
    return status;
}

syi_extent syi_extent_of(int used, int used_cpus, int usable)
{
    if (used <= 1)
        return used == 0 ? SYI_EXTENT_NONE : used_cpus ? SYI_EXTENT_CPU : SYI_EXTENT_ONE;
    return used == usable ? SYI_EXTENT_ALL : SYI_EXTENT_SOME;
}

const char *syi_extent_word(syi_extent extent)
{
    static const char *const words[] = {"none", "cpu", "one", "some", "all"};
    return words[extent];
}

const char *syi_limit_word(syi_limit limit)
{
    static const char *const words[] = {"copy in", "compute", "copy out", "latency",
                                        "memory",  "speed",   "unused",   "no work"};
    return words[limit];
}
