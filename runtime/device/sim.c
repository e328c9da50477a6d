/*
 * Simulated devices. They compute for real, with one thread of the host, in buffers of their own
 * that hold nothing but what was copied to them, and they take the time that their figures say.
 * Everything above cannot tell them from GPUs; they make unequal machines out of any machine.
 */
#include "device/sim_options.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/registry.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct sim_device {
    syi_device base;
    sim_options options;
    pthread_mutex_t busy; /* one run at a time */
    int64_t operations;
    double deadline_ns; /* when the operations so far would have ended */
} sim_device;

static void sim_refresh(syi_device *device, sy_device_info *info)
{
    (void)device, (void)info; /* nothing stays allocated between runs */
}

static void sim_close(syi_device *device)
{
    pthread_mutex_destroy(&((sim_device *)device)->busy);
    syi_free(device);
}

static sy_status sim_open(const char *item, syi_devices *devices)
{
    sim_device *sim = syi_alloc(1, sizeof *sim);
    sy_device_info *info;
    sy_status status;
    if (!sim)
        return syi_no_memory(sizeof *sim);
    pthread_mutex_init(&sim->busy, NULL);
    sim->base.backend = &syi_backend_sim;
    status = syi_sim_parse_options(strchr(item, ':') ? strchr(item, ':') + 1 : "", &sim->options);
    if (status != SY_OK) {
        sim_close(&sim->base);
        return status;
    }
    info = &sim->base.info;
    info->type = SY_DEVICE_SIMULATED;
    info->usable = 1;
    snprintf(info->id, sizeof info->id, "sim:%d",
             syi_devices_of_type(devices, SY_DEVICE_SIMULATED));
    syi_copy_text(info->name, sizeof info->name, sim->options.name);
    syi_copy_text(info->description, sizeof info->description, "simulated device");
    if (isfinite(sim->options.memory) && sim->options.memory < 1e18)
        info->memory_total = info->memory_free = (uint64_t)sim->options.memory;
    sim->base.code = syi_isa_name(syi_isa_detect());
    sim->base.nominal_rate = isfinite(sim->options.speed) ? sim->options.speed * 1e8 : 1e15;
    return syi_devices_add(devices, &sim->base);
}

/* Each copy and launch is an operation, and may be the one that fails. */
static sy_status begin_operation(sim_device *sim, const char *what)
{
    const sim_options *options = &sim->options;
    sim->operations++;
    if (options->fault == SIM_FAULT_LOST && sim->operations >= options->fault_at)
        return syi_fail(SY_ERR_DEVICE, "device %s was lost during a %s", options->name, what);
    if (sim->operations != options->fault_at)
        return SY_OK;
    if (options->fault == SIM_FAULT_OOM)
        return syi_fail(SY_ERR_MEMORY, "device %s is out of memory for a %s", options->name, what);
    if (options->fault == SIM_FAULT_LAUNCH)
        return syi_fail(SY_ERR_DEVICE, "device %s failed in a %s", options->name, what);
    return SY_OK;
}

/* What the figures say, in milliseconds. */
static double copy_ms(const sim_device *sim, double bytes)
{
    return (sim->options.latency_ns + bytes / sim->options.bytes_per_second * 1e9) / 1e6;
}

static double launch_ms(const sim_device *sim, double elements)
{
    return (sim->options.latency_ns + elements / (sim->options.speed * 1e8) * 1e9) / 1e6;
}

/* Lets a slab end when its figures say: the real work is done by then, or the host was slower,
 * which counts as computing; the next slabs catch up, so that the whole takes the time of the
 * figures as long as the host can. */
static void take_time(sim_device *sim, int64_t began, syi_outcome *outcome)
{
    const double end_of_time = 0x1p+62; /* of a clock in nanoseconds */
    double modelled = outcome->copy_in_ms + outcome->compute_ms + outcome->copy_out_ms, took;
    sim->deadline_ns = fmin(sim->deadline_ns + modelled * 1e6, end_of_time);
    if (modelled > 0 && sim->deadline_ns > (double)syi_now_ns())
        syi_sleep_until_ns((int64_t)sim->deadline_ns);
    took = (double)(syi_now_ns() - began) / 1e6;
    if (took > modelled)
        outcome->compute_ms += took - modelled;
}

/* The phases one after the other, as the figures say; those of a slab that catches up are shorter.
 */
static void trace_slab(const sim_device *sim, const syi_job *job, const syi_slab *slab,
                       int64_t began, const syi_outcome *found)
{
    const syi_tiles span = {slab->tile, slab->tiles};
    const double in = (double)began, took = syi_trace_now(job->trace) - in;
    const double said = (found->copy_in_ms + found->compute_ms + found->copy_out_ms) * 1e6;
    const double scale = said > took ? 1e6 * took / said : 1e6;
    const double run = in + found->copy_in_ms * scale, out = run + found->compute_ms * scale;
    const int device = sim->base.index;
    syi_trace_tell(job->trace, device, 0, "copy in", in, run, span);
    syi_trace_tell(job->trace, device, 0, "compute", run, out, span);
    syi_trace_tell(job->trace, device, 0, "copy out", out, out + found->copy_out_ms * scale, span);
}

/* The slab's own memory: what a real device would hold of it. */
typedef struct sim_buffers {
    void *in[SYI_MAX_ARRAYS], *out[SYI_MAX_ARRAYS];
    size_t inputs, outputs; /* bytes of each */
} sim_buffers;

static void release(const syi_workload *workload, sim_buffers *buffers)
{
    for (int k = 0; k < workload->n_inputs; k++)
        syi_free(buffers->in[k]);
    for (int k = 0; k < workload->n_outputs; k++)
        syi_free(buffers->out[k]);
}

