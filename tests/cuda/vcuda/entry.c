/* What every call begins and ends with, and the calls that concern no device: initialisation,
 * versions, error names, the look-up of functions. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_NS = 100 };

struct vc_machine vc = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static _Thread_local vc_thread thread;

vc_thread *vci_thread(void)
{
    if (thread.epoch != vc.epoch)
        thread = (vc_thread){.epoch = vc.epoch};
    return &thread;
}

vc_context *vci_current(void)
{
    vc_thread *self = vci_thread();
    return self->depth ? vci_handle_find(VC_CONTEXT, self->stack[self->depth - 1]) : NULL;
}

int vci_who(CUdevice device)
{
    return device < 0 ? VC_BAD_DEVICE : device;
}

static bool works_before_init(enum vc_call call)
{
    return call == VC_cuInit || call == VC_cuDriverGetVersion || call == VC_cuGetProcAddress_v2;
}

static CUresult check_state(enum vc_call call, int who, int *device)
{
    vc_thread *self = vci_thread();
    if (self->in_host_call)
        return CUDA_ERROR_NOT_PERMITTED;
    if (!vc.started && !works_before_init(call))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (who == VC_BAD_DEVICE || who >= vc.gpu_count)
        return CUDA_ERROR_INVALID_DEVICE;
    if (who >= 0)
        *device = who;
    if (who == VC_CURRENT || who == VC_RELEASE) {
        vc_context *context = vci_current();
        if (!context)
            return self->depth ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
        *device = context->gpu->index;
    }
    return CUDA_SUCCESS;
}

CUresult vci_enter(enum vc_call call, int who)
{
    pthread_mutex_lock(&vc.lock);
    vc_thread *self = vci_thread();
    int device = -1;
    vc.activity++;
    vc.calls[call]++;
    vc.call = call;
    self->now += CALL_NS;
    if (call != VC_cuStreamQuery && call != VC_cuEventQuery)
        self->polls = 0;
    CUresult result = check_state(call, who, &device);
    if (result == CUDA_SUCCESS)
        result = vci_capture_check(call);
    vc_gpu *gpu = device < 0 ? NULL : &vc.gpus[device];
    (gpu ? &gpu->counts : &vc.loose)->calls++;
    vc.refused = result != CUDA_SUCCESS;
    if (vc.refused)
        return result;
    result = vci_fault_check(device);
    if (result == CUDA_SUCCESS && gpu)
        result = gpu->lost || who == VC_CURRENT || who == VC_RELEASE ? gpu->failed : CUDA_SUCCESS;
    return result;
}

CUresult vci_leave(CUresult result)
{
    pthread_cond_broadcast(&vc.changed);
    pthread_mutex_unlock(&vc.lock);
    return result;
}

CUresult cuInit(unsigned int flags)
{
    CUresult result = vci_enter(VC_cuInit, VC_NOBODY);
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    if (flags)
        return vci_leave(CUDA_ERROR_INVALID_VALUE);
    if (!vc.started) {
        vci_defaults();
        if (vc.gpu_count < 0)
            return vci_leave(CUDA_ERROR_INVALID_VALUE);
        if (vc.gpu_count == 0)
            return vci_leave(CUDA_ERROR_NO_DEVICE);
        vc.started = true;
    }
    return vci_leave(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version)
{
    CUresult result = vci_enter(VC_cuDriverGetVersion, VC_NOBODY);
    if (result == CUDA_SUCCESS && !version)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *version = vc.driver ? vc.driver : 13000;
    return vci_leave(result);
}

static const struct {
    const char *name;
    CUresult value;
} errors[] = {
#define SYI_CU_RESULT(name, value) {#name, name},
#include "device/cuda/types.def"
};

CUresult vci_error_named(const char *text)
{
    int number = atoi(text);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(errors[i].name, text) || (number && (int)errors[i].value == number))
            return errors[i].value;
    return CUDA_SUCCESS;
}

/* These two work at any time, in a host call as well, and never fail a device: no vci_enter. */
CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == error)
            *name = errors[i].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    return cuGetErrorName(error, text);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
#define SYI_CU(need, name, symbol, fallback, arguments) {#symbol, (void *)(uintptr_t)symbol},
#include "device/cuda/api.def"
#undef SYI_CU
    };
    (void)flags;
    CUresult result = vci_enter(VC_cuGetProcAddress_v2, VC_NOBODY);
    if (result != CUDA_SUCCESS || !symbol || !function)
        return vci_leave(result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE);
    size_t length = strlen(symbol);
    *function = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *name = functions[i].name;
        bool suffix = !strncmp(name + (strlen(name) > length ? length : 0), "_v", 2);
        if (!strncmp(name, symbol, length) && (!name[length] || suffix))
            *function = functions[i].function;
    }
    if (version > (vc.driver ? vc.driver : 13000))
        *function = NULL;
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return vci_leave(CUDA_SUCCESS);
}
