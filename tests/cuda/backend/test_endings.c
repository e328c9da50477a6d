/*
 * Memory that work may use of which it is not known that it has ended: of a GPU that hangs, or that
 * answers every call with an error. It is kept, whoever gives it back, for as long as that is so,
 * and given back once the work is seen to have ended; at the end of a context the rest is the
 * driver's. What was under way then finds its memory (gpu_close and its like run it to its end).
 */
#include "device/cuda/api.h"
#include "gpu_lab.h"

#include <stdio.h>
#include <string.h>

enum { VALUES = 20000, BYTES = VALUES * 8, WATCHDOG_MS = 25 };

/* The simulated driver's. */
CUresult cuCtxGetCurrent(CUcontext *);

static double plain_out[VALUES];

typedef struct lab {
    sy_context *context;
    void *in, *out; /* of VALUES doubles; NULL: gpu_x, and plain_out */
} lab;

/* A world of two GPUs in which `fault` strikes once the arrays are made. `in` and `out` are indices
 * of devices, SY_MEMORY_PINNED or PLAIN. */
enum { PLAIN = -2 };
static lab begin(int in, int out, const char *fault)
{
    lab l = {0};
    gpu_world("gpus=2", NULL, 0);
    series_fill(SERIES_WALK, 7, gpu_x, VALUES);
    gpu_gather = SY_GATHER_PEER;
    l.context = gpu_open("cuda,cpu:threads=1", 300000, WATCHDOG_MS, NULL);
    gpu_gather = SY_GATHER_AUTO;
    GPU_CHECK(l.context, "%s", sy_last_error()->text);
    if (in != PLAIN)
        GPU_CHECK(sy_memory_alloc(l.context, in, BYTES, &l.in) == SY_OK &&
                      sy_memory_copy(l.context, l.in, gpu_x, BYTES) == SY_OK,
                  "%s", sy_last_error()->text);
    if (out != PLAIN)
        GPU_CHECK(sy_memory_alloc(l.context, out, BYTES, &l.out) == SY_OK, "%s",
                  sy_last_error()->text);
    GPU_CHECK(vcuda_fault(fault) == 0, "%s", vcuda_message());
    return l;
}

/* The results do not matter here, other programs look at them; that the fault strikes does. */
static void run(const lab *l, const char *what)
{
    const void *inputs[] = {l->in ? l->in : gpu_x};
    void *outputs[] = {l->out ? l->out : plain_out};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = "sma",
                          .columns = VALUES,
                          .inputs = inputs,
                          .outputs = outputs};
    const sy_ratio ratios[] = {{"cuda:0", 1}, {"cuda:1", 1}};
    const sy_options equal = {.struct_size = sizeof equal, .ratios = ratios, .n_ratios = 2};
    vcuda_counts counts;
    sy_status status = distribute_workload(l->context, &work, &equal, NULL);
    vcuda_counters(-1, &counts);
    GPU_CHECK(counts.faults, "%s: did not strike", what);
    GPU_CHECK(status == SY_OK || status == SY_ERR_DEVICE, "%s: %s", what, sy_last_error()->text);
    GPU_CHECK(!counts.hang_waits, "%s: waited for what never ends", what);
}

/* What the GPU, and the host for it, holds for the program and the library. */
static int64_t held(int device)
{
    vcuda_counts counts;
    vcuda_counters(device, &counts);
    return counts.live_allocations + counts.live_host;
}

/* Gives the array back, and once more, which is refused. */
static void give_back(const lab *l, void **array)
{
    void *again = *array;
    GPU_CHECK(sy_memory_free(l->context, array) == SY_OK && !*array, "%s", sy_last_error()->text);
    GPU_CHECK(sy_memory_free(l->context, &again) == SY_ERR_ARGUMENT, "freed twice");
}

typedef struct scene {
    int in, out, holder; /* whose array is in use: an index */
    const char *fault;
} scene;