static sy_status reserve(sim_device *sim, const syi_job *job, const syi_slab *slab,
                         sim_buffers *buffers)
{
    const syi_workload *workload = job->workload;
    const size_t size = syi_element_size(job->dtype);
    double bytes;
    int complete = 1;
    *buffers = (sim_buffers){.inputs = (size_t)syi_slab_inputs(slab) * size,
                             .outputs = (size_t)syi_slab_outputs(job, slab) * size};
    bytes = (double)buffers->inputs * workload->n_inputs +
            (double)buffers->outputs * workload->n_outputs;
    if (bytes > sim->options.memory)
        return syi_fail(SY_ERR_MEMORY, "device %s has %.0f bytes of memory, a part needs %.0f",
                        sim->options.name, sim->options.memory, bytes);
    for (int k = 0; k < workload->n_inputs; k++)
        complete &= !!(buffers->in[k] = syi_alloc(buffers->inputs, 1));
    for (int k = 0; k < workload->n_outputs && buffers->outputs; k++)
        complete &= !!(buffers->out[k] = syi_alloc(buffers->outputs, 1));
    if (complete)
        return SY_OK;
    release(workload, buffers);
    return syi_no_memory((uint64_t)bytes);
}

static sy_status copy_in(sim_device *sim, const syi_job *job, const syi_slab *slab,
                         const sim_buffers *buffers, syi_outcome *outcome)
{
    int64_t at = slab->row * job->columns + slab->first - slab->left;
    double bytes = (double)buffers->inputs * job->workload->n_inputs;
    SYI_TRY(begin_operation(sim, "copy to it"));
    for (int k = 0; k < job->workload->n_inputs; k++)
        SYI_TRY(syi_input_read(job, k, at, syi_slab_inputs(slab), buffers->in[k]));
    outcome->copy_in_ms += copy_ms(sim, bytes);
    return SY_OK;
}

static sy_status compute(sim_device *sim, const syi_job *job, const syi_slab *slab,
                         const sim_buffers *buffers, syi_outcome *outcome)
{
    const syi_host_options one_thread = {1, syi_isa_detect()};
    syi_view view = {.stride = slab->left + slab->columns};
    double elements = (double)slab->rows * (double)slab->columns;
    SYI_TRY(begin_operation(sim, "launch"));
    for (int k = 0; k < job->workload->n_inputs; k++)
        view.in[k] = buffers->in[k];
    for (int k = 0; k < job->workload->n_outputs; k++)
        view.out[k] = buffers->out[k];
    SYI_TRY(syi_host_run(job, slab, &view, &one_thread, outcome));
    outcome->compute_ms += launch_ms(sim, elements);
    return SY_OK;
}

static sy_status copy_out(sim_device *sim, const syi_job *job, const syi_slab *slab,
                          const sim_buffers *buffers, syi_outcome *outcome)
{
    int64_t at = slab->row * job->columns + slab->first;
    double bytes = (double)buffers->outputs * job->workload->n_outputs;
    SYI_TRY(begin_operation(sim, "copy from it"));
    for (int k = 0; k < job->workload->n_outputs; k++)
        SYI_TRY(syi_output_write(job, k, at, syi_slab_outputs(job, slab), buffers->out[k]));
    outcome->copy_out_ms += copy_ms(sim, bytes);
    return SY_OK;
}

static sy_status run_slab(sim_device *sim, const syi_job *job, const syi_slab *slab,
                          syi_outcome *outcome)
{
    int64_t began = syi_now_ns();
    sim_buffers buffers;
    syi_outcome found = {0};
    sy_status status = reserve(sim, job, slab, &buffers);
    if (status != SY_OK)
        return status;
    status = copy_in(sim, job, slab, &buffers, &found);
    if (status == SY_OK)
        status = compute(sim, job, slab, &buffers, &found);
    if (status == SY_OK)
        status = copy_out(sim, job, slab, &buffers, &found);
    release(job->workload, &buffers);
    if (status == SY_OK) {
        take_time(sim, began, &found);
        trace_slab(sim, job, slab, began, &found);
        found.tiles_done = slab->tiles;
        return syi_outcome_merge(outcome, &found);
    }
    syi_outcome_clear(&found);
    return status;
}

/* Out of memory halves the slab and goes on, down to one tile. A slab is short: its real work is
 * done in one go, and keeps a processor from the other devices for so long. */
static sy_status run_span(sim_device *sim, const syi_job *job, syi_tiles span, syi_outcome *outcome)
{
    int64_t slab_tiles = 64;
    while (span.count) {
        syi_tiles rest = span;
        syi_slab slab = syi_slab_take(job, &rest, slab_tiles);
        sy_status status = run_slab(sim, job, &slab, outcome);
        if (status == SY_ERR_MEMORY && slab_tiles > 1) {
            slab_tiles /= 2;
            outcome->retries++;
            continue;
        }
        SYI_TRY(status);
        SYI_TRY(syi_gate_pass(job->gate, slab.tiles));
        span = rest;
    }
    return SY_OK;
}

static sy_status sim_run(syi_device *device, const syi_job *job, syi_tiles span,
                         syi_outcome *outcome)
{
    sim_device *sim = (sim_device *)device;
    int64_t began = syi_now_ns();
    sy_status status;
    pthread_mutex_lock(&sim->busy);
    sim->deadline_ns = (double)syi_now_ns();
    status = run_span(sim, job, span, outcome);
    pthread_mutex_unlock(&sim->busy);
    outcome->busy_ms = (double)(syi_now_ns() - began) / 1e6;
    return status;
}

const syi_backend syi_backend_sim = {
    .prefix = "sim",
    .type = SY_DEVICE_SIMULATED,
    .open = sim_open,
    .close = sim_close,
    .refresh = sim_refresh,
    .run = sim_run,
};
