/*
 * bench_inside: what the public interface does not show. A packet of the queue; the split of 1e9
 * elements over up to 100,000 devices, and how that grows; a window's kernel in a plain OpenMP loop
 * against the call that does the same. Not a test; it lies here because benches see the public
 * header only.
 */
#include "base/philox.h"
#include "harness.h"
#include "kernel.h"
#include "model/queue.h"
#include "model/split.h"
#include "series.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES, SIZES, ONLY, OPTIONS };

static const char *const parts[] = {"dispatch", "split", "kernel", NULL};
static bench_option options[OPTIONS] = {
    [DEVICES] = {.name = "devices",
                 .value = "N",
                 .help = "devices to split for",
                 .fallback = "1 10 100 1000 10000 100000",
                 .least = 1,
                 .most = 1e6,
                 .many = 1},
    [SIZES] = {.name = "sizes",
               .value = "N",
               .help = "elements of the kernel's loop",
               .fallback = "1000 100000 10000000",
               .least = 1,
               .most = 1e10,
               .many = 1},
    [ONLY] = {.name = "only",
              .value = "PART",
              .help = "parts to measure",
              .fallback = "dispatch split kernel",
              .words = parts,
              .many = 1},
};

/* ---- the split ---- */

typedef struct splitting {
    int count;
    syi_cost *costs;
    syi_split_device *devices;
    int64_t *shares;
    syi_part *parts;
    double makespan_ns;
} splitting;

static double uniform(uint32_t stream, int index)
{
    return (double)(syi_random(1, stream, (uint64_t)index) >> 11) * 0x1p-53;
}

/* GPUs of speeds 1 to 10, on `per_link` to a link (0: none shared), with a bend where a cache ends.
 */
static void make(syi_cost *cost, syi_split_device *device, int i, int per_link)
{
    double slope = 0.02 * (1 + 9 * uniform(0, i));
    cost->phase[SYI_COPY_IN] = syi_curve_line(20e3, 0.1);
    cost->phase[SYI_COMPUTE] = (syi_curve){
        .pieces = 2, .fixed_ns = 10e3, .until = {1e6}, .per_element_ns = {slope / 2, slope}};
    cost->phase[SYI_COPY_OUT] = syi_curve_line(20e3 + 1e4 * uniform(1, i), 0.1);
    *device = (syi_split_device){.cost = cost, .link = per_link ? i / per_link : -1, .memory = 8e9};
}

/* With what it will take, as for sy_plan_explain(); a call that wants no report saves that. */
static void run_split(void *user)
{
    static const syi_split_work work = {244141, 4096, 4096 * 32};
    splitting *s = user;
    bench_check(syi_split_make(s->devices, s->count, &work, s->shares));
    for (int i = 0; i < s->count; i++)
        s->parts[i].tiles = s->shares[i];
    bench_check(syi_split_predict(s->devices, s->count, &work, s->parts, &s->makespan_ns));
}

static void measure_split(int count, int per_link)
{
    splitting s = {.count = count,
                   .costs = calloc((size_t)count, sizeof *s.costs),
                   .devices = calloc((size_t)count, sizeof *s.devices),
                   .shares = calloc((size_t)count, sizeof *s.shares),
                   .parts = calloc((size_t)count, sizeof *s.parts)};
    bench_side side = {.work = run_split, .user = &s};
    if (!s.costs || !s.devices || !s.shares || !s.parts)
        bench_fail("no memory for %d devices", count);
    for (int i = 0; i < count; i++)
        make(&s.costs[i], &s.devices[i], i, per_link);
    bench_progress("split, %d devices", count);
    bench_time(&side, 1);
    bench_row("split");
    bench_figure("devices", count, 0);
    bench_word("links", per_link ? "4 to a link" : "own");
    bench_figure("n", 1e9, 0);
    bench_figure("us", side.median / 1e3, 2);
    bench_figure("us_least", side.least / 1e3, 2);
    bench_figure("ns_per_device", side.median / count, 1);
    bench_row_end();
    free(s.costs);
    free(s.devices);
    free(s.shares);
    free(s.parts);
}

/* ---- the queue: all packets of a call ---- */

enum { TILES = 20000, MOST_QUEUED = 64 };

typedef struct dispatching {
    int count;
    int64_t packets;
} dispatching;

static void run_queue(void *user)
{
    dispatching *d = user;
    syi_queue_device devices[MOST_QUEUED];
    syi_packet packet;
    syi_queue *queue;
    for (int i = 0; i < d->count; i++)
        devices[i] = (syi_queue_device){TILES / d->count, 100 * (i + 1), 0, 0.05, 1};
    bench_check(syi_queue_open(devices, d->count, SYI_QUEUE_BALANCED, &queue));
    d->packets = 0;
    for (int busy = 1; busy;) {
        busy = 0;
        for (int i = 0; i < d->count; i++)
            if (syi_queue_next(queue, i, (double)d->packets * 100, &packet) == SYI_TURN_TAKE) {
                bench_check(syi_queue_report(queue, i, packet.count, 100 * (i + 1)));
                d->packets++;
                busy = 1;
            }
    }
    syi_queue_close(&queue);
}

