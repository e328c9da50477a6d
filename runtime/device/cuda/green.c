/*
 * Parts of a GPU. The driver divides the multiprocessors into equal groups and a rest that is in no
 * group; a part is some neighbouring groups of one division, joined, and perhaps the rest. What it
 * got is read back from the driver, never assumed.
 */
#include "device/cuda/green.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* CUDA 12.4: the first driver with green contexts. */
enum { GREEN_DRIVER = 12040 };

sy_status syi_cuda_parts_parse(const char *text, const char *item, cuda_parts *out)
{
    const char *plus = text;
    for (out->count = 0; plus; text = plus + 1) {
        char number[8] = "";
        size_t length = strcspn(text, "+");
        int64_t units;
        if (length < sizeof number)
            snprintf(number, sizeof number, "%.*s", (int)length, text);
        plus = strchr(text, '+');
        if (out->count == CUDA_MOST_PARTS || !syi_parse_integer(number, 1, 100000, &units))
            return syi_fail(SY_ERR_ARGUMENT,
                            "device '%s': parts of a GPU are 1 to %d numbers of multiprocessors, "
                            "as in cuda:0/96+36",
                            item, CUDA_MOST_PARTS);
        out->part[out->count++] = (cuda_part){.wanted = (int)units};
    }
    return SY_OK;
}

static int has_green_contexts(const syi_cuda_driver *driver)
{
    const syi_cuda_api *api = &driver->api;
    return driver->version >= GREEN_DRIVER && api->cuDeviceGetDevResource &&
           api->cuDevSmResourceSplitByCount && api->cuDevResourceGenerateDesc &&
           api->cuGreenCtxCreate && api->cuGreenCtxDestroy && api->cuCtxFromGreenCtx &&
           api->cuGreenCtxGetDevResource;
}

static sy_status divide(const syi_cuda_driver *driver, CUdevice device, const char *item,
                        cuda_parts *parts)
{
    const syi_cuda_api *api = &driver->api;
    unsigned int count = CUDA_MOST_GROUPS;
    CUdevResource all;
    CUresult result = api->cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM);
    parts->rest.type = CU_DEV_RESOURCE_TYPE_INVALID;
    /* At least one multiprocessor a group: as few as the hardware allows. */
    if (result == CUDA_SUCCESS)
        result = api->cuDevSmResourceSplitByCount(parts->groups, &count, &all, &parts->rest, 0, 1);
    SYI_TRY(syi_cuda_check(api, result, item, "dividing its multiprocessors"));
    if (count < 1 || count > CUDA_MOST_GROUPS)
        return syi_fail(SY_ERR_NO_DEVICE, "device '%s': the driver makes %u groups of it", item,
                        count);
    parts->units = (int)all.sm.smCount;
    parts->n_groups = (int)count;
    parts->group_units = (int)parts->groups[0].sm.smCount;
    parts->rest_units =
        parts->rest.type == CU_DEV_RESOURCE_TYPE_SM ? (int)parts->rest.sm.smCount : 0;
    return SY_OK;
}

/* As many groups as come nearest, at least one; exactly, if the rest makes it so. */
static int groups_of(cuda_part *part, int group_units, int *rest_units)
{
    int whole = part->wanted / group_units, over = part->wanted % group_units;
    part->rest = over && over == *rest_units;
    if (part->rest)
        *rest_units = 0;
    else
        whole += 2 * over >= group_units;
    return whole || part->rest ? whole : 1;
}

sy_status syi_cuda_parts_share(const syi_cuda_driver *driver, CUdevice device, const char *item,
                               cuda_parts *parts)
{
    int next = 0, rest;
    if (!has_green_contexts(driver))
        return syi_fail(SY_ERR_NO_DEVICE,
                        "device '%s': parts of a GPU need a driver for CUDA 12.4, this one is for "
                        "CUDA %d.%d; name the whole GPU",
                        item, driver->version / 1000, driver->version % 1000 / 10);
    SYI_TRY(divide(driver, device, item, parts));
    rest = parts->rest_units;
    for (int i = 0; i < parts->count; i++) {
        cuda_part *part = &parts->part[i];
        part->count = groups_of(part, parts->group_units, &rest);
        part->first = next;
        next += part->count;
    }
    if (next > parts->n_groups)
        return syi_fail(SY_ERR_NO_DEVICE,
                        "device '%s': its parts take %d groups of %d multiprocessors, the GPU has "
                        "%d of them (%d multiprocessors)",
                        item, next, parts->group_units, parts->n_groups, parts->units);
    return SY_OK;
}

sy_status syi_cuda_part_open(const syi_cuda_driver *driver, CUdevice device,
                             const cuda_parts *parts, int index, const char *name,
                             CUgreenCtx *green, CUcontext *context, int *units)
{
    const syi_cuda_api *api = &driver->api;
    const cuda_part *part = &parts->part[index];
    CUdevResource joined[CUDA_MOST_GROUPS + 1], own;
    CUdevResourceDesc description;
    CUresult result;
    size_t count = (size_t)part->count;
    memcpy(joined, parts->groups + part->first, count * sizeof *joined);
    if (part->rest)
        joined[count++] = parts->rest;
    result = api->cuDevResourceGenerateDesc(&description, joined, (unsigned int)count);
    if (result == CUDA_SUCCESS)
        result = api->cuGreenCtxCreate(green, description, device, CU_GREEN_CTX_DEFAULT_STREAM);
    if (result == CUDA_SUCCESS)
        result = api->cuCtxFromGreenCtx(context, *green);
    if (result == CUDA_SUCCESS)
        result = api->cuGreenCtxGetDevResource(*green, &own, CU_DEV_RESOURCE_TYPE_SM);
    if (result == CUDA_SUCCESS)
        *units = (int)own.sm.smCount;
    return syi_cuda_check(api, result, name, "opening a part of a GPU");
}
