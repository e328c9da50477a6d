/*
 * Costs become vessels (polylines in tiles) and are filled with water. What that cannot express is
 * a shared link, where a device's copies last longer the more the others copy: there the shares
 * are computed for assumed slow-downs, the slow-downs from the shares, and so on; the shares that
 * were best when predicted with their own slow-downs count.
 */
#include "model/split.h"

#include "base/mem.h"
#include "model/lane.h"
#include "model/contention.h"

#include <math.h>

enum { LINK_ROUNDS = 12 };
enum { FEW_DEVICES = 16, FEW_TILES = 16 }; /* in all, and per device */
/* A round that makes the makespan less than this much shorter was the last; of very many devices a
 * round takes longer than a small gain is worth. */
enum { VERY_MANY_DEVICES = 20000 };
static const double gain = 1e-3, gain_of_very_many = 2e-2;

typedef struct bench {
    const syi_split_device *devices;
    const syi_split_work *work;
    int count;
    syi_lane *lanes;
    syi_vessel *vessels;
    syi_step *steps;
    int64_t *shares;
    syi_offer *offers;
    double level; /* of the last filling, where the next one begins to look; 0: none */
    syi_contention contention;
    int slowest; /* that finishes last, by the last makespan */
} bench;

static sy_status fill(bench *b)
{
    syi_step *next = b->steps;
    for (int i = 0; i < b->count; i++) {
        syi_vessel *vessel = &b->vessels[i];
        *vessel = (syi_vessel){next, 0, b->work->tiles};
        if (b->lanes[i].usable)
            vessel->count = syi_lane_steps(&b->lanes[i], b->work, next);
        next += vessel->count;
    }
    return syi_water_fill(b->vessels, b->count, b->work->tiles, b->shares, b->offers, &b->level);
}

/* The makespan of b->shares, with the slow-downs that they bring. */
static double makespan(bench *b)
{
    double longest = 0;
    syi_contention_apply(&b->contention, b->lanes, b->work, b->shares);
    for (int i = 0; i < b->count; i++) {
        double ns = b->shares[i] ? syi_lane_ns(&b->lanes[i],
                                               (double)b->shares[i] * b->work->elements_per_tile)
                                 : 0;
        if (ns > longest) {
            longest = ns;
            b->slowest = i;
        }
    }
    return longest;
}

static syi_limit limit_of(const syi_lane *l, const syi_part *part)
{
    syi_phase longest = SYI_COPY_IN;
    for (int p = 1; p < SYI_PHASES; p++)
        if (part->phase_ns[p] > part->phase_ns[longest])
            longest = (syi_phase)p;
    if (syi_lane_fixed_ns(l) > part->total_ns / 2)
        return SYI_LIMIT_LATENCY;
    return longest == SYI_COPY_IN   ? SYI_LIMIT_COPY_IN
           : longest == SYI_COMPUTE ? SYI_LIMIT_COMPUTE
                                    : SYI_LIMIT_COPY_OUT;
}

static syi_limit left_out_by(const bench *b, int i, const syi_part *part, double makespan)
{
    if (!b->devices[i].cost)
        return SYI_LIMIT_UNUSED;
    if (!b->lanes[i].usable)
        return SYI_LIMIT_MEMORY;
    if (syi_lane_fixed_ns(&b->lanes[i]) >= makespan)
        return SYI_LIMIT_LATENCY;
    return part->total_ns > makespan ? SYI_LIMIT_SPEED : SYI_LIMIT_NO_WORK;
}

static void predict_part(const bench *b, int i, syi_part *part)
{
    const syi_lane *l = &b->lanes[i];
    double elements = (part->tiles ? (double)part->tiles : 1) * b->work->elements_per_tile;
    part->total_ns = 0;
    for (int p = 0; p < SYI_PHASES; p++)
        part->phase_ns[p] = l->cost ? syi_lane_phase_ns(l, (syi_phase)p, elements) : 0;
    if (l->cost)
        part->total_ns = syi_lane_ns(l, elements);
}

