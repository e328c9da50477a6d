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
    if (block)
        atomic_fetch_sub(&alive, 1);
    free(block);
}

void syi_mem_fail_at(int64_t k)
{
    atomic_store(&fail_at, k);
}

int64_t syi_mem_alive(void)
{
    return atomic_load(&alive);
}
