/*
 * The shipped GPU kernels, executed by the PTX interpreter, against the CPU kernels: the same bits
 * for every workload, accuracy, series and cut, whatever the kernels certified and whatever they
 * left in doubt. Each array has its own window, so that a kernel that reaches beyond one is caught.
 *
 * test_kernels FILE.ptx.. [--quick]: the translations of all kernels, one compiler and architecture
 * each.
 */
#include "gpu_slab.h"
#include "support/series.h"
#include "vptx_host.h"

#include "device/host.h"
#include "device/partials.h"
#include "exec/run.h"

enum { MOST_MODULES = 8, MOST_COLUMNS = 70000, MOST_INPUTS = 3 };

static gpu_flavour flavours[MOST_MODULES];
static int n_flavours, quick;
static uint64_t cases, failures;

/* ---- one case ---- */

typedef struct test_case {
    const syi_workload *workload;
    double params[SYI_MAX_PARAMS];
    series_kind series;
    int64_t rows, columns, slab_tiles; /* tiles of a slab at most */
    int64_t rest;                      /* rows stand still from here on; 0: they do not */
} test_case;

typedef struct result {
    void *out[SYI_MAX_ARRAYS];
    size_t size;
} result;

static const double *value_of(const result *r, int output, int64_t i)
{
    return (const double *)r->out[output] + i;
}

static void describe(const test_case *c, const char *who)
{
    fprintf(stderr, "%s: %s(", who, syi_workload_tag(c->workload));
    for (int i = 0; i < c->workload->n_params; i++)
        fprintf(stderr, "%s%g", i ? ", " : "", c->params[i]);
    fprintf(stderr, ") on %s, %lld x %lld, slabs of %lld tiles: ", series_name(c->series),
            (long long)c->rows, (long long)c->columns, (long long)c->slab_tiles);
}

static syi_job job_of(const test_case *c, const void *const *in, result *r)
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
    if (c->workload->pattern == SY_PATTERN_REDUCE &&
        syi_partials_create(&job, &job.partials) != SY_OK)
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
static int compute(const test_case *c, gpu_flavour *f, const void *const *in, result *r)
{
    const syi_host_options options = {1, syi_isa_detect()};
    syi_job job = job_of(c, in, r);
    syi_gate gate;
    syi_tiles span = {0, syi_job_tiles(&job)};
    syi_tally tally = {0};
    int64_t repaired;
    int failed = 0;
    syi_gate_init(&gate, NULL, NULL, span.count);
    job.gate = &gate;
    while (span.count && !failed) {
        syi_slab slab = syi_slab_take(&job, &span, f ? c->slab_tiles : span.count);
        syi_view view = syi_view_of_job(&job, &slab);
        gpu_slab run = {.flavour = f, .job = &job, .slab = slab, .seed = 7 + cases};
        run.order = (vptx_order)(cases % 3);
        failed = f ? gpu_slab_run(&run, &tally.total)
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
    syi_partials_destroy(&job.partials);
    syi_gate_destroy(&gate);
    return failed;
}

static int64_t first_difference(const result *a, const result *b, int outputs, int *output)
{
    for (*output = 0; *output < outputs; ++*output)
        for (size_t i = 0; i < a->size / sizeof(double); i++)
            if (memcmp(value_of(a, *output, i), value_of(b, *output, i), sizeof(double)))
                return (int64_t)i;
    return -1;
}

static void check_case(const test_case *c)
{
    static double x[MOST_INPUTS][MOST_COLUMNS];
    const void *in[MOST_INPUTS];
    result want = {0};
    for (int k = 0; k < MOST_INPUTS; k++) {
        in[k] = x[k];
        for (int64_t row = 0; row < c->rows; row++)
            series_fill(c->series, (uint64_t)(1 + row + 100 * k), x[k] + row * c->columns,
                        c->columns);
        for (int64_t i = c->rest; i && i < c->columns; i++)
            x[k][i] = x[k][i - 1];
    }
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
                        *value_of(&got, output, at), *value_of(&want, output, at));
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

/* A rest so long that nothing of the moves before is left in several units. */
static void check_rests(const syi_workload *workload)
{
    for (int period = 1; period <= 3; period++) {
        test_case c = case_of(workload, SERIES_TICK, 2 + period);
        c.params[0] = period;
        c.rest = 500 * period;
        check_case(&c);
    }
}

static void check_workload(const syi_workload *workload)
{
    check_shapes(workload);
    if (workload->pattern != SY_PATTERN_REDUCE)
        check_periods(workload, 0);
    if (!strcmp(workload->name, "rsi"))
        check_rests(workload);
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
    flavours[n_flavours] = (gpu_flavour){.path = path, .module = host_load(text, length)};
    return flavours[n_flavours++].module == NULL;
}

/* A path of a kernel that no case takes is not tested: nine lines in ten of the translation must
 * have been executed. TEST_KERNELS_MISSED=1 names the others, some of which are other tests':
 * conversions of floats, and the exact windows inside of the fast ones. */
static int check_coverage(const gpu_flavour *f, const char *only)
{
    uint32_t code = 0, reached = 0;
    for (uint32_t i = 1; i <= vptx_line_count(f->module); i++) {
        vptx_line line;
        if (!vptx_coverage(f->module, i, &line))
            continue;
        code++;
        reached += line.executed > 0;
        if (!line.executed && getenv("TEST_KERNELS_MISSED"))
            printf("%s: line %u of %s\n", f->path, i, line.function);
    }
    printf("%s: %u of %u PTX lines executed\n", f->path, reached, code);
    return !only && reached * 10 < code * 9;
}

int main(int argc, char **argv)
{
    const char *only = getenv("TEST_KERNELS_ONLY");
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            quick = 1;
        else if (open_flavour(argv[i]))
            return 1;
    for (int w = 0; syi_builtin(w); w++)
        for (const syi_workload *row = syi_builtin(w); row; row = row->fast)
            if (row->gpu && (!only || !strcmp(only, syi_workload_tag(row))))
                check_workload(row);
    for (int i = 0; i < n_flavours; i++) {
        const gpu_flavour *f = &flavours[i];
        printf("%s: sm_%d, on walks %llu of %llu units in doubt, %llu not joined; "
               "%.3g lane instructions\n",
               f->path, vptx_target(f->module), (unsigned long long)f->doubts,
               (unsigned long long)f->units, (unsigned long long)f->broken,
               (double)f->lane_instructions);
        if (f->units == 0 || (f->doubts + f->broken) * 100 > f->units)
            failures++;
        failures += (uint64_t)check_coverage(f, only);
        vptx_unload(f->module);
    }
    printf("%llu cases, %llu failures\n", (unsigned long long)cases, (unsigned long long)failures);
    return failures != 0 || cases == 0;
}
