/*
 * Every stream of two GPUs is a thread of its own: for ThreadSanitizer, and for the others. Short,
 * because both make the interpreter slow.
 */
#include "gpu_lab.h"

#include <stdio.h>

enum { COLUMNS = 9000 };

/* A GPU may fail at its first launch, so that its rest changes hands. */
static void run(const char *workload, int with_loss)
{
    lab_case c = gpu_case(workload, COLUMNS);
    sy_context *context;
    vcuda_counts counts;
    gpu_world("gpus=2", "threads", 0);
    context = gpu_open("cuda,cpu:threads=1", 400000, 0, NULL);
    GPU_CHECK(context, "%s", sy_last_error()->text);
    if (with_loss)
        GPU_CHECK(vcuda_fault("device=1,call=cuLaunchKernel,after=0,lost") == 0, "%s",
                  vcuda_message());
    for (int i = 0; context && i < 2; i++)
        GPU_CHECK(gpu_compare(context, &c, NULL, NULL, workload) == SY_OK, "%s: %s", workload,
                  sy_last_error()->text);
    vcuda_counters(-1, &counts);
    GPU_CHECK(counts.launches > 0 && counts.faults == (uint64_t)with_loss,
              "%s: %llu launches, %llu faults", workload, (unsigned long long)counts.launches,
              (unsigned long long)counts.faults);
    gpu_close(&context, workload);
}

int main(int argc, char **argv)
{
    static const char *const workloads[] = {"sma", "ema", "variance", "dot"};
    if (!gpu_begin(argc, argv))
        return 2;
    for (int w = 0; w < 4; w++)
        for (int with_loss = 0; with_loss < 2; with_loss++)
            run(workloads[w], with_loss);
    printf("each stream a thread: 8 worlds\n");
    return gpu_end();
}
