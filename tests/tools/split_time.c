/* How long the split takes, and how that grows with the number of devices: the best of a few
 * repetitions for 1e9 elements; and what a packet of the queue costs. Not a test. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/philox.h"
#include "model/queue.h"
#include "model/split.h"

static double uniform(uint32_t stream, int index)
{
    return (double)(syi_random(1, stream, (uint64_t)index) >> 11) * 0x1p-53;
}

/* GPUs of speeds 1 to 10, on `per_link` to a link (0: none shared), with a bend where a cache ends.
 */
static void make(syi_cost *cost, syi_split_device *device, int i, int per_link)
{
    double slope = 0.02 * (1 + 9 * uniform(0, i));
    cost->phase[SYI_COPY_IN] = syi_curve_line(20e3, 0.1);
    cost->phase[SYI_COMPUTE] = (syi_curve){
        .pieces = 2, .fixed_ns = 10e3, .until = {1e6}, .per_element_ns = {slope / 2, slope}};
    cost->phase[SYI_COPY_OUT] = syi_curve_line(20e3 + 1e4 * uniform(1, i), 0.1);
    *device = (syi_split_device){.cost = cost,
                                 .link = per_link ? i / per_link : -1,
                                 .way = SYI_WAY_PIPELINE,
                                 .chunk_tiles = 64,
                                 .memory = 8e9};
}

static void measure(int count, int per_link)
{
    static const syi_split_work work = {244141, 4096, 4096 * 32};
    syi_cost *costs = calloc((size_t)count, sizeof *costs);
    syi_split_device *devices = calloc((size_t)count, sizeof *devices);
    syi_part *parts = calloc((size_t)count, sizeof *parts);
    int64_t best = INT64_MAX;
    syi_forecast split = {0};
    for (int i = 0; costs && devices && i < count; i++)
        make(&costs[i], &devices[i], i, per_link);
    for (int k = 0; costs && devices && parts && k < 20; k++) {
        int64_t from = syi_now_ns();
        if (syi_split_make(devices, count, &work, parts, &split) != SY_OK)
            break;
        best = syi_now_ns() - from < best ? syi_now_ns() - from : best;
    }
    printf("%7d devices, %-12s %10.1f us  (makespan %.3f ms, %s)\n", count,
           per_link ? "4 to a link:" : "own links:", (double)best * 1e-3, split.makespan_ns * 1e-6,
           syi_extent_word(split.extent));
    free(costs);
    free(devices);
    free(parts);
}

/* The mean over all packets of a call in which every packet is as small as can be. */
static void measure_queue(int count)
{
    enum { TILES = 100000 };
    syi_queue_device devices[64];
    syi_packet packet;
    syi_queue *queue;
    int64_t from, packets = 0;
    for (int i = 0; i < count; i++)
        devices[i] = (syi_queue_device){TILES / count, 100 * (i + 1), 0, 0.05, 1};
    if (syi_queue_open(devices, count, SYI_QUEUE_BALANCED, &queue) != SY_OK)
        return;
    from = syi_now_ns();
    for (int busy = 1; busy;) {
        busy = 0;
        for (int i = 0; i < count; i++)
            if (syi_queue_next(queue, i, (double)packets * 100, &packet) == SYI_TURN_TAKE) {
                syi_queue_report(queue, i, packet.count, 100 * (i + 1));
                packets++;
                busy = 1;
            }
    }
    printf("%7d devices, %lld packets: %.3f us each\n", count, (long long)packets,
           (double)(syi_now_ns() - from) * 1e-3 / (double)packets);
    syi_queue_close(&queue);
}

int main(void)
{
    for (int count = 1; count <= 64; count *= 2)
        measure_queue(count);
    for (int per_link = 0; per_link <= 4; per_link += 4)
        for (int count = 1; count <= 100000; count *= 10)
            measure(count, per_link);
    return 0;
}
