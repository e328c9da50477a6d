/*
 * What the GPU kernels compute before they round, and what they hand on, by bits: a tile's partial,
 * the states at both ends of a recurrence's unit, the columns in doubt, and the high half, low half
 * and error bound of every value that is rounded. They are compared with
 *
 *  - the same kernels by the host's compiler (host_kernels.c), as they are and revealing what they
 *    round: a fused or reordered operation shows though the rounded outputs agree;
 *  - the CPU's own kernels, where those take the same steps: the base ones.
 *
 * And the conversions of floats, with the host's.
 *
 *     test_words DRIVER IMAGE.. [--revealing IMAGE..]
 *
 * DRIVER is any driver's library; IMAGE a file, or `built-in`. 77: there is no usable GPU.
 */
#include "elements.h"
#include "host_kernels.h"
#include "support/series.h"
#include "words_slab.h"

#include "device/cuda/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 9000, MOST_TEXT = 8 << 20, MOST_IMAGES = 16 };

/* A translation of all kernels, and what it is compared with. */
typedef struct image {
    const char *name;
    const host_entry *table;
    CUmodule module;
    uint64_t words, failures;
} image;

static words_gpu gpu;
static image images[MOST_IMAGES];
static int n_images;
static image *now; /* the one that is looked at */

/* ---- comparing ---- */

typedef struct test_case {
    const syi_workload *workload;
    double params[SYI_MAX_PARAMS];
    series_kind series;
    int64_t rows, columns, slab_tiles;
    int64_t rest; /* from this column on a row stands still; 0: it does not */
} test_case;

static void complain(const test_case *c, const char *what, int64_t unit, int64_t at, uint64_t got,
                     uint64_t want)
{
    const uint64_t most = 10;
    if (now->failures++ >= most)
        return;
    fprintf(stderr, "%s: %s(", now->name, syi_workload_tag(c->workload));
    for (int i = 0; i < c->workload->n_params; i++)
        fprintf(stderr, "%s%g", i ? ", " : "", c->params[i]);
    fprintf(stderr, ") on %s, %lld x %lld, unit %lld: %s differs at %lld: %016llx, not %016llx\n",
            series_name(c->series), (long long)c->rows, (long long)c->columns, (long long)unit,
            what, (long long)at, (unsigned long long)got, (unsigned long long)want);
}

static int is_nan(uint64_t word)
{
    return (word & (UINT64_MAX >> 1)) > UINT64_C(0x7ff) << 52;
}

/* Words are doubles unless they are `whole` numbers: all NaNs are one, for which one it is depends
 * on the machine and nothing on it. */
static void compare(const test_case *c, const char *what, int64_t unit, const void *got,
                    const void *want, size_t bytes, int whole)
{
    for (size_t i = 0; i < bytes / 8; i++, now->words++) {
        uint64_t a, b;
        memcpy(&a, (const char *)got + 8 * i, 8);
        memcpy(&b, (const char *)want + 8 * i, 8);
        if (a != b && (whole || !is_nan(a) || !is_nan(b)))
            complain(c, what, unit, (int64_t)i, a, b);
    }
}

static int has_whole_partials(const syi_workload *workload)
{
    return !strcmp(syi_workload_tag(workload), "variance");
}

static void compare_all(const test_case *c, const words_slab *s)
{
    const cuda_layout *at = &s->slot.layout;
    const size_t out = (size_t)syi_slab_outputs(s->job, &s->slot.slab) * sizeof(double);
    const size_t units = (size_t)at->units;
    for (int k = 0; k < c->workload->n_outputs; k++)
        compare(c, "a value", -1, s->gpu + at->out[k], s->host + at->out[k], out, 0);
    compare(c, "a doubt", -1, s->gpu + at->doubts, s->host + at->doubts, units * 16, 1);
    compare(c, "a partial", -1, s->gpu + at->partials, s->host + at->partials,
            units * c->workload->partial_size, has_whole_partials(c->workload));
    if (c->workload->pattern == SY_PATTERN_RECURRENCE)
        compare(c, "a link", -1, s->gpu + at->links, s->host + at->links,
                units * 2 * sizeof(syi_carry), 0);
}

