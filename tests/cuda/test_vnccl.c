/* Tests of the simulated NCCL: bits arrive, in every order of execution, and what the real library
 * would answer with a hang or nonsense is refused. */
#include "test_vcuda.h"
#include "device/cuda/nccl_api.h"
#include "vnccl/vnccl.h"

#include <pthread.h>
#include <string.h>

#define SYI_NCCL(need, result, name, arguments) result name arguments;
#include "device/cuda/nccl_api.def"
#include "vnccl/more.def"
#undef SYI_NCCL

#undef OK
#define OK(call) cr_assert_eq((int)(call), 0, "%s: %s %s", #call, vcuda_message(), vnccl_message())

enum { RANKS = 3 };

static struct {
    ncclComm_t comms[RANKS];
    CUcontext contexts[RANKS];
    CUstream streams[RANKS];
    CUdeviceptr send[RANKS], recv[RANKS];
} m;

static void *pointer(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

static void enter(int rank)
{
    OK(cuCtxSetCurrent(m.contexts[rank]));
}

/* Rank r's buffer holds r + 1 in every byte. */
static void set_up_device(int rank)
{
    OK(cuDevicePrimaryCtxRetain(&m.contexts[rank], rank));
    enter(rank);
    m.streams[rank] = new_stream();
    m.send[rank] = new_memory(BYTES);
    m.recv[rank] = new_memory(RANKS * BYTES);
    OK(cuMemsetD8Async(m.send[rank], (unsigned char)(rank + 1), BYTES, m.streams[rank]));
}

static void set_up(const char *order, uint64_t seed)
{
    OK(vcuda_setup("gpus=3;stall=200;1:speed=1"));
    OK(vcuda_order(order, seed));
    OK(cuInit(0));
    for (int rank = 0; rank < RANKS; rank++)
        set_up_device(rank);
    OK(ncclCommInitAll(m.comms, RANKS, NULL));
}

static void tear_down(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        enter(rank);
        OK(ncclCommDestroy(m.comms[rank]));
        OK(cuMemFree_v2(m.send[rank]));
        OK(cuMemFree_v2(m.recv[rank]));
        OK(cuStreamDestroy_v2(m.streams[rank]));
        OK(cuDevicePrimaryCtxRelease_v2(rank));
    }
    nothing_left();
    cr_expect_eq(vnccl_live(), 0);
    vcuda_reset();
}

static void expect_bytes(int rank, size_t offset, size_t count, unsigned char value)
{
    static unsigned char host[RANKS * BYTES];
    enter(rank);
    OK(cuMemcpyDtoH_v2(host, m.recv[rank] + offset, count));
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(host[i], value, "rank %d byte %zu: %d", rank, offset + i, host[i]);
}

static void gather_all(void)
{
    OK(ncclGroupStart());
    for (int rank = 0; rank < RANKS; rank++)
        OK(ncclAllGather(pointer(m.send[rank]), pointer(m.recv[rank]), BYTES / 8, ncclFloat64,
                         m.comms[rank], m.streams[rank]));
    OK(ncclGroupEnd());
    for (int rank = 0; rank < RANKS; rank++) {
        enter(rank);
        OK(cuStreamSynchronize(m.streams[rank]));
    }
}

static void check_gathered(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        for (int from = 0; from < RANKS; from++)
            expect_bytes(rank, (size_t)from * BYTES, BYTES, (unsigned char)(from + 1));
}

/* Rank 0 collects 100, 200 and 300 elements. */
static void gather_uneven(void)
{
    OK(ncclGroupStart());
    for (int rank = 0; rank < RANKS; rank++) {
        size_t count = 100 * ((size_t)rank + 1);
        OK(ncclSend(pointer(m.send[rank]), count, ncclFloat64, 0, m.comms[rank], m.streams[rank]));
        OK(ncclRecv(pointer(m.recv[0] + (size_t)rank * BYTES), count, ncclFloat64, rank, m.comms[0],
                    m.streams[0]));
    }
    OK(ncclGroupEnd());
    enter(0);
    OK(cuStreamSynchronize(m.streams[0]));
    for (int rank = 0; rank < RANKS; rank++)
        expect_bytes(0, (size_t)rank * BYTES, 800 * ((size_t)rank + 1), (unsigned char)(rank + 1));
}

static void broadcast(void)
{
    OK(ncclGroupStart());
    for (int rank = 0; rank < RANKS; rank++)
        OK(ncclBroadcast(pointer(m.send[rank]), pointer(m.recv[rank]), BYTES, ncclInt8, 2,
                         m.comms[rank], m.streams[rank]));
    OK(ncclGroupEnd());
    for (int rank = 0; rank < RANKS; rank++) {
        enter(rank);
        OK(cuStreamSynchronize(m.streams[rank]));
        expect_bytes(rank, 0, BYTES, 3);
    }
}

Test(vnccl, moves_bits_in_every_order)
{
    static const char *const orders[] = {"time", "lifo", "random", "random", "random", "threads"};
    for (uint64_t i = 0; i < 6; i++) {
        set_up(orders[i], i);
        gather_all();
        check_gathered();
        gather_uneven();
        broadcast();
        tear_down();
    }
}

static ncclUniqueId id;

static void *one_rank(void *user)
{
    int rank = (int)(intptr_t)user;
    set_up_device(rank);
    OK(ncclCommInitRank(&m.comms[rank], RANKS, id, rank));
    for (int i = 0; i < 20; i++)
        OK(ncclAllGather(pointer(m.send[rank]), pointer(m.recv[rank]), BYTES, ncclInt8,
                         m.comms[rank], m.streams[rank]));
    OK(cuStreamSynchronize(m.streams[rank]));
    return NULL;
}

