/*
 * A workload of one's own that runs on GPUs as well: the highest of the last `period` values. The
 * CPU form is in here, the GPU form is a kernel in CUDA C, compiled to PTX:
 *
 *     nvcc -ptx --fmad=false $(pkg-config --cflags steelyard) own_gpu_workload.cu
 *     cc own_gpu_workload.c $(pkg-config --cflags --libs steelyard)
 *     ./a.out own_gpu_workload.ptx
 *
 * It computes a series on the CPU alone, then on every GPU and the CPU together, and compares. A
 * second argument names another CUDA driver's library than the system's.
 */
#include <steelyard/steelyard.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100000 };

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

static int compute_on(const char *devices, const char *driver, const char *ptx, const double *x,
                      double *y)
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
    sy_config config = {.struct_size = sizeof config, .devices = devices, .cuda_driver = driver};
    sy_context *context = NULL;
    const void *in[] = {x};
    void *out[] = {y};
    sy_param period = {"period", 20, NULL};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "highest",
                    .columns = COLUMNS,
                    .inputs = in,
                    .outputs = out,
                    .params = &period,
                    .n_params = 1};
    sy_report report = {.struct_size = sizeof report};
    sy_status status = sy_context_create(&config, &context);
    if (status == SY_OK)
        status = sy_workload_register(context, &definition);
    if (status == SY_OK)
        status = distribute_workload(context, &work, NULL, &report);
    if (status != SY_OK)
        fprintf(stderr, "%s: %s\n", devices, sy_last_error()->text);
    for (int i = 0; i < report.n_devices; i++)
        printf("%s: %lld tiles\n", report.devices[i].name, (long long)report.devices[i].tiles);
    sy_report_clear(&report);
    sy_context_destroy(&context);
    return status == SY_OK;
}

int main(int argc, char **argv)
{
    static double x[COLUMNS], alone[COLUMNS], together[COLUMNS];
    const char *driver = argc > 2 ? argv[2] : NULL;
    char *ptx = argc > 1 ? read_ptx(argv[1]) : NULL;
    int done;
    if (!ptx) {
        fprintf(stderr, "usage: %s KERNEL.ptx [DRIVER]\n", argv[0]);
        return EXIT_FAILURE;
    }
    for (int i = 0; i < COLUMNS; i++)
        x[i] = 100 + (i * 7919LL % 1000) / 100.0;
    done = compute_on("cpu", driver, ptx, x, alone) && compute_on("auto", driver, ptx, x, together);
    free(ptx);
    if (!done)
        return EXIT_FAILURE;
    if (memcmp(alone, together, sizeof alone) != 0) {
        fprintf(stderr, "the devices changed the result\n");
        return EXIT_FAILURE;
    }
    puts("the same bits on the CPU alone and with the GPUs");
    return EXIT_SUCCESS;
}
