/* Two schedulers to compare with; see balance.h. */
#include "balance.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct pool pool;

typedef struct hand {
    pool *pool;
    sy_context *context;
    double believed;
    pthread_t thread;
} hand;

struct pool {
    pthread_mutex_t lock;
    int64_t next;
    int guided; /* HGuided; else equal parts */
    double sum; /* of the believed speeds */
    int count;
    hand hands[MOST_DEVICES];
};

/* HGuided: rest * speed / (2 * sum of speeds), whole tiles; dynamic: a fiftieth of the work. */
static int64_t take(hand *h, int64_t *first)
{
    pool *p = h->pool;
    int64_t size, rest;
    pthread_mutex_lock(&p->lock);
    rest = balance_elements - p->next;
    size = p->guided ? (int64_t)((double)rest * h->believed / (2 * p->sum)) : balance_elements / 50;
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
        balance_compute(h->context, first, size, NULL);
    return NULL;
}

static void run(void *state)
{
    pool *p = state;
    p->next = 0;
    for (int i = 0; i < p->count; i++)
        if (pthread_create(&p->hands[i].thread, NULL, serve, &p->hands[i]) != 0)
            bench_fail("cannot start a thread");
    for (int i = 0; i < p->count; i++)
        pthread_join(p->hands[i].thread, NULL);
}

static void close_pool(void *state)
{
    pool *p = state;
    for (int i = 0; i < p->count; i++)
        sy_context_destroy(&p->hands[i].context);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

player balance_pool(const track *t, int guided)
{
    double speeds[MOST_DEVICES], believed[MOST_DEVICES];
    pool *p = calloc(1, sizeof *p);
    if (!p)
        bench_fail("no memory");
    balance_speeds(t->machine, t->slower, speeds);
    balance_speeds(t->machine, NULL, believed);
    pthread_mutex_init(&p->lock, NULL);
    p->guided = guided;
    p->sum = balance_whole_speed;
    p->count = t->machine->count;
    for (int i = 0; i < p->count; i++)
        p->hands[i] =
            (hand){.pool = p, .context = balance_open(speeds, i, 1), .believed = believed[i]};
    return (player){
        .name = guided ? "hguided" : "dynamic", .state = p, .run = run, .close = close_pool};
}
