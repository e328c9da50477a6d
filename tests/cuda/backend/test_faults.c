/*
 * Every driver call of a run over three GPUs fails in turn, in every way: the right bits or a clean
 * error, nothing left behind, nothing that waits for ever.
 */
#include "gpu_lab.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CALLS = 600, WATCHDOG_MS = 25 };

/* Several slabs a device; those of the first differ in size, so that slots grow. */
static const struct {
    const char *workload;
    int64_t rows, columns;
    sy_dtype dtype;
} jobs[] = {{"sma", 4, 5000, SY_F64}, {"ema", 1, 9000, SY_F32}, {"variance", 1, 16000, SY_F64}};
enum { SMA = 1, EMA = 2, VARIANCE = 4, ALL = 7 }; /* bits: which of them */

typedef struct sweep {
    const char *kind, *devices;
    int jobs;
} sweep;

typedef struct tally {
    int runs, fired, errors;
} tally;

/* With cuda:0 alone, that one is to do everything. */
static const sweep sweeps[] = {
    /* one call, the device for good, and every call from then on */
    {"error=CUDA_ERROR_OUT_OF_MEMORY", "cuda,cpu:threads=1", ALL},
    {"error=CUDA_ERROR_UNKNOWN", "cuda,cpu:threads=1", SMA},
    {"error=CUDA_ERROR_LAUNCH_FAILED,sticky", "cuda,cpu:threads=1", EMA},
    {"lost", "cuda,cpu:threads=1", SMA | VARIANCE},
    {"error=CUDA_ERROR_UNKNOWN,times=0", "cuda,cpu:threads=1", VARIANCE},
    {"error=CUDA_ERROR_OUT_OF_MEMORY,times=0", "cuda,cpu:threads=1", EMA},
    {"error=CUDA_ERROR_UNKNOWN,times=0", "cuda", VARIANCE},
    /* one GPU alone, whose work goes on */
    {"device=1,error=CUDA_ERROR_UNKNOWN,times=0", "cuda,cpu:threads=1", ALL},
    {"device=0,error=CUDA_ERROR_UNKNOWN,times=0", "cuda:0,cpu:threads=1", ALL},
    /* surfaces at a later call */
    {"error=CUDA_ERROR_ILLEGAL_ADDRESS,async", "cuda,cpu:threads=1", ALL},
    {"error=CUDA_ERROR_LAUNCH_FAILED,async,times=3", "cuda,cpu:threads=1", ALL},
    {"hang=0", "cuda,cpu:threads=1", SMA | EMA},
    {"hang=0", "cuda:0,cpu:threads=1", ALL},
};

static sy_context *open_world(const sweep *s, int k)
{
    char fault[128];
    snprintf(fault, sizeof fault, "device=any,call=any,after=%d,%s", k, s->kind);
    gpu_world("gpus=3", NULL, 0);
    GPU_CHECK(vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
    return gpu_open(s->devices, 300000, strstr(s->kind, "hang") ? WATCHDOG_MS : 0, NULL);
}

static void close_world(sy_context **context, const char *what)
{
    if (strstr(what, "hang"))
        gpu_close_beside_hung(context, 3, what);
    else
        gpu_close(context, what);
}

/* Whether the k-th call was there to be hit. */
static int strike(const sweep *s, tally *t, int job, int k)
{
    const sy_options on_first = {
        .struct_size = sizeof on_first, .ratios = &(sy_ratio){"cuda:0", 1}, .n_ratios = 1};
    char what[160];
    vcuda_counts counts;
    sy_context *context = open_world(s, k);
    lab_case c = gpu_case(jobs[job].workload, jobs[job].rows * jobs[job].columns);
    sy_status status = sy_last_error()->status;
    snprintf(what, sizeof what, "%s on %s, call %d: %s", jobs[job].workload, s->devices, k,
             s->kind);
    c.rows = jobs[job].rows;
    c.columns = jobs[job].columns;
    c.dtype = jobs[job].dtype;
    if (c.dtype == SY_F32)
        lab_round_to_floats(gpu_x, c.rows * c.columns);
    if (context)
        status =
            gpu_compare(context, &c, strstr(s->devices, "cuda:0") ? &on_first : NULL, NULL, what);
    if (status != SY_OK) {
        GPU_CHECK(lab_told(status), "%s: no reason was given", what);
        t->errors++;
    }
    vcuda_counters(-1, &counts);
    GPU_CHECK(!counts.hang_waits, "%s: waited for what never ends", what);
    close_world(&context, what);
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
    GPU_CHECK(t.fired > 15 && t.runs < MOST_CALLS, "%s: %d faults fired", s->kind, t.fired);
    printf("%s on %s: %d runs, %d faults fired, %d ended in an error\n", s->kind, s->devices,
           t.runs, t.fired, t.errors);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++)
        run_sweep(&sweeps[i]);
    return gpu_end();
}
