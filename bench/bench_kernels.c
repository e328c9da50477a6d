/*
 * Workloads against textbook loops, on one thread: bench_kernels [COLUMNS]... Both sides run in
 * turn on the same data; each line is JSON with the median and the least time per element. The
 * loops are the formulas as one would write them, without any care for accuracy or for the split.
 */
#define _POSIX_C_SOURCE 200809L
#include <steelyard/steelyard.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PASSES = 7, MAX_OUTPUTS = 3 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- textbook loops ---- */

static void sma_loop(const double *x, double *const *out, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        out[0][i] = i >= 19 ? sum / 20 : NAN;
        if (i >= 19)
            sum -= x[i - 19];
    }
}

static void bands_loop(const double *x, double *const *out, int64_t n)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        if (i >= 19) {
            double mean = sum / 20, deviation = sqrt(fmax(squares / 20 - mean * mean, 0));
            out[0][i] = mean + 2 * deviation;
            out[1][i] = mean;
            out[2][i] = mean - 2 * deviation;
            sum -= x[i - 19];
            squares -= x[i - 19] * x[i - 19];
        } else {
            out[0][i] = out[1][i] = out[2][i] = NAN;
        }
    }
}

static void ema_loop(const double *x, double *const *out, int64_t n)
{
    double value = x[0];
    for (int64_t i = 0; i < n; i++)
        out[0][i] = value += 2.0 / 21 * (x[i] - value);
}

static void macd_loop(const double *x, double *const *out, int64_t n)
{
    double fast = x[0], slow = x[0], signal = 0;
    for (int64_t i = 0; i < n; i++) {
        fast += 2.0 / 13 * (x[i] - fast);
        slow += 2.0 / 27 * (x[i] - slow);
        signal += 2.0 / 10 * (fast - slow - signal);
        out[0][i] = fast - slow;
        out[1][i] = signal;
        out[2][i] = fast - slow - signal;
    }
}

static void sum_loop(const double *x, double *const *out, int64_t n)
{
    double lane[8] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            lane[k] += x[i + k];
    for (; i < n; i++)
        sum += x[i];
    for (int k = 0; k < 8; k++)
        sum += lane[k];
    out[0][0] = sum;
}

static const struct {
    const char *workload;
    int outputs;
    void (*loop)(const double *x, double *const *out, int64_t n);
} cases[] = {
    {"sma", 1, sma_loop},   {"bollinger", 3, bands_loop}, {"ema", 1, ema_loop},
    {"macd", 3, macd_loop}, {"sum", 1, sum_loop},
};

/* ---- measuring ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds for one pass of ours (workload != NULL) or of the loop, repeated until it is long
 * enough to be timed; < 0: failed. */
static double time_pass(sy_context *context, int which, const double *x, double *const *out,
                        int64_t n, int ours)
{
    const void *in[] = {x};
    void *results[MAX_OUTPUTS];
    sy_work work = {.struct_size = sizeof work,
                    .workload = cases[which].workload,
                    .columns = n,
                    .inputs = in,
                    .outputs = results};
    for (int k = 0; k < MAX_OUTPUTS; k++)
        results[k] = out[k];
    for (int64_t times = 1;; times *= 2) {
        double began = now_ns(), took;
        for (int64_t i = 0; i < times; i++)
            if (!ours)
                cases[which].loop(x, out, n);
            else if (distribute_workload(context, &work, NULL, NULL) != SY_OK)
                return -1;
        took = now_ns() - began;
        if (took > 5e6)
            return took / (double)times;
    }
}

static int measure(sy_context *context, int which, const double *x, double *const *out, int64_t n)
{
    double ours[PASSES], loop[PASSES];
    for (int pass = 0; pass < PASSES; pass++) {
        loop[pass] = time_pass(context, which, x, out, n, 0) / (double)n;
        ours[pass] = time_pass(context, which, x, out, n, 1) / (double)n;
        if (ours[pass] < 0) {
            fprintf(stderr, "bench_kernels: %s\n", sy_last_error()->text);
            return 0;
        }
    }
    qsort(ours, PASSES, sizeof *ours, ascending);
    qsort(loop, PASSES, sizeof *loop, ascending);
    printf("{\"workload\": \"%s\", \"columns\": %lld, \"ns\": %.3f, \"ns_least\": %.3f, "
           "\"textbook_ns\": %.3f, \"textbook_ns_least\": %.3f, \"ratio\": %.3f}\n",
           cases[which].workload, (long long)n, ours[PASSES / 2], ours[0], loop[PASSES / 2],
           loop[0], ours[PASSES / 2] / loop[PASSES / 2]);
    fflush(stdout);
    return 1;
}

static int measure_size(sy_context *context, int64_t n)
{
    double *x = malloc((size_t)n * sizeof *x), *out[MAX_OUTPUTS];
    int fine = x != NULL;
    uint64_t random = 88172645463325252u;
    int64_t ticks = 10000;
    for (int k = 0; k < MAX_OUTPUTS; k++)
        fine &= (out[k] = malloc((size_t)n * sizeof *out[k])) != NULL;
    for (int64_t i = 0; fine && i < n; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        ticks += (int64_t)(random >> 33) % 21 - 10;
        x[i] = (double)(ticks < 1000 ? ticks = 1000 : ticks) / 100;
    }
    if (!fine)
        fprintf(stderr, "bench_kernels: no memory for %lld columns\n", (long long)n);
    for (size_t i = 0; fine && i < sizeof cases / sizeof *cases; i++)
        fine = measure(context, (int)i, x, out, n);
    for (int k = 0; k < MAX_OUTPUTS; k++)
        free(out[k]);
    free(x);
    return fine;
}

int main(int argc, char **argv)
{
    static char *defaults[] = {"10000", "1000000"};
    char **sizes = argc > 1 ? argv + 1 : defaults;
    int count = argc > 1 ? argc - 1 : 2, fine = 1;
    sy_config config = {.struct_size = sizeof config, .devices = "cpu:threads=1"};
    sy_context *context = NULL;
#ifndef __OPTIMIZE__
    fprintf(stderr, "bench_kernels: this is a debug build; configure with --buildtype=release\n");
    return 1;
#endif
    if (sy_context_create(&config, &context) != SY_OK) {
        fprintf(stderr, "bench_kernels: %s\n", sy_last_error()->text);
        return 1;
    }
    for (int i = 0; fine && i < count; i++) {
        long long n = atoll(sizes[i]);
        if (n < 1)
            fprintf(stderr, "bench_kernels: '%s' is no number of columns\n", sizes[i]);
        fine = n >= 1 && measure_size(context, n);
    }
    sy_context_destroy(&context);
    return !fine;
}
