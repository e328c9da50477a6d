/*
 * A doubt is decided from the columns before it that matter: of a window its own, of a recurrence
 * as many as it asks for, which are few as a rule, however long the row is.
 */
#include "exec/repair.h"

#include "base/arithmetic.h"
#include "base/mem.h"
#include "device/place.h"
#include "device/team.h"
#include "exec/share.h"

#include <math.h>
#include <stdatomic.h>

/* Part of a row: the slab's columns, of which the outputs are there, and inputs to their left. */
typedef struct patch {
    syi_slab slab;
    syi_stage stage;
} patch;

/* The address of column 0 of an array that begins at column `first`: what lies before is not looked
 * at, and need not be there. */
static uintptr_t row_start(const void *array, int64_t first, sy_dtype dtype)
{
    return (uintptr_t)array - (uintptr_t)first * syi_element_size(dtype);
}

static const void *input_row(const syi_job *job, const patch *patch, int k)
{
    const int64_t begin = patch->slab.first - patch->slab.left;
    return (const void *)row_start(patch->stage.view.in[k], begin, job->dtype);
}

static void *output_row(const syi_job *job, const patch *patch, int k)
{
    return (void *)row_start(patch->stage.view.out[k], patch->slab.first, job->dtype);
}

static int is_nan_before(const syi_job *job, const patch *patch, int64_t first)
{
    double value;
    if (job->workload->pattern != SY_PATTERN_RECURRENCE || first == 0)
        return 0;
    syi_elements_load(&value, syi_element_in(output_row(job, patch, 0), job->dtype, first - 1),
                      job->dtype, 1);
    return isnan(value);
}

/* Columns of a row. */
typedef struct stretch {
    int64_t first, count;
} stretch;

/* The columns of a row of floats that are widened: of a window its inputs, of a recurrence those up
 * to the first value, for the rest it reads as it is. */
static stretch widened(const syi_job *job, int64_t first, int64_t last, const syi_past *past)
{
    const syi_workload *workload = job->workload;
    const int64_t halo = syi_job_halo(job), begin = first > halo ? first - halo : 0;
    const int64_t warmup = workload->warmup ? workload->warmup(job->params) : 0;
    if (workload->pattern == SY_PATTERN_WINDOW)
        return (stretch){begin, last - begin};
    if (workload->pattern == SY_PATTERN_RECURRENCE && past->begin == 0)
        return (stretch){0, warmup < last ? warmup + 1 : last};
    return (stretch){0, 0};
}

/* As repair_doubles. */
static sy_status repair_floats(const syi_job *job, const patch *patch, void *const *reduced,
                               int64_t first, int64_t last, syi_past *past)
{
    const syi_workload *workload = job->workload;
    const stretch inputs = widened(job, first, last, past);
    const int64_t made = reduced ? 1 : last - first;
    const size_t size = (size_t)(workload->n_inputs * inputs.count + workload->n_outputs * made);
    double *room = syi_alloc(size, sizeof *room), *next = room, *out[SYI_MAX_ARRAYS];
    const double *in[SYI_MAX_ARRAYS];
    const float *floats[SYI_MAX_ARRAYS];
    sy_segment row = {in, out, 0, job->columns, 0, patch->slab.row, job->columns, job->params};
    sy_status status;
    if (!room)
        return syi_no_memory((uint64_t)size * sizeof *room);
    for (int k = 0; k < workload->n_inputs; k++, next += inputs.count) {
        floats[k] = input_row(job, patch, k);
        syi_elements_load(next, floats[k] + inputs.first, job->dtype, inputs.count);
        in[k] = (const double *)row_start(next, inputs.first, SY_F64);
    }
    for (int k = 0; k < workload->n_outputs; k++, next += made) {
        out[k] = reduced ? next : (double *)row_start(next, first, SY_F64);
        if (!reduced) /* what cannot be decided stays as it was rounded */
            syi_elements_load(next, syi_element_in(output_row(job, patch, k), job->dtype, first),
                              job->dtype, made);
    }
    past->floats = workload->pattern == SY_PATTERN_WINDOW ? NULL : floats;
    status = workload->repair(&row, first, last, past);
    next = room + workload->n_inputs * inputs.count;
    for (int k = 0; k < workload->n_outputs; k++, next += made) {
        void *to =
            reduced ? reduced[k] : syi_element_out(output_row(job, patch, k), job->dtype, first);
        if (status == SY_OK && past->wanted >= past->begin)
            syi_elements_store(to, next, job->dtype, made);
    }
    syi_free(room);
    return status;
}

