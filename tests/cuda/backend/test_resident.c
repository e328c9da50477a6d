/* Arrays that live on a GPU or in pinned memory: the same bits, and no copy that need not be. */
#include "resident.h"

#include "api/context.h"
#include "device/cuda/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = ON_GPU + 2 };

/* The simulated driver's, as a program would call the real one's. */
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned int);
CUresult cuMemFree_v2(CUdeviceptr);

/* Every place of the inputs and of the outputs, on every mixture of devices. */
static void combinations(void)
{
    static const char *const lists[] = {"cuda", "cuda,cpu", "cuda,sim:a:speed=1e6,cpu"};
    uint64_t random = gpu_seed;
    int done = 0, on_gpu = 0;
    for (int list = 0; list < 3; list++) {
        sy_context *context;
        gpu_world("gpus=2;1:speed=2,sms=8", list == 1 ? "random" : NULL, gpu_seed);
        context = gpu_open(lists[list], 1 << 20, 0, NULL);
        GPU_CHECK(context, "%s: %s", lists[list], sy_last_error()->text);
        for (int i = 0; context && i < gpu_cases; i++)
            for (int place = 0; place < PLACES * PLACES; place++) {
                vcuda_counts counts;
                lab_case c = gpu_random_case(&random, GPU_MOST / 4);
                int lacks =
                    !strcmp(lists[list], "cuda") && !syi_workload_find(context, c.workload)->gpu;
                sy_status status = resident_compare(context, &c, place / PLACES, place % PLACES,
                                                    NULL, &counts, lists[list]);
                GPU_CHECK(status == (lacks ? SY_ERR_NO_DEVICE : SY_OK), "%s on %s: %s", c.workload,
                          lists[list], sy_last_error()->text);
                on_gpu += counts.launches > 0;
                done++;
            }
        gpu_close(&context, lists[list]);
    }
    GPU_CHECK(on_gpu > done / 4, "%d of %d runs used a GPU", on_gpu, done);
    printf("%d cases, %d with a GPU\n", done, on_gpu);
}

/* A long recurrence whose pieces disagree (a huge value far to the left), rows longer than what is
 * fetched at once, and a reduction in doubt: what the merge does on the host. */
static void merging(void)
{
    static const char *const workloads[] = {"ema", "macd", "variance", "mean", "sma", "atr"};
    for (int i = 0; i < 6; i++) {
        for (int kind = 0; kind < SERIES_KINDS; kind++) {
            sy_context *context;
            lab_case c = {.workload = workloads[i], .rows = 1, .columns = GPU_MOST, .x = gpu_x};
            series_fill((series_kind)kind, gpu_seed + (uint64_t)kind, gpu_x, GPU_MOST);
            gpu_x[17] = 1e300;
            gpu_world("gpus=2", NULL, 0);
            context = gpu_open("cuda,cpu", 1 << 20, 0, NULL);
            GPU_CHECK(resident_compare(context, &c, ON_GPU, ON_GPU + 1, NULL, NULL, "merge") ==
                          SY_OK,
                      "%s: %s", workloads[i], sy_last_error()->text);
            gpu_close(&context, "merge");
        }
    }
}

/* The bytes that an rsi on a GPU sends to the host, its row's end being x. */
static uint64_t bytes_to_host(double x)
{
    vcuda_counts counts = {0};
    sy_context *context;
    lab_case c = gpu_case("rsi", GPU_MOST);
    gpu_x[GPU_MOST - 100] = x;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda:0", 0, 0, NULL);
    GPU_CHECK(resident_compare(context, &c, ON_GPU, ON_GPU, NULL, &counts, "far") == SY_OK, "%s",
              sy_last_error()->text);
    gpu_close(&context, "far");
    return counts.bytes_out;
}

/* What is in doubt near a row's end, here behind a huge value, is decided without the row's
 * beginning, which stays where it is. */
static void far_doubt(void)
{
    const uint64_t without = bytes_to_host(100.0), with = bytes_to_host(1e300);
    GPU_CHECK(with > without && with - without < GPU_MOST / 2 * sizeof(double),
              "%llu bytes, %llu without a doubt", (unsigned long long)with,
              (unsigned long long)without);
}

/* The same in floats, which take half of the bytes. */
static lab_case case_in(sy_dtype dtype, const char *workload)
{
    lab_case c = gpu_case(workload, GPU_MOST);
    c.dtype = dtype;
    if (dtype == SY_F32)
        lab_round_to_floats(gpu_x, GPU_MOST);
    return c;
}

