/*
 * Times between known sizes lie on a line: they are fixed costs plus so much per element, and a
 * line through two such times is exact where a straight line between logarithms would be off by
 * several times over two decades. Beyond the known sizes the line is trusted for a short way only.
 */
#include "model/decide.h"

#include <math.h>

static const double stay = 0.05;         /* the other must be faster by more than this */
static const double reach = 4;           /* how many times beyond the known sizes */
static const double alike = 1.2;         /* sizes less than that apart stand for each other */
static const double out_of_question = 3; /* times slower: two samples are enough */
enum { ENOUGH = 3, ENOUGH_TO_LOSE = 2 };

typedef struct estimate {
    double ms;
    int samples;
} estimate;

static estimate line(const syi_timing *a, const syi_timing *b, syi_side side, int64_t size)
{
    const syi_track *from = &a->ms[side], *to = &b->ms[side];
    double slope = (to->value - from->value) / (double)(b->size - a->size);
    double ms = from->value + slope * (double)(size - a->size);
    double least = from->value < to->value ? from->value : to->value;
    /* Beyond the ends noise may make the line cross zero. */
    if (size < a->size && ms < least * (double)size / (double)b->size)
        ms = least * (double)size / (double)b->size;
    return (estimate){ms, from->samples < to->samples ? from->samples : to->samples};
}

static estimate by_line(const syi_timing *known, int count, syi_side side, int64_t size)
{
    int below[2] = {-1, -1}, above[2] = {-1, -1}; /* the nearest, the next to it */
    for (int i = 0; i < count; i++) {
        if (known[i].ms[side].samples == 0)
            continue;
        if (known[i].size == size)
            return (estimate){known[i].ms[side].value, known[i].ms[side].samples};
        if (known[i].size < size) {
            below[1] = below[0];
            below[0] = i;
        } else if (above[0] < 0) {
            above[0] = i;
        } else if (above[1] < 0) {
            above[1] = i;
        }
    }
    if (below[0] >= 0 && above[0] >= 0)
        return line(&known[below[0]], &known[above[0]], side, size);
    if (below[0] >= 0 && (double)size <= reach * (double)known[below[0]].size) {
        const syi_timing *near = &known[below[0]];
        if (below[1] >= 0 && near->ms[side].value > known[below[1]].ms[side].value)
            return line(&known[below[1]], near, side, size);
        return (estimate){near->ms[side].value * (double)size / (double)near->size,
                          near->ms[side].samples};
    }
    if (above[0] >= 0 && (double)size * reach >= (double)known[above[0]].size) {
        const syi_timing *near = &known[above[0]];
        if (above[1] >= 0 && near->ms[side].value < known[above[1]].ms[side].value)
            return line(near, &known[above[1]], side, size);
        return (estimate){near->ms[side].value * (double)size / (double)near->size,
                          near->ms[side].samples};
    }
    return (estimate){NAN, 0};
}

/* A line may end at a size of which little is known; the one next to it may be known better. */
static estimate expect(const syi_timing *known, int count, syi_side side, int64_t size)
{
    estimate found = by_line(known, count, side, size);
    int at = syi_timing_alike(known, count, size);
    if (at >= 0 && found.samples < ENOUGH && known[at].ms[side].samples > found.samples)
        found = (estimate){known[at].ms[side].value * (double)size / (double)known[at].size,
                           known[at].ms[side].samples};
    return found;
}

syi_verdict syi_decide(const syi_timing *known, int count, int64_t size, syi_side last)
{
    estimate cpu = expect(known, count, SYI_SIDE_CPU, size);
    estimate gpu = expect(known, count, SYI_SIDE_GPU, size);
    syi_verdict verdict = {SYI_SIDE_CPU, false, {cpu.ms, gpu.ms}};
    bool gpu_faster = gpu.ms < cpu.ms;
    estimate *slow = gpu_faster ? &cpu : &gpu, *fast = gpu_faster ? &gpu : &cpu;
    if ((cpu.samples < ENOUGH || gpu.samples < ENOUGH) &&
        !(fast->samples > 0 && slow->samples >= ENOUGH_TO_LOSE &&
          slow->ms > out_of_question * fast->ms)) {
        verdict.probe = true;
        verdict.side = gpu.samples < cpu.samples ? SYI_SIDE_GPU : SYI_SIDE_CPU;
        return verdict;
    }
    verdict.side = gpu_faster ? SYI_SIDE_GPU : SYI_SIDE_CPU;
    if (last != SYI_SIDE_NONE && last != verdict.side && fast->ms >= slow->ms * (1 - stay))
        verdict.side = last;
    return verdict;
}

/* How many times larger the larger one is. */
static double apart(int64_t a, int64_t b)
{
    return a < b ? (double)b / (double)a : (double)a / (double)b;
}

int syi_timing_alike(const syi_timing *known, int count, int64_t size)
{
    double least = alike;
    int found = -1;
    for (int i = 0; i < count; i++)
        if (apart(known[i].size, size) < least) {
            least = apart(known[i].size, size);
            found = i;
        }
    return found;
}

void syi_timing_add(syi_timing *timing, syi_side side, double ms)
{
    static const syi_tracking how = {.band = 0.5, .persist = 3, .weight = 1.0 / 16};
    syi_track *track = &timing->ms[side];
    /* Disturbances only make times longer: of the first few the short ones are right. */
    if (track->samples < ENOUGH && ms > 0 && ms * (1 + how.band) < track->value)
        *track = (syi_track){0};
    syi_track_add(track, &how, ms);
}
