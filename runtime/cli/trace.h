/* The timeline of a run as a Chrome trace: JSON that Perfetto and chrome://tracing open, with a
 * process per device and a track per stream. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include <steelyard/steelyard.h>

#include "output.h"

typedef struct cli_trace {
    sy_trace_event *events;
    size_t count, room;
    bool short_of_memory; /* told by cli_trace_write */
} cli_trace;

/* A sy_trace_fn; `user` is a cli_trace, all zero at first. */
void cli_trace_add(void *user, const sy_trace_event *event);
/* Writes the JSON text; the output is still to be committed. Returns an exit code. */
int cli_trace_write(cli_output *output, const cli_trace *trace, const sy_report *report);
void cli_trace_free(cli_trace *trace);

#endif
