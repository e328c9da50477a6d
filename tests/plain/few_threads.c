/*
 * Threads that cannot be had: the process is allowed 0, 1, 2 .. of them at once, or no more when
 * OpenMP's library has let some go, for a smaller region of the library's or the program's, or when
 * several callers want them, and after a fork has none of those that it had. Each time the
 * results are those of one thread. Exits with 1 otherwise; where the library's threads end the
 * process or wait for ever, so does this.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/lab.h"
#include "support/series.h"

enum { SHORT = 9 * 4096, LONG = 100 * 4096, ROWS = 64, DAYS = 250, MOST = 6, HANG_SECONDS = 100 };

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* What a thread was made for. */
typedef struct errand {
    void *(*go)(void *);
    void *argument;
} errand;

static double x[LONG], tiny[ROWS * DAYS];
static atomic_int allowed = MOST, refused, most_at_once, alive, own;

static pthread_key_t
    end; /* made after the library's, so what that does at a thread's end is done */

static void count_end(void *counter)
{
    atomic_fetch_sub((atomic_int *)counter, 1);
}

static void *go(void *argument)
{
    errand self = *(errand *)argument;
    free(argument);
    pthread_setspecific(end, &alive);
    return self.go(self.argument);
}

static void wait_for(int threads)
{
    while (atomic_load(&alive) > threads)
        sched_yield();
}

/* In place of the system's, for the library and for what it is linked with. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    create_fn *create = (create_fn *)(uintptr_t)dlsym(RTLD_NEXT, "pthread_create");
    errand *self = malloc(sizeof *self);
    int now = atomic_fetch_add(&alive, 1) + 1, error = EAGAIN;
    if (self)
        *self = (errand){start, argument};
    if (now <= atomic_load(&allowed) && self && create)
        error = create(thread, attributes, go, self);
    if (error) {
        free(self);
        atomic_fetch_sub(&alive, 1);
        atomic_fetch_add(&refused, 1);
        return error;
    }
    if (now > atomic_load(&most_at_once))
        atomic_store(&most_at_once, now);
    return 0;
}

static int is_right_of(const char *devices, const lab_case *wanted)
{
    lab_case c = *wanted;
    sy_context *context = lab_open(devices, NULL, NULL);
    int right = context && lab_prepare(&c) && lab_run(context, &c, NULL, NULL) == SY_OK &&
                lab_as_on_cpu(&c);
    if (!right)
        printf("%s on %s with %d threads beside the caller's: wrong\n", c.workload, devices,
               atomic_load(&allowed));
    lab_release(&c);
    sy_context_destroy(&context);
    return right;
}

static int is_right(const char *devices, const char *workload, int64_t columns)
{
    return is_right_of(devices,
                       &(lab_case){.workload = workload, .rows = 1, .columns = columns, .x = x});
}

/* Leaves its roundings in doubt. */
static const lab_case in_doubt = {.workload = "ema", .rows = ROWS, .columns = DAYS, .x = tiny};

/* What is in doubt is decided by several threads, too. */
static int all_right(void)
{
    static const char *const devices[] = {"cpu:threads=4", "cpu:threads=4,sim:a:speed=1e6",
                                          "sim:a:speed=1e6,cpu:threads=3"};
    int right = 1;
    for (int i = 0; i < 3; i++)
        right &= is_right(devices[i], "bollinger", LONG) && is_right(devices[i], "sum", LONG) &&
                 is_right_of(devices[i], &in_doubt);
    return right;
}

/* Who asks for one thread has the caller's alone, for what is in doubt, too. */
static int makes_none_for_one(void)
{
    lab_case c = in_doubt;
    sy_context *context = lab_open("cpu:threads=1", NULL, NULL);
    sy_report report = {.struct_size = sizeof report};
    int right = context && lab_prepare(&c) && lab_run(context, &c, NULL, &report) == SY_OK;
    if (right && report.repaired < ROWS * DAYS / 2)
        printf("cpu:threads=1: only %lld roundings in doubt\n", (long long)report.repaired);
    if (right && atomic_load(&most_at_once) > 0)
        printf("cpu:threads=1: %d threads beside the caller's\n", atomic_load(&most_at_once));
    right = right && report.repaired >= ROWS * DAYS / 2 && atomic_load(&most_at_once) == 0;
    sy_report_clear(&report);
    lab_release(&c);
    sy_context_destroy(&context);
    return right;
}

