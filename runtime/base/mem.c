#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t fail_at, alive;

static int fails_now(void)
{
    return atomic_load_explicit(&fail_at, memory_order_relaxed) > 0 &&
           atomic_fetch_sub(&fail_at, 1) == 1;
}

void *syi_alloc(size_t count, size_t size)
{
    void *block;
    if (fails_now())
        return NULL;
    block = count && size ? calloc(count, size) : calloc(1, 1);
    if (block)
        atomic_fetch_add(&alive, 1);
    return block;
}

void *syi_realloc(void *block, size_t count, size_t size)
{
    void *grown;
    if (fails_now() || (size && count > SIZE_MAX / size))
        return NULL;
    grown = realloc(block, count && size ? count * size : 1);
    if (grown && !block)
        atomic_fetch_add(&alive, 1);
    return grown;
}

char *syi_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = syi_alloc(size, 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

void syi_free(void *block)
{
    if (!block)
        return;
    atomic_fetch_sub(&alive, 1);
    free(block);
}

void syi_arena_open(syi_arena *arena)
{
    arena->blocks = NULL;
    arena->used = 0;
}

/* A piece that the arena itself has no room for gets a block, behind the address of the last. */
static void *take_block(syi_arena *arena, size_t bytes)
{
    enum { HEAD = 16 };
    void *block = bytes <= SIZE_MAX - HEAD ? syi_alloc(1, HEAD + bytes) : NULL;
    if (!block)
        return NULL;
    *(void **)block = arena->blocks;
    arena->blocks = block;
    return (unsigned char *)block + HEAD;
}

void *syi_arena_alloc(syi_arena *arena, size_t count, size_t size)
{
    enum { STEP = 16 };
    size_t bytes;
    void *piece;
    if (size && count > SIZE_MAX / size)
        return NULL;
    bytes = count * size;
    if (bytes > SYI_ARENA_OWN - arena->used)
        return take_block(arena, bytes);
    if (fails_now())
        return NULL;
    piece = arena->own + arena->used;
    arena->used += (bytes + STEP - 1) / STEP * STEP;
    return memset(piece, 0, bytes);
}

void syi_arena_close(syi_arena *arena)
{
    while (arena->blocks) {
        void *before = *(void **)arena->blocks;
        syi_free(arena->blocks);
        arena->blocks = before;
    }
}

void syi_mem_fail_at(int64_t k)
{
    atomic_store(&fail_at, k);
}

int64_t syi_mem_alive(void)
{
    return atomic_load(&alive);
}
