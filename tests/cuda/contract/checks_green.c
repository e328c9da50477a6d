/* What is assumed of green contexts: parts of a GPU's multiprocessors. */
#include "contract.h"

static const char *split(CUdevResource *groups, unsigned int *count, CUdevResource *rest)
{
    CUdevResource all;
    DO(use_device(0));
    DO(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    DO(cu.cuDevSmResourceSplitByCount(groups, count, &all, rest, 0, 8));
    unsigned int sum = rest->type == CU_DEV_RESOURCE_TYPE_SM ? rest->sm.smCount : 0;
    for (unsigned int i = 0; i < *count; i++)
        sum += groups[i].sm.smCount;
    HOLDS(*count >= 1 && groups[0].sm.smCount >= 8);
    HOLDS(sum <= all.sm.smCount && sum + 8 > all.sm.smCount);
    return NULL;
}

const char *green_split(void)
{
    CUdevResource groups[64], rest;
    unsigned int count = 64;
    return cu.cuDeviceGetDevResource ? split(groups, &count, &rest) : SKIPPED;
}

const char *green_stream(void)
{
    CUdevResource groups[64], rest, own;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUstream stream;
    unsigned int count = 64;
    const char *found = cu.cuGreenCtxCreate ? split(groups, &count, &rest) : SKIPPED;
    if (found)
        return found;
    DO(cu.cuDevResourceGenerateDesc(&description, groups, 1));
    DO(cu.cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    DO(cu.cuGreenCtxGetDevResource(green, &own, CU_DEV_RESOURCE_TYPE_SM));
    HOLDS(own.sm.smCount == groups[0].sm.smCount);
    DO(cu.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    found = runs_on(stream);
    if (found)
        return found;
    DO(cu.cuStreamDestroy(stream));
    DO(cu.cuGreenCtxDestroy(green));
    return NULL;
}

const char *green_flags(void)
{
    CUdevResource groups[64], rest;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUstream stream;
    unsigned int count = 64;
    const char *found = cu.cuGreenCtxCreate ? split(groups, &count, &rest) : SKIPPED;
    if (found)
        return found;
    DO(cu.cuDevResourceGenerateDesc(&description, groups, 1));
    EXPECT(cu.cuGreenCtxCreate(&green, description, 0, 0), CUDA_ERROR_INVALID_VALUE);
    DO(cu.cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    EXPECT(cu.cuGreenCtxStreamCreate(&stream, green, 0, 0), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

/* A green context of `groups` groups of one split; `units` of them all. */
static const char *green_of(unsigned int groups, CUgreenCtx *green, unsigned int *units)
{
    CUdevResource parts[64], rest;
    CUdevResourceDesc description;
    unsigned int count = 64;
    const char *found = cu.cuGreenCtxCreate ? split(parts, &count, &rest) : SKIPPED;
    if (found || count < groups)
        return found ? found : SKIPPED;
    DO(cu.cuDevResourceGenerateDesc(&description, parts, groups));
    DO(cu.cuGreenCtxCreate(green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    *units = 0;
    for (unsigned int i = 0; i < groups; i++)
        *units += parts[i].sm.smCount;
    return NULL;
}

const char *green_joined(void)
{
    CUdevResource own;
    CUgreenCtx green;
    unsigned int units;
    const char *found = green_of(2, &green, &units);
    if (found)
        return found;
    DO(cu.cuGreenCtxGetDevResource(green, &own, CU_DEV_RESOURCE_TYPE_SM));
    HOLDS(own.sm.smCount == units);
    return NULL;
}

const char *green_foreign(void)
{
    CUdevResource first[64], second[64], mixed[2], rest;
    CUdevResourceDesc description;
    unsigned int count = 64, again = 64;
    const char *found = cu.cuGreenCtxCreate ? split(first, &count, &rest) : SKIPPED;
    if (!found)
        found = split(second, &again, &rest);
    if (found || count < 2 || again < 2)
        return found ? found : SKIPPED;
    mixed[0] = first[0];
    mixed[1] = second[1];
    EXPECT(cu.cuDevResourceGenerateDesc(&description, mixed, 2),
           CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    return NULL;
}

const char *green_least(void)
{
    CUdevResource all, parts[256], rest;
    unsigned int count = 256, again = 256;
    if (!cu.cuDeviceGetDevResource)
        return SKIPPED;
    DO(use_device(0));
    DO(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    DO(cu.cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, 1));
    HOLDS(count >= 1 && parts[0].sm.smCount >= 1);
    for (unsigned int i = 1; i < count; i++)
        HOLDS(parts[i].sm.smCount == parts[0].sm.smCount);
    DO(cu.cuDevSmResourceSplitByCount(parts, &again, &all, &rest, 0, 1));
    HOLDS(again == count);
    return NULL;
}

/* A part as the library uses it: everything in the context made of it. */
const char *green_context(void)
{
    CUgreenCtx green;
    CUcontext context, primary;
    CUstream stream;
    CUdeviceptr memory;
    unsigned int units;
    uint32_t value = 77, back = 0;
    const char *found = green_of(1, &green, &units);
    if (found)
        return found;
    DO(cu.cuCtxGetCurrent(&primary));
    DO(cu.cuMemAlloc(&memory, 4));
    DO(cu.cuMemcpyHtoD(memory, &value, 4));
    DO(cu.cuCtxFromGreenCtx(&context, green));
    HOLDS(context != primary);
    DO(cu.cuCtxPushCurrent(context));
    DO(cu.cuMemcpyDtoH(&back, memory, 4)); /* the GPU's memory is one */
    HOLDS(back == 77);
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    found = runs_on(stream);
    if (found)
        return found;
    DO(cu.cuStreamDestroy(stream));
    DO(cu.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    found = runs_on(stream);
    if (found)
        return found;
    DO(cu.cuStreamDestroy(stream));
    DO(cu.cuCtxPopCurrent(NULL));
    DO(cu.cuGreenCtxDestroy(green));
    return NULL;
}

/* Two parts at once, each with its own. */
const char *green_two(void)
{
    CUdevResource parts[64], rest;
    CUdevResourceDesc description;
    CUgreenCtx green[2];
    CUstream stream[2];
    unsigned int count = 64;
    const char *found = cu.cuGreenCtxCreate ? split(parts, &count, &rest) : SKIPPED;
    if (found || count < 2)
        return found ? found : SKIPPED;
    for (int i = 0; i < 2; i++) {
        DO(cu.cuDevResourceGenerateDesc(&description, &parts[i], 1));
        DO(cu.cuGreenCtxCreate(&green[i], description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
        DO(cu.cuGreenCtxStreamCreate(&stream[i], green[i], CU_STREAM_NON_BLOCKING, 0));
    }
    for (int i = 0; i < 2; i++) {
        found = runs_on(stream[i]);
        if (found)
            return found;
        DO(cu.cuStreamDestroy(stream[i]));
        DO(cu.cuGreenCtxDestroy(green[i]));
    }
    return NULL;
}
