/* Memory that nobody has touched yet is given by the kernel page by page, in the middle of a
 * computation. */
#ifndef SYI_BASE_PAGES_H
#define SYI_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this process has all of it, as far as a few samples tell; false: not, or not known. */
bool syi_pages_present(const void *start, size_t size);

#endif
