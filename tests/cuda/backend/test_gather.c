/*
 * Results that belong on a GPU and were computed on others, gathered by every way: the same bits as
 * on the CPU, the log says which way and why, and a way that is not to be had, fails or hangs is
 * given up for the next one.
 *
 * test_gather DRIVER --nccl LIBRARY [NAME LIBRARY..]: the simulated NCCL, and it without functions.
 */
#include "device/cuda/api.h"
#include "resident.h"
#include "vnccl/vnccl.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LACKING = 8, WATCHDOG_MS = 25, VALUES = 20000, MOST_CALLS = 900 };

CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int);

static const char *nccl, *lacking_names[MOST_LACKING], *lacking[MOST_LACKING];
static int n_lacking, ranks_left; /* by what went before */

/* One run in a world of its own. */
typedef struct scene {
    sy_gather gather;
    const char *nccl; /* NULL: none */
    int gpus, owner;  /* the outputs are on cuda:OWNER */
    const char *devices, *order, *fault;
    double watchdog_ms;
} scene;

typedef struct ending {
    sy_status status;
    lab_log log;
    vcuda_counts counts;
    uint64_t gates; /* waits that only the simulated NCCL enqueues */
} ending;

static void heal(void)
{
    vnccl_hang(-1, 0);
    vnccl_stay_away(-1);
    vnccl_fail(NULL, 0);
}

static sy_context *open_scene(const scene *s, lab_log *log)
{
    char world[64];
    sy_context *context;
    snprintf(world, sizeof world, "gpus=%d", s->gpus);
    gpu_world(world, s->order, gpu_seed);
    GPU_CHECK(!s->fault || vcuda_fault(s->fault) == 0, "%s: %s", s->fault, vcuda_message());
    gpu_gather = s->gather;
    gpu_nccl = s->nccl;
    context = gpu_open(s->devices ? s->devices : "cuda", 300000, s->watchdog_ms, log);
    gpu_gather = SY_GATHER_AUTO;
    gpu_nccl = NULL;
    return context;
}

/* Of a GPU that hangs nothing can be given back; the others are clean. */
static void close_scene(const scene *s, sy_context **context, const char *what)
{
    int hangs = s->fault && strstr(s->fault, "hang");
    int lost = s->fault && strstr(s->fault, "lost") && s->gather != SY_GATHER_HOST;
    if (hangs)
        gpu_close_beside_hung(context, s->gpus, what);
    else if (lost || (s->fault && strstr(s->fault, "call=any") && strstr(s->fault, "times=0")))
        gpu_close_kept(context, s->gpus, what);
    else
        gpu_close(context, what);
    GPU_CHECK(hangs || vnccl_live() == ranks_left, "%s: %d ranks are left", what, vnccl_live());
    ranks_left = vnccl_live();
}

/* Runs `workload`, compares, and closes. */
static ending play(const scene *s, const char *workload, sy_dtype dtype, const char *what)
{
    ending e = {.status = SY_OK};
    uint64_t gates;
    sy_context *context = open_scene(s, &e.log);
    lab_case c = gpu_case(workload, VALUES);
    c.dtype = dtype;
    if (dtype == SY_F32)
        lab_round_to_floats(gpu_x, VALUES);
    gates = vcuda_calls("cuStreamWaitValue32");
    e.status = context ? resident_compare(context, &c, ON_HOST, ON_GPU + (resident_place)s->owner,
                                          NULL, NULL, what)
                       : sy_last_error()->status;
    GPU_CHECK(e.status == SY_OK || lab_told(e.status), "%s: no reason was given", what);
    vcuda_counters(-1, &e.counts);
    e.gates = vcuda_calls("cuStreamWaitValue32") - gates;
    GPU_CHECK(!e.counts.hang_waits, "%s: waited for what never ends", what);
    close_scene(s, &context, what);
    return e;
}

/* Right bits, and a line of the log with both texts. */
static void expect(const ending *e, const char *way, const char *why, const char *what)
{
    char text[128];
    const char *line;
    snprintf(text, sizeof text, "gathered by %s", way);
    line = strstr(e->log.text, text);
    GPU_CHECK(e->status == SY_OK, "%s: %s", what, sy_last_error()->text);
    GPU_CHECK(line && strstr(line, why), "%s: the log does not say '%s%s': %s", what, text, why,
              e->log.text);
}

