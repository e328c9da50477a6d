/* Each host allocation of a run over two GPUs and the CPU fails in turn. */
#include "gpu_lab.h"

#include "base/mem.h"

#include <stdio.h>

enum { SWEPT = 13000, ALLOCATIONS = 90 };

static void host_memory_sweep(void)
{
    int failed = 0;
    for (int k = 1; k <= ALLOCATIONS; k++) {
        int64_t before = syi_mem_alive();
        lab_case c;
        sy_context *context;
        gpu_world("gpus=2", NULL, 0);
        c = gpu_case("ema", SWEPT);
        GPU_CHECK(lab_prepare(&c), "memory");
        syi_mem_fail_at(k);
        context = gpu_open("cuda,cpu", 0, 0, NULL);
        failed += !context || lab_run(context, &c, NULL, NULL) != SY_OK;
        syi_mem_fail_at(0);
        lab_release(&c);
        gpu_close(&context, "allocation failure");
        GPU_CHECK(syi_mem_alive() == before, "allocation %d: %lld blocks left", k,
                  (long long)(syi_mem_alive() - before));
    }
    GPU_CHECK(failed > 0, "no allocation failed");
    printf("host allocation sweep: %d, %d ended in an error\n", ALLOCATIONS, failed);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    host_memory_sweep();
    return gpu_end();
}
