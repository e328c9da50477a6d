/*
 * StarPU as a player: one CPU worker for each simulated device, a task for each part of the row, so
 * that its scheduler decides who computes what. Each worker has a performance model of its own,
 * calibrated on the machine as its profile is, kept on disk, and read again for the case, in which
 * it is not corrected any more (STARPU_CALIBRATE=0, StarPU's default). Between its turns StarPU is
 * paused: its idle workers would take the processor from the others.
 */
#define _XOPEN_SOURCE 700
#include "balance.h"

#ifndef BENCH_HAVE_STARPU

int balance_starpu(const track *t, player *players)
{
    (void)t, (void)players;
    return 0;
}

#else

#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALIBRATING_RUNS = 10, MOST_PARTS = 256, PLAYERS = 3 };

/* The one StarPU of the process, and who uses it. */
static struct {
    const track *track;
    sy_context *contexts[MOST_DEVICES];
    int users;
} runtime;

typedef struct part {
    int64_t first, count;
    int64_t of; /* so many of the row */
} part;

static void compute_part(void *buffers[], void *argument)
{
    const part *p = argument;
    (void)buffers;
    balance_compute(runtime.contexts[starpu_worker_get_id()], p->first, p->count, NULL);
}

/* The key of a part's history: the same for all parts of a row, though some have a column more, for
 * a key of its own would have to be calibrated by as many runs on each worker. */
static size_t part_size(struct starpu_task *task, unsigned implementation)
{
    (void)implementation;
    return (size_t)(balance_elements / ((const part *)task->cl_arg)->of);
}

static struct starpu_perfmodel model = {
    .type = STARPU_HISTORY_BASED, .symbol = "bench_balance", .size_base = part_size};
static struct starpu_codelet codelet = {
    .cpu_funcs = {compute_part}, .nbuffers = 0, .model = &model, .name = "bench_balance"};

/* 0: it will not have a worker for each device. */
static int start(const double *slower, const char *calibrate)
{
    const machine *m = runtime.track->machine;
    double speeds[MOST_DEVICES];
    setenv("STARPU_CALIBRATE", calibrate, 1);
    if (starpu_init(NULL) != 0)
        return 0;
    if ((int)starpu_worker_get_count() < m->count) {
        starpu_shutdown();
        return 0;
    }
    balance_speeds(m, slower, speeds);
    for (int i = 0; i < m->count; i++)
        runtime.contexts[i] = balance_open(speeds, i, 1);
    return 1;
}

static void stop(void)
{
    starpu_shutdown();
    for (int i = 0; i < runtime.track->machine->count; i++)
        sy_context_destroy(&runtime.contexts[i]);
}

static void run_parts(int64_t count)
{
    static part parts[MOST_PARTS];
    for (int64_t i = 0; i < count; i++) {
        struct starpu_task *task = starpu_task_create();
        const int64_t first = balance_elements * i / count;
        parts[i] = (part){first, balance_elements * (i + 1) / count - first, count};
        task->cl = &codelet;
        task->cl_arg = &parts[i];
        task->cl_arg_size = sizeof parts[i];
        if (starpu_task_submit(task) != 0)
            bench_fail("starpu_task_submit failed");
    }
    starpu_task_wait_for_all();
}

/* How many parts; one function a player, as the state is only a pointer. */
static const int64_t part_counts[PLAYERS] = {16, 64, MOST_PARTS};
static const char *const names[PLAYERS] = {"starpu 16", "starpu 64", "starpu 256"};

static void run(void *state)
{
    run_parts(*(const int64_t *)state);
}

static void wake(void *state)
{
    (void)state;
    starpu_resume();
}

static void rest(void *state)
{
    (void)state;
    starpu_pause();
}

static void leave(void *state)
{
    (void)state;
    if (--runtime.users)
        return;
    starpu_resume();
    stop();
}

static void configure(int workers)
{
    char count[16];
    snprintf(count, sizeof count, "%d", workers);
    setenv("STARPU_HOME", bench_scratch(), 1);
    setenv("STARPU_HOSTNAME", "bench", 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", count, 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_NOPENCL", "0", 1);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
    setenv("STARPU_CATCH_SIGNALS", "0", 1);
    setenv("STARPU_PERF_MODEL_HOMOGENEOUS_CPU", "0", 1);
    setenv("STARPU_SCHED", "dmda", 1);
}

int balance_starpu(const track *t, player *players)
{
    runtime.track = t;
    configure(t->machine->count);
    if (!start(NULL, "2")) /* 2: what is stored is forgotten */
        return 0;
    for (int i = 0; i < CALIBRATING_RUNS * PLAYERS; i++) {
        bench_progress("calibrating StarPU, %s, run %d of %d", t->machine->name, i + 1,
                       CALIBRATING_RUNS * PLAYERS);
        run_parts(part_counts[i % PLAYERS]);
    }
    stop();
    if (!start(t->slower, "0"))
        bench_fail("StarPU does not start again");
    starpu_pause();
    runtime.users = PLAYERS;
    for (int i = 0; i < PLAYERS; i++)
        players[i] = (player){.name = names[i],
                              .state = (void *)(uintptr_t)&part_counts[i],
                              .wake = wake,
                              .run = run,
                              .rest = rest,
                              .close = leave};
    return PLAYERS;
}

#endif
