/* Blocks of lines, made by several threads and taken in order: whichever fails, what was taken is
 * all before it; and without threads or memory. The calls of pthread_create and realloc in
 * blocks.c and text.c come here. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

enum { COUNT = 300, NONE = -1, TAKING_FAILED = 42, MAKING_FAILED = 43 };

static atomic_int threads_left, rooms_left; /* how many more can be had */

int some_threads(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *of)
{
    return atomic_fetch_sub(&threads_left, 1) > 0 ? pthread_create(thread, how, run, of) : 11;
}

void *some_room(void *at, size_t size)
{
    return atomic_fetch_sub(&rooms_left, 1) > 0 ? realloc(at, size) : NULL;
}

typedef struct trial {
    int64_t not_made, not_taken; /* the block that fails */
    int64_t taken;
    int right;
} trial;

/* A block's text is its number as often as the number says, and longer than the first room. */
static bool make(void *user, int64_t block, cli_text *text)
{
    const trial *t = user;
    for (int64_t i = 0; i < block * 20; i++)
        if (!cli_text_add(text, &block, sizeof block))
            return false;
    return block != t->not_made;
}

static int take(void *user, int64_t block, const cli_text *text, bool made)
{
    trial *t = user;
    t->right &= block == t->taken;
    if (!made)
        return MAKING_FAILED;
    t->right &= text->used == (size_t)block * 20 * sizeof block;
    for (size_t i = 0; t->right && i < text->used; i += sizeof block)
        t->right = memcmp(text->at + i, &block, sizeof block) == 0;
    if (block == t->not_taken)
        return TAKING_FAILED;
    t->taken++;
    return 0;
}

/* Blocks before `until` are taken, and then it ends with `code`. */
static int is_right(const char *name, int64_t not_made, int64_t not_taken, int64_t until, int code)
{
    trial t = {.not_made = not_made, .not_taken = not_taken, .right = 1};
    const int got = cli_blocks_run(&(cli_blocks){COUNT, make, take, &t});
    if (t.right && t.taken == until && got == code)
        return 1;
    printf("%s: %lld blocks taken%s, exit code %d\n", name, (long long)t.taken,
           t.right ? "" : ", not in order or not whole", got);
    return 0;
}

static int all_cases(int threads)
{
    int right;
    atomic_store(&threads_left, threads);
    atomic_store(&rooms_left, INT32_MAX);
    right = is_right("all", NONE, NONE, COUNT, 0);
    right &= is_right("first not made", 0, NONE, 0, MAKING_FAILED);
    right &= is_right("one not made", 150, NONE, 150, MAKING_FAILED);
    right &= is_right("last not made", COUNT - 1, NONE, COUNT - 1, MAKING_FAILED);
    right &= is_right("one not taken", NONE, 77, 77, TAKING_FAILED);
    right &= is_right("not taken, then not made", 78, 77, 77, TAKING_FAILED);
    right &= is_right("not made, then not taken", 77, 78, 77, MAKING_FAILED);
    return right;
}

int main(void)
{
    int right = all_cases(0); /* threads refused */
    for (int i = 0; i < 10; i++)
        right &= all_cases(INT32_MAX);
    atomic_store(&threads_left, 0);
    atomic_store(&rooms_left, 3); /* 4,096, 8,192 and 16,384 bytes */
    right &= is_right("no memory", NONE, NONE, 16384 / 160 + 1, MAKING_FAILED);
    return !right;
}
