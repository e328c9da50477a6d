/* What the library says to a machine without a driver, or with one that does not do. */
#include "gpu_lab.h"

static void loader_worlds(void)
{
    const char *driver = gpu_driver;
    lab_log log = {0};
    sy_context *context;
    gpu_driver = "no-such-driver.so";
    context = gpu_open("auto", 0, 0, &log);
    GPU_CHECK(context && sy_device_count(context) == 1 && log.warnings == 1, "%d warnings",
              log.warnings);
    sy_context_destroy(&context);
    context = gpu_open("cuda", 0, 0, NULL);
    GPU_CHECK(!context && lab_told(SY_ERR_NO_DEVICE), "cuda without a driver");
    gpu_driver = "libc.so.6"; /* a library that is no driver */
    GPU_CHECK(!gpu_open("cuda:0", 0, 0, NULL) && lab_told(SY_ERR_NO_DEVICE), "no symbols");
    gpu_driver = driver;
    gpu_world("gpus=1;driver=10020", NULL, 0);
    GPU_CHECK(!gpu_open("cuda", 0, 0, NULL) && lab_told(SY_ERR_NO_DEVICE), "old driver");
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    loader_worlds();
    return gpu_end();
}
