/* Lines of text worked on by several threads, a block of lines at a time, and handed over in their
 * order: numbers take longer to print and to read than to compute. */
#ifndef CLI_BLOCKS_H
#define CLI_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

typedef struct cli_blocks {
    int64_t count;
    /* By any of the threads, several at once; reports nothing. `text` is the thread's own, empty.
     * False: it failed. */
    bool (*make)(void *user, int64_t block, cli_text *text);
    /* Block by block, never two at once; `made` is what the first gave. The first that fails, with
     * an exit code, is the last. */
    int (*take)(void *user, int64_t block, const cli_text *text, bool made);
    void *user;
} cli_blocks;

/* How many lines of so many fields each are a block. */
int64_t cli_block_lines(int64_t fields);

/* With as many threads as there are processors and threads to be had, at least the calling one. */
int cli_blocks_run(const cli_blocks *blocks);

#endif
