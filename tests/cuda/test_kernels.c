/*
 * The shipped GPU kernels, executed by the PTX interpreter, against the CPU kernels: the same bits
 * for every workload, series and cut, whatever the kernels certified and whatever they left in
 * doubt. Each array has its own window, so that a kernel that reaches beyond one is caught.
 *
 * test_kernels FILE.ptx.. [--quick]: the translations of all kernels, one compiler and architecture
 * each.
 */
#include "support/series.h"
#include "vptx_host.h"

#include "device/host.h"
#include "exec/run.h"
#include "launch.h"

enum { MOST_MODULES = 8, MOST_ARRAYS = 16, MOST_COLUMNS = 70000 };

typedef struct flavour {
    const char *path;
    vptx_module *module;
    uint64_t units, doubts,
        broken; /* on walk data: all, in doubt, that did not join the left one */
    uint64_t lane_instructions;
} flavour;

static flavour flavours[MOST_MODULES];
static int n_flavours, quick;
static uint64_t cases, failures;

/* ---- one slab on the interpreter ---- */

typedef struct device_memory {
    host_memory memory;
    unsigned char *arrays[MOST_ARRAYS], *shadows[MOST_ARRAYS];
    int count;
} device_memory;

/* An array of exactly this size; `from`: what it holds, NULL: nothing yet. */
static void *place(device_memory *m, size_t size, const void *from, uint64_t *address)
{
    unsigned char *array = malloc(size + 1), *shadow = calloc(1, size + 1);
    if (!array || !shadow)
        abort();
    if (from) {
        memcpy(array, from, size);
        memset(shadow, 1, size);
    }
    *address = host_add(&m->memory, array, size, shadow);
    m->arrays[m->count] = array;
    m->shadows[m->count++] = shadow;
    return array;
}

static void drop(device_memory *m)
{
    while (m->count--) {
        free(m->arrays[m->count]);
        free(m->shadows[m->count]);
    }
    host_free(&m->memory);
}

static int all_written(const device_memory *m, int index, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!m->shadows[index][i])
            return 0;
    return 1;
}

typedef struct slab_run {
    flavour *flavour;
    const syi_job *job;
    syi_slab slab;
    int64_t unit_columns, units_per_row, units;
    vptx_order order;
    uint64_t seed;
    uint64_t doubts; /* units in doubt */
} slab_run;

static int launch_units(slab_run *run, device_memory *m, const syi_launch *launch)
{
    const syi_gpu_form *form = run->job->workload->gpu;
    vptx_report report;
    const vptx_launch_config config = {
        .grid = {(uint32_t)((run->units + form->units_per_block - 1) / form->units_per_block), 1,
                 1},
        .block = {(uint32_t)form->threads, 1, 1},
        .parameters = launch,
        .memory = {host_resolve, &m->memory},
        .order = run->order,
        .seed = run->seed,
        .shared_limit = 49152};
    const vptx_kernel *kernel = vptx_find(run->flavour->module, form->entry);
    if (!kernel) {
        fprintf(stderr, "%s has no kernel %s\n", run->flavour->path, form->entry);
        return 1;
    }
    vptx_launch(kernel, &config, &report);
    run->flavour->lane_instructions += report.lane_instructions;
    if (report.fault.kind != VPTX_OK || report.races) {
        fprintf(stderr, "%s: %s\n", run->flavour->path, report.fault.text);
        return 1;
    }
    return 0;
}

