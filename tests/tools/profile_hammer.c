/* Several processes, each with several threads, update the two profile files of one folder as fast
 * as they can, while another process reads them all the time.
 *
 *     profile_hammer FOLDER [PROCESSES [THREADS [UPDATES]]]       default 2 1 1000
 *
 * Every worker adds UPDATES measurements to one shared key, and after every tenth one to a new key
 * of its own and one profile under a tag of its own. Fails unless every measurement is counted and
 * every key and tag is there at the end, and unless the reader (jansson alone, without our code)
 * found a whole document at every moment, in which nothing ever shrank. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "multigpu.h"
#include "thresholds.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORKERS = 64, TENTH = 10 };

static const char *const shared_key = "bollinger_bands:{'period': 20, 'size': 10000}";

static char multigpu_path[PATH_MAX], thresholds_path[PATH_MAX];
static syi_store multigpu, thresholds;
static syi_log warnings = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_int warned;
static int n_threads = 1, n_updates = 1000;

static void on_warning(void *user, sy_log_level level, const char *line)
{
    (void)user;
    (void)level;
    atomic_fetch_add(&warned, 1);
    fprintf(stderr, "unexpected warning: %s\n", line);
}

static int fail(const char *what)
{
    fprintf(stderr, "profile_hammer: %s: %s\n", what, sy_last_error()->text);
    return 1;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void name_of(char name[64], int worker, int step)
{
    snprintf(name, 64, "worker %d, step %d", worker, step);
}

static int add_own(int worker, int step)
{
    char name[64];
    sy_ratio ratios[] = {{"cpu", 1 + step}, {"RTX3090", 3}};
    name_of(name, worker, step);
    if (syi_threshold_add(&thresholds, name, step, worker) != SY_OK)
        return fail("own key");
    if (syi_multigpu_set(&multigpu, name, ratios, 2, NULL, NULL) != SY_OK)
        return fail("own tag");
    return 0;
}

static void *work(void *user)
{
    int worker = *(int *)user;
    for (int step = 0; step < n_updates; step++) {
        if (syi_threshold_add(&thresholds, shared_key, 150, 50) != SY_OK) {
            fail("shared key");
            return user;
        }
        if (step % TENTH == 0 && add_own(worker, step))
            return user;
    }
    return NULL;
}

static int writer(int process)
{
    pthread_t threads[MAX_WORKERS];
    int numbers[MAX_WORKERS], failed = 0;
    for (int t = 0; t < n_threads; t++) {
        numbers[t] = process * n_threads + t;
        if (pthread_create(&threads[t], NULL, work, &numbers[t]) != 0)
            exit(fail("cannot start a thread"));
    }
    for (int t = 0; t < n_threads; t++) {
        void *result;
        pthread_join(threads[t], &result);
        failed |= result != NULL;
    }
    return failed || atomic_load(&warned);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* How much a document holds: never less than before. -1: it is not whole. */
static long long weigh(const char *path, const char *member)
{
    json_error_t error;
    json_t *root, *entry;
    const char *key;
    long long weight = 0;
    if (access(path, F_OK) != 0)
        return 0;
    root = json_load_file(path, 0, &error);
    if (!root) {
        fprintf(stderr, "%s, line %d: %s\n", path, error.line, error.text);
        return -1;
    }
    json_object_foreach(json_object_get(root, member), key, entry)
    {
        const json_t *samples = json_object_get(entry, "samples");
        weight += samples ? json_integer_value(samples) : 1;
    }
    json_decref(root);
    return weight;
}

static int reader(const atomic_int *stop)
{
    long long before[2] = {0, 0}, rounds = 0;
    while (!atomic_load(stop)) {
        long long now[2] = {weigh(multigpu_path, "profiles"), weigh(thresholds_path, "entries")};
        for (int i = 0; i < 2; i++) {
            if (now[i] < before[i]) {
                fprintf(stderr, "file %d went from %lld to %lld\n", i, before[i], now[i]);
                return 1;
            }
            before[i] = now[i];
        }
        rounds++;
    }
    printf("read %lld times, always whole\n", rounds);
    fflush(stdout);
    return 0;
}

