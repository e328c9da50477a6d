/* The progress line: on a terminal only, and only for what takes longer than a second. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

/* Starts a phase. `unit` is what is counted ("tiles", "B"); both strings must outlive the phase.
 * A label of NULL: it is not shown. */
void cli_progress_begin(const char *label, const char *unit);
/* May be called as often as is convenient; from one thread at a time. A total of 0 is not known:
 * what is done is shown, and how fast. */
void cli_progress_step(uint64_t done, uint64_t total);
/* The same, as the library calls it; never cancels. */
int cli_progress_tiles(void *user, uint64_t done, uint64_t total);
/* Takes the line away, if there is one. Safe in a signal handler. */
void cli_progress_erase(void);

#endif