/* ---- the CPU's own kernels ---- */

static double scratch[SYI_MAX_ARRAYS][MOST_COLUMNS];

/* Columns [first, first + count) of the row by the kernel without vectors. */
static void run_base(const test_case *c, const syi_job *job, int64_t row, int64_t first,
                     int64_t count, int64_t left, const syi_carry *start, syi_carry *assumed,
                     syi_carry *end, void *partial)
{
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS];
    syi_doubts doubts = {0};
    syi_piece piece = {.segment = {.in = in,
                                   .out = out,
                                   .first = first,
                                   .count = count,
                                   .left = left,
                                   .row = row,
                                   .columns = job->columns,
                                   .params = c->params},
                       .start = start,
                       .assumed = assumed,
                       .end = end,
                       .partials = partial,
                       .doubts = &doubts};
    for (int k = 0; k < c->workload->n_inputs; k++)
        in[k] = (const double *)job->in[k] + row * job->columns + first;
    for (int k = 0; k < c->workload->n_outputs; k++)
        out[k] = scratch[k];
    if (c->workload->run[SYI_ISA_BASE](&piece) != SY_OK)
        complain(c, "the CPU's kernel fails: it", first, 0, 0, 0);
    syi_doubts_clear(&doubts);
}

/* In pieces too short for a tile, so that the kernel goes column by column. */
static void step_base(const test_case *c, const syi_job *job, int64_t row, int64_t first,
                      int64_t count, syi_carry *state)
{
    const int64_t most = 16, last = first + count;
    for (int64_t i = first; i < last; i += most) {
        syi_carry assumed = {{0}}, end = {{0}};
        run_base(c, job, row, i, last - i < most ? last - i : most, 0, state, &assumed, &end, NULL);
        *state = end;
    }
}

/* What a tile has to give, but for those that the GPU leaves to the host. */
static void check_partials(const test_case *c, const words_slab *s)
{
    const size_t size = c->workload->partial_size;
    const cuda_layout *at = &s->slot.layout;
    const long long *doubts = (const void *)(s->gpu + at->doubts);
    for (int64_t unit = 0; unit < at->units; unit++) {
        unsigned char partial[1024] = {0};
        int64_t first = unit % at->units_per_row * at->unit_columns;
        int64_t rest = s->slot.slab.columns - first;
        if (doubts[2 * unit] < doubts[2 * unit + 1])
            continue;
        run_base(c, s->job, s->slot.slab.row + unit / at->units_per_row, s->slot.slab.first + first,
                 rest < at->unit_columns ? rest : at->unit_columns, 0, NULL, NULL, NULL, partial);
        compare(c, "a partial of the CPU's kernel", unit,
                s->gpu + at->partials + (size_t)unit * size, partial, size,
                has_whole_partials(c->workload));
    }
}

/* A unit's state at its beginning, where the CPU's kernels get there by the same steps: from the
 * row's beginning, or through the unit's halo. Its end always follows from its beginning. */
static void check_links(const test_case *c, const words_slab *s)
{
    const cuda_layout *at = &s->slot.layout;
    const syi_carry *links = (const void *)(s->gpu + at->links);
    const int64_t halo = syi_job_halo(s->job);
    const int has_tiles = !strcmp(c->workload->name, "rsi") || !strcmp(c->workload->name, "atr");
    for (int64_t unit = 0; unit < at->units; unit++) {
        syi_carry state = {{0}}, end = {{0}};
        int64_t row = s->slot.slab.row + unit / at->units_per_row;
        int64_t in_slab = unit % at->units_per_row * at->unit_columns;
        int64_t first = s->slot.slab.first + in_slab, rest = s->slot.slab.columns - in_slab;
        int64_t seen = s->slot.slab.left + in_slab, left = seen < halo ? seen : halo;
        if (left == first)
            step_base(c, s->job, row, 0, first, &state);
        if (left == first && first == 0)
            run_base(c, s->job, row, 0, 0, 0, NULL, &state, &end, NULL);
        else if (left != first)
            run_base(c, s->job, row, first, 1, left, NULL, &state, &end, NULL);
        if (left == first || !has_tiles)
            compare(c, "what a unit of the CPU's kernel begins with", unit, &links[2 * unit],
                    &state, sizeof state, 0);
        state = links[2 * unit];
        step_base(c, s->job, row, first, rest < at->unit_columns ? rest : at->unit_columns, &state);
        compare(c, "what a unit of the CPU's kernel ends with", unit, &links[2 * unit + 1], &state,
                sizeof state, 0);
    }
}