/* ---- the ways ---- */

typedef struct choice {
    sy_gather gather;
    int has_nccl;
    const char *way, *why;
} choice;

static const char as_said[] = ", as the context's configuration says";
static const choice choices[] = {
    {SY_GATHER_AUTO, 1, "NCCL 2.28.9", ", which was found"},
    {SY_GATHER_NCCL, 1, "NCCL 2.28.9", as_said},
    {SY_GATHER_PEER, 1, "peer copies", as_said},
    {SY_GATHER_HOST, 1, "copies through the host", as_said},
    {SY_GATHER_AUTO, 0, "peer copies", ", not by NCCL (no NCCL was named"},
};

static void choose(const choice *by, const scene *s, const char *workload, sy_dtype dtype)
{
    char what[128];
    ending e;
    snprintf(what, sizeof what, "gather %d: %s on %d GPUs, to cuda:%d", by->gather, workload,
             s->gpus, s->owner);
    e = play(s, workload, dtype, what);
    if (dtype == SY_F64 && strcmp(workload, "variance") != 0) {
        expect(&e, by->way, by->why, what);
        GPU_CHECK(!strcmp(by->way, "NCCL 2.28.9") == (e.gates > 0), "%s: %llu gates", what,
                  (unsigned long long)e.gates);
        GPU_CHECK((by->gather == SY_GATHER_HOST) == (e.counts.bytes_peer == 0), "%s: %llu bytes",
                  what, (unsigned long long)e.counts.bytes_peer);
    }
    GPU_CHECK(e.status == SY_OK && e.log.warnings == 0, "%s: %s", what, e.log.last);
}

static void every_way(void)
{
    static const char *const orders[] = {"time", "lifo", "random", "threads"};
    static const char *const workloads[] = {"sma", "macd", "ema", "variance"};
    int turn = 0;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        for (int gpus = 2; gpus <= 4; gpus++)
            for (int owner = 0; owner < gpus; owner++, turn++) {
                const scene s = {.gather = choices[i].gather,
                                 .nccl = choices[i].has_nccl ? nccl : NULL,
                                 .gpus = gpus,
                                 .owner = owner,
                                 .devices = turn % 2 ? "cuda" : "cuda,cpu:threads=1",
                                 .order = orders[turn % 4]};
                choose(&choices[i], &s, workloads[turn % 3], SY_F64);
                choose(&choices[i], &s, workloads[turn % 4], turn % 2 ? SY_F32 : SY_F64);
            }
}

/* What we have switched on another part of the program takes as done; it may rely on it when we are
 * gone. */
