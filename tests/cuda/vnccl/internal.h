/* The inside of the simulated NCCL. It is written on the driver API alone.
 *
 * An operation on a rank's stream becomes: record `ready`; wait until a word in pinned memory, the
 * operation's gate, is set. When the operations of all ranks that belong together are there, the
 * copies are put on streams of the communicators' own, behind all `ready` events, and behind the
 * copies come the writes that open the gates. So a rank that never comes leaves the others' streams
 * waiting, as the real library does, and an abort is the opening of all gates. */
#ifndef VNCCL_INTERNAL_H
#define VNCCL_INTERNAL_H

#include "device/cuda/nccl_api.h"
#include "vnccl.h"

#include <pthread.h>
#include <stdbool.h>

#define SYI_CU(need, name, symbol, fallback, arguments) CUresult symbol arguments;
#include "device/cuda/api.def"
#undef SYI_CU
#define SYI_NCCL(need, result, name, arguments) result name arguments;
#include "device/cuda/nccl_api.def"
#include "more.def"
#undef SYI_NCCL

enum { VN_MAX_RANKS = 64, VN_GATES = 1024 };
enum vn_kind { VN_SEND, VN_RECV, VN_GATHER, VN_BROADCAST };

typedef struct vn_world vn_world;

struct ncclComm {
    vn_world *world;
    int rank;
    CUdevice device;
    CUcontext context;
    CUstream own;
    uint32_t *gates; /* pinned */
    uint32_t gate_count;
    uint64_t collectives; /* posted so far */
    bool joined;
    bool retained; /* holds the primary context */
    ncclResult_t error;
};

typedef struct vn_op {
    enum vn_kind kind;
    ncclComm_t comm;
    const void *send;
    void *recv;
    size_t bytes;
    int peer; /* or the root */
    CUstream stream;
    CUevent ready;
    uint32_t gate; /* its number */
    uint64_t number;
    pthread_t poster;
    struct vn_op *next;
} vn_op;

struct vn_world {
    ncclUniqueId id;
    int size, joined, attached;
    ncclComm_t ranks[VN_MAX_RANKS];
    vn_op *waiting; /* posted, without their partners; oldest first */
    vn_world *next;
};

extern pthread_mutex_t vn_lock;
extern pthread_cond_t vn_changed;

ncclResult_t vni_refuse(ncclResult_t result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether this call of the function is to fail. */
bool vni_fails(const char *name);

/* group.c */
ncclResult_t vni_post(const vn_op *op);
void vni_set_device(ncclComm_t comm);
/* A communicator whose ranks are waited for at the end of the group, or at once outside of one. */
ncclResult_t vni_join(ncclComm_t comm);

/* comm.c */
ncclResult_t vni_wait_joined(ncclComm_t comm);
CUdeviceptr vni_gate(ncclComm_t comm, uint32_t number);
uint32_t vni_gate_value(uint32_t number);

/* match.c: carries out every set of operations that is complete. */
ncclResult_t vni_match(vn_world *world);
void vni_forget(ncclComm_t comm);

#endif
