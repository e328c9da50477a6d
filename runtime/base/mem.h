/* Checked, zeroed allocation. Tests make the k-th allocation fail. */
#ifndef SYI_BASE_MEM_H
#define SYI_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* `count * size` zeroed bytes, or NULL when the product overflows or memory is exhausted. A zero
 * product gives a pointer to free all the same. */
void *syi_alloc(size_t count, size_t size);
/* Grows or shrinks; the new part is not zeroed. NULL leaves the old block as it was. */
void *syi_realloc(void *block, size_t count, size_t size);
char *syi_strdup(const char *text);
void syi_free(void *block);

/* Memory of one call, handed out piece by piece and given back all at once. The first pieces lie in
 * the arena itself, so that a call over few devices asks the heap for nothing. For one thread. */
enum { SYI_ARENA_OWN = 8192 };
typedef struct syi_arena {
    void *blocks; /* from the heap; each begins with the address of the one before */
    size_t used;  /* bytes of `own` */
    _Alignas(16) unsigned char own[SYI_ARENA_OWN];
} syi_arena;

void syi_arena_open(syi_arena *arena);
/* As syi_alloc. */
void *syi_arena_alloc(syi_arena *arena, size_t count, size_t size);
void syi_arena_close(syi_arena *arena);

/* For tests: the k-th allocation from now on fails, once (0: none). */
void syi_mem_fail_at(int64_t k);
/* For tests: blocks alive now. */
int64_t syi_mem_alive(void);

#endif
