/*
 * sy_memory_spread: the same bytes on every GPU, by NCCL's all-gather, by its send and receive
 * where the GPUs are not those of all ranks, by peer copies and through the host. What arrives is
 * compared byte by byte; what a way that fails or hangs leaves undone the next one does.
 *
 * test_spread DRIVER --nccl LIBRARY: the simulated NCCL.
 */
#include "base/mem.h"
#include "gpu_lab.h"
#include "vnccl/vnccl.h"

#include <stdio.h>
#include <string.h>

enum { GPUS = 4, MOST = 300000, WATCHDOG_MS = 25, MOST_CALLS = 900, ARRAYS = GPUS + 2 };

static const char *nccl;
static unsigned char bytes[MOST], got[MOST];

/* One call in a world of its own. */
typedef struct scene {
    sy_gather gather;
    const char *nccl; /* NULL: none */
    int gpus, arrays; /* an array on each of the first so many */
    int more;         /* one more on GPU 0, and one in plain memory */
    int source;       /* GPU of the bytes; -1: plain memory, SY_MEMORY_PINNED - 1: pinned */
    size_t size;
    const char *order, *fault;
    double watchdog_ms;
    int64_t fail_at; /* allocation of the library on the host that fails */
} scene;

enum { PLAIN = -1, PINNED = -2 };

typedef struct ending {
    sy_status status;
    lab_log log;
    vcuda_counts before, after, all;
    uint64_t gates; /* waits that only the simulated NCCL enqueues */
} ending;

static void heal(void)
{
    vnccl_hang(-1, 0);
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
    context = gpu_open("cuda", 0, s->watchdog_ms, log);
    gpu_gather = SY_GATHER_AUTO;
    gpu_nccl = NULL;
    return context;
}

/* The arrays, poisoned with something else than the bytes, and the source. */
static sy_status prepare(sy_context *context, const scene *s, void **arrays, void **source)
{
    sy_status status = SY_OK;
    int count = s->arrays + (s->more ? 2 : 0);
    memset(got, 0xa5, sizeof got);
    for (int i = 0; i < count && status == SY_OK; i++) {
        int device = i < s->arrays ? i : i == s->arrays ? 0 : SY_MEMORY_PINNED;
        status = sy_memory_alloc(context, device, s->size, &arrays[i]);
        if (status == SY_OK)
            status = sy_memory_copy(context, arrays[i], got, s->size);
    }
    *source = NULL;
    if (status == SY_OK && s->source != PLAIN)
        status = sy_memory_alloc(context, s->source == PINNED ? SY_MEMORY_PINNED : s->source,
                                 s->size, source);
    return status == SY_OK && *source ? sy_memory_copy(context, *source, bytes, s->size) : status;
}

static void check_arrays(sy_context *context, const scene *s, void *const *arrays, const char *what)
{
    for (int i = 0; i < ARRAYS && arrays[i]; i++) {
        memset(got, 0, s->size);
        GPU_CHECK(sy_memory_copy(context, got, arrays[i], s->size) == SY_OK, "%s: array %d: %s",
                  what, i, sy_last_error()->text);
        GPU_CHECK(!memcmp(got, bytes, s->size), "%s: %zu other bytes in array %d", what, s->size,
                  i);
    }
}

static void spread_in(sy_context *context, const scene *s, ending *e, const char *what)
{
    void *arrays[ARRAYS] = {0}, *source = NULL;
    uint64_t gates = vcuda_calls("cuStreamWaitValue32");
    e->status = prepare(context, s, arrays, &source);
    vcuda_counters(-1, &e->before);
    syi_mem_fail_at(s->fail_at);
    if (e->status == SY_OK)
        e->status = sy_memory_spread(context, arrays, s->arrays + (s->more ? 2 : 0),
                                     source ? source : bytes, s->size);
    syi_mem_fail_at(0);
    vcuda_counters(-1, &e->after);
    e->gates = vcuda_calls("cuStreamWaitValue32") - gates;
    GPU_CHECK(e->status == SY_OK || lab_told(e->status), "%s: no reason was given", what);
    if (e->status == SY_OK && !s->fault)
        check_arrays(context, s, arrays, what);
    else if (e->status == SY_OK) { /* what a lost GPU holds cannot be looked at */
        for (int i = 0; i < ARRAYS && arrays[i]; i++)
            GPU_CHECK(sy_memory_copy(context, got, arrays[i], s->size) != SY_OK ||
                          !memcmp(got, bytes, s->size),
                      "%s: other bytes in array %d", what, i);
    }
    for (int i = 0; i < ARRAYS; i++)
        sy_memory_free(context, &arrays[i]);
    sy_memory_free(context, &source);
}

