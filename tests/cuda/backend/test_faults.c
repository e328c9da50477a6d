/*
 * Each driver call of a run over three devices fails in turn: the right bits or a clean error,
 * nothing left, no hang.
 */
#include "gpu_lab.h"

#include <stdio.h>

/* The k-th driver call of a run over three devices fails. */
enum { SWEPT = 13000 };

static void fault_sweep(void)
{
    static const char *const kinds[] = {"error=CUDA_ERROR_OUT_OF_MEMORY",
                                        "error=CUDA_ERROR_LAUNCH_FAILED,sticky",
                                        "error=CUDA_ERROR_UNKNOWN", "lost"};
    int runs = 0, fired = 0, ended = 0;
    for (int kind = 0; kind < 4; kind++) {
        for (int k = 0; k < 400; k++) {
            char fault[128];
            vcuda_counts counts;
            lab_case c;
            sy_context *context;
            snprintf(fault, sizeof fault, "device=any,call=any,after=%d,%s", k, kinds[kind]);
            gpu_world("gpus=3", NULL, 0);
            GPU_CHECK(vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
            context = gpu_open("cuda,cpu", 0, 0, NULL);
            c = gpu_case("sma", SWEPT);
            if (context)
                ended += gpu_compare(context, &c, NULL, NULL, fault) != SY_OK;
            vcuda_counters(-1, &counts);
            gpu_close(&context, fault);
            runs++;
            fired += counts.faults > 0;
            if (!counts.faults)
                break;
        }
    }
    GPU_CHECK(fired > 100, "only %d faults fired", fired);
    printf("fault sweep: %d runs, %d faults fired, %d ended in an error\n", runs, fired, ended);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    fault_sweep();
    return gpu_end();
}
