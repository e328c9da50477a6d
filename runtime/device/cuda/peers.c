#include "device/cuda/peers.h"

#include <string.h>

void syi_cuda_peers_enable(cuda_device *cuda, const cuda_device *other)
{
    const syi_cuda_api *api = &cuda->driver->api;
    int can = 0, k = 0;
    if (cuda->green || other->green)
        return; /* not to be had for a part of a GPU */
    pthread_mutex_lock(&cuda->peering);
    while (k < CUDA_PEERS && cuda->peers[k] && cuda->peers[k] != other->context)
        k++;
    if (k < CUDA_PEERS && !cuda->peers[k]) {
        cuda->peers[k] = other->context;
        if (api->cuDeviceCanAccessPeer(&can, cuda->device, other->device) == CUDA_SUCCESS && can)
            cuda->peer_is_ours[k] = api->cuCtxEnablePeerAccess(other->context, 0) == CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&cuda->peering);
}

void syi_cuda_peers_close(cuda_device *cuda)
{
    const syi_cuda_api *api = &cuda->driver->api;
    for (int k = 0; k < CUDA_PEERS && cuda->peers[k]; k++) {
        if (cuda->hung || api->cuCtxPushCurrent(cuda->context) != CUDA_SUCCESS)
            continue;
        if (cuda->peer_is_ours[k])
            api->cuCtxDisablePeerAccess(cuda->peers[k]);
        api->cuCtxPopCurrent(NULL);
    }
    memset(cuda->peers, 0, sizeof cuda->peers);
}