/* A GPU that has the data copies nothing but what it found (doubts, links, partials). */
static void in_place(sy_dtype dtype)
{
    vcuda_counts counts;
    sy_context *context;
    lab_case c;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda:0", 0, 0, NULL);
    c = case_in(dtype, "rolling_max");
    GPU_CHECK(resident_compare(context, &c, ON_GPU, ON_GPU, NULL, &counts, "in place") == SY_OK,
              "%s", sy_last_error()->text);
    GPU_CHECK(counts.launches && !counts.bytes_in && !counts.bytes_peer && !counts.bytes_device,
              "%llu launches, %llu bytes in, %llu from GPU to GPU",
              (unsigned long long)counts.launches, (unsigned long long)counts.bytes_in,
              (unsigned long long)counts.bytes_peer);
    GPU_CHECK(counts.bytes_out < GPU_MOST, "%llu bytes out", (unsigned long long)counts.bytes_out);
    gpu_close(&context, "in place");
}

/* On two GPUs the other one gets its part from the first, and nothing passes through the host. */
static void from_peer(sy_dtype dtype)
{
    const uint64_t size = dtype == SY_F32 ? sizeof(float) : sizeof(double);
    sy_report report = {.struct_size = sizeof report};
    vcuda_counts counts;
    sy_context *context;
    uint64_t moved;
    lab_case c;
    gpu_world("gpus=2", NULL, 0);
    gpu_gather = SY_GATHER_PEER;
    context = gpu_open("cuda:0,cuda:1", 0, 0, NULL);
    c = case_in(dtype, "rolling_max");
    GPU_CHECK(resident_compare(context, &c, ON_GPU, ON_GPU, &report, &counts, "peer") == SY_OK,
              "%s", sy_last_error()->text);
    GPU_CHECK(!counts.bytes_in && counts.bytes_out < GPU_MOST, "%llu in, %llu out",
              (unsigned long long)counts.bytes_in, (unsigned long long)counts.bytes_out);
    /* The other's part of the input and of the output, and halos. */
    moved = report.n_devices == 2 ? 2 * size * (uint64_t)report.devices[1].elements : 0;
    GPU_CHECK(moved && counts.bytes_peer >= moved && counts.bytes_peer < moved + 200 * size,
              "%llu bytes from GPU to GPU, %llu of the other's part",
              (unsigned long long)counts.bytes_peer, (unsigned long long)moved);
    sy_report_clear(&report);
    gpu_close(&context, "peer");
    gpu_gather = SY_GATHER_AUTO;
}

/* Pinned arrays are copied one by one from where they are; plain ones together, once staged. */
static void pinned(void)
{
    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        resident_place place = is_pinned ? ON_PINNED : ON_HOST;
        vcuda_counts counts;
        uint64_t before;
        sy_context *context;
        lab_case c;
        gpu_world("gpus=1", NULL, 0);
        context = gpu_open("cuda:0", 0, 0, NULL);
        c = gpu_case("dot", GPU_MOST);
        before = vcuda_calls("cuMemcpyHtoDAsync");
        GPU_CHECK(resident_compare(context, &c, place, place, NULL, &counts, "pinned") == SY_OK,
                  "%s", sy_last_error()->text);
        GPU_CHECK(counts.launches && vcuda_calls("cuMemcpyHtoDAsync") - before ==
                                         counts.launches * (is_pinned ? 2 : 1),
                  "%llu launches, %llu copies", (unsigned long long)counts.launches,
                  (unsigned long long)(vcuda_calls("cuMemcpyHtoDAsync") - before));
        gpu_close(&context, "pinned");
    }
}

/* Floats go over the link as floats, from plain and from pinned memory. */
static void link_bytes(sy_dtype dtype)
{
    const uint64_t all = GPU_MOST * (dtype == SY_F32 ? sizeof(float) : sizeof(double));
    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        resident_place place = is_pinned ? ON_PINNED : ON_HOST;
        vcuda_counts counts;
        sy_context *context;
        lab_case c;
        gpu_world("gpus=1", NULL, 0);
        context = gpu_open("cuda:0", 0, 0, NULL);
        c = case_in(dtype, "rolling_max");
        GPU_CHECK(resident_compare(context, &c, place, place, NULL, &counts, "link") == SY_OK, "%s",
                  sy_last_error()->text);
        GPU_CHECK(counts.bytes_in >= all && counts.bytes_in < all + GPU_MOST &&
                      counts.bytes_out >= all && counts.bytes_out < all + GPU_MOST,
                  "%llu bytes in, %llu out", (unsigned long long)counts.bytes_in,
                  (unsigned long long)counts.bytes_out);
        gpu_close(&context, "link");
    }
}