static int collect(slab_run *run, const long long *stretches, const syi_carry *links,
                   syi_outcome *outcome)
{
    const syi_job *job = run->job;
    const syi_host_options options = {1, SYI_ISA_BASE};
    for (int64_t unit = 0; unit < run->units; unit++) {
        int64_t row = run->slab.row + unit / run->units_per_row;
        int64_t at = unit % run->units_per_row * run->unit_columns, rest = run->slab.columns - at;
        long long first = stretches[2 * unit], last = stretches[2 * unit + 1];
        syi_link link = {.row = row, .first = run->slab.first + at};
        link.columns = rest < run->unit_columns ? rest : run->unit_columns;
        if (first < last && (first < at || last > at + link.columns))
            return 1;
        run->doubts += first < last;
        if (first < last && job->workload->pattern == SY_PATTERN_REDUCE) {
            syi_tiles tile = {run->slab.tile + unit, 1};
            syi_slab slab = syi_slab_take(job, &tile, 1);
            syi_view view = syi_view_of_job(job, &slab);
            if (syi_host_run(job, &slab, &view, &options, outcome) != SY_OK)
                return 1;
        } else if (first < last) {
            if (syi_doubts_add_stretch(&outcome->doubts, row, run->slab.first + first,
                                       run->slab.first + last) != SY_OK)
                return 1;
        }
        if (job->workload->pattern != SY_PATTERN_RECURRENCE || link.columns == job->columns)
            continue;
        link.assumed = links[2 * unit];
        link.end = links[2 * unit + 1];
        if (syi_outcome_add_link(outcome, &link) != SY_OK)
            return 1;
    }
    return 0;
}

static int run_slab(slab_run *run, syi_outcome *outcome)
{
    const syi_job *job = run->job;
    const syi_workload *workload = job->workload;
    const syi_slab *slab = &run->slab;
    device_memory m = {.count = 0};
    syi_view view = syi_view_of_job(job, slab);
    size_t in_size = (size_t)syi_slab_inputs(slab) * sizeof(double);
    size_t out_size = (size_t)syi_slab_outputs(job, slab) * sizeof(double);
    size_t link_size = 0, partial_size;
    void *out[SYI_MAX_ARRAYS], *doubts, *partials, *links;
    uint64_t address;
    int failed, outputs_at;
    syi_launch launch = {.rows = slab->rows,
                         .columns = slab->columns,
                         .left = slab->left,
                         .in_stride = slab->left + slab->columns,
                         .first = slab->first,
                         .row_columns = job->columns};
    run->unit_columns = workload->gpu->unit_columns;
    if (workload->pattern == SY_PATTERN_RECURRENCE && syi_job_halo(job) / 8 > run->unit_columns)
        run->unit_columns = syi_job_halo(job) / 8;
    run->units_per_row = (slab->columns + run->unit_columns - 1) / run->unit_columns;
    run->units = run->units_per_row * slab->rows;
    launch.unit_columns = run->unit_columns;
    launch.units_per_row = run->units_per_row;
    memcpy(launch.params, job->params, (size_t)workload->n_params * sizeof(double));
    if (workload->pattern == SY_PATTERN_RECURRENCE)
        link_size = (size_t)run->units * 2 * sizeof(syi_carry);
    partial_size = (size_t)run->units * workload->partial_size;
    for (int k = 0; k < workload->n_inputs; k++) {
        place(&m, in_size, view.in[k], &address);
        launch.in[k] = (const double *)(uintptr_t)address;
    }
    outputs_at = m.count;
    for (int k = 0; k < workload->n_outputs; k++) {
        out[k] = place(&m, out_size, NULL, &address);
        launch.out[k] = (double *)(uintptr_t)address;
    }
    doubts = place(&m, (size_t)run->units * 16, NULL, &address);
    launch.doubts = (long long *)(uintptr_t)address;
    partials = place(&m, partial_size, NULL, &address);
    launch.partials = (unsigned char *)(uintptr_t)address;
    links = place(&m, link_size, NULL, &address);
    launch.links = (syi_carry *)(uintptr_t)address;
    failed = launch_units(run, &m, &launch);
    for (int k = 0; !failed && k < workload->n_outputs; k++) {
        failed = !all_written(&m, outputs_at + k, out_size);
        if (out_size)
            memcpy(view.out[k], out[k], out_size);
    }
    if (!failed && workload->pattern == SY_PATTERN_REDUCE)
        memcpy(job->partials + (size_t)slab->tile * workload->partial_size, partials, partial_size);
    failed = failed || collect(run, doubts, links, outcome);
    drop(&m);
    return failed;
}

/* ---- one case ---- */

typedef struct test_case {
    const syi_workload *workload;
    double params[SYI_MAX_PARAMS];
    series_kind series;
    int64_t rows, columns, slab_tiles; /* tiles of a slab at most */
} test_case;

