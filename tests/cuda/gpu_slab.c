/* Each array has its own window and shadow, so that a kernel that reaches beyond one, reads what
 * was never written or leaves an output unwritten is caught. */
#include "gpu_slab.h"
#include "vptx_host.h"

#include "device/host.h"
#include "device/partials.h"
#include "launch.h"

enum { MOST_ARRAYS = 16 };

typedef struct device_memory {
    host_memory memory;
    unsigned char *arrays[MOST_ARRAYS], *shadows[MOST_ARRAYS];
    int count;
} device_memory;

/* An array of exactly this size; `from`: what it holds, NULL: nothing yet. */
static void *place(device_memory *m, size_t size, const void *from, uint64_t *address)
{
    unsigned char *array = malloc(size + 1), *shadow = calloc(1, size + 1);
    if (!array || !shadow)
        abort();
    if (from) {
        memcpy(array, from, size);
        memset(shadow, 1, size);
    }
    *address = host_add(&m->memory, array, size, shadow);
    m->arrays[m->count] = array;
    m->shadows[m->count++] = shadow;
    return array;
}

static void drop(device_memory *m)
{
    while (m->count--) {
        free(m->arrays[m->count]);
        free(m->shadows[m->count]);
    }
    host_free(&m->memory);
}

static int all_written(const device_memory *m, int index, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!m->shadows[index][i])
            return 0;
    return 1;
}

static int launch_units(gpu_slab *run, device_memory *m, const syi_launch *launch)
{
    const syi_gpu_form *form = run->job->workload->gpu;
    vptx_report report;
    const vptx_launch_config config = {
        .grid = {(uint32_t)((run->units + form->units_per_block - 1) / form->units_per_block), 1,
                 1},
        .block = {(uint32_t)form->threads, 1, 1},
        .parameters = launch,
        .memory = {host_resolve, &m->memory},
        .order = run->order,
        .seed = run->seed,
        .shared_limit = 49152};
    const vptx_kernel *kernel = vptx_find(run->flavour->module, form->entry);
    if (!kernel) {
        fprintf(stderr, "%s has no kernel %s\n", run->flavour->path, form->entry);
        return 1;
    }
    vptx_launch(kernel, &config, &report);
    run->flavour->lane_instructions += report.lane_instructions;
    if (report.fault.kind != VPTX_OK || report.races) {
        fprintf(stderr, "%s: %s\n", run->flavour->path, report.fault.text);
        return 1;
    }
    return 0;
}

static int collect(gpu_slab *run, const long long *stretches, unsigned char *partials,
                   const syi_carry *links, syi_outcome *outcome)
{
    const syi_job *job = run->job;
    const syi_host_options options = {1, SYI_ISA_BASE};
    for (int64_t unit = 0; unit < run->units; unit++) {
        int64_t row = run->slab.row + unit / run->units_per_row;
        int64_t at = unit % run->units_per_row * run->unit_columns, rest = run->slab.columns - at;
        long long first = stretches[2 * unit], last = stretches[2 * unit + 1];
        syi_link link = {.row = row, .first = run->slab.first + at};
        link.columns = rest < run->unit_columns ? rest : run->unit_columns;
        if (first < last && (first < at || last > at + link.columns))
            return 1;
        run->doubts += first < last;
        if (first < last && job->workload->pattern == SY_PATTERN_REDUCE) {
            syi_tiles tile = {run->slab.tile + unit, 1};
            syi_slab slab = syi_slab_take(job, &tile, 1);
            syi_view view = syi_view_of_job(job, &slab);
            if (syi_host_reduce(job, &slab, &view, &options,
                                partials + (size_t)unit * job->workload->partial_size) != SY_OK)
                return 1;
        } else if (first < last) {
            if (syi_doubts_add_stretch(&outcome->doubts, row, run->slab.first + first,
                                       run->slab.first + last) != SY_OK)
                return 1;
        }
        if (job->workload->pattern != SY_PATTERN_RECURRENCE || link.columns == job->columns)
            continue;
        link.assumed = links[2 * unit];
        link.end = links[2 * unit + 1];
        if (syi_outcome_add_link(outcome, &link) != SY_OK)
            return 1;
    }
    return 0;
}

