/* The workloads, and runs of them. */
#include "user_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *user_ptx;
sy_dtype user_dtype;

static double x[USER_ROWS * USER_COLUMNS], y[USER_ROWS * USER_COLUMNS];
static float narrow_x[USER_ROWS * USER_COLUMNS], narrow_y[USER_ROWS * USER_COLUMNS];
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
    double lanes[USER_LANES] = {0}, *p = partial;
    for (int64_t i = 0; i < s->count; i++)
        lanes[i % USER_LANES] = lanes[i % USER_LANES] * 0.5 + s->in[0][i];
    for (int by = USER_LANES / 2; by > 0; by /= 2)
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

/* ---- the workloads ---- */

sy_workload_def user_def(const char *name, sy_pattern pattern)
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
                           .gpu_image = user_ptx,
                           .gpu_kernel = name};
    if (pattern == SY_PATTERN_REDUCE) {
        def.partial_size = 3 * sizeof(double);
        def.reduce = reduce;
        def.combine = combine;
        def.finish = finish;
        def.gpu_threads = USER_LANES;
        def.gpu_shared_bytes = USER_LANES * sizeof(double);
    }
    return def;
}

void user_add(sy_context *context, const sy_workload_def *def)
{
    GPU_CHECK(sy_workload_register(context, def) == SY_OK, "%s: %s", def->name,
              sy_last_error()->text);
}

sy_status user_compute(sy_context *context, const char *workload, double p, int64_t rows,
                       int64_t columns, user_result *r, sy_report *report)
{
    const int narrow = user_dtype == SY_F32;
    const void *in[] = {narrow ? (void *)narrow_x : x, narrow ? (void *)narrow_y : y};
    void *out[] = {r->out[0], r->out[1]};
    sy_param param = {"p", p, NULL};
    sy_work work = {.struct_size = sizeof work,
                    .workload = workload,
                    .rows = rows,
                    .columns = columns,
                    .inputs = in,
                    .outputs = out,
                    .params = &param,
                    .n_params = 1,
                    .dtype = user_dtype};
    memset(r, 0xa5, sizeof *r);
    return distribute_workload(context, &work, NULL, report);
}

user_result user_expected, user_found;

void user_same_as_cpu(sy_context *context, const char *workload, double p, int64_t rows,
                      int64_t columns, const char *what)
{
    sy_status reference = user_compute(gpu_cpu, workload, p, rows, columns, &user_expected, NULL);
    sy_status status = user_compute(context, workload, p, rows, columns, &user_found, NULL);
    GPU_CHECK(reference == SY_OK && status == SY_OK, "%s on %s: %s", workload, what,
              sy_last_error()->text);
    GPU_CHECK(!memcmp(&user_expected, &user_found, sizeof user_found),
              "%s(%g) on %s, %lld x %lld: other bits", workload, p, what, (long long)rows,
              (long long)columns);
}

int user_begin(int argc, char **argv)
{
    enum { MOST_TEXT = 1 << 20 };
    FILE *file = argc > 2 ? fopen(argv[2], "rb") : NULL;
    uint64_t random = 5;
    user_ptx = calloc(1, MOST_TEXT);
    if (!file || !user_ptx || !fread(user_ptx, 1, MOST_TEXT - 1, file) || !gpu_begin(2, argv))
        return 0;
    fclose(file);
    for (int i = 0; i < USER_ROWS * USER_COLUMNS; i++) {
        x[i] = (double)series_below(&random, 1000000) / 997.0;
        y[i] = (double)series_below(&random, 1000000) / -1013.0;
        narrow_x[i] = (float)x[i];
        narrow_y[i] = (float)y[i];
    }
    return 1;
}

int user_end(void)
{
    free(user_ptx);
    return gpu_end();
}
