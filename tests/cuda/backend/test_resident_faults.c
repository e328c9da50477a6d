/*
 * The input on one GPU, the output on another, and the CPU beside them: every driver call from the
 * first allocation to the last copy fails in turn, in every way, and every host allocation. The
 * right bits or a clean error, nothing left behind, nothing that waits for ever. Where a GPU is
 * lost that holds an array, the array is lost.
 */
#include "resident.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CALLS = 400, ALLOCATIONS = 60, WATCHDOG_MS = 25 };

/* Of each pattern one; several slabs a device. */
static const struct {
    const char *workload;
    int64_t rows, columns;
    sy_dtype dtype;
} jobs[] = {{"sma", 2, 5000, SY_F64}, {"ema", 1, 9000, SY_F32}, {"variance", 2, 6000, SY_F64}};
enum { SMA = 1, EMA = 2, VARIANCE = 4, ALL = 7 }; /* bits: which of them */

/* MAY_PASS: depends on the call. LASTS: a GPU that is hit never comes back. MENDED: there is always
 * another way. */
typedef struct sweep {
    const char *kind;
    int jobs;
    sy_gather gather;
    enum { MAY_PASS, LASTS, MENDED } outcome;
} sweep;

typedef struct tally {
    int runs, fired, errors;
} tally;

static const sweep sweeps[] = {
    {"error=CUDA_ERROR_OUT_OF_MEMORY", SMA, SY_GATHER_PEER, MAY_PASS},
    {"error=CUDA_ERROR_UNKNOWN", EMA | VARIANCE, SY_GATHER_PEER, MAY_PASS},
    {"error=CUDA_ERROR_UNKNOWN", SMA, SY_GATHER_HOST, MAY_PASS},
    {"error=CUDA_ERROR_LAUNCH_FAILED,sticky", SMA | EMA, SY_GATHER_PEER, LASTS},
    {"lost", EMA, SY_GATHER_PEER, LASTS},
    {"lost", SMA, SY_GATHER_HOST, LASTS},
    {"call=cuMemAlloc,error=CUDA_ERROR_OUT_OF_MEMORY,times=0", ALL, SY_GATHER_PEER, MAY_PASS},
    /* every call from then on, to all GPUs, whose work ends with it */
    {"error=CUDA_ERROR_UNKNOWN,sticky,times=0", ALL, SY_GATHER_PEER, LASTS},
    {"error=CUDA_ERROR_UNKNOWN,sticky,times=0", SMA, SY_GATHER_HOST, LASTS},
    /* The same, but what is under way goes on and ends, whatever the calls say. */
    {"error=CUDA_ERROR_UNKNOWN,times=0", EMA, SY_GATHER_HOST, MAY_PASS},
    {"error=CUDA_ERROR_UNKNOWN,times=0", SMA | EMA, SY_GATHER_PEER, MAY_PASS},
    {"device=0,error=CUDA_ERROR_UNKNOWN,times=0", SMA | EMA, SY_GATHER_PEER, MAY_PASS},
    {"device=1,error=CUDA_ERROR_UNKNOWN,times=0", SMA | EMA, SY_GATHER_PEER, MAY_PASS},
    {"device=1,error=CUDA_ERROR_UNKNOWN,times=0", SMA, SY_GATHER_HOST, MAY_PASS},
    {"call=cuStreamQuery,error=CUDA_ERROR_UNKNOWN,times=0", SMA, SY_GATHER_PEER, MAY_PASS},
    /* every call of a kind from then on, while the others work */
    {"call=cuPointerGetAttributes,error=CUDA_ERROR_UNKNOWN,times=0", SMA, SY_GATHER_PEER, MAY_PASS},
    {"call=cuMemHostAlloc,error=CUDA_ERROR_OUT_OF_MEMORY,times=0", SMA, SY_GATHER_PEER, MAY_PASS},
    {"call=cuMemcpyPeerAsync,error=CUDA_ERROR_UNKNOWN,times=0", ALL, SY_GATHER_PEER, MENDED},
    {"call=cuMemcpyHtoDAsync,error=CUDA_ERROR_UNKNOWN,times=0", ALL, SY_GATHER_HOST, MAY_PASS},
    {"call=cuMemcpyDtoHAsync,error=CUDA_ERROR_UNKNOWN,times=0", ALL, SY_GATHER_PEER, MAY_PASS},
    {"call=cuLaunchKernel,error=CUDA_ERROR_UNKNOWN,times=0", ALL, SY_GATHER_PEER, MENDED},
    {"call=cuEventRecord,error=CUDA_ERROR_UNKNOWN,times=0", ALL, SY_GATHER_PEER, MENDED},
    {"call=cuCtxPushCurrent,error=CUDA_ERROR_UNKNOWN,times=0", SMA | VARIANCE, SY_GATHER_PEER,
     MAY_PASS},
    /* surfaces at a later call */
    {"error=CUDA_ERROR_ILLEGAL_ADDRESS,async", ALL, SY_GATHER_PEER, LASTS},
    {"hang=0", SMA | EMA, SY_GATHER_PEER, LASTS},
    {"hang=0", SMA, SY_GATHER_HOST, LASTS},
};

static lab_case case_of(int job)
{
    lab_case c = gpu_case(jobs[job].workload, jobs[job].rows * jobs[job].columns);
    c.rows = jobs[job].rows;
    c.columns = jobs[job].columns;
    c.dtype = jobs[job].dtype;
    if (c.dtype == SY_F32)
        lab_round_to_floats(gpu_x, c.rows * c.columns);
    return c;
}

