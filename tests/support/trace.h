/* Collects the events of a traced run and says what is wrong with them. */
#ifndef TESTS_SUPPORT_TRACE_H
#define TESTS_SUPPORT_TRACE_H

#include <steelyard/steelyard.h>

enum { LAB_TRACE_MOST = 4096 };

typedef struct lab_trace {
    sy_trace_event events[LAB_TRACE_MOST];
    int count;
    _Atomic int inside; /* calls under way */
    int overlapped;
} lab_trace;

/* A sy_trace_fn; `user` is a lab_trace, all zero at first. */
void lab_trace_add(void *user, const sy_trace_event *event);
/* NULL when every device's packets and computations cover its tiles of the report once, in order
 * on each stream and within the call of `call_ms`; else what is wrong. */
const char *lab_trace_fault(const lab_trace *trace, const sy_report *report, double call_ms);

#endif
