/* Cases whose arrays live somewhere else than in plain memory, compared with the CPU alone. */
#include "resident.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t resident_fail_at;

const char *resident_name(resident_place place)
{
    static const char *const names[] = {"host",  "pinned", "mixed", "gpu 0",
                                        "gpu 1", "gpu 2",  "gpu 3"};
    return names[place];
}

/* The index of cuda:N; -1: not in the context. */
static int index_of(sy_context *context, int ordinal)
{
    char id[32];
    sy_device_info info;
    snprintf(id, sizeof id, "cuda:%d", ordinal);
    for (int i = 0; i < sy_device_count(context); i++)
        if (sy_device_query(context, i, &info) == SY_OK && !strcmp(info.id, id))
            return i;
    return -1;
}

/* Room for so many bytes at that place; plain memory is `own`. */
static sy_status place_array(sy_context *context, resident_place place, size_t bytes, void *own,
                             void **out)
{
    int device = place >= ON_GPU ? index_of(context, (int)place - ON_GPU) : SY_MEMORY_PINNED;
    *out = NULL;
    if (place == ON_HOST || bytes == 0) {
        *out = own;
        return SY_OK;
    }
    if (place >= ON_GPU && device < 0)
        return SY_ERR_NO_DEVICE;
    return sy_memory_alloc(context, device, bytes, out);
}

static resident_place place_of(resident_place place, int array)
{
    static const resident_place mixture[] = {ON_GPU, ON_HOST, ON_GPU + 1, ON_PINNED};
    return place == MIXED ? mixture[array % 4] : place;
}

/* The arrays of the work, and what they are in plain memory, in the case's dtype. */
typedef struct arrays {
    void *in[LAB_INPUTS], *out[LAB_OUTPUTS];
    void *own_in[LAB_INPUTS], *own_out[LAB_OUTPUTS];
} arrays;

static size_t bytes_of(const lab_case *c, int64_t count)
{
    return (size_t)count * (c->dtype == SY_F32 ? sizeof(float) : sizeof(double));
}

/* The case's values in its dtype, in memory of their own. */
static void *converted(const lab_case *c, const double *from, int64_t count)
{
    void *own = malloc(bytes_of(c, count) + 1);
    float *narrow = own;
    GPU_CHECK(own, "memory");
    for (int64_t i = 0; own && c->dtype == SY_F32 && from && i < count; i++)
        narrow[i] = (float)from[i];
    if (own && c->dtype == SY_F64 && from)
        memcpy(own, from, bytes_of(c, count));
    return own;
}

static sy_status prepare(sy_context *context, const lab_case *c, resident_place in,
                         resident_place out, arrays *a)
{
    int64_t count = c->rows * c->columns;
    sy_status status = SY_OK;
    for (int k = 0; k < c->n_inputs; k++)
        a->own_in[k] = converted(c, k ? c->more[k - 1] : c->x, count);
    for (int k = 0; k < c->n_outputs; k++)
        a->own_out[k] = converted(c, NULL, c->out_count);
    for (int k = 0; k < c->n_inputs && status == SY_OK; k++) {
        status = place_array(context, place_of(in, k), bytes_of(c, count), a->own_in[k], &a->in[k]);
        if (status == SY_OK && a->in[k] != a->own_in[k])
            status = sy_memory_copy(context, a->in[k], a->own_in[k], bytes_of(c, count));
    }
    for (int k = 0; k < c->n_outputs && status == SY_OK; k++)
        status = place_array(context, place_of(out, k + 2), bytes_of(c, c->out_count),
                             a->own_out[k], &a->out[k]);
    return status;
}

static sy_status fetch(sy_context *context, lab_case *c, const arrays *a)
{
    for (int k = 0; k < c->n_outputs; k++) {
        const float *narrow = a->own_out[k];
        if (a->out[k] != a->own_out[k] &&
            sy_memory_copy(context, a->own_out[k], a->out[k], bytes_of(c, c->out_count)) != SY_OK)
            return sy_last_error()->status;
        for (int64_t i = 0; c->dtype == SY_F32 && i < c->out_count; i++)
            c->out[k][i] = narrow[i];
        if (c->dtype == SY_F64)
            memcpy(c->out[k], a->own_out[k], bytes_of(c, c->out_count));
    }
    return SY_OK;
}

static sy_status run(sy_context *context, lab_case *c, arrays *a, sy_report *report,
                     vcuda_counts *counts)
{
    sy_work work = {.struct_size = sizeof work,
                    .workload = c->workload,
                    .rows = c->rows,
                    .columns = c->columns,
                    .inputs = (const void *const *)a->in,
                    .outputs = a->out,
                    .params = c->params,
                    .n_params = c->n_params,
                    .dtype = c->dtype};
    vcuda_counts before, after;
    uint64_t *to = (uint64_t *)counts;
    sy_status status;
    vcuda_counters(-1, &before);
    status = distribute_workload(context, &work, NULL, report);
    vcuda_counters(-1, &after);
    for (size_t i = 0; counts && i < sizeof after / sizeof *to; i++)
        to[i] = ((uint64_t *)&after)[i] - ((uint64_t *)&before)[i];
    return status == SY_OK ? fetch(context, c, a) : status;
}

static void release(sy_context *context, arrays *a)
{
    for (int k = 0; k < LAB_INPUTS; k++) {
        if (a->in[k] != a->own_in[k])
            GPU_CHECK(sy_memory_free(context, &a->in[k]) == SY_OK, "freeing an input");
        free(a->own_in[k]);
    }
    for (int k = 0; k < LAB_OUTPUTS; k++) {
        if (a->out[k] != a->own_out[k])
            GPU_CHECK(sy_memory_free(context, &a->out[k]) == SY_OK, "freeing an output");
        free(a->own_out[k]);
    }
}

sy_status resident_compare(sy_context *context, lab_case *c, resident_place in, resident_place out,
                           sy_report *report, vcuda_counts *counts, const char *what)
{
    lab_case expected = *c;
    arrays a = {0};
    char text[256];
    int output = 0;
    int64_t at;
    sy_status status;
    GPU_CHECK(lab_prepare(&expected) && lab_prepare(c), "memory");
    GPU_CHECK(lab_run(gpu_cpu, &expected, NULL, NULL) == SY_OK, "%s", sy_last_error()->text);
    syi_mem_fail_at(resident_fail_at);
    status = prepare(context, c, in, out, &a);
    if (status == SY_OK)
        status = run(context, c, &a, report, counts);
    syi_mem_fail_at(0);
    if (status == SY_OK) {
        at = lab_case_difference(&expected, c, &output);
        GPU_CHECK(at < 0, "%s, from %s to %s: %s: output %d differs at %lld", what,
                  resident_name(in), resident_name(out), lab_describe(c, text, sizeof text), output,
                  (long long)at);
    }
    release(context, &a);
    lab_release(&expected);
    lab_release(c);
    return status;
}