/* A short row is for two threads, and the team of four has lost the others by it. */
static int right_when_fewer(void)
{
    int right;
    atomic_store(&allowed, 2 * MOST);
    right = is_right("cpu:threads=4", "sma", LONG) && is_right("cpu:threads=4", "sma", SHORT);
    atomic_store(&allowed, 0);
    right &= is_right("cpu:threads=4", "sma", LONG);
    atomic_store(&allowed, MOST);
    return right;
}

/* The program's own region is for two threads, and the team of four has lost the others by it. */
static int right_after_own(void)
{
    int right;
    atomic_store(&allowed, 2 * MOST);
    right = is_right("cpu:threads=4", "sma", LONG);
#pragma omp parallel num_threads(2)
    atomic_fetch_add(&own, 1);
    wait_for(1);
    atomic_store(&allowed, 0);
    right &= is_right("cpu:threads=4", "sma", LONG);
    atomic_store(&allowed, MOST);
    return right;
}

/* Inside of a region a team lasts no longer than what it does. */
static int right_inside_own(void)
{
    int right = 1;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        atomic_store(&allowed, 2 * MOST);
        right = is_right("cpu:threads=4", "sma", LONG);
        wait_for(1);
        atomic_store(&allowed, 0);
        right &= is_right("cpu:threads=4", "sma", LONG);
        atomic_store(&allowed, MOST);
    }
    omp_set_max_active_levels(1);
    return right;
}

typedef struct caller {
    pthread_t thread;
    pthread_barrier_t *begin;
    int right;
} caller;

static void *call(void *argument)
{
    caller *self = argument;
    pthread_barrier_wait(self->begin);
    self->right = is_right("cpu:threads=4", "sma", LONG);
    return NULL;
}

/* Several callers at once, whose teams are not all to be had. All are there before one begins: a
 * thread that the program makes between the library's try and OpenMP's making takes what was tried.
 */
static int all_right_at_once(void)
{
    enum { CALLERS = 4 };
    pthread_barrier_t begin;
    caller callers[CALLERS] = {0};
    int right = 1;
    pthread_barrier_init(&begin, NULL, CALLERS + 1);
    atomic_store(&allowed, INT_MAX);
    for (int i = 0; i < CALLERS; i++) {
        callers[i].begin = &begin;
        if (pthread_create(&callers[i].thread, NULL, call, &callers[i]) != 0)
            exit(1);
    }
    atomic_store(&allowed, CALLERS + 3 + MOST);
    pthread_barrier_wait(&begin);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        right &= callers[i].right;
    }
    pthread_barrier_destroy(&begin);
    atomic_store(&allowed, MOST);
    return right;
}

/* The child has none of the parent's threads, and none of its contexts. */
static int right_after_fork(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(HANG_SECONDS);
        atomic_store(&alive, 0);
        _exit(all_right() ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 0;
    if (status != 0)
        printf("the child after a fork: status %d\n", status);
    return status == 0;
}

int main(void)
{
    int right;
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(2 * HANG_SECONDS);
    if (pthread_key_create(&end, count_end) != 0)
        return 1;
    series_fill(SERIES_FLATS, 6, x, LONG);
    series_fill(SERIES_SUBNORMAL, 6, tiny, ROWS * DAYS);
    right = makes_none_for_one();
#pragma omp parallel /* a team of the program's own, of which the library does not know */
    atomic_fetch_add(&own, 1);
    right = right && right_after_fork() && right_when_fewer() && right_after_own() &&
            right_inside_own();
    for (int i = 0; i < 20; i++)
        right &= all_right_at_once();
    for (int count = 0; count <= MOST; count++) {
        atomic_store(&allowed, count);
        right &= all_right();
    }
    right &= right_after_fork();
    printf("%d refused, %d at once\n", atomic_load(&refused), atomic_load(&most_at_once));
    return !right || !atomic_load(&refused) || atomic_load(&most_at_once) < 3;
}
