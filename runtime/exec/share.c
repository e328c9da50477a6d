#include "exec/share.h"

#include "base/arithmetic.h"
#include "device/team.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the threads share; `next`: the first index that nobody has taken. */
typedef struct sharing {
    syi_share_fn one;
    void *argument;
    int64_t count, at_once;
    _Atomic int64_t next;
    pthread_mutex_t lock;
    sy_status status;
    sy_error error;
} sharing;

static sy_status run_some(const sharing *all, int64_t from, int64_t count)
{
    const int64_t end = all->count - from < count ? all->count : from + count;
    for (int64_t i = from; i < end; i++)
        SYI_TRY(all->one(all->argument, i));
    return SY_OK;
}

static void note_failure(sharing *all, sy_status status)
{
    atomic_store(&all->next, all->count);
    pthread_mutex_lock(&all->lock);
    if (all->status == SY_OK) {
        all->status = status;
        all->error = *sy_last_error();
    }
    pthread_mutex_unlock(&all->lock);
}

/* One thread's part. */
static void run_part(void *argument, int index)
{
    const syi_arithmetic saved = syi_arithmetic_enter();
    sharing *all = argument;
    (void)index;
    for (int64_t i; (i = atomic_fetch_add(&all->next, all->at_once)) < all->count;) {
        const sy_status status = run_some(all, i, all->at_once);
        if (status != SY_OK)
            note_failure(all, status);
    }
    syi_arithmetic_leave(saved);
}

sy_status syi_share(const syi_job *job, int64_t count, int64_t at_once, int64_t worth_a_thread,
                    syi_share_fn one, void *argument)
{
    sharing all = {.one = one, .argument = argument, .count = count, .at_once = at_once};
    const int64_t worth = count / worth_a_thread;
    const int most = worth <= 1 ? 1 : job->threads > 0 ? job->threads : syi_processors();
    if (most == 1)
        return run_some(&all, 0, count);
    pthread_mutex_init(&all.lock, NULL);
    syi_team_run(worth < most ? (int)worth : most, job->outside, run_part, &all);
    pthread_mutex_destroy(&all.lock);
    if (all.status != SY_OK)
        syi_error_adopt(&all.error);
    return all.status;
}
