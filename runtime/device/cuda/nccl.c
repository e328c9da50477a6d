#define _GNU_SOURCE
#include "device/cuda/nccl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "device/cuda/nccl_api.h"
#include "device/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <time.h>

/* Until 2.22 one GPU's kernel may write into an array of another one, which not every array of a
 * program's allows; communicators that do not block, without which a hang could not be given up on,
 * came before that. */
enum { OLDEST = 22300, CONFIG_VERSION = 21800 };

#define CONFIG_MAGIC 0xcafebeefu

struct syi_nccl {
    void *library;
    syi_nccl_api api;
    int version;
    ncclComm_t *comms; /* NULL: disowned */
    int ranks;
};

static const syi_symbol functions[] = {
#define SYI_NCCL(need, result, name, arguments)                                                    \
    {#name, #name, offsetof(syi_nccl_api, name), SYI_SYMBOL_##need},
#include "device/cuda/nccl_api.def"
#undef SYI_NCCL
};

/* ---- the library -------------------------------------------------------------------------- */

static sy_status look_up(syi_nccl *nccl, const char *path)
{
    const char *missing = syi_symbols_find(nccl->library, functions,
                                           sizeof functions / sizeof *functions, &nccl->api);
    if (missing)
        return syi_fail(SY_ERR_UNSUPPORTED, "%s has no %s", path, missing);
    if (nccl->api.ncclGetVersion(&nccl->version) != ncclSuccess || nccl->version < OLDEST ||
        !nccl->api.ncclCommInitRankConfig || !nccl->api.ncclCommFinalize)
        return syi_fail(SY_ERR_UNSUPPORTED, "%s is version %d; 2.23 is needed", path,
                        nccl->version);
    return SY_OK;
}

sy_status syi_nccl_open(const char *path, syi_nccl **out)
{
    syi_nccl *nccl = syi_alloc(1, sizeof *nccl);
    sy_status status;
    if (!nccl)
        return syi_no_memory(sizeof *nccl);
    /* Its own threads may outlive every rank: it stays. */
    nccl->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    status = nccl->library ? look_up(nccl, path) : syi_fail(SY_ERR_UNSUPPORTED, "%s", dlerror());
    if (status != SY_OK) {
        syi_nccl_close(&nccl, 0);
        return status;
    }
    *out = nccl;
    return SY_OK;
}

int syi_nccl_version(const syi_nccl *nccl)
{
    return nccl->version;
}

static sy_status check(const syi_nccl *nccl, ncclResult_t result, const char *what)
{
    if (result == ncclSuccess || result == ncclInProgress)
        return SY_OK;
    return syi_fail_device(SY_ERR_DEVICE, -1, (int)result, "NCCL: %s: %s", what,
                           nccl->api.ncclGetErrorString(result));
}

/* ---- ranks -------------------------------------------------------------------------------- */

/* The first rank's error; *busy: some rank is still at what it was asked for. */
static sy_status ask(const syi_nccl *nccl, int *busy)
{
    *busy = 0;
    for (int i = 0; i < nccl->ranks; i++) {
        ncclResult_t error = ncclSuccess, asked;
        if (!nccl->comms[i])
            return syi_fail(SY_ERR_DEVICE, "NCCL: the GPU of rank %d hangs", i);
        asked = nccl->api.ncclCommGetAsyncError(nccl->comms[i], &error);
        SYI_TRY(check(nccl, asked, "asking for errors"));
        SYI_TRY(check(nccl, error, "a rank"));
        *busy |= error == ncclInProgress;
    }
    return SY_OK;
}

static sy_status wait_until_ready(const syi_nccl *nccl, const char *what, int64_t patience_ns)
{
    const struct timespec nap = {0, 20000};
    const int64_t began = syi_now_ns();
    int busy;
    for (;;) {
        SYI_TRY(ask(nccl, &busy));
        if (!busy)
            return SY_OK;
        if (syi_now_ns() - began > patience_ns)
            return syi_fail(SY_ERR_DEVICE, "NCCL: %s has taken more than %.1f s", what,
                            (double)patience_ns / 1e9);
        nanosleep(&nap, NULL);
    }
}

/* Starts every rank; counts those that there is something to end of. */
static sy_status start_ranks(syi_nccl *nccl, const syi_cuda_api *cuda, const CUcontext *contexts,
                             int ranks)
{
    ncclConfig_t config = {.size = sizeof config,
                           .magic = CONFIG_MAGIC,
                           .version = CONFIG_VERSION,
                           .blocking = 0,
                           .cgaClusterSize = INT_MIN,
                           .minCTAs = INT_MIN,
                           .maxCTAs = INT_MIN,
                           .splitShare = INT_MIN};
    ncclUniqueId id;
    sy_status status, ended;
    SYI_TRY(check(nccl, nccl->api.ncclGetUniqueId(&id), "ncclGetUniqueId"));
    SYI_TRY(check(nccl, nccl->api.ncclGroupStart(), "ncclGroupStart"));
    status = SY_OK;
    for (int i = 0; i < ranks && status == SY_OK; i++) {
        ncclComm_t comm = NULL;
        if (cuda->cuCtxPushCurrent(contexts[i]) != CUDA_SUCCESS) {
            status = syi_fail(SY_ERR_DEVICE, "NCCL: rank %d has no context", i);
            break;
        }
        status =
            check(nccl, nccl->api.ncclCommInitRankConfig(&nccl->comms[i], ranks, id, i, &config),
                  "ncclCommInitRankConfig");
        comm = nccl->comms[i];
        cuda->cuCtxPopCurrent(NULL);
        nccl->ranks += comm != NULL;
    }
    ended = check(nccl, nccl->api.ncclGroupEnd(), "ncclGroupEnd");
    return status != SY_OK ? status : ended;
}

sy_status syi_nccl_join(syi_nccl *nccl, const syi_cuda_api *cuda, const CUcontext *contexts,
                        int ranks, int64_t patience_ns)
{
    sy_status status;
    nccl->comms = syi_alloc((size_t)ranks, sizeof *nccl->comms);
    if (!nccl->comms)
        return syi_no_memory((uint64_t)ranks * sizeof *nccl->comms);
    status = start_ranks(nccl, cuda, contexts, ranks);
    if (status == SY_OK)
        status = wait_until_ready(nccl, "the meeting of the ranks", patience_ns);
    if (status != SY_OK)
        syi_nccl_abort(nccl);
    return status;
}

/* ---- transfers ---------------------------------------------------------------------------- */

sy_status syi_nccl_move(syi_nccl *nccl, syi_nccl_end from, syi_nccl_end to, size_t bytes,
                        int64_t patience_ns)
{
    const void *source = (const void *)(uintptr_t)from.address;
    void *target = (void *)(uintptr_t)to.address;
    sy_status sent, received, ended;
    SYI_TRY(check(nccl, nccl->api.ncclGroupStart(), "ncclGroupStart"));
    sent = check(
        nccl,
        nccl->api.ncclSend(source, bytes, ncclInt8, to.rank, nccl->comms[from.rank], from.stream),
        "ncclSend");
    received = sent == SY_OK ? check(nccl,
                                     nccl->api.ncclRecv(target, bytes, ncclInt8, from.rank,
                                                        nccl->comms[to.rank], to.stream),
                                     "ncclRecv")
                             : sent;
    ended = check(nccl, nccl->api.ncclGroupEnd(), "ncclGroupEnd");
    SYI_TRY(received != SY_OK ? received : ended);
    return wait_until_ready(nccl, "the beginning of a transfer", patience_ns);
}

/* In place: what a rank sends is the part of its own array that it would receive from itself. */
sy_status syi_nccl_gather_all(syi_nccl *nccl, const CUdeviceptr *arrays, const CUstream *streams,
                              size_t bytes, int64_t patience_ns)
{
    sy_status status, ended;
    SYI_TRY(check(nccl, nccl->api.ncclGroupStart(), "ncclGroupStart"));
    status = SY_OK;
    for (int i = 0; i < nccl->ranks && status == SY_OK; i++) {
        char *array = (char *)(uintptr_t)arrays[i];
        status = check(nccl,
                       nccl->api.ncclAllGather(array + (size_t)i * bytes, array, bytes, ncclInt8,
                                               nccl->comms[i], streams[i]),
                       "ncclAllGather");
    }
    ended = check(nccl, nccl->api.ncclGroupEnd(), "ncclGroupEnd");
    SYI_TRY(status != SY_OK ? status : ended);
    return wait_until_ready(nccl, "the beginning of a transfer of all", patience_ns);
}

sy_status syi_nccl_check(const syi_nccl *nccl)
{
    int busy;
    return ask(nccl, &busy);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void forget_ranks(syi_nccl *nccl)
{
    syi_free(nccl->comms);
    nccl->comms = NULL;
    nccl->ranks = 0;
}

void syi_nccl_disown(syi_nccl *nccl, int rank)
{
    if (rank < nccl->ranks)
        nccl->comms[rank] = NULL;
}

void syi_nccl_abort(syi_nccl *nccl)
{
    for (int i = 0; i < nccl->ranks; i++)
        if (nccl->comms[i])
            nccl->api.ncclCommAbort(nccl->comms[i]);
    forget_ranks(nccl);
}

/* All are told before any is ended: they say good-bye to each other. */
static void leave(syi_nccl *nccl, int64_t patience_ns)
{
    int busy;
    sy_status status = ask(nccl, &busy);
    for (int i = 0; i < nccl->ranks && status == SY_OK; i++)
        status = check(nccl, nccl->api.ncclCommFinalize(nccl->comms[i]), "ncclCommFinalize");
    if (status == SY_OK)
        status = wait_until_ready(nccl, "the end of the ranks", patience_ns);
    if (status != SY_OK) {
        syi_nccl_abort(nccl);
        return;
    }
    for (int i = 0; i < nccl->ranks; i++)
        nccl->api.ncclCommDestroy(nccl->comms[i]);
    forget_ranks(nccl);
}

void syi_nccl_close(syi_nccl **nccl, int64_t patience_ns)
{
    syi_nccl *old = *nccl;
    if (!old)
        return;
    *nccl = NULL;
    if (old->ranks)
        leave(old, patience_ns);
    if (old->library)
        dlclose(old->library);
    syi_free(old->comms);
    syi_free(old);
}
