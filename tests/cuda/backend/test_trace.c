/* The streams of virtual GPUs in the timeline of a traced run. */
#include "gpu_lab.h"

#include "support/trace.h"

#include <math.h>
#include <string.h>

static lab_trace trace;

static int has_streams(int device)
{
    int streams = 0;
    for (int i = 0; i < trace.count; i++)
        if (trace.events[i].device == device && trace.events[i].stream >= 0)
            streams |= 1 << trace.events[i].stream;
    return streams & (streams - 1);
}

int main(int argc, char **argv)
{
    sy_options options = {
        .struct_size = sizeof options, .trace = lab_trace_add, .trace_user = &trace};
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    const char *fault;
    lab_case c;
    if (!gpu_begin(argc, argv))
        return 2;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda:0", 1 << 19, 0, NULL); /* so that a span is several slabs */
    c = gpu_case("sma", GPU_MOST);
    GPU_CHECK(gpu_compare(context, &c, &options, &report, "trace") == SY_OK, "%s",
              sy_last_error()->text);
    fault = lab_trace_fault(&trace, &report, INFINITY);
    GPU_CHECK(!fault, "%s", fault);
    GPU_CHECK(has_streams(0), "one stream only");
    sy_report_clear(&report);
    gpu_close(&context, "trace");
    return gpu_end();
}