/* In fast accuracy a unit is a piece of the CPU's: it gives the same values, begins and ends alike.
 */
static void check_pieces(const test_case *c, const words_slab *s)
{
    const cuda_layout *at = &s->slot.layout;
    const syi_carry *links = (const void *)(s->gpu + at->links);
    const int64_t halo = syi_job_halo(s->job);
    for (int64_t unit = 0; unit < at->units; unit++) {
        syi_carry assumed = {{0}}, end = {{0}};
        int64_t row = unit / at->units_per_row, in_slab = unit % at->units_per_row;
        int64_t first = in_slab * at->unit_columns, rest = s->slot.slab.columns - first;
        int64_t seen = s->slot.slab.left + first;
        int64_t count = rest < at->unit_columns ? rest : at->unit_columns;
        run_base(c, s->job, s->slot.slab.row + row, s->slot.slab.first + first, count,
                 seen < halo ? seen : halo, NULL, &assumed, &end, NULL);
        for (int k = 0; k < c->workload->n_outputs; k++)
            compare(c, "a value of the CPU's kernel", unit,
                    (const double *)(const void *)(s->gpu + at->out[k]) +
                        row * s->slot.slab.columns + first,
                    scratch[k], (size_t)count * sizeof(double), 0);
        compare(c, "what a piece of the CPU's kernel begins with", unit, &links[2 * unit], &assumed,
                sizeof assumed, 0);
        compare(c, "what a piece of the CPU's kernel ends with", unit, &links[2 * unit + 1], &end,
                sizeof end, 0);
    }
}

/* ---- cases ---- */

static host_kernel kernel_of(const host_entry *table, const char *name)
{
    while (table->name && strcmp(table->name, name) != 0)
        table++;
    return table->run;
}

/* The host's translation runs once for all images that are compared with it. */
static void check_slab(const test_case *c, const syi_job *job, const syi_slab *slab,
                       const host_entry *table)
{
    host_kernel kernel = kernel_of(table, c->workload->gpu->entry);
    words_slab s = {.job = job, .slot = {.slab = *slab}};
    int failed = !kernel || words_slab_open(&s) || words_slab_on_host(&s, kernel);
    for (now = images; now < images + n_images; now++) {
        if (now->table != table)
            continue;
        if (failed || words_slab_on_gpu(&s, &gpu, now->module)) {
            complain(c, "a slab fails: it", slab->tile, 0, 0, 0);
            continue;
        }
        compare_all(c, &s);
        if (now == images && c->workload->pattern == SY_PATTERN_REDUCE)
            check_partials(c, &s);
        if (now == images && c->workload->pattern == SY_PATTERN_RECURRENCE)
            (c->workload->tag ? check_pieces : check_links)(c, &s);
    }
    words_slab_close(&s);
}

