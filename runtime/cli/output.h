/* Output files that are either complete or not there: written to a temporary file beside the
 * target and renamed at the end; an older file stays as it is until then. A target that exists and
 * is no regular file (a pipe, a terminal, /dev/full) is written directly, and so is a descriptor by
 * its name (/dev/stdout, /dev/fd/5). */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_output {
    const char *path; /* as the user named it; `-` is standard output */
    char *target;     /* what it is renamed to: the path with links resolved; NULL: direct */
    char *temporary;
    int fd, slot;
    bool open;
    char *buffer;
    size_t used;
} cli_output;

enum { CLI_OUTPUT_BUFFER = 1 << 16 };

/* Once, at the start: temporary files go when a signal ends the process, and a reader that has
 * gone or a file-size limit is a failed write. */
void cli_output_catch_signals(void);

/* All of these report a failure and return its exit code. */
int cli_output_open(cli_output *output, const char *path);
int cli_output_write(cli_output *output, const void *data, size_t size);
/* Everything is on the disk, and nothing can fail any more but the renaming. */
int cli_output_seal(cli_output *output);
/* After cli_output_seal: the file gets its name. */
int cli_output_commit(cli_output *output);
/* Reports errno as the reason why the output cannot be written. */
int cli_output_failed(const cli_output *output);

/* Takes the temporary file away. Also for an output that is all zero, or committed. */
void cli_output_discard(cli_output *output);

#endif