static ending play(const scene *s, const char *what)
{
    static int ranks_left;
    ending e = {.status = SY_ERR_INTERNAL};
    sy_context *context = open_scene(s, &e.log);
    int hangs = s->fault && strstr(s->fault, "hang"); /* a copy from GPU to GPU keeps both */
    if (context)
        spread_in(context, s, &e, what);
    else
        e.status = sy_last_error()->status;
    vcuda_counters(-1, &e.all);
    GPU_CHECK(!e.all.hang_waits, "%s: waited for what never ends", what);
    int refuses = s->fault && strstr(s->fault, "call=any") && strstr(s->fault, "times=0");
    int lost = s->fault && strstr(s->fault, "lost") && s->gather != SY_GATHER_HOST;
    if ((hangs && s->gather == SY_GATHER_PEER) || refuses || lost)
        gpu_close_kept(&context, s->gpus, what);
    else if (hangs)
        gpu_close_beside_hung(&context, s->gpus, what);
    else
        gpu_close(&context, what);
    GPU_CHECK(hangs || vnccl_live() == ranks_left, "%s: %d ranks are left", what, vnccl_live());
    ranks_left = vnccl_live();
    return e;
}

static void expect_way(const ending *e, const char *way, const char *why, const char *what)
{
    const char *line = strstr(e->log.text, "gathered by ");
    GPU_CHECK(e->status == SY_OK, "%s: status %d", what, (int)e->status);
    GPU_CHECK(line && strstr(line, way) && strstr(line, why), "%s: no '%s%s' in the log: %s", what,
              way, why, e->log.text);
}

/* ---- the ways ---- */

static const struct choice {
    sy_gather gather;
    int has_nccl;
    const char *way;
} choices[] = {{SY_GATHER_AUTO, 1, "NCCL 2.28.9"},
               {SY_GATHER_PEER, 1, "peer copies"},
               {SY_GATHER_HOST, 1, "copies through the host"},
               {SY_GATHER_AUTO, 0, "peer copies, not by NCCL"}};

/* The source is read once, whatever the number of GPUs; the rest is between them. */
static void check_traffic(const scene *s, const ending *e, const char *what)
{
    uint64_t in = e->after.bytes_in - e->before.bytes_in;
    uint64_t peer = e->after.bytes_peer - e->before.bytes_peer;
    uint64_t rest = (uint64_t)s->size % 16 + 16 * GPUS;
    if (s->more || s->source >= 0 || s->gather == SY_GATHER_HOST)
        return;
    GPU_CHECK(in >= s->size && in < s->size + rest * GPUS, "%s: %llu bytes from the host", what,
              (unsigned long long)in);
    GPU_CHECK(peer + rest * GPUS * GPUS >= s->size * (uint64_t)(s->arrays - 1),
              "%s: %llu bytes between GPUs", what, (unsigned long long)peer);
}

static void every_way(void)
{
    static const char *const orders[] = {"time", "lifo", "random", "threads"};
    static const size_t sizes[] = {1, 63, 64, 4099, 100007, MOST};
    int turn = 0;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        for (int gpus = 2; gpus <= GPUS; gpus++)
            for (int source = PINNED; source < gpus; source++, turn++) {
                char what[96];
                const scene s = {.gather = choices[i].gather,
                                 .nccl = choices[i].has_nccl ? nccl : NULL,
                                 .gpus = gpus,
                                 .arrays = gpus,
                                 .more = turn % 3 == 1,
                                 .source = source,
                                 .size = sizes[turn % 6],
                                 .order = orders[turn / 2 % 4]};
                ending e;
                snprintf(what, sizeof what, "gather %d, %d GPUs, from %d, %zu bytes", (int)s.gather,
                         gpus, source, s.size);
                e = play(&s, what);
                if (s.size < (size_t)gpus * 16) {
                    GPU_CHECK(e.status == SY_OK && !e.gates, "%s: status %d", what, (int)e.status);
                    continue;
                }
                expect_way(&e, choices[i].way, "", what);
                GPU_CHECK((e.gates == (uint64_t)gpus) == (i == 0) && (i == 0 || !e.gates),
                          "%s: %llu gates: one all-gather has one a rank", what,
                          (unsigned long long)e.gates);
                check_traffic(&s, &e, what);
            }
}

