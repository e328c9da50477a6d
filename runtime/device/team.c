/*
 * Threads by OpenMP, which keeps a team for each thread that calls it and wakes it up within a
 * microsecond. Its library ends the process where it is refused a thread, so whether they can be
 * had is tried first; and after a fork it waits for ever for the parent's.
 */
#define _GNU_SOURCE
#include "device/team.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "device/absent.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef _OPENMP

/* OpenMP's library may have bound the first thread to one processor, which is all that the mask
 * then shows: it has looked before. */
int syi_processors(void)
{
    return omp_get_num_procs();
}

#else

int syi_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        count = online > 0 && online < 65536 ? (int)online : 1;
    return count;
}

#endif

/* ---- threads that can be had -------------------------------------------------------------- */

#ifdef _OPENMP

/* The threads of a caller's team besides its own. OpenMP's library lets some go when a region is
 * smaller, which may be one of the program's own. */
typedef struct members {
    atomic_int alive;
    atomic_int users; /* the caller and each of them; 0: these are nobody's */
    int size; /* the team that the caller had here last: who is let go is alive for a while */
    syi_absent absent;
} members;

static pthread_key_t caller_key, member_key; /* hold the members of which one is either */
static bool has_keys;
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER; /* one caller tries and makes */

/* No blocks: a thread may end after all else has been given back. More callers at once than these
 * have their threads tried in each call. */
static members teams[256];

static void leave(void *of)
{
    members *team = of;
    atomic_fetch_sub(&team->users, 1);
}

static void end_member(void *of)
{
    members *team = of;
    atomic_fetch_sub(&team->alive, 1);
    leave(team);
}

/* The calling thread is one of these; it may have been another caller's. */
static void join_members(members *team)
{
    members *before = team ? pthread_getspecific(member_key) : NULL;
    if (before == team || pthread_setspecific(member_key, team) != 0)
        return;
    if (before)
        end_member(before);
    atomic_fetch_add(&team->users, 1);
    atomic_fetch_add(&team->alive, 1);
}

/* The calling thread's own team; NULL: there are too many. */
static members *own_members(void)
{
    members *team = has_keys ? pthread_getspecific(caller_key) : NULL;
    for (size_t i = 0; has_keys && !team && i < sizeof teams / sizeof *teams; i++) {
        int nobody = 0;
        if (!atomic_compare_exchange_strong(&teams[i].users, &nobody, 1))
            continue;
        team = &teams[i];
        team->size = 1;
        team->absent = (syi_absent){0, 0};
        if (pthread_setspecific(caller_key, team) == 0)
            break;
        leave(team);
        return NULL;
    }
    return team;
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
    while (made < count && syi_thread_create(&threads[made], stand, &gate) == 0)
        made++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&gate);
    syi_free(threads);
    return made == count;
}

/* Makes a team's threads before they are wanted. They take after who makes them. */
static void grow(int size, members *team, const syi_arithmetic *outside)
{
    const syi_arithmetic inside = syi_arithmetic_enter();
    sigset_t before;
    if (outside)
        syi_arithmetic_leave(*outside);
    syi_signals_hold(&before);
#pragma omp parallel num_threads(size)
    if (omp_get_thread_num() != 0)
        join_members(team);
    syi_signals_release(&before);
    syi_arithmetic_leave(inside);
}

/* How many of them OpenMP's library would make. */
static int allowed(int wanted)
{
    const int limit = omp_get_thread_limit();
    if (omp_get_active_level() >= omp_get_max_active_levels())
        return 1;
    return wanted < limit ? wanted : limit;
}

/* The threads that the caller has. Inside of a region none are kept. */
static int present(const members *team)
{
    int alive;
    if (!team || omp_get_level() > 0)
        return 1;
    alive = 1 + atomic_load(&team->alive);
    return alive < team->size ? alive : team->size;
}

/* Tried are twice as many as the team lacks, for the system counts a thread that has ended for some
 * time. What the program itself makes between the try and the making comes off that margin. */
static int possible(int wanted, members *team, const syi_arithmetic *outside)
{
    int size = allowed(wanted), lacks = size - present(team);
    if (lacks > 0) {
        pthread_mutex_lock(&growing);
        if (can_make(2 * lacks))
            grow(size, team, outside);
        else
            size = 1;
        pthread_mutex_unlock(&growing);
    }
    if (team)
        team->size = size;
    return size;
}

/* ---- forks -------------------------------------------------------------------------------- */

static atomic_bool is_child;

static void note_fork(void)
{
    atomic_store(&is_child, true);
    pthread_mutex_init(&growing, NULL); /* whoever had it is not here */
}

/* Before anything else: the program's own OpenMP may have a team long before there is one here. */
__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(NULL, NULL, note_fork);
    has_keys = pthread_key_create(&caller_key, leave) == 0;
    if (has_keys && pthread_key_create(&member_key, end_member) != 0) {
        pthread_key_delete(caller_key);
        has_keys = false;
    }
}

/* Linked statically into a plugin this may be unloaded before the threads end. */
__attribute__((destructor)) static void end(void)
{
    if (!has_keys)
        return;
    pthread_key_delete(caller_key);
    pthread_key_delete(member_key);
}

/* ---- running ------------------------------------------------------------------------------ */

/* Threads that are looked after; of others it is not known whether they come. */
enum { LOOKED_AFTER = 64 };

typedef struct team {
    int size;
    const syi_arithmetic *outside;
    syi_team_part part;
    void *argument;
    atomic_uchar has_begun[LOOKED_AFTER];
} team;

static int count_absent(const team *t, int size)
{
    int absent = 0;
    for (int i = 1; i < size && i < LOOKED_AFTER; i++)
        absent += !atomic_load_explicit(&t->has_begun[i], memory_order_relaxed);
    return absent;
}

/* What is there to do is shared out: when the caller's part ends, it is done but for what others
 * have begun. */
static void run_region(team *t, int size, members *own)
{
    int64_t done_ns = 0;
    int absent = 0;
#pragma omp parallel num_threads(size)
    {
        const int index = omp_get_thread_num();
        if (index < LOOKED_AFTER)
            atomic_store_explicit(&t->has_begun[index], 1, memory_order_relaxed);
        t->part(t->argument, index);
        if (index == 0) {
            size = omp_get_num_threads();
            absent = count_absent(t, size);
            done_ns = absent > 0 ? syi_now_ns() : 0;
        }
    }
    if (absent > 0 && own)
        syi_absent_note(&own->absent, size, absent, done_ns, syi_now_ns());
}

static void *run(void *argument)
{
    team *t = argument;
    members *own = own_members();
    int size = t->size;
    if (own && own->absent.most > 0)
        size = syi_absent_limit(&own->absent, size, syi_now_ns());
    if (size > 1)
        size = possible(size, own, t->outside);
    if (size > 1)
        run_region(t, size, own);
    else
        t->part(t->argument, 0);
    return NULL;
}

void syi_team_run(int wanted, const syi_arithmetic *outside, syi_team_part part, void *argument)
{
    team t = {.size = wanted, .outside = outside, .part = part, .argument = argument};
    pthread_t fresh;
    if (wanted < 2)
        part(argument, 0);
    else if (!atomic_load(&is_child))
        run(&t);
    else if (syi_thread_create(&fresh, run, &t) == 0) /* which has had no team */
        pthread_join(fresh, NULL);
    else
        part(argument, 0);
}

#else

void syi_team_run(int wanted, const syi_arithmetic *outside, syi_team_part part, void *argument)
{
    (void)wanted, (void)outside;
    part(argument, 0);
}

#endif