/* How the host cuts the slab. */
static void cut(gpu_slab *run)
{
    run->unit_columns = syi_job_unit_columns(run->job);
    run->units_per_row = (run->slab.columns + run->unit_columns - 1) / run->unit_columns;
    run->units = run->units_per_row * run->slab.rows;
}

/* The slab's arrays in the device's memory. */
typedef struct arrays {
    void *out[SYI_MAX_ARRAYS], *doubts, *partials, *links;
    size_t out_size, partial_size;
    int first_out; /* index of out[0] in the memory */
} arrays;

static void place_all(const gpu_slab *run, device_memory *m, syi_launch *launch, arrays *a)
{
    const syi_workload *workload = run->job->workload;
    syi_view view = syi_view_of_job(run->job, &run->slab);
    size_t in_size = (size_t)syi_slab_inputs(&run->slab) * sizeof(double), link_size = 0;
    uint64_t address;
    if (workload->pattern == SY_PATTERN_RECURRENCE)
        link_size = (size_t)run->units * 2 * sizeof(syi_carry);
    a->out_size = (size_t)syi_slab_outputs(run->job, &run->slab) * sizeof(double);
    a->partial_size = (size_t)run->units * workload->partial_size;
    for (int k = 0; k < workload->n_inputs; k++) {
        place(m, in_size, view.in[k], &address);
        launch->in[k] = (const double *)(uintptr_t)address;
    }
    a->first_out = m->count;
    for (int k = 0; k < workload->n_outputs; k++) {
        a->out[k] = place(m, a->out_size, NULL, &address);
        launch->out[k] = (double *)(uintptr_t)address;
    }
    a->doubts = place(m, (size_t)run->units * 16, NULL, &address);
    launch->doubts = (long long *)(uintptr_t)address;
    a->partials = place(m, a->partial_size, NULL, &address);
    launch->partials = (unsigned char *)(uintptr_t)address;
    a->links = place(m, link_size, NULL, &address);
    launch->links = (syi_carry *)(uintptr_t)address;
}

/* What comes back: outputs, all written, and partials. */
static int copy_back(const gpu_slab *run, const device_memory *m, const arrays *a)
{
    const syi_workload *workload = run->job->workload;
    syi_view view = syi_view_of_job(run->job, &run->slab);
    for (int k = 0; k < workload->n_outputs; k++) {
        if (!all_written(m, a->first_out + k, a->out_size))
            return 1;
        if (a->out_size)
            memcpy(view.out[k], a->out[k], a->out_size);
    }
    return 0;
}

int gpu_slab_run(gpu_slab *run, syi_outcome *outcome)
{
    const syi_slab *slab = &run->slab;
    device_memory m = {.count = 0};
    arrays a = {.first_out = 0};
    int failed;
    syi_launch launch = {.rows = slab->rows,
                         .columns = slab->columns,
                         .left = slab->left,
                         .in_stride = slab->left + slab->columns,
                         .first = slab->first,
                         .row_columns = run->job->columns};
    cut(run);
    launch.unit_columns = run->unit_columns;
    launch.units_per_row = run->units_per_row;
    memcpy(launch.params, run->job->params, (size_t)run->job->workload->n_params * sizeof(double));
    place_all(run, &m, &launch, &a);
    failed = launch_units(run, &m, &launch) || copy_back(run, &m, &a) ||
             collect(run, a.doubts, a.partials, a.links, outcome) ||
             (run->job->workload->pattern == SY_PATTERN_REDUCE &&
              syi_partials_put(run->job, slab->tile, slab->tiles, a.partials) != SY_OK);
    drop(&m);
    return failed;
}
