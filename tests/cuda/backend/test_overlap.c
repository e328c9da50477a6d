/*
 * Copies in, kernels and copies out overlap. In virtual time, so nothing here is a measurement: how
 * long 64 slabs take where the link needs as long as the kernels, to see that neither waits for the
 * other.
 */
#include "gpu_lab.h"

#include "device/cuda/slot.h"

#include <stdio.h>

enum { CHUNKS = 64, TILE = 4096, COLUMNS = CHUNKS * TILE, LATENCY_NS = 1000 };

static double x[COLUMNS];

typedef struct timing {
    double ns, link_ns; /* of the run; of its copies one way, alone */
} timing;

/* A run of one tile a slab, on a GPU of this speed with a link of so many bytes per ns. */
static timing run(const char *workload, uint64_t budget, double speed, double link)
{
    char world[128];
    sy_context *context;
    lab_case c = {.workload = workload, .rows = 1, .columns = COLUMNS, .x = x};
    vcuda_counts counts;
    timing t = {0};
    snprintf(world, sizeof world, "gpus=1;0:sms=4,speed=%.17g,link=%.17g,latency=%d", speed, link,
             LATENCY_NS);
    gpu_world(world, NULL, 0);
    context = gpu_open("cuda", budget, 0, NULL);
    GPU_CHECK(context && lab_prepare(&c), "%s: %s", world, sy_last_error()->text);
    t.ns = (double)-vcuda_virtual_now();
    GPU_CHECK(context && lab_run(context, &c, NULL, NULL) == SY_OK, "%s", sy_last_error()->text);
    t.ns += (double)vcuda_virtual_now();
    vcuda_counters(0, &counts);
    GPU_CHECK(counts.launches == CHUNKS, "%llu slabs", (unsigned long long)counts.launches);
    t.link_ns =
        (double)(counts.bytes_in > counts.bytes_out ? counts.bytes_in : counts.bytes_out) / link +
        (double)CHUNKS * LATENCY_NS;
    gpu_close(&context, world);
    lab_release(&c);
    return t;
}

/* Of slabs of a tile, `slab_bytes` large. */
static void overlap(const char *workload, uint64_t slab_bytes, double speed)
{
    const uint64_t budget = CUDA_SLOTS * slab_bytes;
    /* Where the link takes next to no time, what is left is the kernels, one after the other. */
    const double compute = run(workload, budget, speed, 1e9).ns;
    const double latencies = (double)CHUNKS * LATENCY_NS;
    const double bytes = run(workload, budget, speed, 1).link_ns - latencies;
    const timing both = run(workload, budget, speed, bytes / (compute - latencies));
    const double longer = both.link_ns > compute ? both.link_ns : compute;
    GPU_CHECK(both.ns <= 1.1 * longer && both.ns >= longer, "%s: %.0f ns, link %.0f, kernels %.0f",
              workload, both.ns, both.link_ns, compute);
    GPU_CHECK(both.link_ns > 0.98 * compute && both.link_ns < 1.02 * compute,
              "%s: link %.0f ns, kernels %.0f: not equal", workload, both.link_ns, compute);
    printf("%s: a slab takes %.1f us; 64 take %.3f of the link's or the kernels' time\n", workload,
           compute / CHUNKS / 1e3, both.ns / longer);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    series_fill(SERIES_WALK, 3, x, COLUMNS);
    overlap("sma", 70000, 0.001);
    overlap("sma", 70000, 0.01);
    overlap("sma", 70000, 0.1);
    overlap("bollinger", 140000, 0.01);
    return gpu_end();
}