/* ---- the end ------------------------------------------------------------------------------ */

static int check_own(int worker)
{
    for (int step = 0; step < n_updates; step += TENTH) {
        syi_stored_balance stored;
        sy_threshold own;
        double expected = (1 + step) / (4.0 + step);
        char name[64];
        int wrong;
        name_of(name, worker, step);
        if (syi_threshold_find(&thresholds, name, &own) != SY_OK)
            return fail("lost key");
        if (syi_multigpu_get(&multigpu, name, &stored) != SY_OK)
            return fail("lost tag");
        wrong = own.samples != 1 || own.cpu_ms_avg != step || own.gpu_ms_avg != worker ||
                stored.balance.n_ratios != 2 || stored.balance.ratios[0].ratio != expected;
        syi_stored_balance_clear(&stored);
        if (wrong)
            return fail("changed values");
    }
    return 0;
}

static int check_all(int workers)
{
    sy_threshold shared;
    if (syi_threshold_find(&thresholds, shared_key, &shared) != SY_OK)
        return fail("lost the shared key");
    printf("%lld of %lld measurements counted\n", (long long)shared.samples,
           (long long)workers * n_updates);
    if (shared.samples != (int64_t)workers * n_updates || shared.cpu_ms_avg != 150 ||
        shared.gpu_ms_avg != 50)
        return fail("lost measurements");
    for (int worker = 0; worker < workers; worker++)
        if (check_own(worker))
            return 1;
    return atomic_load(&warned) != 0;
}

static pid_t start(int (*role)(const void *argument), const void *argument)
{
    pid_t child = fork();
    if (child < 0)
        exit(fail("cannot fork"));
    if (child == 0)
        exit(role(argument));
    return child;
}

static int writer_role(const void *process)
{
    return writer(*(const int *)process);
}

static int reader_role(const void *stop)
{
    return reader(stop);
}

static int wait_for(pid_t child)
{
    int state;
    return waitpid(child, &state, 0) != child || !WIFEXITED(state) || WEXITSTATUS(state) != 0;
}

static int hammer(int n_processes)
{
    pid_t children[MAX_WORKERS], watching;
    int failed = 0;
    atomic_int *stop =
        mmap(NULL, sizeof *stop, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stop == MAP_FAILED)
        return fail("cannot map memory");
    watching = start(reader_role, stop);
    for (int p = 0; p < n_processes; p++)
        children[p] = start(writer_role, &p);
    for (int p = 0; p < n_processes; p++)
        failed |= wait_for(children[p]);
    atomic_store(stop, 1);
    failed |= wait_for(watching);
    munmap(stop, sizeof *stop);
    return failed | check_all(n_processes * n_threads);
}

int main(int argc, char **argv)
{
    int n_processes = argc > 2 ? atoi(argv[2]) : 2;
    n_threads = argc > 3 ? atoi(argv[3]) : n_threads;
    n_updates = argc > 4 ? atoi(argv[4]) : n_updates;
    if (argc < 2 || n_processes < 1 || n_threads < 1 || n_updates < 1 ||
        n_processes > MAX_WORKERS || n_threads > MAX_WORKERS) {
        fprintf(stderr, "usage: profile_hammer FOLDER [PROCESSES [THREADS [UPDATES]]]\n");
        return 2;
    }
    snprintf(multigpu_path, sizeof multigpu_path, "%s/multigpu.json", argv[1]);
    snprintf(thresholds_path, sizeof thresholds_path, "%s/thresholds.json", argv[1]);
    remove(multigpu_path);
    remove(thresholds_path);
    warnings.write = on_warning;
    multigpu = syi_multigpu_store(multigpu_path, &warnings);
    thresholds = syi_threshold_store(thresholds_path, &warnings);
    return hammer(n_processes);
}
