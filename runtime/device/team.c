/*
 * Threads by OpenMP, which keeps a team for each thread that calls it and wakes it up within a
 * microsecond. Its library ends the process where it is refused a thread, so whether they can be
 * had is tried first; and after a fork it waits for ever for the parent's.
 */
#define _GNU_SOURCE
#include "device/team.h"

#include "base/mem.h"
#include "base/signals.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct team {
    int size;
    syi_team_part part;
    void *argument;
} team;

int syi_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        count = online > 0 && online < 65536 ? (int)online : 1;
    return count;
}

/* ---- threads that can be had -------------------------------------------------------------- */

static int thread_index(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* Waits until the others have been made, too: they are wanted at once. */
static void *stand(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

static bool can_make(int count)
{
    pthread_t *threads = syi_alloc((size_t)count, sizeof *threads);
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int made = 0;
    if (!threads)
        return false;
    pthread_mutex_lock(&gate);
    while (made < count && pthread_create(&threads[made], NULL, stand, &gate) == 0)
        made++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&gate);
    syi_free(threads);
    return made == count;
}

/* Makes a team's threads before they are wanted. */
static void grow(int size)
{
    sigset_t before;
    syi_signals_hold(&before);
#pragma omp parallel num_threads(size)
    {
        volatile int index = thread_index(); /* or the compiler leaves all of it out */
        (void)index;
    }
    syi_signals_release(&before);
}

/* Tried are twice as many as the team wants, for the system counts a thread that has ended for some
 * time. Of a larger team before, OpenMP's library has let the others go. */
static int possible(int wanted)
{
    static _Thread_local int had = 1; /* threads that this one's team has */
    if (wanted > had && !can_make(2 * (wanted - had)))
        return 1;
    if (wanted > had)
        grow(wanted);
    had = wanted;
    return wanted;
}

/* ---- forks -------------------------------------------------------------------------------- */

static atomic_bool is_child;

static void note_fork(void)
{
    atomic_store(&is_child, true);
}

/* Before anything else: the program's own OpenMP may have a team long before there is one here. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

/* ---- running ------------------------------------------------------------------------------ */

static void *run(void *argument)
{
    const team *t = argument;
    const int size = possible(t->size);
    if (size == 1)
        t->part(t->argument, 0);
    else
#pragma omp parallel num_threads(size)
        t->part(t->argument, thread_index());
    return NULL;
}

void syi_team_run(int wanted, syi_team_part part, void *argument)
{
    team t = {wanted, part, argument};
    pthread_t fresh;
    if (wanted < 2)
        part(argument, 0);
    else if (!atomic_load(&is_child))
        run(&t);
    else if (pthread_create(&fresh, NULL, run, &t) == 0) /* which has had no team */
        pthread_join(fresh, NULL);
    else
        part(argument, 0);
}
