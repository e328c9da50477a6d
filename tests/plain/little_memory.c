/*
 * A call takes no more than 64 MiB beside its inputs and outputs, however long the row is: the
 * process may grow by no more during each, and none may fail for it. Exits with 1 otherwise.
 */
#define _DEFAULT_SOURCE
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel.h"
#include "support/lab.h"
#include "support/series.h"

/* As doubles one array of floats would be more than is left. */
enum { COLUMNS = 9000000, ARRAYS = 3, LEFT = 64 << 20 };

static double *in[ARRAYS], *out[ARRAYS];
static int failures;

static size_t pages_in_use(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (!file || fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages;
}

/* 0: no more limit. */
static int limit_growth(size_t bytes)
{
    const size_t pages = pages_in_use();
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (bytes && pages == 0)
        return 0;
    if (bytes)
        limit.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + bytes;
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

typedef enum trouble { NONE, STRAIGHT, HOLE, TROUBLES } trouble;

/* High, low and close. */
static void fill(trouble kind, sy_dtype dtype)
{
    series_fill(kind == STRAIGHT ? SERIES_RAMP : SERIES_TICK, 7, in[2], COLUMNS);
    if (kind == HOLE)
        in[2][COLUMNS / 4 * 3] = (double)NAN;
    for (int64_t i = 0; i < COLUMNS; i++) {
        in[0][i] = in[2][i] + 1;
        in[1][i] = in[2][i] - 1;
    }
    for (int k = 0; k < ARRAYS && dtype == SY_F32; k++)
        for (int64_t i = 0; i < COLUMNS; i++)
            ((float *)in[k])[i] = (float)in[k][i];
}

static sy_status run(sy_context *context, const syi_workload *workload, sy_dtype dtype,
                     sy_accuracy accuracy, double period)
{
    const sy_param params[] = {{"period", period, NULL}};
    const sy_param macd[] = {{"fast", period / 2, NULL}, {"slow", period, NULL}};
    const int is_macd = !strcmp(workload->name, "macd");
    const int has_period = workload->n_params > 0 && !strcmp(workload->params[0].name, "period");
    const sy_work work = {.struct_size = sizeof work,
                          .workload = workload->name,
                          .columns = COLUMNS,
                          .inputs = (const void *const *)in,
                          .outputs = (void *const *)out,
                          .params = is_macd ? macd : params,
                          .n_params = is_macd ? 2 : has_period,
                          .dtype = dtype};
    const sy_options options = {.struct_size = sizeof options, .accuracy = accuracy};
    return distribute_workload(context, &work, &options, NULL);
}

static void check(sy_context *context, const syi_workload *workload, sy_dtype dtype,
                  sy_accuracy accuracy, double period)
{
    sy_status status;
    if (!limit_growth(LEFT)) {
        fprintf(stderr, "the process cannot be kept from growing\n");
        failures++;
        return;
    }
    status = run(context, workload, dtype, accuracy, period);
    limit_growth(0);
    malloc_trim(0);
    if (status == SY_OK)
        return;
    fprintf(stderr, "%s of %g %s, accuracy %d: %s\n", workload->name, period,
            dtype == SY_F32 ? "floats" : "doubles", accuracy, sy_last_error()->text);
    failures++;
}

static void check_all(sy_context *context, sy_dtype dtype)
{
    for (int accuracy = SY_ACCURACY_EXACT; accuracy <= SY_ACCURACY_FAST; accuracy++)
        for (int w = 0; syi_builtin(w); w++) {
            check(context, syi_builtin(w), dtype, (sy_accuracy)accuracy, 20);
            if (syi_builtin(w)->halo)
                check(context, syi_builtin(w), dtype, (sy_accuracy)accuracy,
                      !strcmp(syi_builtin(w)->name, "macd") ? 1000 : 5000);
        }
}

int main(void)
{
    sy_context *context = lab_open(LAB_CPU(2), NULL, NULL);
    mallopt(M_ARENA_MAX, 1); /* threads' own ones would reserve more than they use */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    for (int k = 0; k < ARRAYS; k++) {
        in[k] = calloc(COLUMNS, sizeof **in);
        out[k] = calloc(COLUMNS, sizeof **out);
        if (!in[k] || !out[k] || !context)
            return EXIT_FAILURE;
    }
    /* The threads' stacks are theirs for good. */
    if (run(context, syi_builtin(0), SY_F64, SY_ACCURACY_FAST, 20) != SY_OK)
        return EXIT_FAILURE;
    for (int kind = 0; kind < TROUBLES; kind++)
        for (int dtype = SY_F64; dtype <= SY_F32; dtype++) {
            fill((trouble)kind, (sy_dtype)dtype);
            check_all(context, (sy_dtype)dtype);
        }
    for (int k = 0; k < ARRAYS; k++) {
        free(in[k]);
        free(out[k]);
    }
    sy_context_destroy(&context);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