/* What the next call of such a work would go by: whether costs are known, and why. */
static void look(sy_context *context, const char *workload, sy_plan_info *plan)
{
    sy_work work = {
        .struct_size = sizeof work, .workload = workload, .rows = 1, .columns = GPU_MOST};
    *plan = (sy_plan_info){.struct_size = sizeof *plan};
    GPU_CHECK(sy_plan_explain(context, &work, NULL, plan) == SY_OK, "%s", sy_last_error()->text);
    sy_plan_info_clear(plan);
}

static void run_at(sy_context *context, resident_place in, resident_place out, const char *what)
{
    lab_case c = gpu_case("rolling_max", GPU_MOST);
    GPU_CHECK(resident_compare(context, &c, in, out, NULL, NULL, what) == SY_OK, "%s",
              sy_last_error()->text);
}

/* Without a profile the first run over all devices is one, and small works are timed on the CPU and
 * on the GPU in turn: with arrays in the host's memory, since one on a GPU costs something else. */
static void learning(const char *devices)
{
    char thresholds[64], lock[80];
    sy_config config = {.struct_size = sizeof config,
                        .devices = devices,
                        .multigpu_path = "no-such/multigpu.json",
                        .thresholds_path = thresholds,
                        .cuda_driver = gpu_driver};
    sy_context *context = NULL;
    sy_plan_info before, after;
    snprintf(thresholds, sizeof thresholds, "resident-%d.json", (int)getpid());
    snprintf(lock, sizeof lock, "%s.lock", thresholds);
    gpu_world("gpus=2", NULL, 0);
    GPU_CHECK(sy_context_create(&config, &context) == SY_OK, "%s", sy_last_error()->text);
    look(context, "rolling_max", &before);
    for (int i = 0; i < 8; i++)
        run_at(context, i % 2 ? ON_GPU : ON_HOST, i % 2 ? ON_HOST : ON_GPU + 1, devices);
    look(context, "rolling_max", &after);
    GPU_CHECK(after.predicted_ms == before.predicted_ms && !strcmp(after.reason, before.reason),
              "%s: runs with an array on a GPU taught: %s", devices, after.reason);
    /* How many it takes depends on the times; one of these is enough to be noticed. */
    for (int i = 0; i < 4 && !strcmp(after.reason, before.reason); i++) {
        run_at(context, ON_HOST, ON_HOST, devices);
        look(context, "rolling_max", &after);
    }
    GPU_CHECK(strcmp(after.reason, before.reason) != 0, "%s: nothing was learned: %s", devices,
              after.reason);
    gpu_close(&context, devices);
    remove(thresholds);
    remove(lock);
}

/* What a work with its input on that GPU would take; < 0: nothing is known. */
static double predicted_at(sy_context *context, int device)
{
    sy_plan_info plan = {.struct_size = sizeof plan};
    void *x = NULL;
    sy_work work = {
        .struct_size = sizeof work, .workload = "rolling_max", .rows = 1, .columns = GPU_MOST};
    GPU_CHECK(sy_memory_alloc(context, device, GPU_MOST * sizeof *gpu_x, &x) == SY_OK, "%s",
              sy_last_error()->text);
    work.inputs = (const void *const[]){x};
    GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK, "%s", sy_last_error()->text);
    sy_plan_info_clear(&plan);
    sy_memory_free(context, &x);
    return plan.predicted_ms;
}

/* Runs with an array on a GPU teach what such works cost, and nothing about others. */
static void learning_apart(void)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = "cuda:0,cuda:1",
                        .multigpu_path = "no-such/multigpu.json",
                        .thresholds_path = "no-such/thresholds.json",
                        .cuda_driver = gpu_driver};
    sy_context *context = NULL;
    sy_plan_info host;
    gpu_world("gpus=2", NULL, 0);
    GPU_CHECK(sy_context_create(&config, &context) == SY_OK, "%s", sy_last_error()->text);
    GPU_CHECK(predicted_at(context, 0) < 0, "known before any run");
    for (int i = 0; i < 4 && predicted_at(context, 0) < 0; i++)
        run_at(context, ON_GPU, ON_HOST, "apart");
    GPU_CHECK(predicted_at(context, 0) > 0, "nothing was learned");
    GPU_CHECK(predicted_at(context, 1) < 0, "learned of another GPU's arrays");
    look(context, "rolling_max", &host);
    GPU_CHECK(host.predicted_ms < 0, "learned of the host's arrays");
    gpu_close(&context, "apart");
}