Test(vnccl, a_thread_for_each_rank)
{
    static const char *const orders[] = {"time", "lifo", "threads"};
    for (int i = 0; i < 3; i++) {
        pthread_t threads[RANKS];
        OK(vcuda_setup("gpus=3"));
        OK(vcuda_order(orders[i], 0));
        OK(cuInit(0));
        OK(ncclGetUniqueId(&id));
        for (intptr_t rank = 0; rank < RANKS; rank++)
            pthread_create(&threads[rank], NULL, one_rank, (void *)rank);
        for (int rank = 0; rank < RANKS; rank++)
            pthread_join(threads[rank], NULL);
        check_gathered();
        tear_down();
    }
}

Test(vnccl, refuses_a_device_twice)
{
    static const int twice[] = {0, 1, 0};
    set_up("time", 0);
    ncclComm_t comms[3];
    IS(ncclCommInitAll(comms, 3, twice), ncclInvalidUsage);
    tear_down();
}

Test(vnccl, refuses_one_thread_without_a_group)
{
    set_up("time", 0);
    OK(ncclAllGather(pointer(m.send[0]), pointer(m.recv[0]), 8, ncclInt8, m.comms[0],
                     m.streams[0]));
    IS(ncclAllGather(pointer(m.send[1]), pointer(m.recv[1]), 8, ncclInt8, m.comms[1], m.streams[1]),
       ncclInvalidUsage);
    cr_expect(strstr(vnccl_message(), "group"), "%s", vnccl_message());
}

Test(vnccl, refuses_unequal_counts_and_roots)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        set_up("time", 0);
        OK(ncclGroupStart());
        for (int rank = 0; rank < RANKS; rank++)
            OK(ncclBroadcast(pointer(m.send[rank]), pointer(m.recv[rank]),
                             wrong == 0 && rank == 2 ? 9 : 8, ncclInt8, wrong == 1 && rank == 2,
                             m.comms[rank], m.streams[rank]));
        IS(ncclGroupEnd(), ncclInvalidUsage);
        for (int rank = 0; rank < RANKS; rank++)
            OK(ncclCommAbort(m.comms[rank]));
        vcuda_reset();
    }
}

Test(vnccl, an_unmatched_receive_waits_until_the_abort)
{
    set_up("time", 0);
    enter(0);
    OK(ncclRecv(pointer(m.recv[0]), 8, ncclInt8, 1, m.comms[0], m.streams[0]));
    for (int i = 0; i < 100; i++)
        IS(cuStreamQuery(m.streams[0]), CUDA_ERROR_NOT_READY);
    OK(ncclCommAbort(m.comms[0]));
    OK(cuStreamSynchronize(m.streams[0]));
    OK(ncclCommInitRank(&m.comms[0], 1, (ncclUniqueId){"again"}, 0));
    tear_down();
}

/* What a caller does about a rank that never comes: notice, abort, go another way. */
static void hang_and_abort(const char *order)
{
    ncclResult_t error;
    set_up(order, 0);
    vnccl_hang(1, 0);
    OK(ncclGroupStart());
    for (int rank = 0; rank < RANKS; rank++)
        OK(ncclAllGather(pointer(m.send[rank]), pointer(m.recv[rank]), BYTES, ncclInt8,
                         m.comms[rank], m.streams[rank]));
    OK(ncclGroupEnd());
    int64_t patience = vcuda_virtual_now() + 100000000;
    enter(0);
    while (vcuda_virtual_now() < patience) {
        IS(cuStreamQuery(m.streams[0]), CUDA_ERROR_NOT_READY);
        OK(ncclCommGetAsyncError(m.comms[0], &error));
        cr_assert_eq(error, ncclSuccess);
    }
    for (int rank = 0; rank < RANKS; rank++)
        OK(ncclCommAbort(m.comms[rank]));
    for (int rank = 0; rank < RANKS; rank++) {
        enter(rank);
        OK(cuStreamSynchronize(m.streams[rank]));
    }
    vnccl_hang(-1, 0);
    OK(ncclCommInitAll(m.comms, RANKS, NULL));
    gather_all();
    check_gathered();
    tear_down();
}

Test(vnccl, a_hang_ends_with_an_abort)
{
    hang_and_abort("time");
    hang_and_abort("lifo");
    hang_and_abort("threads");
}

Test(vnccl, a_device_that_dies_inside_is_reported)
{
    ncclResult_t error;
    set_up("time", 0);
    OK(vcuda_fault("device=1,call=cuMemcpyPeerAsync,after=1,error=CUDA_ERROR_ECC_UNCORRECTABLE,"
                   "async"));
    OK(ncclGroupStart());
    for (int rank = 0; rank < RANKS; rank++)
        OK(ncclAllGather(pointer(m.send[rank]), pointer(m.recv[rank]), BYTES, ncclInt8,
                         m.comms[rank], m.streams[rank]));
    OK(ncclGroupEnd());
    enter(1);
    IS(cuStreamSynchronize(m.streams[1]), CUDA_ERROR_ECC_UNCORRECTABLE);
    OK(ncclCommGetAsyncError(m.comms[1], &error));
    cr_expect_eq(error, ncclUnhandledCudaError);
    OK(ncclCommGetAsyncError(m.comms[0], &error));
    cr_expect_eq(error, ncclRemoteError);
    IS(ncclSend(pointer(m.send[1]), 1, ncclInt8, 0, m.comms[1], m.streams[1]),
       ncclUnhandledCudaError);
    for (int rank = 0; rank < RANKS; rank++)
        ncclCommAbort(m.comms[rank]);
    cr_expect_eq(vnccl_live(), 0);
}
