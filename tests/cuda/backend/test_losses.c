/* Devices that are lost or hang in the middle of a run. */
#include "gpu_lab.h"

#include <stdio.h>
#include <string.h>

static void losses(void)
{
    int hit = 0;
    for (int device = 0; device < 3; device++) {
        for (int after = 0; after < 3; after++) {
            char fault[128];
            vcuda_counts counts;
            lab_case c;
            sy_context *context;
            gpu_world("gpus=3", NULL, 0);
            context = gpu_open("cuda", 3 << 20, 0, NULL);
            snprintf(fault, sizeof fault, "device=%d,call=cuLaunchKernel,after=%d,lost", device,
                     after);
            GPU_CHECK(context && vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
            c = gpu_case("bollinger", GPU_MOST);
            GPU_CHECK(gpu_compare(context, &c, NULL, NULL, fault) == SY_OK, "%s: %s", fault,
                      sy_last_error()->text);
            vcuda_counters(-1, &counts);
            hit += counts.faults > 0;
            gpu_close(&context, fault);
        }
    }
    GPU_CHECK(hit >= 3, "%d losses", hit);
    printf("losses: %d of 9 struck\n", hit);
}

static void hang(void)
{
    lab_case c;
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda", 0, 50, NULL);
    GPU_CHECK(vcuda_fault("device=1,call=cuLaunchKernel,hang") == 0, "%s", vcuda_message());
    c = gpu_case("sma", GPU_MOST);
    GPU_CHECK(gpu_compare(context, &c, NULL, &report, "hang") == SY_OK, "%s",
              sy_last_error()->text);
    GPU_CHECK(!strcmp(report.devices[1].state, "failed"), "state %s", report.devices[1].state);
    sy_report_clear(&report);
    vcuda_release();
    sy_context_destroy(&context);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    losses();
    hang();
    return gpu_end();
}