static void peers_stay(void)
{
    const scene s = {.gather = SY_GATHER_PEER, .gpus = 2, .owner = 1};
    CUcontext own[2];
    lab_case c = gpu_case("sma", VALUES);
    sy_context *context = open_scene(&s, NULL);
    for (int i = 0; i < 2; i++)
        GPU_CHECK(cuDevicePrimaryCtxRetain(&own[i], i) == CUDA_SUCCESS, "GPU %d", i);
    GPU_CHECK(resident_compare(context, &c, ON_HOST, ON_GPU + 1, NULL, NULL, "peers") == SY_OK,
              "%s", sy_last_error()->text);
    for (int closed = 0; closed < 2; closed++) {
        cuCtxPushCurrent_v2(own[0]);
        GPU_CHECK(cuCtxEnablePeerAccess(own[1], 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                  "%s: no access", closed ? "afterwards" : "while the context is open");
        cuCtxPopCurrent_v2(NULL);
        sy_context_destroy(&context);
    }
    for (int i = 0; i < 2; i++)
        cuDevicePrimaryCtxRelease_v2(i);
    gpu_close(&context, "peers");
}

/* ---- NCCL that does not do ---- */

/* What comes of it by each of the two configurations that begin with NCCL. */
static void given_up(scene s, const char *why, const char *what)
{
    for (int forced = 0; forced < 2; forced++) {
        ending e;
        s.gather = forced ? SY_GATHER_NCCL : SY_GATHER_AUTO;
        e = play(&s, "sma", SY_F64, what);
        expect(&e, "peer copies, not by NCCL", why, what);
        GPU_CHECK(e.log.warnings == forced, "%s: %d warnings", what, e.log.warnings);
    }
}

static void not_to_be_had(void)
{
    static const char *const beginnings[] = {"ncclGetUniqueId", "ncclCommInitRankConfig",
                                             "ncclGroupEnd", "ncclCommGetAsyncError"};
    scene s = {.nccl = "no-such/libnccl.so.2", .gpus = 3, .owner = 1};
    given_up(s, "no-such/libnccl.so.2", "no library");
    for (int i = 0; i < n_lacking; i++) {
        s.nccl = lacking[i];
        given_up(s, strcmp(lacking_names[i], "ncclSend") ? "2.23 is needed" : "has no ncclSend",
                 lacking_names[i]);
    }
    s.nccl = nccl;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        for (int after = 0; after < (i == 1 ? 3 : 1); after++) {
            vnccl_fail(beginnings[i], after);
            s.gather = SY_GATHER_NCCL;
            ending e = play(&s, "sma", SY_F64, beginnings[i]);
            expect(&e, "peer copies, not by NCCL", "unhandled system error", beginnings[i]);
            GPU_CHECK(vnccl_failures() && e.log.warnings == 1, "%s", beginnings[i]);
        }
    heal();
    s.watchdog_ms = WATCHDOG_MS;
    for (int rank = 0; rank < 3; rank++) {
        vnccl_stay_away(rank);
        given_up(s, "the meeting of the ranks has taken more than", "a rank stays away");
    }
    heal();
}

/* After a few transfers. */
static void fails_later(void)
{
    static const char *const functions[] = {"ncclSend", "ncclRecv", "ncclGroupEnd",
                                            "ncclCommGetAsyncError"};
    const scene s = {.nccl = nccl, .gpus = 3, .owner = 1, .devices = "cuda,cpu:threads=1"};
    for (int i = 0; i < 4; i++)
        for (int after = 1; after < 12; after += i == 3 ? 3 : 1) {
            ending e;
            int struck;
            vnccl_fail(functions[i], after);
            e = play(&s, "ema", SY_F64, functions[i]);
            struck = vnccl_failures();
            GPU_CHECK(after > 1 || struck, "%s: did not fail after %d", functions[i], after);
            expect(&e, struck ? "peer copies, not by NCCL" : "NCCL 2.28.9", "", functions[i]);
        }
    vnccl_fail("ncclCommFinalize", 1);
    play(&s, "ema", SY_F64, "no good end");
    GPU_CHECK(vnccl_failures() > 0, "the ranks did not end in good order");
    heal();
}

/* A rank that takes part no more: the watchdog, an abort, and the rest by peer copies. Not with
 * threads for the streams: a kernel that really takes its time would look as if it hung. */
static void hangs(void)
{
    static const char *const orders[] = {"time", "lifo", "random"};
    for (int i = 0; i < 3; i++)
        for (int rank = 0; rank < 3; rank++)
            for (int after = 0; after < 3; after++) {
                const scene s = {.nccl = nccl,
                                 .gpus = 3,
                                 .owner = 1,
                                 .order = orders[i],
                                 .watchdog_ms = WATCHDOG_MS};
                ending e;
                vnccl_hang(rank, after);
                e = play(&s, "macd", SY_F64, "hang");
                expect(&e, "peer copies, not by NCCL", "has taken", "hang");
                GPU_CHECK(e.log.warnings == 1, "hang: %d warnings", e.log.warnings);
                heal();
            }
}

/* Neither NCCL nor peer copies: through the host. */
static void only_the_host(void)
{
    scene s = {.gpus = 3,
               .owner = 2,
               .fault = "device=any,call=cuMemcpyPeerAsync,error=CUDA_ERROR_NOT_SUPPORTED,times=0"};
    ending e;
    for (int i = 0; i < 3; i++) {
        s.gather = i == 0 ? SY_GATHER_PEER : SY_GATHER_AUTO;
        s.nccl = i == 2 ? nccl : NULL;
        e = play(&s, "macd", SY_F64, "only the host");
        expect(&e, "copies through the host, not by peer copies", "CUDA_ERROR_NOT_SUPPORTED",
               "only the host");
        GPU_CHECK(e.log.warnings == 1, "%d warnings", e.log.warnings);
    }
}

/* ---- GPUs that fail meanwhile ---- */

/* Right bits unless the outputs are lost with their GPU; then an error that says so. */
static void lose(sy_gather gather, int device, const char *call, int after)
{
    char fault[128];
    const scene s = {.gather = gather, .nccl = nccl, .gpus = 3, .owner = 1, .fault = fault};
    ending e;
    snprintf(fault, sizeof fault, "device=%d,call=%s,after=%d,lost", device, call, after);
    e = play(&s, "ema", SY_F64, fault);
    GPU_CHECK(e.status == SY_OK ? device != s.owner || !e.counts.faults
                                : device == s.owner && e.status == SY_ERR_DEVICE,
              "%s, gather %d: status %d", fault, (int)gather, (int)e.status);
}

static void losses(void)
{
    static const char *const calls[] = {"cuLaunchKernel", "cuMemcpyPeerAsync", "cuStreamCreate",
                                        "cuStreamWaitValue32", "cuStreamQuery"};
    static const int firsts[] = {0, 0, 1, 0, 0}; /* a GPU that is opened has a stream already */
    for (int gather = SY_GATHER_NCCL; gather <= SY_GATHER_HOST; gather++)
        for (int device = 0; device < 3; device++)
            for (int call = 0; call < 5; call++)
                for (int after = 0; after < 3; after++)
                    lose((sy_gather)gather, device, calls[call], firsts[call] + after);
}

/* A GPU that hangs in a kernel: its rank is left alone, or the end would wait for ever. */
static void hangs_itself(void)
{
    for (int device = 0; device < 3; device++)
        for (int after = 0; after < 3; after++) {
            char fault[128];
            const scene s = {.gather = SY_GATHER_NCCL,
                             .nccl = nccl,
                             .gpus = 3,
                             .owner = 1,
                             .devices = "cuda,cpu:threads=1",
                             .fault = fault,
                             .watchdog_ms = WATCHDOG_MS};
            ending e;
            snprintf(fault, sizeof fault, "device=%d,call=cuLaunchKernel,after=%d,hang=0", device,
                     after);
            e = play(&s, "ema", SY_F64, fault);
            GPU_CHECK(e.status == SY_OK || (device == s.owner && e.status == SY_ERR_DEVICE),
                      "%s: status %d", fault, (int)e.status);
        }
}

/* Every driver call fails in turn, those of NCCL among them. */
static void sweep(const char *kind)
{
    int fired = 0, errors = 0, struck = 1, k = 0;
    for (; struck && k < MOST_CALLS; k++) {
        char fault[128];
        const scene s = {.nccl = nccl,
                         .gpus = 3,
                         .owner = 1,
                         .devices = "cuda,cpu:threads=1",
                         .fault = fault,
                         .watchdog_ms = strstr(kind, "hang") ? WATCHDOG_MS : 0};
        ending e;
        snprintf(fault, sizeof fault, "device=any,call=any,after=%d,%s", k, kind);
        e = play(&s, "sma", SY_F64, fault);
        struck = e.counts.faults > 0;
        fired += struck;
        errors += e.status != SY_OK;
    }
    GPU_CHECK(fired > 50 && k < MOST_CALLS, "%s: %d faults fired", kind, fired);
    printf("%s: %d faults fired, %d ended in an error\n", kind, fired, errors);
}

static int read_arguments(int argc, char **argv)
{
    if (argc < 4 || argc % 2 || strcmp(argv[2], "--nccl") != 0)
        return 0;
    nccl = argv[3];
    for (int i = 4; i < argc && n_lacking < MOST_LACKING; i += 2, n_lacking++) {
        lacking_names[n_lacking] = argv[i];
        lacking[n_lacking] = argv[i + 1];
    }
    return gpu_begin(2, argv);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {
        "error=CUDA_ERROR_UNKNOWN", "error=CUDA_ERROR_OUT_OF_MEMORY",
        "error=CUDA_ERROR_ILLEGAL_ADDRESS,async", "lost", "error=CUDA_ERROR_UNKNOWN,times=0"};
    if (!read_arguments(argc, argv))
        return 2;
    every_way();
    peers_stay();
    not_to_be_had();
    fails_later();
    hangs();
    only_the_host();
    losses();
    hangs_itself();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        sweep(kinds[i]);
    return gpu_end();
}