static const scene scenes[] = {
    /* A copy that hangs: to the other GPU's array, from it, from and to pinned memory. The first
     * GPU is the one that pinned memory is had from. */
    {PLAIN, 0, 0, "device=any,call=cuMemcpyPeerAsync,hang=0"},
    {0, PLAIN, 0, "device=any,call=cuMemcpyPeerAsync,hang=0"},
    {SY_MEMORY_PINNED, PLAIN, 0, "device=1,call=cuMemcpyHtoDAsync,hang=0"},
    {SY_MEMORY_PINNED, PLAIN, 0, "device=0,call=cuMemcpyHtoDAsync,hang=0"},
    {PLAIN, SY_MEMORY_PINNED, 0, "device=1,call=cuMemcpyDtoHAsync,after=3,hang=0"},
    /* A GPU that refuses every call from its first query on, and works on. */
    {0, PLAIN, 0, "device=1,call=cuStreamQuery,times=0"},
    {SY_MEMORY_PINNED, PLAIN, 0, "device=1,call=cuStreamQuery,times=0"},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

/* As long as it is in use, whatever is tried; then gone, and nothing is left of the context. */
static void kept_until_settled(const scene *s, int by_trim)
{
    lab l = begin(s->in, s->out, s->fault);
    int64_t before;
    run(&l, s->fault);
    sy_trim(l.context);
    before = held(s->holder);
    GPU_CHECK(before > 0, "%s: nothing is held", s->fault);
    give_back(&l, s->in != PLAIN ? &l.in : &l.out);
    GPU_CHECK(held(s->holder) == before, "%s: given back while it is in use", s->fault);
    sy_trim(l.context);
    GPU_CHECK(held(s->holder) == before, "%s: given back by sy_trim", s->fault);
    vcuda_finish();
    if (by_trim) {
        sy_trim(l.context);
        GPU_CHECK(!held(0) && !held(1), "%s: %lld and %lld blocks left", s->fault,
                  (long long)held(0), (long long)held(1));
    }
    gpu_close(&l.context, s->fault);
}

/* The context ends before the work: what is in use is the driver's, and the work finds it. */
static void left_to_the_driver(const scene *s, int freed)
{
    lab l = begin(s->in, s->out, s->fault);
    run(&l, s->fault);
    if (freed)
        give_back(&l, s->in != PLAIN ? &l.in : &l.out);
    if (strstr(s->fault, "hang"))
        gpu_close_kept(&l.context, 2, s->fault);
    else
        gpu_close(&l.context, s->fault);
}

/* Somebody else holds the GPUs' contexts, so the end of this one ends no work. */
static void held_by_another(const scene *s)
{
    sy_context *other;
    lab l = begin(s->in, s->out, s->fault);
    other = gpu_open("cuda", 0, 0, NULL);
    run(&l, s->fault);
    sy_context_destroy(&l.context);
    vcuda_finish();
    gpu_close_kept(&other, 2, s->fault);
}

/* A call on the program's own thread leaves it no context of ours. */
static void thread_is_left_alone(void)
{
    lab l = begin(0, PLAIN, "device=0,call=cuMemcpyDtoHAsync,hang=0");
    CUcontext context = (CUcontext)(void *)&l;
    GPU_CHECK(sy_memory_copy(l.context, gpu_x, l.in, 8) == SY_ERR_DEVICE, "it did not hang");
    GPU_CHECK(cuCtxGetCurrent(&context) == CUDA_SUCCESS && !context,
              "a context was left on the thread");
    gpu_close_beside_hung(&l.context, 2, "alone");
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    for (int i = 0; i < SCENES; i++)
        for (int way = 0; way < 2; way++) {
            kept_until_settled(&scenes[i], way);
            left_to_the_driver(&scenes[i], way);
            held_by_another(&scenes[i]);
        }
    thread_is_left_alone();
    printf("%d scenes\n", SCENES);
    return gpu_end();
}