/* Not every GPU has an array: each part is sent and received. */
static void some_of_them(void)
{
    for (int arrays = 1; arrays < GPUS; arrays++) {
        const scene s = {
            .nccl = nccl, .gpus = GPUS, .arrays = arrays, .source = PLAIN, .size = MOST};
        ending e = play(&s, "some of them");
        GPU_CHECK(e.status == SY_OK && e.gates == (uint64_t)(2 * arrays * (arrays - 1)),
                  "%d arrays: %llu gates", arrays, (unsigned long long)e.gates);
    }
}

/* ---- ways that do not do ---- */

static void nccl_fails(void)
{
    static const char *const functions[] = {"ncclAllGather", "ncclGroupEnd",
                                            "ncclCommGetAsyncError"};
    scene s = {
        .gather = SY_GATHER_NCCL, .nccl = nccl, .gpus = 3, .arrays = 3, .source = 1, .size = MOST};
    for (int i = 0; i < 3; i++)
        for (int after = 0; after < 3; after++) {
            ending e;
            vnccl_fail(functions[i], after);
            e = play(&s, functions[i]);
            if (i == 0 || vnccl_failures())
                expect_way(&e, "peer copies, not by NCCL", "unhandled system error", functions[i]);
            GPU_CHECK(i > 0 || (vnccl_failures() && e.log.warnings == 1), "%s", functions[i]);
        }
    heal();
    s.watchdog_ms = WATCHDOG_MS;
    for (int rank = 0; rank < 3; rank++) {
        ending e;
        vnccl_hang(rank, 0);
        e = play(&s, "a rank hangs");
        expect_way(&e, "peer copies, not by NCCL", "has taken", "a rank hangs");
        GPU_CHECK(e.log.warnings == 1, "a rank hangs: %d warnings", e.log.warnings);
        heal();
    }
}

static void only_the_host(void)
{
    const scene s = {
        .gpus = 3,
        .arrays = 3,
        .source = 0,
        .size = MOST,
        .fault = "device=any,call=cuMemcpyPeerAsync,error=CUDA_ERROR_NOT_SUPPORTED,times=0"};
    ending e = play(&s, "only the host");
    expect_way(&e, "copies through the host, not by peer copies", "CUDA_ERROR_NOT_SUPPORTED",
               "only the host");
}

/* Every driver call fails in turn, those of NCCL among them. A GPU that is lost is one that an
 * array is on. */
static void sweep(const char *kind, sy_gather gather)
{
    int fired = 0, errors = 0, struck = 1, k = 0;
    for (; struck && k < MOST_CALLS; k++) {
        char fault[128];
        const scene s = {.gather = gather,
                         .nccl = nccl,
                         .gpus = 3,
                         .arrays = 3,
                         .source = 2,
                         .size = 70001,
                         .fault = fault,
                         .watchdog_ms = strstr(kind, "hang") ? WATCHDOG_MS : 0};
        ending e;
        snprintf(fault, sizeof fault, "device=any,call=any,after=%d,%s", k, kind);
        e = play(&s, fault);
        struck = e.all.faults > 0;
        fired += struck;
        errors += e.status != SY_OK;
    }
    GPU_CHECK(fired > 20 && k < MOST_CALLS, "%s: %d faults fired", kind, fired);
    printf("%s: %d faults fired, %d ended in an error\n", kind, fired, errors);
}

static void host_memory(sy_gather gather)
{
    int64_t alive = syi_mem_alive();
    int errors = 0;
    for (int64_t k = 1; k <= 40; k++) {
        const scene s = {.gather = gather,
                         .nccl = nccl,
                         .gpus = 3,
                         .arrays = 3,
                         .source = k % 2 ? 0 : PLAIN,
                         .size = 70001,
                         .fail_at = k};
        ending e = play(&s, "no memory");
        GPU_CHECK(e.status == SY_OK || e.status == SY_ERR_MEMORY, "k = %d: status %d", (int)k,
                  (int)e.status);
        GPU_CHECK(syi_mem_alive() == alive, "k = %d: %lld blocks left", (int)k,
                  (long long)(syi_mem_alive() - alive));
        errors += e.status != SY_OK;
    }
    GPU_CHECK(errors > 3, "%d errors", errors);
}

/* What NCCL keeps goes with sy_trim, and it is begun again when it is needed. What is left is one
 * stream for each GPU. */
