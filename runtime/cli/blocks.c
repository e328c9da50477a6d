#define _GNU_SOURCE /* sched_getaffinity */
#include "blocks.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "message.h"

/* Beyond so many threads the one that writes is the limit, and each has a block in memory. */
enum { MOST_THREADS = 16, MOST_LINES = 4096, MOST_FIELDS = 16384 };

int64_t cli_block_lines(int64_t fields)
{
    const int64_t lines = MOST_FIELDS / (fields > 0 ? fields : 1);
    return lines < 1 ? 1 : lines > MOST_LINES ? MOST_LINES : lines;
}

typedef struct crew {
    const cli_blocks *blocks;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    int64_t next; /* that nobody makes yet */
    int64_t turn; /* the block that is taken next */
    int code;     /* of the first that failed */
} crew;

/* The next block for a thread; -1: none. */
static int64_t begin(crew *c)
{
    int64_t block = -1;
    pthread_mutex_lock(&c->lock);
    if (c->code == CLI_DONE && c->next < c->blocks->count)
        block = c->next++;
    pthread_mutex_unlock(&c->lock);
    return block;
}

static void wait_for_turn(crew *c, int64_t block)
{
    pthread_mutex_lock(&c->lock);
    while (c->turn != block)
        pthread_cond_wait(&c->turned, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void end(crew *c, int code)
{
    pthread_mutex_lock(&c->lock);
    c->code = code;
    c->turn++;
    pthread_cond_broadcast(&c->turned);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *of)
{
    crew *c = of;
    cli_text text = {0};
    for (int64_t block = begin(c); block >= 0; block = begin(c)) {
        bool made;
        int code;
        text.used = 0;
        made = c->blocks->make(c->blocks->user, block, &text);
        wait_for_turn(c, block);
        code = c->code; /* written in turn only */
        if (code == CLI_DONE)
            code = c->blocks->take(c->blocks->user, block, &text, made);
        end(c, code);
    }
    free(text.at);
    return NULL;
}

/* Where the address space is limited, one: the stacks and heaps of more could take what a block
 * needs. */
static int wanted_threads(void)
{
    struct rlimit limit;
    cpu_set_t set;
    int count = 1;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY &&
        sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    return count < MOST_THREADS ? count : MOST_THREADS;
}

int cli_blocks_run(const cli_blocks *blocks)
{
    crew c = {
        .blocks = blocks, .lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER};
    pthread_t others[MOST_THREADS - 1];
    const int wanted = wanted_threads();
    int made = 0;
    while (made + 1 < wanted && made + 1 < blocks->count &&
           pthread_create(&others[made], NULL, work, &c) == 0)
        made++;
    work(&c);
    for (int i = 0; i < made; i++)
        pthread_join(others[i], NULL);
    pthread_cond_destroy(&c.turned);
    pthread_mutex_destroy(&c.lock);
    return c.code;
}