/* An array on a GPU that the context has not is refused by name. */
static void foreign(void)
{
    void *memory = NULL;
    double y[8];
    const void *inputs[1];
    void *outputs[1] = {y};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sma",
                    .columns = 8,
                    .inputs = inputs,
                    .outputs = outputs};
    sy_context *context, *other;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda:0,cpu", 0, 0, NULL);
    other = gpu_open("cuda:1", 0, 0, NULL);
    GPU_CHECK(sy_memory_alloc(other, 0, sizeof y, &memory) == SY_OK, "%s", sy_last_error()->text);
    inputs[0] = memory;
    GPU_CHECK(distribute_workload(context, &work, NULL, NULL) == SY_ERR_ARGUMENT &&
                  strstr(sy_last_error()->text, "cuda:1"),
              "%s", sy_last_error()->text);
    GPU_CHECK(sy_memory_free(context, &memory) == SY_ERR_ARGUMENT && memory, "freed by another");
    sy_context_destroy(&other); /* and the memory with it */
    gpu_close(&context, "foreign");
}

/* Managed memory is the host's, but not beside a GPU that keeps the host from it while it works. */
static void managed(const char *world, const char *devices, const char *barred_by)
{
    CUcontext program = NULL;
    CUdeviceptr memory = 0;
    sy_status status;
    sy_context *context;
    lab_case c;
    gpu_world(world, NULL, 0);
    context = gpu_open(devices, 0, 0, NULL);
    GPU_CHECK(cuDevicePrimaryCtxRetain(&program, 0) == CUDA_SUCCESS &&
                  cuCtxSetCurrent(program) == CUDA_SUCCESS &&
                  cuMemAllocManaged(&memory, sizeof gpu_x, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS,
              "no managed memory");
    c = gpu_case("rolling_max", GPU_MOST);
    memcpy((void *)(uintptr_t)memory, gpu_x, sizeof gpu_x);
    c.x = (const double *)(uintptr_t)memory;
    GPU_CHECK(lab_prepare(&c), "memory");
    status = lab_run(context, &c, NULL, NULL);
    if (barred_by)
        GPU_CHECK(status == SY_ERR_ARGUMENT && lab_told(status) &&
                      strstr(sy_last_error()->text, barred_by) && lab_untouched(c.out[0], GPU_MOST),
                  "%s, %s: status %d, %s", world, devices, (int)status, sy_last_error()->text);
    else
        GPU_CHECK(status == SY_OK && lab_as_on_cpu(&c), "%s, %s: status %d", world, devices,
                  (int)status);
    lab_release(&c);
    cuMemFree_v2(memory);
    cuCtxSetCurrent(NULL);
    cuDevicePrimaryCtxRelease_v2(0);
    gpu_close(&context, "managed");
}

/* Everything that the interface refuses, and its round trip between all places. */
static void interface(void)
{
    enum { BYTES = 3 << 20 };
    static unsigned char from[BYTES], to[BYTES];
    sy_context *context;
    void *a = NULL, *b = NULL, *pinned_memory = NULL;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    for (int i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 7 + i / 256);
    GPU_CHECK(sy_memory_alloc(context, 0, BYTES, &a) == SY_OK &&
                  sy_memory_alloc(context, 1, BYTES, &b) == SY_OK &&
                  sy_memory_alloc(context, SY_MEMORY_PINNED, BYTES, &pinned_memory) == SY_OK,
              "%s", sy_last_error()->text);
    GPU_CHECK(sy_memory_copy(context, pinned_memory, from, BYTES) == SY_OK &&
                  sy_memory_copy(context, a, pinned_memory, BYTES) == SY_OK &&
                  sy_memory_copy(context, b, a, BYTES) == SY_OK &&
                  sy_memory_copy(context, to, b, BYTES) == SY_OK,
              "%s", sy_last_error()->text);
    GPU_CHECK(!memcmp(from, to, BYTES), "other bytes came back");
    GPU_CHECK(sy_memory_alloc(context, 3, 8, &a) == SY_ERR_ARGUMENT, "a device that is not there");
    GPU_CHECK(sy_memory_alloc(context, 0, 0, &a) == SY_ERR_ARGUMENT, "no bytes");
    GPU_CHECK(sy_memory_alloc(context, 0, (size_t)1 << 40, &a) == SY_ERR_MEMORY, "too much");
    GPU_CHECK(sy_memory_free(context, &b) == SY_OK && !b, "%s", sy_last_error()->text);
    gpu_close(&context, "interface");
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    interface();
    foreign();
    managed("gpus=2", "cuda,cpu", NULL);
    managed("gpus=2;1:name=Old,managed=0", "cuda,cpu", "Old");
    managed("gpus=2;1:name=Old,managed=0", "cuda:0,cpu", NULL);
    for (int i = 0; i < 2; i++) {
        in_place(i ? SY_F32 : SY_F64);
        from_peer(i ? SY_F32 : SY_F64);
        link_bytes(i ? SY_F32 : SY_F64);
    }
    pinned();
    learning("cuda:0,cuda:1");
    learning("cuda,cpu");
    learning_apart();
    merging();
    far_doubt();
    combinations();
    return gpu_end();
}