static sy_status repair_doubles(const syi_job *job, const patch *patch, void *const *reduced,
                                int64_t first, int64_t last, syi_past *past)
{
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS];
    sy_segment row = {in, out, 0, job->columns, 0, patch->slab.row, job->columns, job->params};
    for (int k = 0; k < job->workload->n_inputs; k++)
        in[k] = input_row(job, patch, k);
    for (int k = 0; k < job->workload->n_outputs; k++)
        out[k] = reduced ? reduced[k] : output_row(job, patch, k);
    return job->workload->repair(&row, first, last, past);
}

/* Of a reduction `reduced` is where its values go; else NULL, the outputs are the patch's. *wanted:
 * the column from which on the patch should hold the inputs; nothing before it is missing when that
 * is no less than what it holds. */
static sy_status repair(const syi_job *job, const patch *patch, void *const *reduced, int64_t first,
                        int64_t last, int64_t *wanted)
{
    const int64_t begin = patch->slab.first - patch->slab.left;
    syi_past past = {.is_nan = is_nan_before(job, patch, first), .begin = begin, .wanted = begin};
    syi_arithmetic saved = syi_arithmetic_enter();
    sy_status status = job->dtype == SY_F32
                           ? repair_floats(job, patch, reduced, first, last, &past)
                           : repair_doubles(job, patch, reduced, first, last, &past);
    syi_arithmetic_leave(saved);
    *wanted = past.wanted;
    return status;
}

/* Whether what is between two doubts takes no longer than the way to the second one: of a window
 * within a tile, of a recurrence anywhere, but for what makes one too long for threads to share, or
 * for a patch. */
static int are_near(const syi_job *job, const syi_doubt *left, const syi_doubt *right)
{
    const int64_t halo = syi_job_halo(job), between = right->first - left->last;
    const int64_t most = 4 * halo < SYI_FETCHED ? 4 * halo : SYI_FETCHED;
    if (right->first / SYI_TILE == (left->last - 1) / SYI_TILE)
        return between <= halo;
    return job->workload->pattern == SY_PATTERN_RECURRENCE && between <= halo / 2 &&
           right->last - left->first <= most;
}

/* Makes near doubts one, whose columns between are decided again. What is left has a certified
 * column before it, if any. Adds the columns that were in doubt to *columns. */
static void join_doubts(const syi_job *job, syi_doubts *doubts, int64_t *columns)
{
    int64_t kept = 0;
    syi_doubts_sort(doubts);
    for (int64_t i = 0; i < doubts->count; i++) {
        syi_doubt *last = kept ? &doubts->list[kept - 1] : NULL;
        const syi_doubt here = doubts->list[i];
        const int is_next = last && last->row == here.row;
        const int64_t from = is_next && here.first < last->last ? last->last : here.first;
        *columns += here.last > from ? here.last - from : 0;
        if (is_next && (here.first <= last->last || are_near(job, last, &here)))
            last->last = here.last > last->last ? here.last : last->last;
        else
            doubts->list[kept++] = here;
    }
    doubts->count = kept;
}

/* What threads share: doubts, and where their columns are. `patch` NULL: the host can address
 * everything. */
typedef struct decision {
    const syi_job *job;
    const patch *patch;
    const syi_doubt *list;
    _Atomic int64_t wanted; /* the least of all */
} decision;

static patch whole_row(const syi_job *job, int64_t row)
{
    patch all = {.slab = {.row = row, .rows = 1, .columns = job->columns}};
    all.stage.view = syi_view_of_job(job, &all.slab);
    return all;
}

/* Doubles that become floats afterwards: so many all threads have room for together, and each for
 * so many at least, for it begins far before them. */
#define ROOM       ((int64_t)1 << 22)
#define ROOM_LEAST ((int64_t)1 << 17)

/* Columns that are decided at once. */
static int64_t decided_at_once(const syi_job *job, int64_t count)
{
    const int64_t room = ROOM / (job->threads > 0 ? job->threads : syi_processors());
    if (job->dtype == SY_F64)
        return count;
    return (room > ROOM_LEAST ? room : ROOM_LEAST) / job->workload->n_outputs;
}

