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

enum { AWAY_NS = 5000000, PATIENCE_NS = 1000000000, TRIES = 300, WORK = 1000 };

static pthread_t other;
static sem_t held;
static atomic_int is_away, is_done, is_patient, parts, left, worked;

/* In the other thread. */
static void hold(int number)
{
    (void)number;
    sem_post(&held);
    while (atomic_load(&is_away))
        ;
}

/* Lets it go on, some time after all has been done; or where nothing is, for OpenMP has not yet
 * heard that it is done with the region before, and waits for that. */
static void *let_go(void *unused)
{
    int64_t from = syi_now_ns();
    while (!atomic_load(&is_done) && syi_now_ns() - from < PATIENCE_NS)
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
    for (const int64_t from = syi_now_ns();
         atomic_load(&is_patient) && atomic_load(&parts) < 2 && syi_now_ns() - from < PATIENCE_NS;)
        ;
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

/* As long as the caller does without the other thread; then with time for that to come, for others
 * may keep its processor busy. */
static int work_until_both(void)
{
    int threads;
    atomic_store(&is_patient, 1);
    do
        threads = work();
    while (threads == 1);
    atomic_store(&is_patient, 0);
    return threads;
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
    threads = work_until_both(); /* the team is the library's, too, from now on */
    for (int i = 0; i < TRIES && threads == 2 && !alone; i++) {
        threads = work_without();
        alone = threads && work() == 1;
        threads = threads ? work_until_both() : 0;
    }
    if (!alone)
        printf("the caller never did without the other thread\n");
    return !alone || threads != 2;
}
