/* Modules and functions: PTX is parsed when it is loaded, its variables get device memory. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "module.h"

/* The newest PTX that a driver reads: CUDA 12.0 brought 8.0, 13.0 brought 9.0. */
static int newest_ptx(void)
{
    int driver = vc.driver ? vc.driver : 13000;
    return (driver / 1000 - 4) * 10 + driver % 1000 / 10;
}

static int place(void *user, const vptx_variable *variable, uint64_t *address)
{
    vc_module *module = user;
    vc_region *region;
    CUresult result =
        vci_region_make(module->object.context, variable->size ? variable->size : 1, &region);
    if (result != CUDA_SUCCESS)
        return (int)result;
    if (variable->image)
        memcpy(region->window.host, variable->image, variable->size);
    else
        memset(region->window.host, 0, variable->size);
    memset(region->window.shadow, 1, variable->size);
    region->window.read_only = variable->is_const;
    module->variables = vci_grow(module->variables, module->variable_count + 1, sizeof region);
    module->variables[module->variable_count++] = region;
    *address = region->window.base;
    return 0;
}

static CUresult load(vc_context *context, const void *image, vc_module **out)
{
    CUresult why = CUDA_ERROR_INVALID_IMAGE;
    size_t length;
    const char *text = vci_image_ptx(image, context->gpu, &length, &why);
    if (!text)
        return why;
    vptx_module *ptx = vci_code_take(text, length);
    if (!ptx)
        return CUDA_ERROR_INVALID_PTX;
    vc_module *module = vci_alloc(1, sizeof *module);
    module->ptx = ptx;
    vci_handle_make(&module->object, VC_MODULE, context);
    context->gpu->counts.live_modules++;
    if (vptx_target(module->ptx) > 10 * context->gpu->major + context->gpu->minor)
        why = CUDA_ERROR_NO_BINARY_FOR_GPU;
    else if (vptx_version(module->ptx) > newest_ptx())
        why = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    else
        why = (CUresult)vptx_place(module->ptx, place, module);
    if (why != CUDA_SUCCESS)
        vci_module_close(module);
    else
        *out = module;
    return why;
}

void vci_module_close(void *object)
{
    vc_module *module = object;
    vc_function *function;
    module->object.context->gpu->counts.live_modules--;
    while ((function = module->functions)) {
        module->functions = function->next;
        vci_handle_drop(&function->object);
        free(function);
    }
    for (size_t i = 0; i < module->variable_count; i++)
        vci_region_drop(module->variables[i]);
    vci_handle_drop(&module->object);
    vci_code_give(module->ptx);
    free(module->variables);
    free(module);
}

static CUresult load_call(enum vc_call call, CUmodule *out, const void *image)
{
    vc_module *module = NULL;
    CUresult result = vci_enter(call, VC_CURRENT);
    if (result == CUDA_SUCCESS && (!out || !image))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = load(vci_current(), image, &module);
    if (result == CUDA_SUCCESS)
        *out = module->object.handle;
    return vci_leave(result);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load_call(VC_cuModuleLoadData, module, image);
}

/* Options change nothing here: there is no compiler to steer. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values)
{
    (void)count, (void)options, (void)values;
    return load_call(VC_cuModuleLoadDataEx, module, image);
}

CUresult cuModuleUnload(CUmodule handle)
{
    CUresult result = vci_enter(VC_cuModuleUnload, VC_RELEASE);
    vc_module *module = vci_handle_find(VC_MODULE, handle);
    if (vc.refused)
        return vci_leave(result);
    if (!module)
        return vci_leave(CUDA_ERROR_INVALID_HANDLE);
    vc_gpu *gpu = module->object.context->gpu;
    if (result == CUDA_SUCCESS)
        result = vci_wait_gpu(gpu); /* a kernel that runs needs its code */
    if (gpu->failed == CUDA_SUCCESS || vc.mode != VC_THREADS)
        vci_module_close(module);
    return vci_leave(result);
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    CUresult result = vci_enter(VC_cuModuleGetFunction, VC_CURRENT);
    vc_module *module = vci_handle_find(VC_MODULE, handle);
    if (result == CUDA_SUCCESS && !module)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (!out || !name))
        result = CUDA_ERROR_INVALID_VALUE;
    const vptx_kernel *kernel = result == CUDA_SUCCESS ? vptx_find(module->ptx, name) : NULL;
    if (result == CUDA_SUCCESS && !kernel)
        result = CUDA_ERROR_NOT_FOUND;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    vc_function *function = module->functions;
    while (function && function->kernel != kernel)
        function = function->next;
    if (!function) {
        function = vci_alloc(1, sizeof *function);
        function->module = module;
        function->kernel = kernel;
        vptx_query(kernel, &function->info);
        function->next = module->functions;
        module->functions = function;
        vci_handle_make(&function->object, VC_FUNCTION, module->object.context);
    }
    *out = function->object.handle;
    return vci_leave(CUDA_SUCCESS);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                              const char *name)
{
    CUresult result = vci_enter(VC_cuModuleGetGlobal_v2, VC_CURRENT);
    vc_module *module = vci_handle_find(VC_MODULE, handle);
    if (result == CUDA_SUCCESS && !module)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && !name)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    for (size_t i = 0; i < vptx_variable_count(module->ptx); i++) {
        const vptx_variable *variable = vptx_variable_at(module->ptx, i);
        if (strcmp(variable->name, name))
            continue;
        if (address)
            *address = variable->address;
        if (bytes)
            *bytes = variable->size;
        return vci_leave(CUDA_SUCCESS);
    }
    return vci_leave(CUDA_ERROR_NOT_FOUND);
}
