#include "device/cuda/peers.h"

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
            api->cuCtxEnablePeerAccess(other->context, 0); /* or somebody has done so already */
    }
    pthread_mutex_unlock(&cuda->peering);
}
