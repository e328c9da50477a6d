/*
 * Threads that cannot be had: the process is allowed 0, 1, 2 .. of them at once, or no more when
 * OpenMP's library has let some go, and after a fork has none of those that it had. Each time the
 * results are those of one thread. Exits with 1 otherwise; where the library's threads end the
 * process or wait for ever, so does this.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/lab.h"
#include "support/series.h"

enum { SHORT = 9 * 4096, LONG = 100 * 4096, MOST = 6, HANG_SECONDS = 100 };

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* What a thread was made for. */
typedef struct errand {
    void *(*go)(void *);
    void *argument;
} errand;

static double x[LONG];
static atomic_int allowed = MOST, refused, most_at_once, alive, own;

static void *go(void *argument)
{
    errand self = *(errand *)argument;
    void *result;
    free(argument);
    result = self.go(self.argument);
    atomic_fetch_sub(&alive, 1);
    return result;
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

static int is_right(const char *devices, const char *workload, int64_t columns)
{
    lab_case c = {.workload = workload, .rows = 1, .columns = columns, .x = x};
    sy_context *context = lab_open(devices, NULL, NULL);
    int right = context && lab_prepare(&c) && lab_run(context, &c, NULL, NULL) == SY_OK &&
                lab_as_on_cpu(&c);
    if (!right)
        printf("%s on %s with %d threads beside the caller's: wrong\n", workload, devices,
               atomic_load(&allowed));
    lab_release(&c);
    sy_context_destroy(&context);
    return right;
}

/* bollinger of flat stretches leaves roundings in doubt, which are decided by several threads. */
static int all_right(void)
{
    static const char *const devices[] = {"cpu:threads=4", "cpu:threads=4,sim:a:speed=1e6",
                                          "sim:a:speed=1e6,cpu:threads=3"};
    int right = 1;
    for (int i = 0; i < 3; i++)
        right &= is_right(devices[i], "bollinger", LONG) && is_right(devices[i], "sum", LONG);
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
    series_fill(SERIES_FLATS, 6, x, LONG);
#pragma omp parallel /* a team of the program's own, of which the library does not know */
    atomic_fetch_add(&own, 1);
    right = right_after_fork() && right_when_fewer();
    for (int count = 0; count <= MOST; count++) {
        atomic_store(&allowed, count);
        right &= all_right();
    }
    right &= right_after_fork();
    printf("%d refused, %d at once\n", atomic_load(&refused), atomic_load(&most_at_once));
    return !right || !atomic_load(&refused) || atomic_load(&most_at_once) < 3;
}
