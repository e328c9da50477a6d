/*
 * A thread that does not come while its caller computes, as one whose processor others keep busy:
 * a signal's handler holds it. The caller does all by itself, for a while then does without that
 * thread, and has it back afterwards. Exits with 1 otherwise. How long the thread is away is all
 * that is timed; where it came in time after all the same is tried again.
 */
#include "base/clock.h"
#include "device/team.h"

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

enum { AWAY_NS = 5000000, TRIES = 300, WORK = 1000 };

static pthread_t other;
static sem_t held;
static atomic_int is_away, is_done, parts, left, worked;

/* In the other thread. */
static void hold(int number)
{
    (void)number;
    sem_post(&held);
    while (atomic_load(&is_away))
        ;
}

/* Lets it go on, some time after all has been done. */
static void *let_go(void *unused)
{
    int64_t from;
    while (!atomic_load(&is_done))
        ;
    from = syi_now_ns();
    while (syi_now_ns() - from < AWAY_NS)
        ;
    atomic_store(&is_away, 0);
    return unused;
}

/* Takes work while there is some. */
static void part(void *unused, int index)
{
    (void)unused;
    atomic_fetch_add(&parts, 1);
    while (atomic_fetch_sub(&left, 1) > 0)
        atomic_fetch_add(&worked, 1);
    if (index == 0)
        atomic_store(&is_done, 1);
}

/* How many threads took part. */
static int work(void)
{
    atomic_store(&left, WORK);
    atomic_store(&parts, 0);
    atomic_store(&worked, 0);
    syi_team_run(2, NULL, part, NULL);
    if (atomic_load(&worked) != WORK) {
        printf("%d of %d done\n", atomic_load(&worked), WORK);
        return 0;
    }
    return atomic_load(&parts);
}

static int work_without(void)
{
    pthread_t helper;
    int threads;
    atomic_store(&is_away, 1);
    atomic_store(&is_done, 0);
    if (pthread_create(&helper, NULL, let_go, NULL) != 0 || pthread_kill(other, SIGUSR1) != 0)
        return 0;
    while (sem_wait(&held) != 0)
        ;
    threads = work();
    pthread_join(helper, NULL);
    return threads;
}

int main(void)
{
    struct sigaction action = {.sa_handler = hold};
    int alone = 0, threads;
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&held, 0, 0);
    omp_set_dynamic(0);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        other = pthread_self();
    threads = work(); /* the team is the library's, too, from now on */
    for (int i = 0; i < TRIES && threads != 0 && !alone; i++) {
        while (threads == 1)
            threads = work();
        threads = threads ? work_without() : 0;
        threads = threads ? work() : 0;
        alone = threads == 1;
    }
    while (threads == 1) /* until it is back */
        threads = work();
    if (!alone)
        printf("the caller never did without the other thread\n");
    return !alone || threads != 2;
}
