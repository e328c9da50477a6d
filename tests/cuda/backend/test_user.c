/*
 * A user's own workloads on virtual GPUs, by an image and by a launcher: the bits of the CPU alone
 * for any mix of devices and memory, and clear errors for what is his fault.
 *
 *     test_user DRIVER PTX
 */
#include "gpu_lab.h"

#include "device/cuda/api.h"
#include "steelyard/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 4096, ROWS = 5, COLUMNS = 5 * TILE, LANES = 64 };

/* The simulated driver's own functions, as a user's launcher would call the real one's. */
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuCtxGetDevice(CUdevice *device);

static char *ptx;
static double x[ROWS * COLUMNS], y[ROWS * COLUMNS];
static const char *const names[] = {"a", "b"};
static const sy_param_info params[] = {{"p", "", 0, 10000, 3, 1, NULL}};

/* ---- the CPU forms ---- */

static int map(const sy_segment *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        s->out[0][i] = s->params[0] * s->in[1][i] + s->in[0][i];
        s->out[1][i] = s->in[1][i] * (double)s->row + (double)(s->first + i);
    }
    return 0;
}

static int64_t halo(const double *values)
{
    return (int64_t)values[0];
}

static int window(const sy_segment *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        double sum = 0;
        for (int64_t j = i - halo(s->params) < -s->left ? -s->left : i - halo(s->params); j <= i;
             j += 3)
            sum = sum * 0.999 + s->in[0][j];
        s->out[0][i] = sum;
    }
    return 0;
}

static int reduce(const sy_segment *s, void *partial)
{
    double lanes[LANES] = {0}, *p = partial;
    for (int64_t i = 0; i < s->count; i++)
        lanes[i % LANES] = lanes[i % LANES] * 0.5 + s->in[0][i];
    for (int by = LANES / 2; by > 0; by /= 2)
        for (int lane = 0; lane < by; lane++)
            lanes[lane] += lanes[lane + by];
    p[0] += lanes[0];
    p[1] += (double)s->count;
    p[2] += s->in[0][0] * 3.0;
    return 0;
}

/* Neither commutative nor associative: another order or cut shows. */
static int combine(void *into, const void *right, const double *values)
{
    double *p = into;
    const double *q = right;
    p[0] = p[0] * 0.75 + q[0] * values[0];
    p[1] += q[1];
    p[2] = p[2] * 0.5 - q[2];
    return 0;
}

static int finish(const void *partial, int64_t columns, const double *values, double *out)
{
    const double *p = partial;
    (void)values;
    out[0] = p[0] + p[2];
    out[1] = p[1] - (double)columns;
    return 0;
}

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

/* ---- the workloads ---- */

static sy_workload_def of(const char *name, sy_pattern pattern)
{
    sy_workload_def def = {.struct_size = sizeof def,
                           .name = name,
                           .pattern = pattern,
                           .n_inputs = 2,
                           .n_outputs = pattern == SY_PATTERN_WINDOW ? 1 : 2,
                           .input_names = names,
                           .output_names = names,
                           .params = params,
                           .n_params = 1,
                           .halo = pattern == SY_PATTERN_WINDOW ? halo : NULL,
                           .compute = pattern == SY_PATTERN_WINDOW ? window : map,
                           .gpu_image = ptx,
                           .gpu_kernel = name};
    if (pattern == SY_PATTERN_REDUCE) {
        def.partial_size = 3 * sizeof(double);
        def.reduce = reduce;
        def.combine = combine;
        def.finish = finish;
        def.gpu_threads = LANES;
    }
    return def;
}

static sy_workload_def with_launcher(sy_workload_def def,
                                     int (*launch)(const sy_gpu_place *, const sy_gpu_slab *))
{
    def.gpu_image = NULL;
    def.gpu_kernel = NULL;
    def.gpu_launch = launch;
    return def;
}

static void add(sy_context *context, const sy_workload_def *def)
{
    GPU_CHECK(sy_workload_register(context, def) == SY_OK, "%s: %s", def->name,
              sy_last_error()->text);
}

static void add_all(sy_context *context)
{
    sy_workload_def def = of("user_map", SY_PATTERN_MAP);
    add(context, &def);
    def = of("user_window", SY_PATTERN_WINDOW);
    def.gpu_threads = 64;
    add(context, &def);
    def = of("user_reduce", SY_PATTERN_REDUCE);
    add(context, &def);
    def = with_launcher(of("launch_copy", SY_PATTERN_MAP), launch_copy);
    def.compute = copy;
    def.n_outputs = 1;
    add(context, &def);
    def = with_launcher(of("launch_firsts", SY_PATTERN_REDUCE), launch_firsts);
    def.reduce = first_value;
    add(context, &def);
}

typedef struct result {
    double out[2][ROWS * COLUMNS];
} result;

static sy_status compute(sy_context *context, const char *workload, double p, int64_t rows,
                         int64_t columns, result *r, sy_report *report)
{
    const void *in[] = {x, y};
    void *out[] = {r->out[0], r->out[1]};
    sy_param param = {"p", p, NULL};
    sy_work work = {.struct_size = sizeof work,
                    .workload = workload,
                    .rows = rows,
                    .columns = columns,
                    .inputs = in,
                    .outputs = out,
                    .params = &param,
                    .n_params = 1};
    memset(r, 0xa5, sizeof *r);
    return distribute_workload(context, &work, NULL, report);
}

static result expected, found;

