/* Starting over: everything ends without effect, the streams' threads go, memory is given back. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static void end_contexts(void)
{
    for (int i = 0; i < vc.gpu_count; i++) {
        vc_gpu *gpu = &vc.gpus[i];
        vci_fail(gpu, CUDA_ERROR_DEINITIALIZED);
        if (gpu->primary)
            vci_context_close(gpu->primary);
    }
}

/* On a failed device every operation is ready and has no effect. */
static void drain(void)
{
    while (vc.streams) {
        for (vc_stream *stream = vc.streams; stream; stream = stream->next)
            while (vc.mode != VC_THREADS && stream->head)
                vci_run(stream->head);
        vci_streams_reap();
        if (vc.streams)
            vci_pause();
    }
}

void vcuda_reset(void)
{
    pthread_mutex_lock(&vc.lock);
    end_contexts();
    drain();
    vci_contexts_clear();
    vci_handles_clear();
    for (int i = 0; i < vc.gpu_count; i++)
        if (vc.gpus[i].address)
            vci_map_free((void *)(uintptr_t)vc.gpus[i].address,
                         vc.gpus[i].end - vc.gpus[i].address);
    free(vc.faults);
    uint64_t epoch = vc.epoch + 1;
    pthread_mutex_t *lock = &vc.lock;
    memset((char *)&vc + offsetof(struct vc_machine, epoch), 0,
           sizeof vc - offsetof(struct vc_machine, epoch));
    vc.epoch = epoch;
    pthread_mutex_unlock(lock);
}
