/*
 * How well unequal devices are kept busy: the time that a perfect split would take, divided by the
 * time that a call takes. Simulated devices of known speeds, so "perfect" is known: elements
 * divided by the sum of the speeds. Beside the library: equal split, static ratios (both through
 * the library, forced), and two schedulers written here for comparison, which hand out parts of
 * the row to the same devices: pure dynamic (equal parts) and HGuided (parts that shrink with the
 * rest, by speed). One JSON line per case and strategy.
 *
 * usage: bench_balance [ELEMENTS [RUNS]]
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <steelyard/steelyard.h>

enum { MOST_DEVICES = 4, MOST_RUNS = 64, TILE = 4096 };

/* All devices together: so slow that two cores, sleeping most of the time, can play them. */
static const double whole_speed = 0.4, elements_per_speed = 1e8;

typedef struct machine {
    const char *name;
    int count;
    double weight[MOST_DEVICES];
} machine;

static const machine machines[] = {
    {"1:1", 2, {1, 1}},   {"2:1", 2, {2, 1}},           {"4:1", 2, {4, 1}},
    {"10:1", 2, {10, 1}}, {"8:4:2:1", 4, {8, 4, 2, 1}},
};

static int64_t elements = 16000000;
static int runs = 5;
static double *input, *output;
static char profile_path[64];

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void check(sy_status status)
{
    if (status == SY_OK)
        return;
    fprintf(stderr, "bench_balance: %s\n", sy_last_error()->text);
    remove(profile_path);
    exit(1);
}

/* Device i has `slower[i]` of its part of the whole speed; NULL: all of it. */
static void speeds_of(const machine *m, const double *slower, double *speeds)
{
    double sum = 0;
    for (int i = 0; i < m->count; i++)
        sum += m->weight[i];
    for (int i = 0; i < m->count; i++)
        speeds[i] = whole_speed * m->weight[i] / sum / (slower ? slower[i] : 1);
}

static sy_context *open_devices(const double *speeds, int first, int count)
{
    char list[256];
    size_t used = 0;
    sy_context *context;
    for (int i = first; i < first + count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%ssim:%c:speed=%.9g",
                                 i > first ? "," : "", 'a' + i, speeds[i]);
    sy_config config = {
        .struct_size = sizeof config, .devices = list, .multigpu_path = profile_path};
    check(sy_context_create(&config, &context));
    return context;
}

static void compute(sy_context *context, int64_t first, int64_t count, const sy_options *options)
{
    const void *in = input + first;
    void *out = output + first;
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sma",
                    .rows = 1,
                    .columns = count,
                    .inputs = &in,
                    .outputs = &out};
    check(distribute_workload(context, &work, options, NULL));
}

static double ideal_ms(const machine *m, const double *speeds)
{
    double sum = 0;
    for (int i = 0; i < m->count; i++)
        sum += speeds[i];
    return (double)elements / (sum * elements_per_speed) * 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, const char *machine, const char *strategy, double ideal,
                  double *times, int count)
{
    double first = times[0], fourth = count > 3 ? times[3] : times[count - 1];
    qsort(times, (size_t)count, sizeof *times, by_value);
    printf("{\"case\": \"%s\", \"speeds\": \"%s\", \"strategy\": \"%s\", \"elements\": %lld, "
           "\"runs\": %d, \"ideal_ms\": %.3f, \"median\": %.4f, \"worst\": %.4f, \"first\": %.4f, "
           "\"fourth\": %.4f}\n",
           name, machine, strategy, (long long)elements, count, ideal, ideal / times[count / 2],
           ideal / times[count - 1], ideal / first, ideal / fourth);
    fflush(stdout);
}

/* ---- through the library ----------------------------------------------------------------- */

static void library(const char *name, const machine *m, const char *strategy, const double *slower,
                    const double *ratios)
{
    static const char *const names[MOST_DEVICES] = {"a", "b", "c", "d"};
    double speeds[MOST_DEVICES], times[MOST_RUNS];
    sy_ratio forced[MOST_DEVICES];
    sy_options options = {.struct_size = sizeof options};
    sy_context *context;
    speeds_of(m, slower, speeds);
    context = open_devices(speeds, 0, m->count);
    for (int i = 0; ratios && i < m->count; i++)
        forced[i] = (sy_ratio){names[i], ratios[i]};
    if (ratios) {
        options.ratios = forced;
        options.n_ratios = m->count;
    }
    for (int run = 0; run < runs; run++) {
        double began = now_ms();
        compute(context, 0, elements, &options);
        times[run] = now_ms() - began;
    }
    print(name, m->name, strategy, ideal_ms(m, speeds), times, runs);
    sy_context_destroy(&context);
}

