/* Cutting spans into slabs, collecting outcomes, and the gate of progress and cancellation. */
#include "device/job.h"

#include "base/clock.h"
#include "base/mem.h"
#include "launch.h"

#include <string.h>

int64_t syi_tiles_per_row(int64_t columns)
{
    return columns <= SYI_TILE ? 1 : (columns + SYI_TILE - 1) / SYI_TILE;
}

int64_t syi_job_tiles(const syi_job *job)
{
    return job->rows * syi_tiles_per_row(job->columns);
}

static int64_t elements_before(const syi_job *job, int64_t tile)
{
    int64_t per_row = syi_tiles_per_row(job->columns);
    return tile / per_row * job->columns + tile % per_row * SYI_TILE;
}

int64_t syi_tiles_elements(const syi_job *job, syi_tiles span)
{
    return elements_before(job, span.first + span.count) - elements_before(job, span.first);
}

int64_t syi_job_halo(const syi_job *job)
{
    return job->workload->halo ? job->workload->halo(job->params) : 0;
}

int syi_job_is_chain(const syi_job *job)
{
    return job->workload->pattern == SY_PATTERN_RECURRENCE && job->workload->repair;
}

int syi_job_is_seeding(const syi_job *job, int64_t first)
{
    return syi_job_is_chain(job) && first <= job->workload->warmup(job->params);
}

int64_t syi_job_left(const syi_job *job, int64_t first, int goes_on)
{
    const int64_t few = 8, halo = syi_job_halo(job);
    if (syi_job_is_seeding(job, first))
        return first;
    return goes_on && syi_job_is_chain(job) && halo > few ? few : halo;
}

int64_t syi_job_block(const syi_job *job)
{
    return job->workload->block ? job->workload->block(job->params) : 0;
}

int64_t syi_job_unit_columns(const syi_job *job)
{
    const syi_gpu_form *gpu = job->workload->gpu;
    const int64_t eighth = syi_job_halo(job) / 8, block = syi_job_block(job);
    if (block > 0)
        return block;
    if (job->workload->pattern == SY_PATTERN_RECURRENCE && eighth > gpu->unit_columns)
        return eighth;
    return gpu->unit_columns;
}

/* Tiles of which multiples end longer slabs of a row. A slab that began within a recurrence's block
 * would go through that from its beginning, and a GPU's units through two blocks each. */
static int64_t slab_unit(const syi_job *job)
{
    const int64_t block = syi_job_block(job);
    if (job->workload->pattern == SY_PATTERN_REDUCE)
        return SYI_TILE_GROUP;
    return block > 0 ? block / SYI_TILE : 1;
}

syi_slab syi_slab_take(const syi_job *job, syi_tiles *span, int64_t max_tiles)
{
    int64_t per_row = syi_tiles_per_row(job->columns);
    int64_t in_row = span->first % per_row;
    syi_slab slab = {.row = span->first / per_row, .rows = 1, .tile = span->first};
    int64_t most = span->count < max_tiles ? span->count : max_tiles;
    if (in_row == 0 && most >= per_row) {
        slab.rows = most / per_row;
        slab.columns = job->columns;
        slab.tiles = slab.rows * per_row;
    } else {
        int64_t end, halo = syi_job_halo(job), unit = slab_unit(job);
        slab.tiles = most < per_row - in_row ? most : per_row - in_row;
        end = (in_row + slab.tiles) / unit * unit;
        if (most < per_row - in_row && end > in_row)
            slab.tiles = end - in_row;
        slab.first = in_row * SYI_TILE;
        end = slab.first + slab.tiles * SYI_TILE;
        slab.columns = (end < job->columns ? end : job->columns) - slab.first;
        slab.left = halo < slab.first ? halo : slab.first;
    }
    span->first += slab.tiles;
    span->count -= slab.tiles;
    return slab;
}

int64_t syi_slab_inputs(const syi_slab *slab)
{
    return slab->rows * (slab->left + slab->columns);
}

int64_t syi_slab_outputs(const syi_job *job, const syi_slab *slab)
{
    return job->workload->pattern == SY_PATTERN_REDUCE ? 0 : slab->rows * slab->columns;
}

