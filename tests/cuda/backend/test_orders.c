/* The same bits whatever order the devices do their work in. */
#include "gpu_lab.h"

#include <stdio.h>

static void orders(void)
{
    for (uint64_t seed = 0; seed <= 24; seed++) {
        lab_case c;
        sy_context *context;
        gpu_world("gpus=2", seed ? "random" : "lifo", seed);
        context = gpu_open("cuda,cpu", 2 << 20, 0, NULL);
        c = gpu_case(seed % 2 ? "macd" : "rolling_std", GPU_MOST);
        GPU_CHECK(gpu_compare(context, &c, NULL, NULL, "order") == SY_OK, "order %d: %s", (int)seed,
                  sy_last_error()->text);
        gpu_close(&context, "order");
    }
    printf("orders: lifo and 24 seeds\n");
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    orders();
    return gpu_end();
}
