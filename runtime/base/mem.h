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

/* For tests: the k-th allocation from now on fails, once (0: none). */
void syi_mem_fail_at(int64_t k);
/* For tests: blocks alive now. */
int64_t syi_mem_alive(void);

#endif
