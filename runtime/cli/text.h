/* Text that is put together before it is written. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* All zero: empty. `at` is to be freed. */
typedef struct cli_text {
    char *at;
    size_t used, size;
} cli_text;

/* Makes room for so many bytes behind what is there, if only for none. False: a lack of memory. */
bool cli_text_room(cli_text *text, size_t more);
/* The same for data that is put there. */
bool cli_text_add(cli_text *text, const void *data, size_t size);

#endif