static void check_case(const test_case *c)
{
    static double x[SYI_MAX_ARRAYS][MOST_COLUMNS];
    const void *in[SYI_MAX_ARRAYS];
    const syi_job job = {.workload = c->workload,
                         .params = c->params,
                         .rows = c->rows,
                         .columns = c->columns,
                         .in = in,
                         .out = (void *[SYI_MAX_ARRAYS]){0}};
    syi_tiles span = {0, syi_job_tiles(&job)};
    for (int k = 0; k < c->workload->n_inputs; k++) {
        in[k] = x[k];
        for (int64_t row = 0; row < c->rows; row++)
            series_fill(c->series, (uint64_t)(1 + row + 100 * k), x[k] + row * c->columns,
                        c->columns);
        for (int64_t i = c->rest; i && i < c->columns; i++)
            x[k][i] = x[k][i - 1];
    }
    while (span.count) {
        syi_slab slab = syi_slab_take(&job, &span, c->slab_tiles);
        check_slab(c, &job, &slab, host_shipped);
        check_slab(c, &job, &slab, host_revealing);
    }
}

/* A row whose only piece but the first knows nothing of the value before the rest. */
static void check_rest(const syi_workload *workload)
{
    test_case c = {.workload = workload,
                   .params = {2},
                   .series = SERIES_TICK,
                   .rows = 1,
                   .columns = 4700,
                   .slab_tiles = 1,
                   .rest = 300};
    check_case(&c);
}

/* A workload on each series, its row cut so that units begin in the row and see less of it than
 * they want; then whole rows and another period. */
static void check_workload(const syi_workload *workload)
{
    for (int series = 0; series < SERIES_KINDS; series++) {
        test_case c = {.workload = workload,
                       .series = (series_kind)series,
                       .rows = 1,
                       .columns = 4700,
                       .slab_tiles = 1};
        for (int i = 0; i < workload->n_params; i++)
            c.params[i] = workload->params[i].fallback;
        check_case(&c);
        if (series % 2)
            continue;
        c.rows = 2, c.columns = 1050 + 20 * series, c.slab_tiles = 9;
        if (workload->n_params && !strcmp(workload->params[0].name, "period"))
            c.params[0] = 2 + series * 7 % 60;
        check_case(&c);
    }
    if (!strcmp(workload->name, "rsi"))
        check_rest(workload);
}

/* In both accuracies. */
static void check_all(void)
{
    const char *only = getenv("TEST_WORDS_ONLY");
    for (int w = 0; syi_builtin(w); w++)
        for (const syi_workload *row = syi_builtin(w); row; row = row->fast)
            if (row->gpu && (!only || !strcmp(only, syi_workload_tag(row))))
                check_workload(row);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, MOST_TEXT);
    if (!file || !text || !fread(text, 1, MOST_TEXT - 1, file)) {
        fprintf(stderr, "%s cannot be read\n", path);
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static int open_image(const char *path, const host_entry *table)
{
    image *new = &images[n_images++];
    int built_in = !strcmp(path, "built-in");
    char *text = built_in ? NULL : read_file(path);
    int failed = n_images > MOST_IMAGES || (!built_in && !text) ||
                 words_gpu_load(&gpu, built_in ? syi_cuda_image() : text, &new->module);
    new->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    new->table = table;
    free(text);
    return failed;
}

int main(int argc, char **argv)
{
    const char *only = getenv("TEST_WORDS_ONLY");
    const host_entry *table = host_shipped;
    int failed = 0;
    if (argc < 3)
        return 2;
    if (words_gpu_open(&gpu, argv[1]))
        return 77;
    for (int i = 2; i < argc && !failed; i++)
        if (!strcmp(argv[i], "--revealing"))
            table = host_revealing;
        else
            failed = open_image(argv[i], table);
    if (!failed)
        check_all();
    for (int i = 0; i < n_images && !failed && (!only || !strcmp(only, "elements")); i++)
        failed = words_elements(&gpu, images[i].module, &images[i].words, &images[i].failures);
    for (int i = 0; i < n_images; i++) {
        printf("%s: %llu words, %llu differ\n", images[i].name, (unsigned long long)images[i].words,
               (unsigned long long)images[i].failures);
        failed |= images[i].failures || !images[i].words;
        gpu.driver->api.cuModuleUnload(images[i].module);
    }
    words_gpu_close(&gpu);
    return failed;
}
