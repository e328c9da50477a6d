/*
 * Many threads at once: distribute_workload on one shared context and on contexts of their own, all
 * workloads, every output compared with what one thread got before. No test framework, so that a
 * thread sanitizer sees the library alone. Exits with 1 at a wrong bit or status.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "support/lab.h"
#include "support/series.h"

enum { THREADS = 6, ROUNDS = 12, ROWS = 3, COLUMNS = 9000, WORKLOADS = 8 };

#define DEVICES "sim:a:speed=1e6,sim:b:speed=3e6:fail=oom@9," LAB_CPU(2)

static const char *const workloads[WORKLOADS] = {"sma",  "rolling_std", "bollinger", "ema",
                                                 "macd", "sum",         "mean",      "variance"};
static double x[ROWS * COLUMNS];
static lab_case expected[WORKLOADS];
static sy_context *shared;
static atomic_int wrong;

static lab_case make(int w)
{
    return (lab_case){.workload = workloads[w], .rows = ROWS, .columns = COLUMNS, .x = x};
}

static void run_one(sy_context *context, int w)
{
    lab_case c = make(w);
    sy_report report = {.struct_size = sizeof report};
    int output = 0;
    if (!lab_prepare(&c) || lab_run(context, &c, NULL, &report) != SY_OK ||
        lab_case_difference(&expected[w], &c, &output) >= 0) {
        fprintf(stderr, "%s: wrong in output %d\n", workloads[w], output);
        atomic_fetch_add(&wrong, 1);
    }
    sy_report_clear(&report);
    lab_release(&c);
}

/* Plans of all sizes: for each the context keeps what it knows. */
static void plan_all(sy_context *context, int w)
{
    sy_work work = {.struct_size = sizeof work, .workload = workloads[w], .columns = COLUMNS};
    for (work.rows = 1; work.rows < 1 << 28; work.rows *= 8) {
        sy_plan_info plan = {.struct_size = sizeof plan};
        atomic_fetch_add(&wrong, sy_plan_explain(context, &work, NULL, &plan) != SY_OK);
        sy_plan_info_clear(&plan);
    }
}

/* Readers of the context while others compute. */
static void look_around(sy_context *context)
{
    sy_device_info device;
    sy_workload_info workload;
    for (int i = 0; i < sy_device_count(context); i++)
        atomic_fetch_add(&wrong, sy_device_query(context, i, &device) != SY_OK);
    for (int i = 0; i < sy_workload_count(context); i++)
        atomic_fetch_add(&wrong, sy_workload_query(context, i, &workload) != SY_OK);
    /* a failing call's message is this thread's own */
    atomic_fetch_add(&wrong, distribute_workload(context, NULL, NULL, NULL) != SY_ERR_ARGUMENT);
    atomic_fetch_add(&wrong, !lab_told(SY_ERR_ARGUMENT));
}

static void *work(void *argument)
{
    const int number = *(const int *)argument, own = number % 2;
    for (int round = 0; round < ROUNDS; round++) {
        sy_context *context = own ? lab_open(DEVICES, NULL, NULL) : shared;
        if (!context) {
            atomic_fetch_add(&wrong, 1);
            return NULL;
        }
        run_one(context, (round + number) % WORKLOADS);
        plan_all(context, round % WORKLOADS);
        look_around(context);
        if (own)
            sy_context_destroy(&context);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    sy_context *alone = lab_open("cpu:threads=1", NULL, NULL);
    shared = lab_open(DEVICES, NULL, NULL);
    if (!alone || !shared)
        return 1;
    series_fill(SERIES_FLATS, 6, x, ROWS * COLUMNS);
    for (int w = 0; w < WORKLOADS; w++) {
        expected[w] = make(w);
        if (!lab_prepare(&expected[w]) || lab_run(alone, &expected[w], NULL, NULL) != SY_OK)
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        if (pthread_create(&thread[i], NULL, work, &number[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int w = 0; w < WORKLOADS; w++)
        lab_release(&expected[w]);
    sy_context_destroy(&alone);
    sy_context_destroy(&shared);
    printf("%d threads, %d rounds: %d wrong\n", THREADS, ROUNDS, atomic_load(&wrong));
    return atomic_load(&wrong) != 0;
}
