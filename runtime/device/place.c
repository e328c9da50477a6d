#define _GNU_SOURCE
#include "device/place.h"

#include "base/mem.h"
#include "device/registry.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- finding out -------------------------------------------------------------------------- */

/* Whether the host can read the address, asked of the kernel. For the case that no driver answers
 * any more: then a device's address must not be touched, and the host's arrays go on being used. */
static int is_readable(const void *address)
{
    int ends[2], readable;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    readable = write(ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

static syi_device *owner_of(const syi_devices *devices, int home)
{
    syi_device *found = NULL;
    for (int i = 0; i < devices->count; i++) {
        syi_device *device = devices->list[i];
        if (device->home == home && device->info.usable && (!found || found->lost))
            found = device;
    }
    return found;
}

static sy_status adopt_owner(const syi_devices *devices, const char *what, syi_place *place)
{
    place->owner = owner_of(devices, place->home);
    if (!place->owner)
        return syi_fail(SY_ERR_ARGUMENT,
                        "%s lives on cuda:%d, which is not among the context's devices; add it to "
                        "them, or copy the array",
                        what, place->home - 1);
    if (place->owner->lost)
        return syi_fail(SY_ERR_DEVICE, "%s lives on %s, which failed earlier in this context", what,
                        place->owner->info.name);
    return SY_OK;
}

/* Where a device keeps the host from managed memory, touching it while the device works is an
 * access violation. */
static sy_status adopt_managed(const syi_devices *devices, const char *what, syi_place *place)
{
    for (int i = 0; i < devices->count; i++) {
        const syi_device *device = devices->list[i];
        if (device->bars_managed && device->info.usable)
            return syi_fail(SY_ERR_ARGUMENT,
                            "%s is managed memory, which the host must not touch while %s works; "
                            "copy it to plain or pinned memory, or to that of a GPU",
                            what, device->info.name);
    }
    place->kind = SYI_PLAIN;
    return SY_OK;
}

sy_status syi_place_find(const syi_devices *devices, const void *address, size_t bytes,
                         const char *what, syi_place *out)
{
    int asked = 0;
    *out = (syi_place){.kind = SYI_PLAIN};
    for (int i = 0; address && bytes && i < devices->count; i++) {
        syi_device *device = devices->list[i];
        if (!device->backend->ram || !device->info.usable)
            continue;
        asked = 1;
        if (device->backend->ram->locate(device, address, bytes, out) != SY_OK)
            continue;
        if (out->kind == SYI_ON_DEVICE && out->bytes < bytes)
            return syi_fail(SY_ERR_ARGUMENT,
                            "%s has %zu bytes, of which its allocation on cuda:%d holds %zu", what,
                            bytes, out->home - 1, out->bytes);
        if (out->kind == SYI_MANAGED)
            return adopt_managed(devices, what, out);
        return out->kind == SYI_ON_DEVICE ? adopt_owner(devices, what, out) : SY_OK;
    }
    if (asked && !is_readable(address))
        return syi_fail(SY_ERR_DEVICE,
                        "%s: no device tells where it lives any more, and it is not the host's "
                        "memory",
                        what);
    return SY_OK;
}

static sy_status find_array(const syi_devices *devices, const syi_job *job, const char *kind,
                            const char *name, const void *address, int64_t count, syi_place *out)
{
    char what[128];
    snprintf(what, sizeof what, "%s: %s '%s'", job->workload->name, kind, name);
    return syi_place_find(devices, address, (size_t)count * syi_element_size(job->dtype), what,
                          out);
}

static bool anybody_has_memory(const syi_devices *devices)
{
    for (int i = 0; i < devices->count; i++)
        if (devices->list[i]->backend->ram)
            return true;
    return false;
}

sy_status syi_places_find(const syi_devices *devices, syi_job *job, syi_places *room)
{
    const syi_workload *workload = job->workload;
    int64_t inputs = job->rows * job->columns;
    int64_t outputs = workload->pattern == SY_PATTERN_REDUCE ? job->rows : inputs;
    if (!anybody_has_memory(devices))
        return SY_OK;
    memset(room, 0, sizeof *room);
    for (int k = 0; k < workload->n_inputs; k++)
        SYI_TRY(find_array(devices, job, "input", workload->input_names[k],
                           job->in ? job->in[k] : NULL, inputs, &room->in[k]));
    for (int k = 0; k < workload->n_outputs; k++)
        SYI_TRY(find_array(devices, job, "output", workload->output_names[k],
                           job->out ? job->out[k] : NULL, outputs, &room->out[k]));
    job->places = room;
    return SY_OK;
}

/* ---- the places of a job ------------------------------------------------------------------ */

syi_place syi_place_in(const syi_job *job, int k)
{
    return job->places ? job->places->in[k] : (syi_place){.kind = SYI_PLAIN};
}

syi_place syi_place_out(const syi_job *job, int k)
{
    return job->places ? job->places->out[k] : (syi_place){.kind = SYI_PLAIN};
}

/* The k-th array, the outputs after the inputs. */
static syi_place place_of(const syi_job *job, int k)
{
    int inputs = job->workload->n_inputs;
    return k < inputs ? syi_place_in(job, k) : syi_place_out(job, k - inputs);
}

int syi_job_home(const syi_job *job)
{
    int arrays = job->workload->n_inputs + job->workload->n_outputs;
    for (int k = 0; job->places && k < arrays; k++) {
        const syi_place place = place_of(job, k);
        if (place.kind == SYI_ON_DEVICE)
            return place.home;
    }
    return 0;
}

int syi_job_addressable(const syi_job *job)
{
    return syi_job_home(job) == 0;
}

syi_device *syi_job_lost(const syi_job *job, int ask)
{
    int arrays = job->workload->n_inputs + job->workload->n_outputs;
    for (int k = 0; job->places && k < arrays; k++) {
        syi_device *owner = place_of(job, k).owner;
        if (owner && (owner->lost || (ask && owner->backend->ram->check(owner) != SY_OK)))
            return owner;
    }
    return NULL;
}

/* ---- reading and writing ------------------------------------------------------------------ */

static sy_status read_array(const syi_place *place, const char *array, size_t at, size_t bytes,
                            void *to)
{
    if (bytes == 0)
        return SY_OK;
    if (place->kind == SYI_ON_DEVICE)
        return place->owner->backend->ram->read(place->owner, array + at, bytes, to);
    memcpy(to, array + at, bytes);
    return SY_OK;
}

sy_status syi_input_read(const syi_job *job, int k, int64_t at, int64_t count, void *to)
{
    const syi_place place = syi_place_in(job, k);
    size_t size = syi_element_size(job->dtype);
    return read_array(&place, job->in[k], (size_t)at * size, (size_t)count * size, to);
}

sy_status syi_output_read(const syi_job *job, int k, int64_t at, int64_t count, void *to)
{
    const syi_place place = syi_place_out(job, k);
    size_t size = syi_element_size(job->dtype);
    return read_array(&place, job->out[k], (size_t)at * size, (size_t)count * size, to);
}

sy_status syi_output_write(const syi_job *job, int k, int64_t at, int64_t count, const void *from)
{
    const syi_place place = syi_place_out(job, k);
    size_t size = syi_element_size(job->dtype), bytes = (size_t)count * size;
    char *to = (char *)job->out[k] + (size_t)at * size;
    if (bytes == 0)
        return SY_OK;
    if (place.kind == SYI_ON_DEVICE)
        return place.owner->backend->ram->write(place.owner, to, bytes, from);
    memcpy(to, from, bytes);
    return SY_OK;
}

/* ---- stages ------------------------------------------------------------------------------- */

static sy_status stage_input(const syi_job *job, const syi_slab *slab, int k, syi_stage *stage)
{
    int64_t at = slab->row * job->columns + slab->first - slab->left;
    int64_t count = syi_slab_inputs(slab);
    if (syi_place_in(job, k).kind != SYI_ON_DEVICE)
        return SY_OK;
    stage->in[k] = syi_alloc((size_t)count, syi_element_size(job->dtype));
    if (!stage->in[k])
        return syi_no_memory((uint64_t)count * syi_element_size(job->dtype));
    stage->view.in[k] = stage->in[k];
    return syi_input_read(job, k, at, count, stage->in[k]);
}

static sy_status stage_output(const syi_job *job, const syi_slab *slab, int k, int fetch,
                              syi_stage *stage)
{
    int64_t count = syi_slab_outputs(job, slab);
    if (syi_place_out(job, k).kind != SYI_ON_DEVICE)
        return SY_OK;
    stage->out[k] = syi_alloc((size_t)count, syi_element_size(job->dtype));
    if (!stage->out[k])
        return syi_no_memory((uint64_t)count * syi_element_size(job->dtype));
    stage->view.out[k] = stage->out[k];
    return fetch ? syi_output_read(job, k, slab->row * job->columns + slab->first, count,
                                   stage->out[k])
                 : SY_OK;
}

sy_status syi_stage_open(const syi_job *job, const syi_slab *slab, int outputs, syi_stage *out)
{
    const syi_workload *workload = job->workload;
    sy_status status = SY_OK;
    out->view = syi_view_of_job(job, slab);
    out->has_copies = !syi_job_addressable(job);
    if (!out->has_copies)
        return SY_OK;
    memset(out->in, 0, sizeof out->in);
    memset(out->out, 0, sizeof out->out);
    for (int k = 0; k < workload->n_inputs && status == SY_OK; k++)
        status = stage_input(job, slab, k, out);
    if (workload->pattern != SY_PATTERN_REDUCE)
        for (int k = 0; k < workload->n_outputs && status == SY_OK; k++)
            status = stage_output(job, slab, k, outputs, out);
    if (status != SY_OK)
        syi_stage_close(out);
    return status;
}

sy_status syi_stage_write(const syi_job *job, const syi_slab *slab, const syi_stage *stage)
{
    int64_t at = slab->row * job->columns + slab->first, count = syi_slab_outputs(job, slab);
    for (int k = 0; k < job->workload->n_outputs && stage->has_copies; k++)
        if (stage->out[k])
            SYI_TRY(syi_output_write(job, k, at, count, stage->out[k]));
    return SY_OK;
}

void syi_stage_close(syi_stage *stage)
{
    for (int k = 0; k < SYI_MAX_ARRAYS && stage->has_copies; k++) {
        syi_free(stage->in[k]);
        syi_free(stage->out[k]);
    }
    stage->has_copies = 0;
}
