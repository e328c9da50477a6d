/* A locale with a decimal comma. */
#ifndef TEST_COMMA_H
#define TEST_COMMA_H

#include <stdbool.h>

/* Sets the process's locale to one; makes one in a folder where the system has none, and is false
 * where it cannot. */
bool comma_set(void);

#endif