static sy_status decide_one(void *argument, int64_t index)
{
    decision *all = argument;
    const syi_doubt *doubt = &all->list[index];
    const patch own = whole_row(all->job, doubt->row), *patch = all->patch ? all->patch : &own;
    const int64_t count = doubt->last - doubt->first;
    const int64_t most = decided_at_once(all->job, count);
    int64_t wanted = INT64_MAX, least = atomic_load(&all->wanted);
    for (int64_t i = 0; i < count; i += most) {
        const int64_t first = doubt->first + i,
                      last = count - i < most ? doubt->last : first + most;
        int64_t here;
        SYI_TRY(syi_gate_pass(all->job->gate, 0));
        SYI_TRY(repair(all->job, patch, NULL, first, last, &here));
        wanted = here < wanted ? here : wanted;
    }
    while (wanted < least && !atomic_compare_exchange_weak(&all->wanted, &least, wanted))
        ;
    return SY_OK;
}

static sy_status decide_all(const syi_job *job, const patch *patch, const syi_doubt *list,
                            int64_t count, int64_t *wanted)
{
    decision all = {.job = job, .patch = patch, .list = list, .wanted = INT64_MAX};
    if (count == 0) /* as a rule */
        return SY_OK;
    /* A recurrence's takes a tenth of a millisecond at least, a window's some microseconds. */
    SYI_TRY(syi_share(job, count, 1, job->workload->pattern == SY_PATTERN_RECURRENCE ? 1 : 4,
                      decide_one, &all));
    *wanted = all.wanted;
    return SY_OK;
}

/* How many doubts, from the first of the list on, are decided in one patch, and where that is: from
 * the column before them on. */
static int64_t take_patch(const syi_job *job, const syi_doubt *list, int64_t count, syi_slab *out)
{
    int64_t taken = 1, halo = syi_job_halo(job);
    int64_t first = list[0].first > 0 ? list[0].first - 1 : 0;
    while (taken < count && list[taken].row == list[0].row &&
           list[taken].last - list[0].first <= SYI_FETCHED)
        taken++;
    *out = (syi_slab){.row = list[0].row,
                      .rows = 1,
                      .first = first,
                      .columns = list[taken - 1].last - first,
                      .left = halo < first ? halo : first};
    return taken;
}

static sy_status decide_patch(const syi_job *job, const syi_doubt *list, int64_t count,
                              patch *patch, int64_t *wanted)
{
    const int64_t begin = patch->slab.first - patch->slab.left;
    sy_status status;
    SYI_TRY(syi_stage_open(job, &patch->slab, 1, &patch->stage));
    status = decide_all(job, patch, list, count, wanted);
    if (status == SY_OK && *wanted >= begin)
        status = syi_stage_write(job, &patch->slab, &patch->stage);
    syi_stage_close(&patch->stage);
    return status;
}

sy_status syi_repair_doubts(const syi_job *job, syi_doubts *doubts, int64_t *repaired)
{
    int64_t taken, wanted;
    join_doubts(job, doubts, repaired);
    if (syi_job_addressable(job))
        return decide_all(job, NULL, doubts->list, doubts->count, &wanted);
    for (int64_t i = 0; i < doubts->count; i += taken) {
        patch here;
        taken = take_patch(job, &doubts->list[i], doubts->count - i, &here.slab);
        for (wanted = -1; wanted < here.slab.first - here.slab.left;) {
            if (wanted >= 0)
                here.slab.left = here.slab.first - wanted;
            SYI_TRY(decide_patch(job, &doubts->list[i], taken, &here, &wanted));
        }
    }
    return SY_OK;
}

sy_status syi_repair_reduction(const syi_job *job, int64_t row)
{
    void *at[SYI_MAX_ARRAYS];
    patch all = {.slab = {.row = row, .rows = 1, .columns = job->columns}};
    int64_t wanted;
    sy_status status;
    for (int k = 0; k < job->workload->n_outputs; k++)
        at[k] = syi_element_out(job->out[k], job->dtype, row);
    SYI_TRY(syi_stage_open(job, &all.slab, 0, &all.stage));
    status = repair(job, &all, at, 0, job->columns, &wanted);
    syi_stage_close(&all.stage);
    return status;
}