syi_view syi_view_of_job(const syi_job *job, const syi_slab *slab)
{
    syi_view view = {.stride = job->columns};
    int64_t at = slab->row * job->columns + slab->first;
    for (int k = 0; k < job->workload->n_inputs; k++)
        view.in[k] = syi_element_in(job->in[k], job->dtype, at - slab->left);
    if (job->workload->pattern != SY_PATTERN_REDUCE)
        for (int k = 0; k < job->workload->n_outputs; k++)
            view.out[k] = syi_element_out(job->out[k], job->dtype, at);
    return view;
}

static sy_status reserve_links(syi_outcome *outcome, int64_t more)
{
    int64_t need = outcome->n_links + more;
    if (need > outcome->links_capacity) {
        int64_t capacity = need > 2 * outcome->links_capacity ? need : 2 * outcome->links_capacity;
        syi_link *grown = syi_realloc(outcome->links, (size_t)capacity, sizeof *grown);
        if (!grown)
            return syi_no_memory((uint64_t)capacity * sizeof *grown);
        outcome->links = grown;
        outcome->links_capacity = capacity;
    }
    return SY_OK;
}

sy_status syi_outcome_add_link(syi_outcome *outcome, const syi_link *link)
{
    SYI_TRY(reserve_links(outcome, 1));
    outcome->links[outcome->n_links++] = *link;
    return SY_OK;
}

static int continues(const syi_workload *workload, const syi_link *left, const syi_link *right)
{
    return left->row == right->row && left->first + left->columns == right->first &&
           left->columns + right->columns <= SYI_LINK_MOST &&
           workload->agrees(&right->assumed, &left->end);
}

void syi_outcome_join_links(syi_outcome *outcome, const syi_workload *workload)
{
    int64_t kept = outcome->joined;
    for (int64_t i = outcome->joined; i < outcome->n_links; i++) {
        const syi_link *here = &outcome->links[i];
        syi_link *last = kept ? &outcome->links[kept - 1] : NULL;
        if (last && continues(workload, last, here)) {
            last->columns += here->columns;
            last->end = here->end;
        } else {
            outcome->links[kept++] = *here;
        }
    }
    outcome->n_links = outcome->joined = kept;
}

/* Room for all of it first: a failure must not leave half of it counted. */
sy_status syi_outcome_merge(syi_outcome *into, syi_outcome *from)
{
    sy_status status = reserve_links(into, from->n_links);
    if (status == SY_OK)
        status = syi_doubts_join(&into->doubts, &from->doubts);
    if (status != SY_OK) {
        syi_outcome_clear(from);
        return status;
    }
    if (from->n_links)
        memcpy(into->links + into->n_links, from->links,
               (size_t)from->n_links * sizeof *from->links);
    into->n_links += from->n_links;
    into->tiles_done += from->tiles_done;
    into->elements_done += from->elements_done;
    into->copy_in_ms += from->copy_in_ms;
    into->compute_ms += from->compute_ms;
    into->copy_out_ms += from->copy_out_ms;
    into->busy_ms += from->busy_ms;
    into->retries += from->retries;
    syi_outcome_clear(from);
    return SY_OK;
}

void syi_outcome_clear(syi_outcome *outcome)
{
    syi_doubts_clear(&outcome->doubts);
    syi_free(outcome->links);
    *outcome = (syi_outcome){0};
}

void syi_gate_init(syi_gate *gate, sy_progress_fn progress, void *user, int64_t tiles)
{
    *gate = (syi_gate){.progress = progress, .user = user, .tiles = tiles};
    pthread_mutex_init(&gate->asking, NULL);
}

void syi_gate_destroy(syi_gate *gate)
{
    pthread_mutex_destroy(&gate->asking);
}

sy_status syi_gate_pass(syi_gate *gate, int64_t tiles)
{
    /* A caller cannot use more than some answers a second; asking is not free. */
    const int64_t interval_ns = 20000000;
    int64_t done = atomic_fetch_add(&gate->done, tiles) + tiles;
    if (gate->progress && pthread_mutex_trylock(&gate->asking) == 0) {
        int64_t now = syi_now_ns();
        if (now - gate->asked_at >= interval_ns && !atomic_load(&gate->cancelled)) {
            gate->asked_at = now;
            if (gate->progress(gate->user, (uint64_t)done, (uint64_t)gate->tiles))
                atomic_store(&gate->cancelled, 1);
        }
        pthread_mutex_unlock(&gate->asking);
    }
    if (atomic_load(&gate->cancelled))
        return syi_fail(SY_ERR_CANCELLED, "cancelled by the caller");
    return SY_OK;
}