/* Profiles devices of which some are then another speed. */
static void make_profile(const machine *m, const double *slower)
{
    sy_profile_options options = {
        .struct_size = sizeof options, .workload = "sma", .sample_size = 262144, .runs = 3};
    double speeds[MOST_DEVICES];
    sy_context *context;
    speeds_of(m, slower, speeds);
    context = open_devices(speeds, 0, m->count);
    check(sy_profile_auto_balance(context, &options, NULL));
    sy_context_destroy(&context);
}

/* ---- the schedulers to compare with ------------------------------------------------------ */

typedef struct pool {
    pthread_mutex_t lock;
    int64_t next;
    int guided; /* HGuided; else equal parts */
    double sum; /* of the believed speeds */
} pool;

typedef struct hand {
    pool *pool;
    sy_context *context;
    double believed;
    pthread_t thread;
} hand;

/* HGuided: rest * speed / (2 * sum of speeds), whole tiles; dynamic: a fiftieth of the work. */
static int64_t take(hand *h, int64_t *first)
{
    pool *p = h->pool;
    int64_t size, rest;
    pthread_mutex_lock(&p->lock);
    rest = elements - p->next;
    size = p->guided ? (int64_t)((double)rest * h->believed / (2 * p->sum)) : elements / 50;
    size = (size / TILE + 1) * TILE;
    size = size < rest ? size : rest;
    *first = p->next;
    p->next += size;
    pthread_mutex_unlock(&p->lock);
    return size;
}

static void *serve(void *argument)
{
    hand *h = argument;
    int64_t first, size;
    while ((size = take(h, &first)) > 0)
        compute(h->context, first, size, NULL);
    return NULL;
}

static void shared(const char *name, const machine *m, const char *strategy, int guided,
                   const double *slower)
{
    double speeds[MOST_DEVICES], believed[MOST_DEVICES], times[MOST_RUNS];
    hand hands[MOST_DEVICES];
    speeds_of(m, slower, speeds);
    speeds_of(m, NULL, believed);
    for (int i = 0; i < m->count; i++)
        hands[i] = (hand){.context = open_devices(speeds, i, 1), .believed = believed[i]};
    for (int run = 0; run < runs; run++) {
        pool p = {.lock = PTHREAD_MUTEX_INITIALIZER, .guided = guided, .sum = whole_speed};
        double began = now_ms();
        for (int i = 0; i < m->count; i++) {
            hands[i].pool = &p;
            if (pthread_create(&hands[i].thread, NULL, serve, &hands[i]) != 0)
                exit(1);
        }
        for (int i = 0; i < m->count; i++)
            pthread_join(hands[i].thread, NULL);
        times[run] = now_ms() - began;
    }
    print(name, m->name, strategy, ideal_ms(m, speeds), times, runs);
    for (int i = 0; i < m->count; i++)
        sy_context_destroy(&hands[i].context);
}

/* ---- cases ------------------------------------------------------------------------------- */

static void all_strategies(const char *name, const machine *m, const double *slower)
{
    static const double equal[MOST_DEVICES] = {1, 1, 1, 1};
    make_profile(m, NULL);
    library(name, m, "steelyard", slower, NULL);
    library(name, m, "equal", slower, equal);
    library(name, m, "static", slower, m->weight);
    shared(name, m, "dynamic", 0, slower);
    shared(name, m, "hguided", 1, slower);
}

int main(int argc, char **argv)
{
    static const double slower[] = {3, 1}, off[] = {1.2, 1};
    if (argc > 1)
        elements = strtoll(argv[1], NULL, 10);
    if (argc > 2)
        runs = atoi(argv[2]);
    if (elements < 1 || runs < 1 || runs > MOST_RUNS) {
        fprintf(stderr, "usage: bench_balance [ELEMENTS [RUNS]], at most %d runs\n", MOST_RUNS);
        return 2;
    }
    snprintf(profile_path, sizeof profile_path, "bench-balance-%d.json", (int)getpid());
    input = malloc((size_t)elements * sizeof *input);
    output = malloc((size_t)elements * sizeof *output);
    if (!input || !output) {
        fprintf(stderr, "bench_balance: cannot get the memory\n");
        return 1;
    }
    for (int64_t i = 0; i < elements; i++)
        input[i] = 100 + (double)(i * 7919 % 1000) / 100;
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
        all_strategies("profile", &machines[k], NULL);
    remove(profile_path);
    library("first run, no profile", &machines[3], "steelyard", NULL, NULL);
    all_strategies("fast one 3x slower", &machines[2], slower);
    all_strategies("profile off by 20 %", &machines[2], off);
    remove(profile_path);
    free(input);
    free(output);
    return 0;
}
