#include "model/water.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

double syi_vessel_ns(const syi_vessel *vessel, int64_t tiles)
{
    const syi_step *step = vessel->steps, *end = vessel->steps + vessel->count;
    if (tiles == 0)
        return 0;
    while (step + 1 < end && step[1].tiles < (double)tiles)
        step++;
    return step->ns + ((double)tiles - step->tiles) * step->per_tile_ns;
}

/* What the vessel holds at a level, in parts of tiles, and how much a nanosecond adds to it. */
static double held(const syi_vessel *vessel, double ns, double *rate)
{
    const syi_step *step = vessel->steps, *end = vessel->steps + vessel->count;
    double tiles;
    *rate = 0;
    if (vessel->count == 0 || ns <= step->ns)
        return 0;
    while (step + 1 < end && step[1].ns <= ns)
        step++;
    tiles = step->tiles + (ns - step->ns) / step->per_tile_ns;
    if (tiles >= (double)vessel->most)
        return (double)vessel->most;
    *rate = 1 / step->per_tile_ns;
    return tiles;
}

static double held_by_all(const syi_vessel *vessels, int count, double ns, double *rate)
{
    double sum = 0, one;
    *rate = 0;
    for (int i = 0; i < count; i++) {
        sum += held(&vessels[i], ns, &one);
        *rate += one;
    }
    return sum;
}

/* A level that certainly suffices: one vessel alone, or all of them full. */
static double high_level(const syi_vessel *vessels, int count, int64_t tiles)
{
    double alone = INFINITY, full = 0;
    for (int i = 0; i < count; i++) {
        double ns = vessels[i].count ? syi_vessel_ns(&vessels[i], vessels[i].most) : 0;
        full = ns > full ? ns : full;
        if (vessels[i].count && vessels[i].most >= tiles) {
            ns = syi_vessel_ns(&vessels[i], tiles);
            alone = ns < alone ? ns : alone;
        }
    }
    return alone < INFINITY ? alone : full;
}

/* The level at which half a tile more or less than `tiles` is held. Newton's steps, which are exact
 * while the level stays on the same pieces; where they leave the bracket, halves. `near`: where to
 * begin, 0: nowhere in particular. */
static double find_level(const syi_vessel *vessels, int count, int64_t tiles, double near)
{
    enum { STEPS_UP = 20 }; /* before a bound from above is worth its pass */
    double low = 0, high = INFINITY, level = near;
    for (int k = 0; isinf(high) || high - low > 2 * DBL_EPSILON * high; k++) {
        double rate, excess;
        if (isinf(high) && (k == STEPS_UP || !(level > low)))
            level = high = high_level(vessels, count, tiles);
        excess = held_by_all(vessels, count, level, &rate) - (double)tiles;
        if (fabs(excess) <= 0.5)
            return level;
        if (excess > 0)
            high = level;
        else
            low = level;
        level -= rate > 0 ? excess / rate : 0;
        if (!isinf(high) && !(level > low && level < high))
            level = low + (high - low) / 2;
    }
    return low;
}

/* The offers are a heap, the soonest on top. */
static int sooner(const syi_offer *a, const syi_offer *b)
{
    return a->ns < b->ns || (a->ns == b->ns && a->vessel < b->vessel);
}

static void sift_down(syi_offer *heap, int count, int at)
{
    for (int child; (child = 2 * at + 1) < count; at = child) {
        syi_offer moved = heap[at];
        if (child + 1 < count && sooner(&heap[child + 1], &heap[child]))
            child++;
        if (!sooner(&heap[child], &moved))
            return;
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static void hand_out(const syi_vessel *vessels, syi_offer *heap, int count, int64_t left,
                     int64_t *shares)
{
    for (int i = count / 2 - 1; i >= 0; i--)
        sift_down(heap, count, i);
    while (left > 0 && count > 0) {
        int top = heap[0].vessel;
        const syi_vessel *vessel = &vessels[top];
        shares[top]++;
        left--;
        if (shares[top] < vessel->most)
            heap[0].ns = syi_vessel_ns(vessel, shares[top] + 1);
        else
            heap[0] = heap[--count];
        sift_down(heap, count, 0);
    }
}

/* Whole tiles at the level; gives how many are left, below 0: those are too many. */
static int64_t fill_to(const syi_vessel *vessels, int count, double level, int64_t tiles,
                       int64_t *shares, double *rate)
{
    *rate = 0;
    for (int i = 0; i < count; i++) {
        double one;
        shares[i] = (int64_t)held(&vessels[i], level, &one);
        tiles -= shares[i];
        *rate += one;
    }
    return tiles;
}

/* Fills a little higher as long as many are left: cheaper than to hand them out one by one, and
 * the same, since what is finished by a level that does not suffice belongs to every best split. */
static int64_t fill_higher(const syi_vessel *vessels, int count, double level, int64_t tiles,
                           int64_t *shares)
{
    enum { FEW = 64, PASSES = 8 };
    double rate, part = 0.9;
    int64_t left = fill_to(vessels, count, level, tiles, shares, &rate);
    bool too_high = false;
    for (int k = 0; k < PASSES && left > FEW && left > count / 16 && rate > 0; k++) {
        double next = level + part * (double)left / rate;
        int64_t then = fill_to(vessels, count, next, tiles, shares, &rate);
        too_high = then < 0;
        part = too_high ? part / 2 : part;
        level = too_high ? level : next;
        left = too_high ? left : then;
    }
    if (too_high)
        left = fill_to(vessels, count, level, tiles, shares, &rate);
    /* The level is rounded: its shares may be a tile too many. */
    for (int i = count - 1; left < 0 && i >= 0; i--) {
        int64_t back = shares[i] < -left ? shares[i] : -left;
        shares[i] -= back;
        left += back;
    }
    return left;
}

sy_status syi_water_fill(const syi_vessel *vessels, int count, int64_t tiles, int64_t *shares,
                         syi_offer *offers, double *level)
{
    double room = 0;
    int64_t left;
    int offered = 0;
    for (int i = 0; i < count; i++)
        room += vessels[i].count ? (double)vessels[i].most : 0;
    if (room < (double)tiles)
        return syi_fail(SY_ERR_MEMORY,
                        "the devices' memory takes %.0f of %lld tiles; add a device that can work "
                        "in chunks, such as cpu",
                        room, (long long)tiles);
    *level = find_level(vessels, count, tiles, *level);
    left = fill_higher(vessels, count, *level, tiles, shares);
    for (int i = 0; i < count && left > 0; i++)
        if (vessels[i].count && shares[i] < vessels[i].most)
            offers[offered++] = (syi_offer){syi_vessel_ns(&vessels[i], shares[i] + 1), i};
    hand_out(vessels, offers, offered, left, shares);
    return SY_OK;
}