typedef struct result {
    double *out[SYI_MAX_ARRAYS];
    size_t size;
} result;

static void describe(const test_case *c, const char *who)
{
    fprintf(stderr, "%s: %s(", who, c->workload->name);
    for (int i = 0; i < c->workload->n_params; i++)
        fprintf(stderr, "%s%g", i ? ", " : "", c->params[i]);
    fprintf(stderr, ") on %s, %lld x %lld, slabs of %lld tiles: ", series_name(c->series),
            (long long)c->rows, (long long)c->columns, (long long)c->slab_tiles);
}

static syi_job job_of(const test_case *c, const double *const *in, result *r)
{
    int64_t outputs = c->workload->pattern == SY_PATTERN_REDUCE ? c->rows : c->rows * c->columns;
    syi_job job = {
        .workload = c->workload, .params = c->params, .rows = c->rows, .columns = c->columns};
    job.in = in;
    r->size = (size_t)outputs * sizeof(double);
    for (int k = 0; k < c->workload->n_outputs; k++)
        if (!(r->out[k] = malloc(r->size + 1)))
            abort();
    job.out = r->out;
    job.partials = calloc((size_t)syi_job_tiles(&job) + 1, c->workload->partial_size + 1);
    if (!job.partials)
        abort();
    return job;
}

static void release(result *r)
{
    for (int k = 0; k < SYI_MAX_ARRAYS; k++)
        free(r->out[k]);
    *r = (result){0};
}

/* Neighbours of which the right one assumed a state that the left one did not reach. */
static uint64_t broken_links(const syi_workload *workload, const syi_outcome *outcome)
{
    uint64_t broken = 0;
    for (int64_t i = 1; i < outcome->n_links; i++)
        broken += outcome->links[i - 1].row == outcome->links[i].row &&
                  !workload->agrees(&outcome->links[i].assumed, &outcome->links[i - 1].end);
    return broken;
}

/* NULL: on the CPU. */
static int compute(const test_case *c, flavour *f, const double *const *in, result *r)
{
    const syi_host_options options = {1, syi_isa_detect()};
    syi_job job = job_of(c, in, r);
    syi_tiles span = {0, syi_job_tiles(&job)};
    syi_tally tally = {0};
    int64_t repaired;
    int failed = 0;
    while (span.count && !failed) {
        syi_slab slab = syi_slab_take(&job, &span, f ? c->slab_tiles : span.count);
        syi_view view = syi_view_of_job(&job, &slab);
        slab_run run = {.flavour = f, .job = &job, .slab = slab, .seed = 7 + cases};
        run.order = (vptx_order)(cases % 3);
        failed = f ? run_slab(&run, &tally.total)
                   : syi_host_run(&job, &slab, &view, &options, &tally.total) != SY_OK;
        if (f && c->series == SERIES_WALK) {
            f->units += (uint64_t)run.units;
            f->doubts += run.doubts;
        }
    }
    if (f && c->series == SERIES_WALK)
        f->broken += broken_links(c->workload, &tally.total);
    failed = failed || syi_merge(&job, &tally, 1, &repaired) != SY_OK;
    syi_outcome_clear(&tally.total);
    free(job.partials);
    return failed;
}

static int64_t first_difference(const result *a, const result *b, int outputs, int *output)
{
    for (*output = 0; *output < outputs; ++*output)
        for (size_t i = 0; i < a->size / sizeof(double); i++)
            if (memcmp(&a->out[*output][i], &b->out[*output][i], sizeof(double)))
                return (int64_t)i;
    return -1;
}

