/* The same bits whatever order the devices do their work in: each workload with several seeds. */
#include "gpu_lab.h"

#include <stdio.h>

/* Random orders, after one that takes the newest first. */
enum { SEEDS = 24, COLUMNS = GPU_MOST / 2 };

static void orders(uint64_t seed)
{
    const sy_options options = {.struct_size = sizeof options,
                                .accuracy = seed % 3 ? SY_ACCURACY_EXACT : SY_ACCURACY_FAST};
    const int workloads = sy_workload_count(gpu_cpu);
    sy_context *context;
    gpu_world("gpus=2", seed ? "random" : "lifo", seed);
    context = gpu_open("cuda,cpu", 2 << 20, 0, NULL);
    for (int i = 0; context && i < 4; i++) {
        sy_workload_info info;
        lab_case c;
        sy_workload_query(gpu_cpu, ((int)seed * 4 + i) % workloads, &info);
        c = gpu_case(info.name, COLUMNS);
        GPU_CHECK(gpu_compare(context, &c, &options, NULL, "order") == SY_OK, "%s, order %d: %s",
                  info.name, (int)seed, sy_last_error()->text);
    }
    gpu_close(&context, "order");
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    for (uint64_t seed = 0; seed <= SEEDS; seed++)
        orders(seed);
    printf("orders: newest first, and %d seeds\n", SEEDS);
    return gpu_end();
}
