#include "device/trace.h"

#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>

struct syi_trace {
    sy_trace_fn tell;
    void *user;
    double began_ns;
    pthread_mutex_t telling; /* the caller is told one thing at a time */
};

sy_status syi_trace_create(sy_trace_fn tell, void *user, syi_trace **out)
{
    syi_trace *trace;
    *out = NULL;
    if (!tell)
        return SY_OK;
    trace = syi_alloc(1, sizeof *trace);
    if (!trace)
        return syi_no_memory(sizeof *trace);
    trace->tell = tell;
    trace->user = user;
    trace->began_ns = (double)syi_now_ns();
    pthread_mutex_init(&trace->telling, NULL);
    *out = trace;
    return SY_OK;
}

void syi_trace_destroy(syi_trace **trace)
{
    if (*trace)
        pthread_mutex_destroy(&(*trace)->telling);
    syi_free(*trace);
    *trace = NULL;
}

double syi_trace_now(const syi_trace *trace)
{
    return trace ? (double)syi_now_ns() : 0;
}

void syi_trace_tell(syi_trace *trace, int device, int stream, const char *what, double begin_ns,
                    double end_ns, syi_tiles span)
{
    sy_trace_event event;
    sy_error kept;
    if (!trace)
        return;
    /* Of what is told, when it has failed: the caller's function may use the library. */
    kept = *sy_last_error();
    event = (sy_trace_event){.struct_size = sizeof event,
                             .device = device,
                             .stream = stream,
                             .what = what,
                             .begin_ms = (begin_ns - trace->began_ns) / 1e6,
                             .end_ms = (end_ns - trace->began_ns) / 1e6,
                             .first_tile = span.first,
                             .tiles = span.count};
    pthread_mutex_lock(&trace->telling);
    trace->tell(trace->user, &event);
    pthread_mutex_unlock(&trace->telling);
    syi_error_adopt(&kept);
}
