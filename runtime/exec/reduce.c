/*
 * Merging a reduction's partials. The order is the canonical tree over the tiles; in fast accuracy
 * a seed other than 0 puts the tiles into another order first, chosen by the seed alone. The
 * partials are computed once, so what many seeds give costs their merges only.
 */
#include "exec/reduce.h"

#include "base/mem.h"
#include "base/philox.h"
#include "device/partials.h"

#include <string.h>

/* Folds a row's nodes and gives the outputs. */
static sy_status finish(const syi_job *job, unsigned char *nodes, int64_t count, double *outputs,
                        int *doubt)
{
    const syi_workload *workload = job->workload;
    SYI_TRY(syi_partials_fold(job, nodes, count));
    *doubt = 0;
    if (!workload->user)
        workload->finish(nodes, job->columns, job->params, outputs, doubt);
    else if (workload->user->finish(nodes, job->columns, job->params, outputs) != 0)
        return syi_fail(SY_ERR_USER, "workload '%s': its finish function failed", workload->name);
    return SY_OK;
}

/* Copies the partials in the order of the seed: each place gets one of those that are left. */
static void shuffle(const unsigned char *partials, int64_t tiles, size_t size, uint64_t seed,
                    int64_t *order, unsigned char *to)
{
    const uint32_t stream = 0x6d657267; /* of this use of the seed */
    for (int64_t i = 0; i < tiles; i++)
        order[i] = i;
    for (int64_t i = tiles - 1; seed != 0 && i > 0; i--) {
        int64_t other = (int64_t)(syi_random(seed, stream, (uint64_t)i) % (uint64_t)(i + 1));
        int64_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int64_t i = 0; i < tiles; i++)
        memcpy(to + (size_t)i * size, partials + (size_t)order[i] * size, size);
}

static void store(const syi_job *job, int64_t row, const double *outputs)
{
    for (int k = 0; k < job->workload->n_outputs; k++)
        syi_elements_store(syi_element_out(job->out[k], job->dtype, row), &outputs[k], job->dtype,
                           1);
}

/* The row's value, and what the seeds 1 .. n_seeds give. */
static sy_status merge_seeded(const syi_job *job, int64_t row, const unsigned char *partials,
                              int64_t *order, unsigned char *room)
{
    const int64_t tiles = syi_tiles_per_row(job->columns);
    double outputs[SYI_MAX_ARRAYS] = {0};
    int doubt;
    shuffle(partials, tiles, job->workload->partial_size, job->seed, order, room);
    SYI_TRY(finish(job, room, tiles, outputs, &doubt));
    store(job, row, outputs);
    for (int64_t seed = 1; seed <= job->n_seeds; seed++) {
        SYI_TRY(syi_gate_pass(job->gate, 0));
        shuffle(partials, tiles, job->workload->partial_size, (uint64_t)seed, order, room);
        SYI_TRY(finish(job, room, tiles, outputs, &doubt));
        for (int k = 0; k < job->workload->n_outputs; k++)
            job->seeded[k][(seed - 1) * job->rows + row] = outputs[k];
    }
    return SY_OK;
}

sy_status syi_reduce_row(const syi_job *job, int64_t row, unsigned char *nodes, int64_t count,
                         int *doubt)
{
    const size_t size = job->workload->partial_size;
    double outputs[SYI_MAX_ARRAYS] = {0};
    unsigned char *room;
    int64_t *order;
    sy_status status;
    *doubt = 0;
    if (!job->moves || (job->seed == 0 && job->n_seeds == 0)) {
        SYI_TRY(finish(job, nodes, count, outputs, doubt));
        store(job, row, outputs);
        return SY_OK;
    }
    room = syi_alloc((size_t)count, size);
    order = syi_alloc((size_t)count, sizeof *order);
    status = room && order ? merge_seeded(job, row, nodes, order, room)
                           : syi_no_memory((uint64_t)count * (size + sizeof *order));
    syi_free(order);
    syi_free(room);
    return status;
}

void syi_reduce_seeds_fixed(const syi_job *job, int64_t row)
{
    for (int k = 0; !job->moves && job->n_seeds && k < job->workload->n_outputs; k++) {
        const void *result = syi_element_out(job->out[k], job->dtype, row);
        double value;
        syi_elements_load(&value, result, job->dtype, 1);
        for (int64_t seed = 0; seed < job->n_seeds; seed++)
            job->seeded[k][seed * job->rows + row] = value;
    }
}
