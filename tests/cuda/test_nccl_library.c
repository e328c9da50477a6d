/*
 * The machine's own NCCL, where it is installed, beside no GPU: it has every function that is
 * declared in nccl_api.def, says its version, and refuses to make communicators with an error.
 *
 * test_nccl_library [LIBRARY]; 77: there is none, or there is a GPU.
 */
#include "device/cuda/nccl_api.h"

#include <dlfcn.h>
#include <stdio.h>

static int failures;

static void check(int truth, const char *what)
{
    if (!truth)
        fprintf(stderr, "FAILED: %s\n", what);
    failures += !truth;
}

static int has_gpu(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CUresult (*init)(unsigned int) = NULL;
    if (driver)
        *(void **)&init = dlsym(driver, "cuInit");
    return init && init(0) == CUDA_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "libnccl.so.2";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    syi_nccl_api api;
    ncclResult_t (*init_all)(ncclComm_t *, int, const int *) = NULL;
    ncclComm_t comms[2] = {NULL, NULL};
    ncclUniqueId id;
    const int devices[2] = {0, 1};
    int version = 0;
    ncclResult_t result;
    if (!library || has_gpu()) {
        printf("%s\n", library ? "there is a GPU" : dlerror());
        return 77;
    }
#define SYI_NCCL(need, result, name, arguments)                                                    \
    *(void **)&api.name = dlsym(library, #name);                                                   \
    check(api.name != NULL, #name);
#include "device/cuda/nccl_api.def"
#undef SYI_NCCL
    *(void **)&init_all = dlsym(library, "ncclCommInitAll");
    check(init_all != NULL, "ncclCommInitAll");
    if (failures)
        return 1;
    check(api.ncclGetVersion(&version) == ncclSuccess && version >= 21800, "version");
    check(api.ncclGetUniqueId(&id) == ncclSuccess, "an id needs no GPU");
    result = init_all(comms, 2, devices);
    check(result == ncclUnhandledCudaError || result == ncclSystemError, "no GPU, no communicator");
    check(api.ncclGetErrorString(result) != NULL, "an error has a text");
    printf("NCCL %d says: %s; %d failures\n", version, api.ncclGetErrorString(result), failures);
    return failures != 0;
}
