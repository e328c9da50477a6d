/* Planned faults, failed devices, and the last diagnosis. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vci_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(vc.message, sizeof vc.message, format, arguments);
    va_end(arguments);
}

/* The first cause stays; everything that is queued on the device ends without effect. */
void vci_fail(vc_gpu *gpu, CUresult error)
{
    if (gpu->failed == CUDA_SUCCESS)
        gpu->failed = error;
    pthread_cond_broadcast(&vc.changed);
}

static CUresult fire(struct vc_fault *fault, int device)
{
    vc_gpu *gpu = device < 0 ? NULL : &vc.gpus[device];
    vcuda_counts *counts = gpu ? &gpu->counts : &vc.loose;
    counts->faults++;
    counts->lasting +=
        fault->lost || fault->sticky || fault->forever || vc.call == VC_cuCtxPushCurrent_v2;
    if (gpu && fault->slow > 0)
        gpu->slow = fault->slow;
    if (gpu && fault->lost) {
        gpu->lost = true;
        gpu->failed = CUDA_ERROR_DEVICE_UNAVAILABLE;
        return gpu->failed;
    }
    if (gpu && fault->sticky)
        vci_fail(gpu, fault->error);
    return fault->error;
}

/* Whether this fault hits a call of this kind on this device now; counts it down. */
static bool hits(struct vc_fault *fault, int device)
{
    if ((fault->device >= 0 && fault->device != device) ||
        (fault->call >= 0 && fault->call != (int)vc.call) || (!fault->forever && !fault->times))
        return false;
    if (fault->after) {
        fault->after--;
        return false;
    }
    if (!fault->forever)
        fault->times--;
    return true;
}

CUresult vci_fault_check(int device)
{
    for (int i = 0; i < vc.fault_count; i++) {
        struct vc_fault *fault = &vc.faults[i];
        if (fault->hang || fault->async || !hits(fault, device))
            continue;
        CUresult result = fire(fault, device);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

void vci_fault_mark(vc_op *op)
{
    for (int i = 0; i < vc.fault_count; i++) {
        struct vc_fault *fault = &vc.faults[i];
        if ((!fault->hang && !fault->async) || !hits(fault, op->gpu->index))
            continue;
        op->gpu->counts.faults++;
        op->context->gpu->counts.lasting++; /* which fails, or hangs, with it */
        op->fault = fault->async ? fault->error : CUDA_SUCCESS;
        op->hangs = fault->hang;
        op->hang_limit = fault->limit;
    }
}

static int call_named(const char *name)
{
    static const char *const names[] = {
#define SYI_CU(need, name, symbol, fallback, arguments) #name,
#include "device/cuda/api.def"
#undef SYI_CU
    };
    static const char *const symbols[] = {
#define SYI_CU(need, name, symbol, fallback, arguments) #symbol,
#include "device/cuda/api.def"
#undef SYI_CU
    };
    for (int i = 0; i < VC_CALLS; i++)
        if (!strcmp(names[i], name) || !strcmp(symbols[i], name))
            return i;
    return -1;
}

uint64_t vcuda_calls(const char *name)
{
    uint64_t sum = 0;
    pthread_mutex_lock(&vc.lock);
    int only = name ? call_named(name) : -1;
    for (int i = 0; i < VC_CALLS; i++)
        if (i == only || !name)
            sum += vc.calls[i];
    pthread_mutex_unlock(&vc.lock);
    return sum;
}

static bool read_item(struct vc_fault *fault, const char *key, const char *value)
{
    double number = 0;
    bool any = value && !strcmp(value, "any"), numeric = value && vci_number(value, &number);
    if (!strcmp(key, "device") && (any || numeric))
        fault->device = any ? -1 : (int)number;
    else if (!strcmp(key, "call") && value && (any || call_named(value) >= 0))
        fault->call = any ? -1 : call_named(value);
    else if (!strcmp(key, "after") && numeric)
        fault->after = (uint64_t)number;
    else if (!strcmp(key, "times") && numeric)
        fault->times = (uint64_t)number, fault->forever = number == 0;
    else if (!strcmp(key, "error") && value && vci_error_named(value) != CUDA_SUCCESS)
        fault->error = vci_error_named(value);
    else if (!strcmp(key, "slow") && numeric && number > 0)
        fault->slow = number;
    else if (!strcmp(key, "hang") && (!value || numeric))
        fault->hang = true, fault->limit = value ? (int64_t)number : fault->limit;
    else if (!strcmp(key, "sticky") && !value)
        fault->sticky = true;
    else if (!strcmp(key, "async") && !value)
        fault->async = fault->sticky = true;
    else if (!strcmp(key, "lost") && !value)
        fault->lost = true;
    else
        return false;
    return true;
}

static int read_fault(const char *description, struct vc_fault *fault)
{
    char text[256], *rest = text;
    *fault = (struct vc_fault){.device = -1, .call = -1, .times = 1, .limit = 60000000000};
    snprintf(text, sizeof text, "%s", description);
    for (char *item; (item = strtok_r(rest, ",", &rest));) {
        char *value = strchr(item, '=');
        if (value)
            *value++ = 0;
        if (!read_item(fault, item, value)) {
            vci_say("fault \"%s\": cannot read \"%s\"", description, item);
            return -1;
        }
    }
    bool silent = fault->slow > 0 || fault->hang || fault->lost;
    if (fault->error == CUDA_SUCCESS && !silent)
        fault->error = CUDA_ERROR_UNKNOWN;
    return 0;
}

static int add_fault(const char *description)
{
    struct vc_fault fault;
    if (read_fault(description, &fault))
        return -1;
    vc.faults = vci_grow(vc.faults, (size_t)vc.fault_count + 1, sizeof fault);
    vc.faults[vc.fault_count++] = fault;
    return 0;
}

int vcuda_fault(const char *description)
{
    pthread_mutex_lock(&vc.lock);
    int result = add_fault(description);
    pthread_mutex_unlock(&vc.lock);
    return result;
}

bool vci_faults_from(const char *list)
{
    char text[1024], *rest = text;
    bool ok = true;
    snprintf(text, sizeof text, "%s", list ? list : "");
    for (char *item; (item = strtok_r(rest, ";", &rest));)
        ok = add_fault(item) == 0 && ok;
    return ok;
}

static void release_hung(void)
{
    for (vc_stream *stream = vc.streams; stream; stream = stream->next)
        for (vc_op *op = stream->head; op; op = op->next)
            op->hangs = false;
    pthread_cond_broadcast(&vc.changed);
}

void vcuda_release(void)
{
    pthread_mutex_lock(&vc.lock);
    release_hung();
    pthread_mutex_unlock(&vc.lock);
}

void vcuda_finish(void)
{
    pthread_mutex_lock(&vc.lock);
    vc.fault_count = 0;
    release_hung();
    for (int i = 0; i < vc.gpu_count; i++)
        vci_wait_gpu(&vc.gpus[i]);
    pthread_mutex_unlock(&vc.lock);
}
