/* Tests of the simulated driver: memory, leaks, images, the description of the machine. */
#include "test_vcuda.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- memory ---- */

Test(vcuda_memory, the_host_cannot_touch_it)
{
    int ends[2];
    start("gpus=1", "time", 0);
    cr_assert_eq(pipe(ends), 0);
    cr_expect_eq(write(ends[1], (void *)(uintptr_t)new_memory(16), 1), -1);
    cr_expect_eq(errno, EFAULT);
}

Test(vcuda_memory, budget_and_peak)
{
    vcuda_counts counts;
    CUdeviceptr memory;
    size_t free_bytes, total;
    start("gpus=1;0:memory=1MiB", "time", 0);
    CUdeviceptr first = new_memory(600 << 10);
    IS(cuMemAlloc_v2(&memory, 500 << 10), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree_v2(first));
    first = new_memory(500 << 10);
    OK(cuMemGetInfo_v2(&free_bytes, &total));
    cr_expect_eq(free_bytes, (1 << 20) - (500 << 10));
    OK(cuMemFree_v2(first));
    vcuda_counters(0, &counts);
    cr_expect_eq(counts.peak_bytes, 600 << 10);
    for (int i = 0; i < 200; i++) /* once around the address range */
        OK(cuMemFree_v2(new_memory(900 << 10)));
}

Test(vcuda_memory, the_red_zone_ends_a_kernel)
{
    start("gpus=1", "time", 0);
    CUdeviceptr x = new_memory(BYTES), y = new_memory(BYTES - 4);
    OK(cuMemsetD8Async(x, 0, BYTES, NULL));
    OK(launch_add(function_of("add"), y, x, 1, NULL));
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* What comes of a kernel that reads the other GPU's memory. */
static CUresult read_far(int with_access)
{
    CUcontext own, other;
    start("gpus=2", "time", 0);
    OK(cuCtxGetCurrent(&own));
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxPushCurrent_v2(other));
    CUdeviceptr far = new_memory(BYTES);
    OK(cuMemsetD8Async(far, 0, BYTES, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxPopCurrent_v2(NULL));
    CUdeviceptr near = new_memory(BYTES);
    if (with_access)
        OK(cuCtxEnablePeerAccess(other, 0));
    OK(launch_add(function_of("add"), near, far, 1, NULL));
    return cuCtxSynchronize();
}

Test(vcuda_memory, peers_with_access)
{
    OK(read_far(1));
}

Test(vcuda_memory, peers_need_access_for_kernels)
{
    IS(read_far(0), CUDA_ERROR_ILLEGAL_ADDRESS);
}

Test(vcuda_memory, what_is_left_is_counted)
{
    vcuda_counts counts;
    start("gpus=1", "time", 0);
    new_memory(100);
    new_stream();
    record(NULL);
    function_of("add");
    OK(cuDevicePrimaryCtxRelease_v2(0));
    vcuda_counters(0, &counts);
    cr_expect_eq(counts.leaked_allocations, 1);
    cr_expect_eq(counts.leaked_streams, 1);
    cr_expect_eq(counts.leaked_events, 1);
    cr_expect_eq(counts.leaked_modules, 1);
    cr_expect_eq(counts.live_contexts + counts.live_streams + counts.live_allocations, 0);
    IS(cuMemAlloc_v2(&(CUdeviceptr){0}, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

/* ---- images and set-up ---- */

/* A fatbin with machine code and the PTX of two architectures, in which `add` has two names. */
static size_t make_fatbin(unsigned char *out, uint64_t flags)
{
    static const struct {
        uint16_t kind;
        uint32_t arch;
        const char *text;
    } parts[] = {
        {2, 90, "\177ELF"},
        {1, 75, ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry old()\n{ ret; }\n"},
        {1, 90,
         ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry new()\n{ ret; }\n"}};
    size_t size = 16;
    for (size_t i = 0; i < 3; i++) {
        uint32_t header = 48;
        uint64_t bytes = (strlen(parts[i].text) + 8) / 8 * 8;
        memset(out + size, 0, header + bytes);
        memcpy(out + size, &parts[i].kind, 2);
        memcpy(out + size + 4, &header, 4);
        memcpy(out + size + 8, &bytes, 8);
        memcpy(out + size + 28, &parts[i].arch, 4);
        memcpy(out + size + 40, &flags, 8);
        strcpy((char *)out + size + header, parts[i].text);
        size += header + bytes;
    }
    uint64_t payload = size - 16;
    memcpy(out, "\x50\xed\x55\xba\x01\x00\x10\x00", 8);
    memcpy(out + 8, &payload, 8);
    return size;
}

static CUresult load_named(const void *image, const char *name)
{
    CUmodule module;
    CUfunction function;
    CUresult result = cuModuleLoadData(&module, image);
    return result == CUDA_SUCCESS ? cuModuleGetFunction(&function, module, name) : result;
}

Test(vcuda_image, a_fatbin_gives_the_best_ptx)
{
    static unsigned char image[1024];
    make_fatbin(image, 0x11);
    start("gpus=1;0:cc=8.9", "time", 0);
    OK(load_named(image, "old"));
    IS(load_named(image, "new"), CUDA_ERROR_NOT_FOUND);
    vcuda_reset();
    start("gpus=1;0:cc=12.0", "time", 0);
    OK(load_named(image, "new"));
    vcuda_reset();
    start("gpus=1;0:cc=7.0", "time", 0);
    IS(load_named(image, "old"), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

Test(vcuda_image, a_compressed_fatbin_is_refused_with_the_reason)
{
    static unsigned char image[1024];
    make_fatbin(image, 0x8011);
    start("gpus=1;0:cc=9.0", "time", 0);
    IS(load_named(image, "new"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    cr_expect(strstr(vcuda_message(), "compressed"));
}

Test(vcuda_image, a_driver_reads_ptx_up_to_its_own_age)
{
    start("gpus=1;driver=12020;0:cc=9.0", "time", 0);
    IS(load_named(".version 8.3\n.target sm_75\n.address_size 64\n.visible .entry k()\n{ ret; }\n",
                  "k"),
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    OK(load_named(".version 8.2\n.target sm_75\n.address_size 64\n.visible .entry k()\n{ ret; }\n",
                  "k"));
}

Test(vcuda_setup, describes_unequal_devices)
{
    char name[64];
    int value;
    start("gpus=2;*:sms=20;1:name=NVIDIA GeForce RTX 5090,memory=32GiB,cc=12.0,sms=170", "time", 0);
    OK(cuDeviceGetName(name, sizeof name, 1));
    cr_expect_str_eq(name, "NVIDIA GeForce RTX 5090");
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    cr_expect_eq(value, 20);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1));
    cr_expect_eq(value, 170);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
    cr_expect_eq(value, 12);
}

Test(vcuda_setup, refuses_what_it_cannot_read)
{
    static const char *const wrong[] = {"gpus=17",   "gpus=-1",      "0:memory=1XB",
                                        "0:speed=0", "0:colour=red", "nonsense"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_eq(vcuda_setup(wrong[i]), -1, "%s", wrong[i]);
    cr_expect_eq(vcuda_fault("call=cuNothing"), -1);
    cr_expect_eq(vcuda_order("sideways", 0), -1);
    OK(vcuda_setup("gpus=0"));
    IS(cuInit(0), CUDA_ERROR_NO_DEVICE);
}
