#include "support/trace.h"

#include <string.h>

void lab_trace_add(void *user, const sy_trace_event *event)
{
    lab_trace *trace = user;
    if (trace->inside++)
        trace->overlapped = 1;
    if (trace->count < LAB_TRACE_MOST)
        trace->events[trace->count++] = *event;
    trace->inside--;
}

static int64_t tiles_of(const lab_trace *trace, int device, const char *what)
{
    int64_t tiles = 0;
    for (int i = 0; i < trace->count; i++)
        if (trace->events[i].device == device && !strcmp(trace->events[i].what, what))
            tiles += trace->events[i].tiles;
    return tiles;
}

static int overlap(const sy_trace_event *a, const sy_trace_event *b)
{
    const double slack_ms = 1e-4; /* a device's clock is told in rounded milliseconds */
    return a->device == b->device && a->stream == b->stream && a->begin_ms < b->end_ms - slack_ms &&
           b->begin_ms < a->end_ms - slack_ms;
}

const char *lab_trace_fault(const lab_trace *trace, const sy_report *report, double call_ms)
{
    if (trace->overlapped || trace->count == LAB_TRACE_MOST)
        return "two calls at once, or too many";
    if (tiles_of(trace, -1, "plan") != report->tiles)
        return "no plan";
    if (tiles_of(trace, -1, "merge") != report->tiles)
        return "no merge";
    for (int i = 0; i < report->n_devices; i++) {
        if (tiles_of(trace, i, "packet") != report->devices[i].tiles)
            return "the packets are not the tiles of the report";
        if (tiles_of(trace, i, "compute") != report->devices[i].tiles)
            return "the computations are not the tiles of the report";
    }
    for (int i = 0; i < trace->count; i++) {
        const sy_trace_event *event = &trace->events[i];
        if (!(event->begin_ms >= 0 && event->end_ms >= event->begin_ms))
            return "an event ends before it begins, or begins before the call";
        if (event->device < 0 && event->end_ms > call_ms)
            return "an event of the host ends after the call";
        for (int k = 0; k < i; k++)
            if (overlap(event, &trace->events[k]))
                return "two events at once on one stream";
    }
    return NULL;
}
