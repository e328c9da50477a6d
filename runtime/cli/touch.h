/* Memory that is there before it is used. */
#ifndef CLI_TOUCH_H
#define CLI_TOUCH_H

#include <stdbool.h>
#include <stddef.h>

/* Lets the kernel give the pages of an array at once; `write`: to be written, else to be read.
 * Where it cannot, they come one by one, as they are used. */
void cli_touch(const void *start, size_t size, bool write);

#endif
