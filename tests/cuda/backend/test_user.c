/*
 * A user's own workloads on virtual GPUs, by an image and by a launcher: the bits of the CPU alone
 * for any mix of devices and memory, and clear errors for what is his fault.
 *
 *     test_user DRIVER PTX
 */
#include "user_lab.h"

#include "device/cuda/api.h"
#include "steelyard/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The simulated driver's own functions, as a user's launcher would call the real one's. */
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuCtxGetDevice(CUdevice *device);

static int copy(const sy_segment *s)
{
    memcpy(s->out[0], s->in[0], (size_t)s->count * sizeof(double));
    return 0;
}

static int first_value(const sy_segment *s, void *partial)
{
    memcpy(partial, s->in[0], sizeof(double));
    return 0;
}

/* ---- launchers ---- */

static int launcher_code; /* what they return */
static int launched, misplaced;

static void look_at(const sy_gpu_place *place)
{
    CUdevice device = -1;
    cuCtxGetDevice(&device);
    __atomic_fetch_add(&launched, 1, __ATOMIC_RELAXED);
    if (device != place->ordinal || !place->stream || place->units != 16)
        __atomic_fetch_add(&misplaced, 1, __ATOMIC_RELAXED);
}

static int launch_copy(const sy_gpu_place *place, const sy_gpu_slab *slab)
{
    look_at(place);
    if (launcher_code)
        return launcher_code;
    return (int)cuMemcpyDtoDAsync_v2((uintptr_t)slab->out[0], (uintptr_t)slab->in[0],
                                     (size_t)(slab->rows * slab->columns) * sizeof(double),
                                     place->stream);
}

static int launch_firsts(const sy_gpu_place *place, const sy_gpu_slab *slab)
{
    CUresult result = CUDA_SUCCESS;
    look_at(place);
    for (int64_t t = 0; t < slab->tiles && result == CUDA_SUCCESS; t++)
        result = cuMemcpyDtoDAsync_v2((uintptr_t)slab->partials + (size_t)t * 3 * sizeof(double),
                                      (uintptr_t)(slab->in[0] +
                                                  t / slab->tiles_per_row * slab->in_stride +
                                                  t % slab->tiles_per_row * slab->tile_columns),
                                      sizeof(double), place->stream);
    return (int)result;
}

static int launch_nothing(const sy_gpu_place *place, const sy_gpu_slab *slab)
{
    (void)slab;
    look_at(place);
    return 0;
}

/* ---- the workloads ---- */

static sy_workload_def with_launcher(sy_workload_def def,
                                     int (*launch)(const sy_gpu_place *, const sy_gpu_slab *))
{
    def.gpu_image = NULL;
    def.gpu_kernel = NULL;
    def.gpu_launch = launch;
    return def;
}

static void add_all(sy_context *context)
{
    sy_workload_def def = user_def("user_map", SY_PATTERN_MAP);
    user_add(context, &def);
    def = user_def("user_window", SY_PATTERN_WINDOW);
    def.gpu_threads = 64;
    user_add(context, &def);
    def = user_def("user_reduce", SY_PATTERN_REDUCE);
    user_add(context, &def);
    def = with_launcher(user_def("launch_copy", SY_PATTERN_MAP), launch_copy);
    def.compute = copy;
    def.n_outputs = 1;
    user_add(context, &def);
    def = with_launcher(user_def("launch_firsts", SY_PATTERN_REDUCE), launch_firsts);
    def.reduce = first_value;
    user_add(context, &def);
}

/* ---- tests ---- */

static void mixed_cases(void)
{
    static const char *const lists[] = {"cuda", "cuda,cpu", "cuda:0", "cuda:0,sim:a:speed=1e6,cpu"};
    static const char *const all[] = {"user_map", "user_window", "user_reduce", "launch_copy",
                                      "launch_firsts"};
    uint64_t random = gpu_seed, launches = 0;
    for (int world = 0; world < 24; world++) {
        const char *list = lists[series_below(&random, 4)];
        char setup[32];
        vcuda_counts counts;
        sy_context *context;
        snprintf(setup, sizeof setup, "gpus=%d", 1 + (int)series_below(&random, 4));
        gpu_world(setup, world % 3 ? NULL : "random", (uint64_t)world + 1);
        context = gpu_open(list, world % 2 ? 0 : 500000, 0, NULL);
        if (context)
            add_all(context);
        for (int i = 0; context && i < 5; i++) {
            int64_t rows = 1 + series_below(&random, USER_ROWS);
            int64_t columns =
                series_below(&random, 3) ? 1 + series_below(&random, USER_COLUMNS) : 100;
            double p = (double)series_below(&random, series_below(&random, 2) ? 9 : 400);
            user_same_as_cpu(context, all[i], p, rows, columns, list);
        }
        vcuda_counters(-1, &counts);
        launches += counts.launches;
        gpu_close(&context, list);
    }
    GPU_CHECK(launches > 100, "%llu launches", (unsigned long long)launches);
    GPU_CHECK(launched > 20 && !misplaced, "%d launchers, %d misplaced", launched, misplaced);
}