static void trimmed(void)
{
    lab_log log = {0};
    const scene s = {.nccl = nccl, .gpus = 3, .arrays = 3, .source = PLAIN, .size = MOST};
    const int infos = 1;
    sy_context *context = open_scene(&s, &log);
    const int live = vnccl_live();
    for (int turn = 0; context && turn < 2; turn++) {
        ending e = {0};
        vcuda_counts counts;
        spread_in(context, &s, &e, "trimmed");
        GPU_CHECK(e.status == SY_OK && e.gates == 3 && vnccl_live() == live + 3,
                  "turn %d: %llu gates", turn, (unsigned long long)e.gates);
        sy_trim(context);
        vcuda_counters(-1, &counts);
        GPU_CHECK(
            vnccl_live() == live && !counts.live_allocations && !counts.live_host &&
                counts.live_streams == s.gpus,
            "turn %d: sy_trim left %d ranks, %lld allocations, %lld on the host, %lld streams",
            turn, vnccl_live() - live, (long long)counts.live_allocations,
            (long long)counts.live_host, (long long)counts.live_streams);
    }
    GPU_CHECK(log.infos == infos, "the way is told %d times: %s", log.infos, log.text);
    gpu_close(&context, "trimmed");
}

static void interface(void)
{
    unsigned char a[100], b[100];
    void *to[2] = {a, NULL}, *foreign = NULL;
    sy_context *context, *other, *cpu = lab_open("cpu:threads=1", NULL, NULL);
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda:0", 0, 0, NULL);
    other = gpu_open("cuda:1", 0, 0, NULL);
    GPU_CHECK(sy_memory_alloc(other, 0, sizeof a, &foreign) == SY_OK, "%s", sy_last_error()->text);
    GPU_CHECK(sy_memory_spread(context, to, 2, bytes, sizeof a) == SY_ERR_ARGUMENT &&
                  strstr(sy_last_error()->text, "array 1"),
              "a NULL: %s", sy_last_error()->text);
    to[1] = foreign;
    GPU_CHECK(sy_memory_spread(context, to, 2, bytes, sizeof a) == SY_ERR_ARGUMENT &&
                  strstr(sy_last_error()->text, "cuda:1"),
              "another's GPU: %s", sy_last_error()->text);
    to[1] = b;
    GPU_CHECK(sy_memory_spread(context, to, -1, bytes, sizeof a) == SY_ERR_ARGUMENT, "-1 arrays");
    GPU_CHECK(sy_memory_spread(context, to, 2, NULL, sizeof a) == SY_ERR_ARGUMENT, "from nowhere");
    GPU_CHECK(sy_memory_spread(NULL, to, 2, bytes, sizeof a) == SY_ERR_ARGUMENT, "no context");
    GPU_CHECK(sy_memory_spread(context, NULL, 0, NULL, sizeof a) == SY_OK, "to nobody");
    GPU_CHECK(sy_memory_spread(context, to, 2, NULL, 0) == SY_OK, "nothing");
    GPU_CHECK(sy_memory_spread(cpu, to, 2, bytes, sizeof a) == SY_OK &&
                  !memcmp(a, bytes, sizeof a) && !memcmp(b, bytes, sizeof b),
              "without a GPU: %s", sy_last_error()->text);
    sy_context_destroy(&cpu);
    sy_context_destroy(&other); /* and the memory with it */
    gpu_close(&context, "interface");
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"error=CUDA_ERROR_UNKNOWN",
                                        "error=CUDA_ERROR_ILLEGAL_ADDRESS,async", "lost", "hang=0"};
    if (argc < 4 || strcmp(argv[2], "--nccl") != 0 || !gpu_begin(2, argv))
        return 2;
    nccl = argv[3];
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 256 * 7 + i / 65536);
    interface();
    trimmed();
    every_way();
    some_of_them();
    nccl_fails();
    only_the_host();
    host_memory(SY_GATHER_AUTO);
    host_memory(SY_GATHER_HOST);
    for (int i = 0; i < 3; i++) {
        sweep(kinds[i], SY_GATHER_NCCL);
        sweep(kinds[i], SY_GATHER_PEER);
    }
    sweep("error=CUDA_ERROR_UNKNOWN,times=0", SY_GATHER_NCCL);
    sweep("error=CUDA_ERROR_UNKNOWN,times=0", SY_GATHER_PEER);
    sweep(kinds[3], SY_GATHER_PEER);
    sweep(kinds[3], SY_GATHER_HOST);
    return gpu_end();
}
