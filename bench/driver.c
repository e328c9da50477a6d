/* The CUDA driver's interface as far as driver.h needs it, looked up at run time. */
#include "driver.h"

#include "harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long pointer;

static void *library;
static int in_use = -1;
static struct {
    int (*init)(unsigned);
    int (*count)(int *);
    int (*get)(int *, int);
    int (*name)(char *, int, int);
    int (*retain)(void **, int);
    int (*release)(int);
    int (*current)(void *);
    int (*synchronize)(void);
    int (*allocate)(pointer *, size_t);
    int (*free)(pointer);
    int (*pin)(void **, size_t, unsigned);
    int (*unpin)(void *);
    int (*to)(pointer, const void *, size_t);
    int (*from)(void *, pointer, size_t);
    int (*on)(pointer, pointer, size_t);
    int (*error)(int, const char **);
} cu;

static const struct {
    const char *symbol;
    void *place;
} table[] = {
    {"cuInit", &cu.init},
    {"cuDeviceGetCount", &cu.count},
    {"cuDeviceGet", &cu.get},
    {"cuDeviceGetName", &cu.name},
    {"cuDevicePrimaryCtxRetain", &cu.retain},
    {"cuDevicePrimaryCtxRelease_v2", &cu.release},
    {"cuCtxSetCurrent", &cu.current},
    {"cuCtxSynchronize", &cu.synchronize},
    {"cuMemAlloc_v2", &cu.allocate},
    {"cuMemFree_v2", &cu.free},
    {"cuMemHostAlloc", &cu.pin},
    {"cuMemFreeHost", &cu.unpin},
    {"cuMemcpyHtoD_v2", &cu.to},
    {"cuMemcpyDtoH_v2", &cu.from},
    {"cuMemcpyDtoD_v2", &cu.on},
    {"cuGetErrorName", &cu.error},
};

static void check(int result, const char *what)
{
    const char *name = "?";
    if (result == 0)
        return;
    cu.error(result, &name);
    bench_fail("the CUDA driver: %s failed with %s", what, name ? name : "?");
}

int driver_open(const char *path, char why[256])
{
    int count = 0, result;
    if (!(library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL))) {
        snprintf(why, 256, "%s", dlerror());
        return 0;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *address = dlsym(library, table[i].symbol);
        if (!address)
            bench_fail("the CUDA driver has no %s; a newer one is needed", table[i].symbol);
        memcpy(table[i].place, &address, sizeof address);
    }
    if ((result = cu.init(0)) != 0 || (result = cu.count(&count)) != 0) {
        const char *name = "?";
        cu.error(result, &name);
        snprintf(why, 256, "the driver says %s", name ? name : "?");
        return 0;
    }
    snprintf(why, 256, "the driver knows no GPU");
    return count;
}

void driver_use(int gpu, char name[DRIVER_NAME])
{
    void *context;
    if (in_use >= 0)
        cu.release(in_use);
    check(cu.get(&in_use, gpu), "cuDeviceGet");
    check(cu.name(name, DRIVER_NAME, in_use), "cuDeviceGetName");
    check(cu.retain(&context, in_use), "cuDevicePrimaryCtxRetain");
    check(cu.current(context), "cuCtxSetCurrent");
}

void driver_close(void)
{
    if (in_use >= 0)
        cu.release(in_use);
    in_use = -1;
    if (library)
        dlclose(library);
    library = NULL;
}

void driver_reserve(driver_memory *memory, size_t bytes, int pinned)
{
    *memory = (driver_memory){.pinned = pinned, .bytes = bytes};
    for (int k = 0; k < 2; k++)
        check(cu.allocate(&memory->device[k], bytes), "cuMemAlloc");
    if (pinned)
        check(cu.pin(&memory->host, bytes, 0), "cuMemHostAlloc");
    else if (!(memory->host = malloc(bytes)))
        bench_fail("no memory for %zu bytes; choose a smaller size", bytes);
    memset(memory->host, 1, bytes);
}

void driver_release(driver_memory *memory)
{
    for (int k = 0; k < 2; k++)
        check(cu.free(memory->device[k]), "cuMemFree");
    if (memory->pinned)
        check(cu.unpin(memory->host), "cuMemFreeHost");
    else
        free(memory->host);
}

void driver_copy(const driver_memory *memory, driver_way way)
{
    if (way == DRIVER_TO)
        check(cu.to(memory->device[0], memory->host, memory->bytes), "cuMemcpyHtoD");
    else if (way == DRIVER_FROM)
        check(cu.from(memory->host, memory->device[0], memory->bytes), "cuMemcpyDtoH");
    else
        check(cu.on(memory->device[1], memory->device[0], memory->bytes), "cuMemcpyDtoD");
    check(cu.synchronize(), "cuCtxSynchronize");
}
