/* Each host allocation of a run over three GPUs and the CPU fails in turn, from the opening of the
 * devices on: the right bits or a clean error, and nothing left. */
#include "gpu_lab.h"

#include "base/mem.h"

#include <stdio.h>

enum { SWEPT = 13000, ALLOCATIONS = 110 };

static sy_status run(lab_case *c, const lab_case *expected, int k)
{
    int output = 0;
    sy_status status;
    sy_context *context;
    syi_mem_fail_at(k);
    context = gpu_open("cuda,cpu", 0, 0, NULL);
    status = context ? lab_run(context, c, NULL, NULL) : sy_last_error()->status;
    syi_mem_fail_at(0);
    if (status == SY_OK)
        GPU_CHECK(lab_case_difference(expected, c, &output) < 0, "%s, allocation %d: other bits",
                  c->workload, k);
    else
        GPU_CHECK(status == SY_ERR_MEMORY && lab_told(status), "%s, allocation %d: %s", c->workload,
                  k, sy_last_error()->text);
    gpu_close(&context, "allocation failure");
    return status;
}

static void host_memory_sweep(const char *workload)
{
    lab_case expected = gpu_case(workload, SWEPT);
    int failed = 0, last = 0;
    GPU_CHECK(lab_prepare(&expected) && lab_run(gpu_cpu, &expected, NULL, NULL) == SY_OK, "%s",
              sy_last_error()->text);
    for (int k = 1; k <= ALLOCATIONS; k++) {
        int64_t before = syi_mem_alive();
        lab_case c;
        gpu_world("gpus=3", NULL, 0);
        c = gpu_case(workload, SWEPT);
        GPU_CHECK(lab_prepare(&c), "memory");
        if (run(&c, &expected, k) != SY_OK) {
            failed++;
            last = k;
        }
        lab_release(&c);
        GPU_CHECK(syi_mem_alive() == before, "%s, allocation %d: %lld blocks left", workload, k,
                  (long long)(syi_mem_alive() - before));
    }
    lab_release(&expected);
    GPU_CHECK(failed > 10 && last < ALLOCATIONS, "%s: %d failed, the last was %d", workload, failed,
              last);
    printf("%s: %d allocations, %d ended in an error, the last was %d\n", workload, ALLOCATIONS,
           failed, last);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    host_memory_sweep("ema");
    host_memory_sweep("variance");
    return gpu_end();
}