static void measure_queue(int count)
{
    dispatching d = {.count = count};
    bench_side side = {.work = run_queue, .user = &d};
    bench_progress("packets, %d devices", count);
    bench_time(&side, 1);
    bench_row("dispatch");
    bench_figure("devices", count, 0);
    bench_figure("packets", (double)d.packets, 0);
    bench_figure("us", side.median / 1e3 / (double)d.packets, 4);
    bench_figure("us_least", side.least / 1e3 / (double)d.packets, 4);
    bench_row_end();
}

/* ---- a kernel in a plain loop ---- */

typedef struct calling {
    sy_context *context;
    const syi_workload *workload;
    sy_work work;
    const void *in[1];
    void *out[3];
    int parts;
} calling;

static void run_call(void *user)
{
    calling *c = user;
    bench_check(distribute_workload(c->context, &c->work, NULL, NULL));
}

static sy_status run_part(const calling *c, int part)
{
    const int64_t n = c->work.columns;
    const int64_t size = (n / c->parts / SYI_TILE + 1) * SYI_TILE, first = part * size;
    const int64_t left = (int64_t)c->workload->params[0].fallback - 1; /* the period's */
    double params[SYI_MAX_PARAMS];
    const double *in[1];
    double *out[3];
    syi_doubts doubts = {0};
    syi_piece piece = {.doubts = &doubts};
    sy_status status;
    if (first >= n)
        return SY_OK;
    for (int k = 0; k < c->workload->n_params; k++)
        params[k] = c->workload->params[k].fallback;
    in[0] = (const double *)c->in[0] + first;
    for (int k = 0; k < c->workload->n_outputs; k++)
        out[k] = (double *)c->out[k] + first;
    piece.segment = (sy_segment){.in = in,
                                 .out = out,
                                 .first = first,
                                 .count = n - first < size ? n - first : size,
                                 .left = first < left ? first : left,
                                 .columns = n,
                                 .params = params};
    status = c->workload->run[syi_isa_detect()](&piece);
    syi_doubts_clear(&doubts);
    return status;
}

static void run_loop(void *user)
{
    const calling *c = user;
    int failed = 0;
#pragma omp parallel for num_threads(c->parts) schedule(static, 1) if (c->work.columns > SYI_TILE)
    for (int part = 0; part < c->parts; part++)
        if (run_part(c, part) != SY_OK) {
#pragma omp atomic write
            failed = 1;
        }
    if (failed)
        bench_fail("%s: the kernel failed", c->workload->name);
}

static void measure_kernel(const char *name, int64_t n)
{
    calling c = {.context = bench_open("cpu", NULL)};
    bench_side sides[] = {{.work = run_call, .user = &c}, {.work = run_loop, .user = &c}};
    sy_device_info info;
    double *prices = bench_array(n, 0);
    bench_check(sy_device_query(c.context, 0, &info));
    c.parts = info.units;
    for (int i = 0; (c.workload = syi_builtin(i)) && strcmp(c.workload->name, name); i++)
        ;
    bench_series_fill("walk", 0, prices, n);
    c.in[0] = prices;
    for (int k = 0; k < c.workload->n_outputs; k++)
        c.out[k] = bench_array(n, k + 1);
    c.work = (sy_work){.struct_size = sizeof c.work,
                       .workload = name,
                       .columns = n,
                       .inputs = c.in,
                       .outputs = c.out};
    bench_progress("%s against a loop over its kernel, %lld elements", name, (long long)n);
    bench_time(sides, 2);
    bench_row("kernel loop");
    bench_word("workload", name);
    bench_figure("n", (double)n, 0);
    bench_figure("threads", c.parts, 0);
    bench_figure("us", sides[0].median / 1e3, 3);
    bench_figure("loop_us", sides[1].median / 1e3, 3);
    bench_figure("vs_loop", bench_ratio(&sides[0], &sides[1]), 3);
    bench_figure("vs_loop_least", sides[0].least / sides[1].least, 3);
    bench_figure("extra_us", (sides[0].median - sides[1].median) / 1e3, 3);
    bench_figure("extra_us_least", (sides[0].least - sides[1].least) / 1e3, 3);
    bench_row_end();
    sy_context_destroy(&c.context);
    bench_array_free(prices);
    for (int k = 0; k < c.workload->n_outputs; k++)
        bench_array_free(c.out[k]);
}

int main(int argc, char **argv)
{
    bench_begin("bench_inside", "What the public interface does not show.", options, OPTIONS, argc,
                argv);
    bench_check_memory(&options[SIZES], 4 * sizeof(double)); /* bollinger's */
    bench_start(NULL);
    for (int count = 1; count <= MOST_QUEUED && bench_wants(&options[ONLY], "dispatch"); count *= 4)
        measure_queue(count);
    for (int per_link = 0; per_link <= 4 && bench_wants(&options[ONLY], "split"); per_link += 4)
        for (int i = 0; i < options[DEVICES].count; i++)
            measure_split((int)options[DEVICES].number[i], per_link);
    for (int i = 0; i < options[SIZES].count && bench_wants(&options[ONLY], "kernel"); i++) {
        measure_kernel("sma", (int64_t)options[SIZES].number[i]);
        measure_kernel("bollinger", (int64_t)options[SIZES].number[i]);
    }
    return bench_end();
}
