#include "device/desk.h"

#include "base/mem.h"
#include "element/element.h"
#include "traffic.h"

#include <stdint.h>

/* Doubles between two arrays, which would lie at the same places of pages otherwise. */
enum { APART = 8 * SYI_LINE };

/* Floats from a memory are asked for so many before they are widened: while the kernel runs. */
#define AHEAD SYI_TILE

/* Where lines are cut in two by what a vector loads or stores, works on floats take up to twice the
 * time. */
static int64_t whole_lines(int64_t count)
{
    return (count + SYI_LINE - 1) / SYI_LINE * SYI_LINE;
}

/* Doubles on the desk of a kernel that goes in lanes: what a second cache has room for beside what
 * passes through. */
#define DESK ((int64_t)1 << 16)

/* Doubles that all threads' desks have room for together, as long as a window does not ask for
 * more. */
#define DESKS ((int64_t)1 << 22)

/* What half of a thread's share has room for. */
static int64_t half_of(int threads, int64_t arrays)
{
    return DESKS / threads / 2 / arrays;
}

int64_t syi_desk_left(const syi_job *job, int threads)
{
    const int64_t halo = syi_job_halo(job), most = half_of(threads, job->workload->n_inputs);
    return job->workload->pattern == SY_PATTERN_RECURRENCE && halo > most ? most : halo;
}

/* Whether its kernel goes through several places of a part side by side, and does something before
 * each. */
static int goes_in_lanes(const syi_job *job)
{
    const syi_workload *workload = job->workload;
    return workload->pattern == SY_PATTERN_RECURRENCE ||
           (workload->lanes_from > 0 && syi_job_halo(job) >= workload->lanes_from);
}

/* As many doubles as a tile has stay in the first cache; what goes past it is waited for less where
 * it comes in smaller parts. What is given tile by tile gets a whole one. What a part begins with
 * is to take little of its time, and of a long window at most four fifths. */
int64_t syi_desk_columns(const syi_job *job, int threads, int past_cache)
{
    const syi_workload *workload = job->workload;
    const int64_t arrays = workload->n_inputs + workload->n_outputs;
    const int64_t left = syi_desk_left(job, threads), most = half_of(threads, arrays);
    const int is_tiled = workload->user || workload->pattern == SY_PATTERN_REDUCE;
    int64_t columns = SYI_TILE / (is_tiled ? 1 : past_cache ? 4 : arrays);
    if (goes_in_lanes(job))
        columns = DESK / arrays < most ? DESK / arrays : most;
    if (columns < 8 * left)
        columns = 8 * left < most ? 8 * left : most > columns ? most : columns;
    return columns > left / 4 ? columns : left / 4;
}

int64_t syi_desk_rows(const syi_job *job, int threads)
{
    const int64_t arrays = job->workload->n_inputs + job->workload->n_outputs;
    const int64_t room = 4 * DESK / arrays, most = half_of(threads, arrays);
    return room < most ? room : most;
}

/* Room for so many doubles, from the beginning of a line on. */
static sy_status reserve(syi_desk *desk, size_t size)
{
    if (desk->size >= size)
        return SY_OK;
    syi_desk_free(desk);
    desk->room = syi_realloc(NULL, size + SYI_LINE, sizeof *desk->room);
    if (!desk->room)
        return syi_no_memory((uint64_t)size * sizeof *desk->room);
    desk->size = size;
    return SY_OK;
}

static double *first_line(const syi_desk *desk)
{
    const size_t line = SYI_LINE * sizeof *desk->room;
    return desk->room + (line - (uintptr_t)desk->room % line) % line / sizeof *desk->room;
}

sy_status syi_desk_lay(syi_desk *desk, const syi_job *job, const syi_view *view, int64_t from,
                       syi_piece *piece, syi_isa isa)
{
    const syi_workload *workload = job->workload;
    const int64_t left = piece->segment.left, count = piece->segment.count;
    const int64_t before = whole_lines(left), each = whole_lines(count) + APART;
    const int64_t ahead = !desk->past_cache ? 0 : piece->behind < AHEAD ? piece->behind : AHEAD;
    double *next;
    SYI_TRY(
        reserve(desk, (size_t)(workload->n_inputs * (before + each) + workload->n_outputs * each)));
    next = first_line(desk);
    for (int k = 0; k < workload->n_inputs; k++, next += each) {
        const float *x = (const float *)view->in[k] + from;
        next += before;
        syi_widen[isa](next - left, x - left, left, 0);
        syi_widen[isa](next, x, count, ahead);
        desk->in[k] = next;
    }
    for (int k = 0; k < workload->n_outputs; k++, next += each)
        desk->out[k] = next;
    piece->segment.in = desk->in;
    piece->segment.out = desk->out;
    piece->behind = 0;
    piece->past_cache = 0;
    return SY_OK;
}

void syi_desk_clear(const syi_desk *desk, const syi_job *job, const syi_view *view, int64_t to,
                    int64_t count, syi_isa isa)
{
    const syi_narrow_fn narrow = desk->past_cache ? syi_narrow_past[isa] : syi_narrow[isa];
    for (int k = 0; k < job->workload->n_outputs; k++)
        if (view->out[k])
            narrow((float *)view->out[k] + to, desk->out[k], count);
}

void syi_desk_free(syi_desk *desk)
{
    syi_free(desk->room);
    desk->room = NULL;
    desk->size = 0;
}
