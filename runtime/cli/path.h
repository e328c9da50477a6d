/* What the paths of the command line lead to. */
#ifndef CLI_PATH_H
#define CLI_PATH_H

#include <stdbool.h>

/* N of /dev/fd/N and /proc/self/fd/N, also as /dev/stdin, /dev/stdout and /dev/stderr, and of a
 * link to one of them; -1: the path is none. */
int cli_path_descriptor(const char *path);

/* Of an output that is written to what is open already, the descriptor; -1: it is put in the place
 * of what the path leads to. */
int cli_path_output(const char *path);

/* Whether the output `path` would be written over `other`, be it through a link or under another
 * spelling of the name. `-` is a standard stream. A terminal may well be what two different names
 * lead to: only files are compared. */
bool cli_path_hits(const char *path, const char *other, bool other_is_input);

#endif