/* Who is the only one with tiles; -1: there are more, or none. */
static int only_one(const bench *b)
{
    int found = -1;
    for (int i = 0; i < b->count; i++) {
        if (b->shares[i] == 0)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* The device that is quickest with all the work, -1: none can take it. One alone needs not be
 * started beside others, which the filling does not know. */
static int quickest_alone(const syi_split_device *devices, int count, const syi_split_work *work,
                          double *ns)
{
    int quickest = -1;
    *ns = INFINITY;
    for (int i = 0; i < count; i++) {
        syi_lane lane;
        double took;
        syi_lane_set(&devices[i], work, &lane);
        if (!lane.usable)
            continue;
        lane.start_ns = 0;
        took = syi_lane_ns(&lane, (double)work->tiles * work->elements_per_tile);
        if (took < *ns) {
            *ns = took;
            quickest = i;
        }
    }
    return quickest;
}

/* Predicts the parts from b->shares. */
static void predict(bench *b, syi_part *parts, double *makespan_ns)
{
    const int alone = only_one(b);
    *makespan_ns = 0;
    if (alone >= 0)
        b->lanes[alone].start_ns = 0;
    syi_contention_apply(&b->contention, b->lanes, b->work, b->shares);
    for (int i = 0; i < b->count; i++) {
        parts[i].tiles = b->shares[i];
        predict_part(b, i, &parts[i]);
        if (parts[i].tiles && parts[i].total_ns > *makespan_ns)
            *makespan_ns = parts[i].total_ns;
    }
    for (int i = 0; i < b->count; i++)
        parts[i].limit = parts[i].tiles ? limit_of(&b->lanes[i], &parts[i])
                                        : left_out_by(b, i, &parts[i], *makespan_ns);
}

/* Moves tiles if that makes the makespan shorter. */
static bool try_move(bench *b, int from, int to, int64_t tiles, double *best)
{
    double tried;
    if (from == to || tiles == 0 || tiles > b->shares[from] || !b->lanes[to].usable)
        return false;
    b->shares[from] -= tiles;
    b->shares[to] += tiles;
    tried = makespan(b);
    if (tried < *best) {
        *best = tried;
        return true;
    }
    b->shares[from] += tiles;
    b->shares[to] -= tiles;
    return false;
}

/* One gives another all of its tiles, or half, or one, if that helps. */
static bool try_moves(bench *b, int from, int to, double *best)
{
    return try_move(b, from, to, b->shares[from], best) ||
           try_move(b, from, to, b->shares[from] / 2, best) || try_move(b, from, to, 1, best);
}

/* The same of two moves where one alone does not help: the slowest device gives a tile away, and
 * another one some to the same. */
static bool try_two_moves(bench *b, double *best)
{
    bool helped = false;
    makespan(b);
    for (int from = b->slowest, to = 0; to < b->count && !helped; to++) {
        if (to == from || !b->lanes[to].usable)
            continue;
        b->shares[from]--;
        b->shares[to]++;
        for (int other = 0; other < b->count && !helped; other++)
            helped = try_moves(b, other, to, best);
        b->shares[from] += !helped;
        b->shares[to] -= !helped;
    }
    return helped;
}

/* What a tile more or less means on a shared link shows only when it is tried: every device with
 * every other one, as long as that helps. */
static void move_tiles(bench *b, double best)
{
    for (bool helped = true; helped;) {
        helped = false;
        for (int from = 0; from < b->count; from++)
            for (int to = 0; to < b->count; to++)
                helped = try_moves(b, from, to, &best) || helped;
        helped = helped || try_two_moves(b, &best);
    }
}

/* Half way from the slow-downs assumed before to those that the last shares bring. */
static void assume(bench *b)
{
    for (int k = 0; k < b->contention.count; k++) {
        syi_lane *lane = &b->lanes[b->contention.copies[k].device];
        for (int p = 0; p < SYI_PHASES; p++)
            lane->slower[p] = lane->assumed[p] = (lane->slower[p] + lane->assumed[p]) / 2;
    }
}

static sy_status settle_links(bench *b)
{
    const double least = b->count > VERY_MANY_DEVICES ? gain_of_very_many : gain;
    double best = makespan(b);
    bool helped = true;
    for (int i = 0; i < b->count; i++)
        b->lanes[i].kept = b->shares[i];
    for (int round = 0; helped && round < LINK_ROUNDS; round++) {
        double tried;
        assume(b);
        SYI_TRY(fill(b));
        tried = makespan(b);
        helped = tried < best * (1 - least);
        if (tried >= best)
            continue;
        best = tried;
        for (int i = 0; i < b->count; i++)
            b->lanes[i].kept = b->shares[i];
    }
    for (int i = 0; i < b->count; i++)
        b->shares[i] = b->lanes[i].kept;
    if (b->count <= FEW_DEVICES && b->work->tiles <= FEW_TILES * b->count)
        move_tiles(b, best);
    return SY_OK;
}

static sy_status bench_open(bench *b, syi_arena *memory)
{
    const size_t count = (size_t)b->count;
    int usable = 0;
    b->lanes = syi_arena_alloc(memory, count, sizeof *b->lanes);
    if (!b->lanes)
        return syi_no_memory(count * sizeof *b->lanes);
    for (size_t i = 0; i < count; i++) {
        syi_lane_set(&b->devices[i], b->work, &b->lanes[i]);
        usable += b->devices[i].cost != NULL;
    }
    if (!usable)
        return syi_fail(SY_ERR_NO_DEVICE, "no usable device to split the work over; name another "
                                          "device such as cpu");
    return syi_contention_list(b->devices, b->lanes, b->count, memory, &b->contention);
}

/* What only a filling needs. */
static sy_status reserve_vessels(bench *b, syi_arena *memory)
{
    const size_t count = (size_t)b->count;
    size_t steps = count * SYI_LANE_STEPS;
    for (size_t i = 0; i < count; i++)
        for (int p = 0; b->devices[i].cost && p < SYI_PHASES; p++)
            if (b->devices[i].cost->phase[p].pieces > 1)
                steps += (size_t)b->devices[i].cost->phase[p].pieces - 1;
    b->vessels = syi_arena_alloc(memory, count, sizeof *b->vessels);
    b->steps = syi_arena_alloc(memory, steps, sizeof *b->steps);
    b->offers = syi_arena_alloc(memory, count, sizeof *b->offers);
    return b->vessels && b->steps && b->offers ? SY_OK : syi_no_memory(steps * sizeof *b->steps);
}

static sy_status share(bench *b, syi_arena *memory)
{
    SYI_TRY(bench_open(b, memory));
    SYI_TRY(reserve_vessels(b, memory));
    SYI_TRY(fill(b));
    return b->contention.count > 1 ? settle_links(b) : SY_OK;
}

static bool has_starts(const syi_split_device *devices, int count)
{
    for (int i = 0; i < count; i++)
        if (devices[i].start_ns > 0)
            return true;
    return false;
}

sy_status syi_split_make(const syi_split_device *devices, int count, const syi_split_work *work,
                         int64_t *shares)
{
    const bool whole = work->tiles == 1; /* and so are most calls of a program that makes many */
    bench b = {.devices = devices, .work = work, .count = count, .shares = shares};
    double ns = INFINITY;
    int alone = -1;
    if (whole || has_starts(devices, count))
        alone = quickest_alone(devices, count, work, &ns);
    if (!whole || alone < 0) {
        syi_arena memory;
        sy_status status;
        syi_arena_open(&memory);
        status = share(&b, &memory);
        if (status == SY_OK && alone >= 0 && only_one(&b) < 0 && makespan(&b) <= ns)
            alone = -1;
        syi_arena_close(&memory);
        SYI_TRY(status);
    }
    for (int i = 0; alone >= 0 && i < count; i++)
        shares[i] = i == alone ? work->tiles : 0;
    return SY_OK;
}

sy_status syi_split_predict(const syi_split_device *devices, int count, const syi_split_work *work,
                            syi_part *parts, double *makespan_ns)
{
    bench b = {.devices = devices, .work = work, .count = count};
    syi_arena memory;
    sy_status status;
    syi_arena_open(&memory);
    status = bench_open(&b, &memory);
    b.shares = syi_arena_alloc(&memory, (size_t)count, sizeof *b.shares);
    if (status == SY_OK && !b.shares)
        status = syi_no_memory((uint64_t)count * sizeof *b.shares);
    if (status == SY_OK) {
        for (int i = 0; i < count; i++)
            b.shares[i] = parts[i].tiles;
        predict(&b, parts, makespan_ns);
    }
    syi_arena_close(&memory);
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