static void check_case(const test_case *c)
{
    static double x[MOST_COLUMNS];
    const double *in[] = {x};
    result want = {0};
    for (int64_t row = 0; row < c->rows; row++)
        series_fill(c->series, (uint64_t)(1 + row), x + row * c->columns, c->columns);
    if (compute(c, NULL, in, &want)) {
        describe(c, "cpu");
        fprintf(stderr, "%s\n", sy_last_error()->text);
        failures++;
    }
    for (int i = 0; i < n_flavours; i++, cases++) {
        result got = {0};
        int output, failed = compute(c, &flavours[i], in, &got);
        int64_t at = failed ? -1 : first_difference(&want, &got, c->workload->n_outputs, &output);
        if (failed || at >= 0) {
            failures++;
            describe(c, flavours[i].path);
            if (failed)
                fprintf(stderr, "did not run\n");
            else
                fprintf(stderr, "output %d differs at %lld: %a, not %a\n", output, (long long)at,
                        got.out[output][at], want.out[output][at]);
        }
        release(&got);
    }
    release(&want);
}

/* ---- the cases ---- */

static const struct {
    int64_t rows, columns, slab_tiles;
} shapes[] = {{1, 257, 1},  {1, 1025, 1}, {1, 5003, 9}, {1, 12287, 1}, {1, 12289, 2},
              {1, 4095, 1}, {1, 4097, 9}, {40, 64, 7},  {3, 2500, 2},  {2, 5003, 1}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const double periods[] = {1, 2, 7, 20, 64, 98, 200, 1000, 5000};
enum { PERIODS = sizeof periods / sizeof periods[0] };

static test_case case_of(const syi_workload *workload, series_kind series, int shape)
{
    test_case c = {.workload = workload,
                   .series = series,
                   .rows = shapes[shape].rows,
                   .columns = shapes[shape].columns,
                   .slab_tiles = shapes[shape].slab_tiles};
    for (int i = 0; i < workload->n_params; i++)
        c.params[i] = workload->params[i].fallback;
    return c;
}

/* Every period with every series; the shapes take turns. */
static void check_periods(const syi_workload *workload, int first_param)
{
    int turn = 0;
    for (int series = 0; series < SERIES_KINDS; series++)
        for (int p = 0; p < PERIODS; p++) {
            test_case c = case_of(workload, (series_kind)series, turn++ % SHAPES);
            if (quick && turn % 3)
                continue;
            c.params[first_param] = periods[p];
            if (!strcmp(workload->name, "macd"))
                c.params[1] = periods[p] * 2.0 + 6.0;
            if (!strcmp(workload->name, "ema"))
                c.params[1] = turn / 2 % 2;
            check_case(&c);
        }
}

/* Every shape with every series. */
static void check_shapes(const syi_workload *workload)
{
    for (int series = 0; series < SERIES_KINDS; series++)
        for (int shape = quick ? series % 3 : 0; shape < SHAPES; shape += quick ? 3 : 1) {
            test_case c = case_of(workload, (series_kind)series, shape);
            check_case(&c);
        }
}

static int open_flavour(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t length;
    static char text[8 << 20];
    if (!file || n_flavours == MOST_MODULES) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    length = fread(text, 1, sizeof text, file);
    fclose(file);
    flavours[n_flavours] = (flavour){.path = path, .module = host_load(text, length)};
    return flavours[n_flavours++].module == NULL;
}

int main(int argc, char **argv)
{
    const char *only = getenv("TEST_KERNELS_ONLY");
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            quick = 1;
        else if (open_flavour(argv[i]))
            return 1;
    for (int w = 0; syi_builtin(w); w++) {
        const syi_workload *workload = syi_builtin(w);
        if (!workload->gpu || (only && strcmp(only, workload->name)))
            continue;
        check_shapes(workload);
        if (workload->pattern != SY_PATTERN_REDUCE)
            check_periods(workload, 0);
    }
    for (int i = 0; i < n_flavours; i++) {
        const flavour *f = &flavours[i];
        printf("%s: sm_%d, on walks %llu of %llu units in doubt, %llu not joined; "
               "%.3g lane instructions\n",
               f->path, vptx_target(f->module), (unsigned long long)f->doubts,
               (unsigned long long)f->units, (unsigned long long)f->broken,
               (double)f->lane_instructions);
        if (f->units == 0 || (f->doubts + f->broken) * 100 > f->units)
            failures++;
        vptx_unload(f->module);
    }
    printf("%llu cases, %llu failures\n", (unsigned long long)cases, (unsigned long long)failures);
    return failures != 0 || cases == 0;
}
