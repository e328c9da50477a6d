#include "api/sample.h"

#include "base/mem.h"
#include "base/philox.h"

/* A walk of prices around 100 on a tick of 1/100, as a function of the seed. */
static void walk(syi_sample_arrays *s, int input, int64_t to)
{
    enum { BLOCK = 512 };
    const sy_dtype dtype = s->work.dtype;
    double prices[BLOCK];
    int64_t ticks = s->ticks[input];
    for (int64_t first = s->filled, n; first < to; first += n) {
        n = to - first < BLOCK ? to - first : BLOCK;
        for (int64_t i = 0; i < n; i++) {
            uint64_t index = (uint64_t)(first + i);
            int64_t step = (int64_t)(syi_random(s->seed, (uint32_t)input, index) % 21) - 10;
            /* Bounded: a walk of any length stays a price. */
            ticks += ticks + step < 1000 || ticks + step > 100000 ? -step : step;
            prices[i] = (double)ticks / 100;
        }
        syi_elements_store(syi_element_out((void *)s->in[input], dtype, first), prices, dtype, n);
    }
    s->ticks[input] = ticks;
}

sy_status syi_sample_fill(syi_sample_arrays *s, int64_t columns, sy_status (*meanwhile)(void *user),
                          void *user)
{
    enum { PIECE = 1 << 20 }; /* some milliseconds */
    while (s->filled < columns) {
        const int64_t left = columns - s->filled, to = s->filled + (left < PIECE ? left : PIECE);
        SYI_TRY(meanwhile(user));
        for (int k = 0; k < SYI_MAX_ARRAYS && s->in[k]; k++)
            walk(s, k, to);
        s->filled = to;
    }
    return SY_OK;
}

sy_status syi_sample_make(const syi_workload *workload, const sy_profile_options *options,
                          syi_sample_arrays *s)
{
    const size_t count = (size_t)options->sample_size, size = syi_element_size(options->dtype);
    *s = (syi_sample_arrays){.seed = options->seed,
                             .work = {.struct_size = sizeof(sy_work),
                                      .workload = workload->name,
                                      .rows = 1,
                                      .columns = options->sample_size,
                                      .inputs = s->in,
                                      .outputs = s->out,
                                      .dtype = options->dtype}};
    for (int k = 0; k < workload->n_inputs; k++) {
        s->ticks[k] = 10000;
        if (!(s->in[k] = syi_alloc(count, size)))
            return syi_no_memory(count * size);
    }
    for (int k = 0; k < workload->n_outputs; k++)
        if (!(s->out[k] = syi_alloc(count, size)))
            return syi_no_memory(count * size);
    return SY_OK;
}

void syi_sample_clear(syi_sample_arrays *s)
{
    for (int k = 0; k < SYI_MAX_ARRAYS; k++) {
        syi_free((void *)s->in[k]);
        syi_free(s->out[k]);
    }
}
