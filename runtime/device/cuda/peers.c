#include "device/cuda/peers.h"

void syi_cuda_peers_enable(cuda_device *cuda, const cuda_device *other)
{
    const syi_cuda_api *api = &cuda->driver->api;
    int can = 0, k = 0;
    pthread_mutex_lock(&cuda->peering);
    while (k < CUDA_PEERS && cuda->peers[k] && cuda->peers[k] != other->primary)
        k++;
    if (k < CUDA_PEERS && !cuda->peers[k]) {
        cuda->peers[k] = other->primary;
        if (api->cuDeviceCanAccessPeer(&can, cuda->device, other->device) == CUDA_SUCCESS && can &&
            syi_cuda_enter(cuda, cuda->primary) == CUDA_SUCCESS) {
            api->cuCtxEnablePeerAccess(other->primary, 0); /* or somebody has done so already */
            syi_cuda_leave(cuda);
        }
    }
    pthread_mutex_unlock(&cuda->peering);
}