/* Arrays of floats: kernels and launchers get doubles and give doubles, and what is rounded to
 * floats has the CPU's bits. */
static void floats(void)
{
    static const char *const all[] = {"user_map", "user_window", "user_reduce", "launch_copy",
                                      "launch_firsts"};
    const int launched_before = launched;
    user_dtype = SY_F32;
    for (int turn = 0; turn < 4; turn++) {
        const char *list = turn % 2 ? "cuda,cpu:threads=1" : "cuda";
        vcuda_counts counts;
        sy_context *context;
        gpu_world(turn < 2 ? "gpus=1" : "gpus=3", turn ? "random" : NULL, gpu_seed);
        context = gpu_open(list, turn == 2 ? 500000 : 0, 0, NULL);
        add_all(context);
        for (int i = 0; i < 5; i++) {
            user_same_as_cpu(context, all[i], 5, 3, USER_COLUMNS - 77, list);
            user_same_as_cpu(context, all[i], 2, USER_ROWS, 100, list);
        }
        vcuda_counters(-1, &counts);
        GPU_CHECK(counts.launches >= 10, "%s: %llu launches", list,
                  (unsigned long long)counts.launches);
        gpu_close(&context, list);
    }
    user_dtype = SY_F64;
    GPU_CHECK(launched > launched_before, "no launcher was called");
}

/* Runs a workload that must fail; its error tells `words`. */
static void fails(const sy_workload_def *def, const char *words)
{
    sy_context *context;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    user_add(context, def);
    GPU_CHECK(user_compute(context, def->name, 3, 3, USER_COLUMNS, &user_found, NULL) ==
                      SY_ERR_USER &&
                  lab_told(SY_ERR_USER) && strstr(sy_last_error()->text, words),
              "%s: '%s'", def->name, sy_last_error()->text);
    gpu_close(&context, words);
}

static void his_faults(void)
{
    sy_workload_def def = user_def("user_map", SY_PATTERN_MAP);
    def.gpu_kernel = "no_such_kernel";
    fails(&def, "its GPU image has no such kernel");
    def.gpu_kernel = "user_two";
    fails(&def, "its kernel takes something else");
    def.gpu_kernel = "user_number";
    fails(&def, "its kernel takes something else");
    def = with_launcher(user_def("launch_copy", SY_PATTERN_MAP), launch_copy);
    def.compute = copy;
    def.n_outputs = 1;
    launcher_code = 7;
    fails(&def, "its launcher returned 7");
    GPU_CHECK(sy_last_error()->native_code == 7, "native code %d", sy_last_error()->native_code);
    launcher_code = 0;
}

/* A launcher that returns what the driver told it of a GPU that is lost: others do its part. */
static void lost_launcher(void)
{
    sy_workload_def def = with_launcher(user_def("launch_copy", SY_PATTERN_MAP), launch_copy);
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    def.compute = copy;
    def.n_outputs = 1;
    gpu_world("gpus=1;*:sms=16", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    user_add(context, &def);
    GPU_CHECK(vcuda_fault("device=0,call=cuMemcpyDtoDAsync,after=0,lost") == 0, "%s",
              vcuda_message());
    user_same_as_cpu(context, "launch_copy", 3, 3, USER_COLUMNS, "a lost launcher");
    GPU_CHECK(user_compute(context, "launch_copy", 3, 3, USER_COLUMNS, &user_found, &report) ==
                      SY_OK &&
                  !strcmp(report.devices[0].state, "failed"),
              "%s", sy_last_error()->text);
    sy_report_clear(&report);
    gpu_close(&context, "a lost launcher");
}

/* A kernel that writes where it must not takes the GPU with it, not the result. */
static void wild_kernel(void)
{
    sy_workload_def def = user_def("user_map", SY_PATTERN_MAP);
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    def.gpu_kernel = "user_wild";
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    user_add(context, &def);
    GPU_CHECK(
        user_compute(gpu_cpu, "user_map", 3, 3, USER_COLUMNS, &user_expected, NULL) == SY_OK &&
            user_compute(context, "user_map", 3, 3, USER_COLUMNS, &user_found, &report) == SY_OK,
        "%s", sy_last_error()->text);
    GPU_CHECK(!memcmp(&user_expected, &user_found, sizeof user_found), "other bits");
    GPU_CHECK(report.n_devices == 2 && !strcmp(report.devices[0].state, "failed"), "state");
    sy_report_clear(&report);
    sy_context_destroy(&context);
}

/* Definitions that make no sense, or whose GPU form an older header does not have. */
static void definitions(void)
{
    sy_workload_def def = user_def("user_map", SY_PATTERN_MAP);
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    def.gpu_launch = launch_copy;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "both forms");
    def = user_def("user_map", SY_PATTERN_MAP);
    def.gpu_kernel = NULL;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "an image without a name");
    def = user_def("user_map", SY_PATTERN_MAP);
    def.gpu_threads = 1025;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "1025 threads");
    def = user_def("user_map", SY_PATTERN_MAP);
    def.gpu_shared_bytes = (48 << 10) + 1;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "too much shared memory");
    def = user_def("user_map", SY_PATTERN_MAP);
    def.struct_size = offsetof(sy_workload_def, gpu_image);
    user_add(context, &def);
    user_same_as_cpu(context, "user_map", 2, 2, USER_COLUMNS, "the CPU of an older program");
    gpu_close(&context, "definitions");
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    user_add(context, &def);
    GPU_CHECK(user_compute(context, "user_map", 2, 2, USER_COLUMNS, &user_found, NULL) ==
                  SY_ERR_NO_DEVICE,
              "a GPU without a form");
    gpu_close(&context, "a GPU without a form");
}

