/* Device memory: the budget holds, and what is kept between calls can be had back. */
#include "gpu_lab.h"

/* Everything kept between calls is given back by sy_trim; the budget holds. */
static void memory(void)
{
    const uint64_t budget = 600000;
    vcuda_counts counts;
    lab_case c;
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", budget, 0, NULL);
    c = gpu_case("sma", GPU_MOST);
    GPU_CHECK(gpu_compare(context, &c, NULL, NULL, "budget") == SY_OK, "%s", sy_last_error()->text);
    vcuda_counters(0, &counts);
    GPU_CHECK(counts.peak_bytes <= budget && counts.launches > 1, "peak %llu, %llu launches",
              (unsigned long long)counts.peak_bytes, (unsigned long long)counts.launches);
    GPU_CHECK(counts.live_bytes > 0 && counts.live_host > 0, "nothing is kept");
    sy_trim(context);
    vcuda_counters(0, &counts);
    GPU_CHECK(!counts.live_bytes && !counts.live_host, "sy_trim left %lld bytes",
              (long long)counts.live_bytes);
    gpu_close(&context, "memory");
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    memory();
    return gpu_end();
}