static void same_as_cpu(sy_context *context, const char *workload, double p, int64_t rows,
                        int64_t columns, const char *what)
{
    sy_status reference = compute(gpu_cpu, workload, p, rows, columns, &expected, NULL);
    sy_status status = compute(context, workload, p, rows, columns, &found, NULL);
    GPU_CHECK(reference == SY_OK && status == SY_OK, "%s on %s: %s", workload, what,
              sy_last_error()->text);
    GPU_CHECK(!memcmp(&expected, &found, sizeof found), "%s(%g) on %s, %lld x %lld: other bits",
              workload, p, what, (long long)rows, (long long)columns);
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
            int64_t rows = 1 + series_below(&random, ROWS);
            int64_t columns = series_below(&random, 3) ? 1 + series_below(&random, COLUMNS) : 100;
            double p = (double)series_below(&random, series_below(&random, 2) ? 9 : 400);
            same_as_cpu(context, all[i], p, rows, columns, list);
        }
        vcuda_counters(-1, &counts);
        launches += counts.launches;
        gpu_close(&context, list);
    }
    GPU_CHECK(launches > 100, "%llu launches", (unsigned long long)launches);
    GPU_CHECK(launched > 20 && !misplaced, "%d launchers, %d misplaced", launched, misplaced);
}

/* Runs a workload that must fail; its error tells `words`. */
static void refused(const sy_workload_def *def, const char *words)
{
    sy_context *context;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    add(context, def);
    GPU_CHECK(compute(context, def->name, 3, 3, COLUMNS, &found, NULL) == SY_ERR_USER &&
                  lab_told(SY_ERR_USER) && strstr(sy_last_error()->text, words),
              "%s: '%s'", def->name, sy_last_error()->text);
    gpu_close(&context, words);
}

static void his_faults(void)
{
    sy_workload_def def = of("user_map", SY_PATTERN_MAP);
    def.gpu_image = "this is no PTX";
    refused(&def, "its GPU image cannot be used");
    def = of("user_map", SY_PATTERN_MAP);
    def.gpu_kernel = "no_such_kernel";
    refused(&def, "its GPU image has no such kernel");
    def = with_launcher(of("launch_copy", SY_PATTERN_MAP), launch_copy);
    def.compute = copy;
    def.n_outputs = 1;
    launcher_code = 7;
    refused(&def, "its launcher returned 7");
    GPU_CHECK(sy_last_error()->native_code == 7, "native code %d", sy_last_error()->native_code);
    launcher_code = 0;
}

/* A kernel that writes where it must not takes the GPU with it, not the result. */
static void wild_kernel(void)
{
    sy_workload_def def = of("user_map", SY_PATTERN_MAP);
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    def.gpu_kernel = "user_wild";
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    add(context, &def);
    GPU_CHECK(compute(gpu_cpu, "user_map", 3, 3, COLUMNS, &expected, NULL) == SY_OK &&
                  compute(context, "user_map", 3, 3, COLUMNS, &found, &report) == SY_OK,
              "%s", sy_last_error()->text);
    GPU_CHECK(!memcmp(&expected, &found, sizeof found), "other bits");
    GPU_CHECK(report.n_devices == 2 && !strcmp(report.devices[0].state, "failed"), "state");
    sy_report_clear(&report);
    sy_context_destroy(&context);
}

/* Definitions that make no sense, or whose GPU form an older header does not have. */
static void definitions(void)
{
    sy_workload_def def = of("user_map", SY_PATTERN_MAP);
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    def.gpu_launch = launch_copy;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "both forms");
    def = of("user_map", SY_PATTERN_MAP);
    def.gpu_kernel = NULL;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "an image without a name");
    def = of("user_map", SY_PATTERN_MAP);
    def.gpu_threads = 1025;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "1025 threads");
    def = of("user_map", SY_PATTERN_MAP);
    def.gpu_shared_bytes = (48 << 10) + 1;
    GPU_CHECK(sy_workload_register(context, &def) == SY_ERR_ARGUMENT, "too much shared memory");
    def = of("user_map", SY_PATTERN_MAP);
    def.struct_size = offsetof(sy_workload_def, gpu_image);
    add(context, &def);
    same_as_cpu(context, "user_map", 2, 2, COLUMNS, "the CPU of an older program");
    gpu_close(&context, "definitions");
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    add(context, &def);
    GPU_CHECK(compute(context, "user_map", 2, 2, COLUMNS, &found, NULL) == SY_ERR_NO_DEVICE,
              "a GPU without a form");
    gpu_close(&context, "a GPU without a form");
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
        GPU_CHECK(compute(gpu_cpu, "user_reduce", 3, 1, COLUMNS, &expected, NULL) == SY_OK, "CPU");
        if (context && compute(context, "user_reduce", 3, 1, COLUMNS, &found, NULL) == SY_OK)
            GPU_CHECK(!memcmp(&expected, &found, sizeof found), "%s: other bits", fault);
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
    enum { MOST_TEXT = 1 << 20 };
    FILE *file = argc > 2 ? fopen(argv[2], "rb") : NULL;
    uint64_t random = 5;
    ptx = calloc(1, MOST_TEXT);
    if (!file || !ptx || !fread(ptx, 1, MOST_TEXT - 1, file) || !gpu_begin(2, argv))
        return 2;
    fclose(file);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        x[i] = (double)series_below(&random, 1000000) / 997.0;
        y[i] = (double)series_below(&random, 1000000) / -1013.0;
    }
    add_all(gpu_cpu);
    mixed_cases();
    his_faults();
    wild_kernel();
    definitions();
    faults();
    free(ptx);
    return gpu_end();
}
