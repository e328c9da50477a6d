#include "trace.h"

#include <stdlib.h>

#include "message.h"
#include "print.h"

void cli_trace_add(void *user, const sy_trace_event *event)
{
    cli_trace *trace = user;
    if (trace->count == trace->room) {
        size_t room = trace->room ? 2 * trace->room : 256;
        sy_trace_event *grown = realloc(trace->events, room * sizeof *grown);
        if (!grown) {
            trace->short_of_memory = true;
            return;
        }
        trace->events = grown;
        trace->room = room;
    }
    trace->events[trace->count++] = *event;
}

/* The format has processes and threads where we have devices and streams; the host is process 0
 * and a device's packets are its thread 0. */
static int process_of(const sy_trace_event *event)
{
    return event->device + 1;
}

static int thread_of(const sy_trace_event *event)
{
    return event->stream + 1;
}

static json_t *event_json(const sy_trace_event *event)
{
    return json_pack(
        "{s:s, s:s, s:i, s:i, s:o, s:o, s:{s:I, s:I}}", "name", event->what, "ph", "X", "pid",
        process_of(event), "tid", thread_of(event), "ts", cli_json_number(1000 * event->begin_ms),
        "dur", cli_json_number(1000 * (event->end_ms - event->begin_ms)), "args", "first_tile",
        (json_int_t)event->first_tile, "tiles", (json_int_t)event->tiles);
}

static json_t *process_name(int process, const char *name)
{
    return json_pack("{s:s, s:s, s:i, s:{s:o}}", "name", "process_name", "ph", "M", "pid", process,
                     "args", "name", cli_json_text(name));
}

static json_t *packets_name(int process)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", "thread_name", "ph", "M", "pid",
                     process, "tid", 0, "args", "name", "packets");
}

static json_t *trace_json(const cli_trace *trace, const sy_report *report)
{
    json_t *events = cli_json_append(json_array(), process_name(0, "host"));
    for (int i = 0; i < report->n_devices; i++) {
        events = cli_json_append(events, process_name(i + 1, report->devices[i].name));
        events = cli_json_append(events, packets_name(i + 1));
    }
    for (size_t i = 0; i < trace->count; i++)
        events = cli_json_append(events, event_json(&trace->events[i]));
    return json_pack("{s:o, s:s}", "traceEvents", events, "displayTimeUnit", "ms");
}

int cli_trace_write(cli_output *output, const cli_trace *trace, const sy_report *report)
{
    if (trace->short_of_memory)
        return cli_no_memory();
    return cli_json_write(output, trace_json(trace, report));
}

void cli_trace_free(cli_trace *trace)
{
    free(trace->events);
    *trace = (cli_trace){0};
}