/* Where it cannot be known that a copy from GPU to GPU has ended, it keeps both; where
 * cuStreamQuery alone gives no answer, if copies were under way both ways, which is chance. */
static void close_world(const sweep *s, sy_context **context, const char *what)
{
    const int hangs = strstr(s->kind, "hang") != NULL;
    const int refuses = strstr(s->kind, "times=0") &&
                        (!strstr(s->kind, "call=") || strstr(s->kind, "call=cuStreamQuery"));
    const int lost = strstr(s->kind, "lost") != NULL;
    if ((hangs || refuses || lost) && s->gather != SY_GATHER_HOST)
        gpu_close_kept(context, 2, what);
    else if (hangs)
        gpu_close_beside_hung(context, 2, what);
    else
        gpu_close(context, what);
}

/* Faults of the GPUs themselves; a call that concerns none of them cannot lose one. */
static uint64_t gpu_faults(void)
{
    vcuda_counts first, second;
    vcuda_counters(0, &first);
    vcuda_counters(1, &second);
    return first.faults + second.faults;
}

/* What may come of a fault. */
static void judge(const sweep *s, sy_status status, const vcuda_counts *run, const char *what)
{
    GPU_CHECK(status == SY_OK || lab_told(status), "%s: no reason was given", what);
    GPU_CHECK(status == SY_OK || status == SY_ERR_DEVICE || status == SY_ERR_MEMORY, "%s: %s", what,
              sy_last_error()->text);
    /* Both hold an array: nobody else can do what they have not done. */
    GPU_CHECK(s->outcome != LASTS || !run->faults || !gpu_faults() || status == SY_ERR_DEVICE,
              "%s: a GPU that holds an array is lost: %d", what, status);
}

/* Whether the k-th call was there to be hit. */
static int strike(const sweep *s, tally *t, int job, int k)
{
    char what[160], fault[128];
    vcuda_counts counts, run = {0};
    lab_case c = case_of(job);
    sy_context *context;
    sy_status status;
    snprintf(fault, sizeof fault, "device=any,after=%d,%s", k, s->kind);
    snprintf(what, sizeof what, "%s, gather %d, %s", jobs[job].workload, s->gather, fault);
    gpu_world("gpus=2", NULL, 0);
    gpu_gather = s->gather;
    context =
        gpu_open("cuda,cpu:threads=1", 300000, strstr(s->kind, "hang") ? WATCHDOG_MS : 0, NULL);
    GPU_CHECK(context && vcuda_fault(fault) == 0, "%s: %s", what, vcuda_message());
    status = resident_compare(context, &c, ON_GPU, ON_GPU + 1, NULL, &run, what);
    judge(s, status, &run, what);
    vcuda_counters(-1, &counts);
    GPU_CHECK(!counts.hang_waits, "%s: waited for what never ends", what);
    close_world(s, &context, what);
    t->errors += status != SY_OK;
    t->runs++;
    t->fired += counts.faults > 0;
    return counts.faults > 0;
}

static void run_sweep(const sweep *s)
{
    tally t = {0};
    for (int job = 0; job < 3; job++)
        for (int k = 0; s->jobs >> job & 1 && k < MOST_CALLS && strike(s, &t, job, k); k++)
            ;
    GPU_CHECK(t.fired > 3 && t.runs - t.fired < 4 && (t.errors > 0) == (s->outcome != MENDED),
              "%s: %d runs, %d faults fired, %d errors", s->kind, t.runs, t.fired, t.errors);
    printf("%s, gather %d: %d runs, %d faults fired, %d ended in an error\n", s->kind, s->gather,
           t.runs, t.fired, t.errors);
}

static void host_memory(int job, sy_gather gather)
{
    int failed = 0;
    /* The first one also warms up what is compared with. */
    for (int k = 0; k <= ALLOCATIONS; k++) {
        int64_t before = syi_mem_alive();
        lab_case c = case_of(job);
        sy_context *context;
        sy_status status;
        gpu_world("gpus=2", NULL, 0);
        gpu_gather = gather;
        context = gpu_open("cuda,cpu:threads=1", 300000, 0, NULL);
        resident_fail_at = k;
        status = resident_compare(context, &c, ON_GPU, ON_GPU + 1, NULL, NULL, "host memory");
        resident_fail_at = 0;
        GPU_CHECK(status == SY_OK || lab_told(SY_ERR_MEMORY), "%s, allocation %d: %s",
                  jobs[job].workload, k, sy_last_error()->text);
        failed += status != SY_OK;
        gpu_close(&context, "host memory");
        GPU_CHECK(!k || syi_mem_alive() == before, "%s, allocation %d: %lld blocks left",
                  jobs[job].workload, k, (long long)(syi_mem_alive() - before));
    }
    GPU_CHECK(failed > 5, "%d allocations failed", failed);
    printf("host memory, %s, gather %d: %d allocations, %d ended in an error\n", jobs[job].workload,
           gather, ALLOCATIONS, failed);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    for (int job = 0; job < 3; job++)
        host_memory(job, job ? SY_GATHER_PEER : SY_GATHER_HOST);
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++)
        run_sweep(&sweeps[i]);
    return gpu_end();
}
