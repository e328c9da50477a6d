/* Runs the contract suite: `driver_contract [LIBRARY] [ID..]`, or `--list`. One line for each
 * check; exit code 1 when one failed, 77 when there is no driver to check. Each check has a process
 * of its own, so a failed device or a crash stays there, and this process never loads the driver.
 */
#define _POSIX_C_SOURCE 200809L
#include "contract.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

syi_cuda_api cu;
int gpu_count;
const char SKIPPED[] = "skipped";

static const struct check {
    const char *id;
    const char *(*run)(void);
    int gpus;
    const char *text;
} checks[] = {
#define CONTRACT(id, function, gpus, text) {id, function, gpus, text},
#include "contract.def"
#undef CONTRACT
};
enum { CHECKS = sizeof checks / sizeof *checks };
enum { PASSED, FAILED, SKIP = 77, LIMIT_S = 60 };

const char *unexpected(const char *call, CUresult got, CUresult expected)
{
    static char text[512];
    const char *got_name = NULL, *expected_name = NULL;
    cu.cuGetErrorName(got, &got_name);
    cu.cuGetErrorName(expected, &expected_name);
    snprintf(text, sizeof text, "%.300s: got %s, expected %s", call, got_name ? got_name : "?",
             expected_name ? expected_name : "?");
    return text;
}

static int load(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return -1;
#define SYI_CU(need, name, symbol, fallback, arguments)                                            \
    *(void **)&cu.name = dlsym(handle, #symbol);                                                   \
    if (!cu.name)                                                                                  \
        *(void **)&cu.name = dlsym(handle, #fallback);
#include "device/cuda/api.def"
#undef SYI_CU
    return cu.cuInit ? 0 : -1;
}

CUresult use_device(int index)
{
    CUdevice device;
    CUcontext context;
    CUresult result = cu.cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cu.cuDeviceGet(&device, index);
    if (result == CUDA_SUCCESS)
        result = cu.cuDevicePrimaryCtxRetain(&context, device);
    return result == CUDA_SUCCESS ? cu.cuCtxSetCurrent(context) : result;
}

CUresult gate_close(gate *g, CUstream stream)
{
    void *word;
    CUresult result = cu.cuMemHostAlloc(&word, 4, CU_MEMHOSTALLOC_PORTABLE);
    if (result != CUDA_SUCCESS)
        return result;
    g->word = word;
    *g->word = 0;
    return cu.cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)word, 1, CU_STREAM_WAIT_VALUE_EQ);
}

void gate_open(gate *g)
{
    __atomic_store_n(g->word, 1, __ATOMIC_RELEASE);
}

/* In a child: is there a driver with a device? */
static const char *probe(void)
{
    int count = 0;
    CUresult result = cu.cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cu.cuDeviceGetCount(&count);
    return result == CUDA_SUCCESS && count ? NULL : SKIPPED;
}

/* In the child. */
static int run(const struct check *check, const char *library)
{
    if (load(library))
        return SKIP;
    alarm(LIMIT_S);
    /* Counting needs cuInit, which the checks without a GPU must make themselves. */
    if (check->gpus) {
        CUresult result = cu.cuInit(0);
        if (result != CUDA_SUCCESS || cu.cuDeviceGetCount(&gpu_count) != CUDA_SUCCESS)
            return FAILED;
        if (gpu_count < check->gpus)
            return SKIP;
    }
    const char *found = check->run();
    if (found == SKIPPED)
        return SKIP;
    if (found)
        printf("    %s\n", found);
    return found ? FAILED : PASSED;
}

static int run_apart(const struct check *check, const char *library)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return FAILED;
    if (child == 0) {
        int code = run(check, library);
        fflush(stdout);
        _exit(code);
    }
    if (waitpid(child, &status, 0) != child)
        return FAILED;
    if (WIFSIGNALED(status))
        printf("    ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static int is_wanted(const char *id, char **ids, int count)
{
    for (int i = 0; i < count; i++)
        if (!strncmp(id, ids[i], strlen(ids[i])))
            return 1;
    return !count;
}

int main(int argc, char **argv)
{
    const char *library = argc > 1 ? argv[1] : "libcuda.so.1";
    int counts[SKIP + 1] = {0};
    const struct check usable = {"", probe, 0, ""};
    bool list = !strcmp(library, "--list");
    if (!list && run_apart(&usable, library) != PASSED) {
        printf("no usable driver in %s\n", library);
        return SKIP;
    }
    for (int i = 0; i < CHECKS; i++) {
        if (list) {
            printf("%s\t%s\n", checks[i].id, checks[i].text);
            continue;
        }
        if (!is_wanted(checks[i].id, argv + 2, argc > 2 ? argc - 2 : 0))
            continue;
        int code = run_apart(&checks[i], library);
        if (code != PASSED && code != SKIP)
            code = FAILED;
        counts[code]++;
        printf("%-8s%-24s%s\n",
               code == PASSED ? "ok"
               : code == SKIP ? "skipped"
                              : "FAILED",
               checks[i].id, checks[i].text);
    }
    if (!list)
        printf("%d ok, %d failed, %d skipped\n", counts[PASSED], counts[FAILED], counts[SKIP]);
    return counts[FAILED] ? FAILED : PASSED;
}
