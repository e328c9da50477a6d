/*
 * A workload of one's own that runs on GPUs as well: the highest of the last `period` values. The
 * CPU form is in here, the GPU form is a kernel in CUDA C, compiled to PTX:
 *
 *     nvcc -ptx --fmad=false $(pkg-config --cflags steelyard) own_gpu_workload.cu
 *     cc own_gpu_workload.c $(pkg-config --cflags --libs steelyard)
 *     ./a.out own_gpu_workload.ptx
 *
 * It computes a series on the CPU alone, on the GPUs alone, and on all of them together, and
 * compares. A second argument names another CUDA driver's library than the system's.
 */
#include <steelyard/steelyard.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than 64 tiles of 4,096 columns: smaller works of unknown cost are not divided. */
enum { COLUMNS = 300000 };

static const char *const inputs[] = {"x"};
static const char *const outputs[] = {"highest"};
static const sy_param_info params[] = {
    {"period", "values in a window", 1, 1000, 55, 1, NULL},
};

static int64_t halo(const double *values)
{
    return (int64_t)values[0] - 1;
}

/* One tile; the same comparisons as in the kernel. */
static int highest(const sy_segment *segment)
{
    const double *x = segment->in[0];
    int64_t period = (int64_t)segment->params[0];
    for (int64_t i = 0; i < segment->count; i++) {
        int64_t from = i - (period - 1) < -segment->left ? -segment->left : i - (period - 1);
        double best = x[from];
        for (int64_t j = from + 1; j <= i; j++)
            best = x[j] > best ? x[j] : best;
        segment->out[0][i] = best;
    }
    return 0;
}

/* A text file with a zero byte behind it; the caller frees it. */
static char *read_ptx(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 &&
        fseek(file, 0, SEEK_SET) == 0 && (text = calloc((size_t)size + 1, 1)) &&
        fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* Prints what each device did; gives the tiles that GPUs computed. */
static int64_t print_shares(const sy_report *report)
{
    int64_t on_gpus = 0;
    for (int i = 0; i < report->n_devices; i++) {
        const sy_device_report *device = &report->devices[i];
        printf("  %s: %lld tiles\n", device->name, (long long)device->tiles);
        if (strncmp(device->id, "cuda:", strlen("cuda:")) == 0)
            on_gpus += device->tiles;
    }
    return on_gpus;
}

static sy_status compute(sy_context *context, const double *x, double *y, int64_t *on_gpus)
{
    const void *in[] = {x};
    void *out[] = {y};
    const sy_param period = {"period", 20, NULL};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = "highest",
                          .columns = COLUMNS,
                          .inputs = in,
                          .outputs = out,
                          .params = &period,
                          .n_params = 1};
    sy_report report = {.struct_size = sizeof report};
    sy_status status = distribute_workload(context, &work, NULL, &report);
    if (status == SY_OK)
        *on_gpus = print_shares(&report);
    sy_report_clear(&report);
    return status;
}

/* Gives 0 when it failed. */
static int compute_on(const char *devices, const char *driver, const char *ptx, const double *x,
                      double *y, int64_t *on_gpus)
{
    const sy_workload_def definition = {
        .struct_size = sizeof definition,
        .name = "highest",
        .version = 1,
        .pattern = SY_PATTERN_WINDOW,
        .n_inputs = 1,
        .n_outputs = 1,
        .input_names = inputs,
        .output_names = outputs,
        .params = params,
        .n_params = 1,
        .halo = halo,
        .compute = highest,
        .gpu_image = ptx,
        .gpu_kernel = "highest",
        .gpu_threads = 128,
    };
    const sy_config config = {
        .struct_size = sizeof config, .devices = devices, .cuda_driver = driver};
    sy_context *context = NULL;
    sy_status status;
    printf("%s:\n", devices);
    status = sy_context_create(&config, &context);
    if (status == SY_OK)
        status = sy_workload_register(context, &definition);
    if (status == SY_OK)
        status = compute(context, x, y, on_gpus);
    if (status != SY_OK)
        fprintf(stderr, "%s: %s\n", devices, sy_last_error()->text);
    sy_context_destroy(&context);
    return status == SY_OK;
}

/* The CPU, the GPUs, and all together; gives 0 unless the bits are the same. */
static int compare(const char *driver, const char *ptx)
{
    static const char *const with_gpus[] = {"cuda", "cuda,cpu"};
    static double x[COLUMNS], alone[COLUMNS], again[COLUMNS];
    int64_t on_gpus = 0;
    for (int i = 0; i < COLUMNS; i++)
        x[i] = 100 + (double)(i * 7919LL % 1000) / 100.0;
    if (!compute_on("cpu", driver, ptx, x, alone, &on_gpus))
        return 0;
    for (int i = 0; i < 2; i++) {
        memset(again, 0, sizeof again);
        if (!compute_on(with_gpus[i], driver, ptx, x, again, &on_gpus))
            return 0;
        if (on_gpus == 0) {
            fprintf(stderr, "%s: no GPU has computed anything\n", with_gpus[i]);
            return 0;
        }
        if (memcmp(alone, again, sizeof alone) != 0) {
            fprintf(stderr, "%s: the result is another one than the CPU's\n", with_gpus[i]);
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    char *ptx = argc > 1 ? read_ptx(argv[1]) : NULL;
    int right;
    if (!ptx) {
        fprintf(stderr, "usage: %s KERNEL.ptx [DRIVER]\n", argv[0]);
        return EXIT_FAILURE;
    }
    right = compare(argc > 2 ? argv[2] : NULL, ptx);
    free(ptx);
    if (!right)
        return EXIT_FAILURE;
    puts("the same bits on the CPU, on the GPUs and on all of them");
    return EXIT_SUCCESS;
}
