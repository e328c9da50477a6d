/* A whole input in memory: a regular file is mapped, so that one larger than the memory streams
 * through; anything else (standard input, a pipe) is read to its end. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_bytes {
    char *data;
    size_t size;
    bool mapped;
} cli_bytes;

/* `-` is standard input. Reports a failure and returns its exit code. */
int cli_load(const char *path, cli_bytes *out);
void cli_unload(cli_bytes *bytes);
/* After a read or write that would have had to wait, errno says: waits until it need not (`what`:
 * POLLIN or POLLOUT). Gives whether that was it. */
bool cli_wait_for(int fd, short what);
/* How messages call an input or output: its path, or `standard input`, `standard output`. */
const char *cli_input_name(const char *path);
const char *cli_output_name(const char *path);

#endif