/* However large arrays in plain memory are, what is pinned to stage them has a limit. */
static void much_staging(void)
{
    enum { INPUTS = 8, MOST_PINNED = 1 << 28 };
    static const char *const inputs[INPUTS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    const int64_t columns = 1 << 23;
    sy_workload_def def = with_launcher(user_def("wide", SY_PATTERN_MAP), launch_nothing);
    double *in = calloc((size_t)columns, sizeof *in), *out = calloc((size_t)columns, sizeof *out);
    const void *ins[INPUTS];
    sy_param param = {"p", 1, NULL};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "wide",
                    .columns = columns,
                    .inputs = ins,
                    .outputs = (void *const[]){out},
                    .params = &param,
                    .n_params = 1};
    sy_context *context;
    vcuda_counts counts;
    def.n_inputs = INPUTS;
    def.input_names = inputs;
    def.n_outputs = 1;
    for (int k = 0; k < INPUTS; k++)
        ins[k] = in;
    gpu_world("gpus=1;*:memory=16GiB", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    user_add(context, &def);
    GPU_CHECK(in && out && distribute_workload(context, &work, NULL, NULL) == SY_OK, "%s",
              sy_last_error()->text);
    vcuda_counters(-1, &counts);
    printf("staging of %lld MiB: at most %llu bytes pinned\n",
           (long long)columns * (INPUTS + 1) * 8 >> 20, (unsigned long long)counts.peak_pinned);
    GPU_CHECK(counts.peak_pinned <= MOST_PINNED, "%llu bytes pinned",
              (unsigned long long)counts.peak_pinned);
    gpu_close(&context, "much staging");
    free(in);
    free(out);
}

/* Every driver call fails in turn: the right bits or an error, and nothing left. */
static void faults(void)
{
    int fired = 0;
    for (int k = 0;; k++) {
        char fault[80];
        vcuda_counts counts;
        sy_context *context;
        snprintf(fault, sizeof fault, "device=any,call=any,after=%d,error=CUDA_ERROR_UNKNOWN", k);
        gpu_world("gpus=1", NULL, 0);
        GPU_CHECK(vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
        context = gpu_open("cuda,cpu", 0, 0, NULL);
        if (context)
            add_all(context);
        GPU_CHECK(user_compute(gpu_cpu, "user_reduce", 3, 1, USER_COLUMNS, &user_expected, NULL) ==
                      SY_OK,
                  "CPU");
        if (context &&
            user_compute(context, "user_reduce", 3, 1, USER_COLUMNS, &user_found, NULL) == SY_OK)
            GPU_CHECK(!memcmp(&user_expected, &user_found, sizeof user_found), "%s: other bits",
                      fault);
        vcuda_counters(-1, &counts);
        gpu_close(&context, fault);
        if (!counts.faults)
            break;
        fired++;
    }
    GPU_CHECK(fired > 20, "only %d faults fired", fired);
}

int main(int argc, char **argv)
{
    if (!user_begin(argc, argv))
        return 2;
    add_all(gpu_cpu);
    mixed_cases();
    floats();
    his_faults();
    lost_launcher();
    wild_kernel();
    definitions();
    much_staging();
    faults();
    return user_end();
}
