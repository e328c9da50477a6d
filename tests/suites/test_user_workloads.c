/*
 * A user's own map, window and reduction: each sees canonical tiles whose geometry it checks
 * itself, with data that says where it comes from, and gives the same bits for any split.
 */
#include <criterion/criterion.h>
#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/lab.h"
#include "support/series.h"

enum { ROWS = 5, COLUMNS = 3 * 4096 + 17, HALO = 5000, TILE = 4096 };

/* x[row][i] = row * 1e6 + i, so that every value tells its place. */
static double x[ROWS * COLUMNS], noise[ROWS * COLUMNS];

static const char *const devices[] = {
    "cpu:threads=1",
    LAB_CPU(3),
    "sim:a:speed=1e6",
    "sim:a:speed=1e6,sim:b:speed=3e6," LAB_CPU(2),
    "sim:a:speed=1e6:memory=400kB,sim:b:speed=1e5:fail=launch@2,sim:c:speed=1e6,cpu:threads=1",
};
enum { DEVICES = 5 };

static int geometry_is_right(const sy_segment *s, int64_t halo)
{
    int64_t left = halo < s->first ? halo : s->first;
    if (s->first % TILE || s->count < 1 || s->count > TILE || s->columns != COLUMNS)
        return 0;
    if (s->first + s->count != COLUMNS && s->count != TILE)
        return 0;
    if (s->left != left || s->row < 0 || s->row >= ROWS)
        return 0;
    for (int64_t i = -left; i < s->count; i++)
        if (s->in[0][i] != (double)s->row * 1e6 + (double)(s->first + i))
            return 0;
    return 1;
}

static int map(const sy_segment *s)
{
    if (!geometry_is_right(s, 0))
        return 1;
    for (int64_t i = 0; i < s->count; i++) {
        s->out[0][i] = s->params[0] * s->in[1][i] + s->in[0][i];
        s->out[1][i] = s->in[1][i] - s->params[1];
    }
    return 0;
}

static int64_t halo_of(const double *params)
{
    return (int64_t)params[0];
}

/* A sum from the left with rounding: any other order or halo shows in the bits, and so would the
 * rounding mode that it leaves behind in the tile that comes next. */
static int window(const sy_segment *s)
{
    int64_t halo = (int64_t)s->params[0];
    if (!geometry_is_right(s, halo))
        return 1;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t from = i - halo < -s->left ? -s->left : i - halo;
        double sum = 0;
        for (int64_t j = from; j <= i; j += 97)
            sum = sum * 0.999 + s->in[1][j];
        s->out[0][i] = sum;
    }
    fesetround(FE_UPWARD);
    return 0;
}

/* Neither commutative nor associative: only one fixed tree gives one value. */
typedef struct partial {
    double sum;
    uint64_t mix;
    int64_t tiles;
} partial;

static int reduce(const sy_segment *s, void *into)
{
    partial *p = into;
    if (!geometry_is_right(s, 0) || p->sum != 0 || p->mix != 0 || p->tiles != 0)
        return 1;
    for (int64_t i = 0; i < s->count; i++) {
        p->sum += s->in[1][i] * s->params[0];
        p->mix = p->mix * 31 + (uint64_t)s->in[0][i];
    }
    p->tiles = 1;
    return 0;
}

static int combine(void *into, const void *right, const double *params)
{
    partial *p = into;
    const partial *r = right;
    (void)params;
    p->sum = p->sum * 1.0000001 + r->sum;
    p->mix = p->mix * 1000003 + r->mix;
    p->tiles += r->tiles;
    return 0;
}

static int finish(const void *from, int64_t columns, const double *params, double *outputs)
{
    const partial *p = from;
    (void)params;
    outputs[0] = p->sum / (double)columns;
    outputs[1] = (double)(p->mix >> 11);
    return p->tiles != (columns + TILE - 1) / TILE;
}

static const char *const two[] = {"x", "noise"}, *const outs[] = {"p", "q"};
static const sy_param_info scale_params[] = {
    {.name = "scale", .summary = "a factor", .min = -10, .max = 10, .fallback = 3},
    {.name = "shift", .summary = "an offset", .min = -10, .max = 10, .fallback = 0.5}};
static const sy_param_info halo_param[] = {{.name = "span",
                                            .summary = "columns to the left",
                                            .min = -5,
                                            .max = 1e15,
                                            .fallback = HALO,
                                            .is_integer = 1}};

static const sy_workload_def map_def = {.struct_size = sizeof map_def,
                                        .name = "my_map",
                                        .summary = "m",
                                        .version = 1,
                                        .pattern = SY_PATTERN_MAP,
                                        .n_inputs = 2,
                                        .n_outputs = 2,
                                        .input_names = two,
                                        .output_names = outs,
                                        .params = scale_params,
                                        .n_params = 2,
                                        .compute = map};
static const sy_workload_def window_def = {.struct_size = sizeof window_def,
                                           .name = "my_window",
                                           .summary = "w",
                                           .version = 1,
                                           .pattern = SY_PATTERN_WINDOW,
                                           .n_inputs = 2,
                                           .n_outputs = 1,
                                           .input_names = two,
                                           .output_names = outs,
                                           .params = halo_param,
                                           .n_params = 1,
                                           .halo = halo_of,
                                           .compute = window};
static const sy_workload_def reduce_def = {.struct_size = sizeof reduce_def,
                                           .name = "my_reduce",
                                           .summary = "r",
                                           .version = 1,
                                           .pattern = SY_PATTERN_REDUCE,
                                           .n_inputs = 2,
                                           .n_outputs = 2,
                                           .input_names = two,
                                           .output_names = outs,
                                           .params = scale_params,
                                           .n_params = 2,
                                           .partial_size = sizeof(partial),
                                           .reduce = reduce,
                                           .combine = combine,
                                           .finish = finish};

static void fill(void)
{
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < COLUMNS; i++)
            x[r * COLUMNS + i] = (double)r * 1e6 + (double)i;
    series_fill(SERIES_WALK, 4, noise, ROWS * COLUMNS);
}

TestSuite(user, .init = fill);

/* Registers and runs `def` on one device list into freshly poisoned outputs. */
static void run_on(const char *list, const sy_workload_def *def, int64_t count, double **y)
{
    const void *in[] = {x, noise};
    void *out[] = {y[0], y[1]};
    sy_context *context = lab_open(list, NULL, NULL);
    sy_work work = {.struct_size = sizeof work,
                    .workload = def->name,
                    .rows = ROWS,
                    .columns = COLUMNS,
                    .inputs = in,
                    .outputs = out};
    sy_workload_info info;
    cr_assert(context);
    cr_assert_eq(sy_workload_register(context, def), SY_OK, "%s", sy_last_error()->text);
    cr_assert_eq(sy_workload_query(context, sy_workload_count(context) - 1, &info), SY_OK);
    cr_expect_str_eq(info.name, def->name);
    cr_expect(!info.built_in && !info.has_fast);
    cr_assert_eq(distribute_workload(context, &work, NULL, NULL), SY_OK, "%s: %s", list,
                 sy_last_error()->text);
    for (int k = 0; k < def->n_outputs; k++)
        cr_expect(lab_guards_intact(out[k], count));
    sy_context_destroy(&context);
}

static void check(const sy_workload_def *def, int64_t count)
{
    double *first[2] = {lab_alloc(count), lab_alloc(count)};
    for (int d = 0; d < DEVICES; d++) {
        double *out[2] = {lab_alloc(count), lab_alloc(count)};
        run_on(devices[d], def, count, d ? out : first);
        for (int k = 0; d && k < def->n_outputs; k++)
            cr_expect_lt(lab_difference(first[k], out[k], count), 0, "%s on %s", def->name,
                         devices[d]);
        lab_free(out[0]);
        lab_free(out[1]);
    }
    if (def->pattern == SY_PATTERN_MAP)
        for (int64_t i = 0; i < count; i++)
            cr_assert(first[0][i] == 3 * noise[i] + x[i] && first[1][i] == noise[i] - 0.5);
    lab_free(first[0]);
    lab_free(first[1]);
}

Test(user, map)
{
    check(&map_def, ROWS * COLUMNS);
}

Test(user, window_with_halo)
{
    check(&window_def, ROWS * COLUMNS);
}

Test(user, reduction)
{
    check(&reduce_def, ROWS);
}

static int fails(const sy_segment *s)
{
    return s->row == 3 && s->first == TILE ? -5 : 0;
}

static int fails_in_finish(const void *from, int64_t columns, const double *params, double *outputs)
{
    (void)from, (void)columns, (void)params, (void)outputs;
    return 1;
}

static sy_status run_bad(const sy_workload_def *def, double span)
{
    static double y[2][ROWS * COLUMNS];
    const void *in[] = {x, noise};
    void *out[] = {y[0], y[1]};
    sy_context *context = lab_open(devices[3], NULL, NULL);
    const sy_param param = {.name = "span", .value = span};
    sy_work work = {.struct_size = sizeof work,
                    .workload = def->name,
                    .rows = ROWS,
                    .columns = COLUMNS,
                    .inputs = in,
                    .outputs = out,
                    .params = &param,
                    .n_params = def->halo ? 1 : 0};
    sy_status status;
    cr_assert(context);
    cr_assert_eq(sy_workload_register(context, def), SY_OK);
    status = distribute_workload(context, &work, NULL, NULL);
    sy_context_destroy(&context);
    return status;
}

/* The run fails with the user's status; no other device is tried, since it would fail there too. */
Test(user, functions_that_fail)
{
    sy_workload_def def = map_def;
    def.compute = fails;
    cr_expect_eq(run_bad(&def, 0), SY_ERR_USER);
    cr_expect(lab_told(SY_ERR_USER) && strstr(sy_last_error()->text, "my_map"));
    def = reduce_def;
    def.finish = fails_in_finish;
    cr_expect_eq(run_bad(&def, 0), SY_ERR_USER);
    cr_expect(lab_told(SY_ERR_USER) && strstr(sy_last_error()->text, "my_reduce"));
}

Test(user, halo_out_of_range)
{
    sy_status status = run_bad(&window_def, -1);
    cr_expect(status == SY_ERR_USER || status == SY_ERR_ARGUMENT, "status %d", (int)status);
    cr_expect(lab_told(status));
    cr_expect_eq(run_bad(&window_def, 0), SY_OK);
    cr_expect_eq(run_bad(&window_def, 1e15), SY_OK, "beyond the row: %s", sy_last_error()->text);
}

#define REFUSED(status, change)                                                                    \
    do {                                                                                           \
        sy_workload_def def = window_def, *d = &def;                                               \
        (void)d;                                                                                   \
        change;                                                                                    \
        cr_expect_eq(sy_workload_register(context, &def), status, "%s", #change);                  \
        cr_expect(lab_told(status), "%s", #change);                                                \
    } while (0)

Test(user, wrong_definitions)
{
    static const char *const with_null[] = {"x", NULL};
    static const sy_param_info unnamed[] = {{.min = 0, .max = 1}};
    static const sy_param_info upside_down[] = {{.name = "p", .min = 2, .max = 1}};
    static const sy_param_info beyond[] = {{.name = "p", .min = 1, .max = 5, .fallback = 9}};
    static const sy_param_info broken[] = {
        {.name = "p", .min = 1, .max = 5, .fallback = 3.5, .is_integer = 1}};
    static const sy_param_info alike[] = {{.name = "p", .max = 5}, {.name = "p", .max = 5}};
    char long_name[64] = "";
    sy_context *context = lab_open("cpu", NULL, NULL);
    cr_assert(context);
    REFUSED(SY_ERR_ARGUMENT, d->struct_size = 0);
    REFUSED(SY_ERR_ARGUMENT, d->name = NULL);
    REFUSED(SY_ERR_ARGUMENT, d->name = "");
    REFUSED(SY_ERR_ARGUMENT, d->name = "My");
    REFUSED(SY_ERR_ARGUMENT, d->name = "my window");
    REFUSED(SY_ERR_ARGUMENT, d->name = "sma");
    REFUSED(SY_ERR_ARGUMENT, d->name = "sma_fast"); /* profiles of fast sma are stored under it */
    REFUSED(SY_ERR_ARGUMENT, d->name = "mine_f32");
    REFUSED(SY_ERR_ARGUMENT, d->pattern = (sy_pattern)9);
    REFUSED(SY_ERR_UNSUPPORTED, d->pattern = SY_PATTERN_RECURRENCE);
    REFUSED(SY_ERR_ARGUMENT, d->n_inputs = 0);
    REFUSED(SY_ERR_ARGUMENT, d->n_inputs = 9);
    REFUSED(SY_ERR_ARGUMENT, d->n_outputs = -1);
    REFUSED(SY_ERR_ARGUMENT, d->input_names = NULL);
    REFUSED(SY_ERR_ARGUMENT, d->input_names = with_null);
    REFUSED(SY_ERR_ARGUMENT, d->n_params = 17);
    REFUSED(SY_ERR_ARGUMENT, d->params = NULL);
    REFUSED(SY_ERR_ARGUMENT, d->params = unnamed);
    REFUSED(SY_ERR_ARGUMENT, d->params = upside_down);
    REFUSED(SY_ERR_ARGUMENT, d->params = beyond);
    REFUSED(SY_ERR_ARGUMENT, d->params = broken);
    REFUSED(SY_ERR_ARGUMENT, (d->params = alike, d->n_params = 2));
    memset(long_name, 'n', 59); /* its tag for floats would not fit */
    REFUSED(SY_ERR_ARGUMENT, d->name = long_name);
    REFUSED(SY_ERR_ARGUMENT, d->compute = NULL);
    REFUSED(SY_ERR_ARGUMENT, d->halo = NULL);
    REFUSED(SY_ERR_ARGUMENT, (def = reduce_def, d->reduce = NULL));
    REFUSED(SY_ERR_ARGUMENT, (def = reduce_def, d->combine = NULL));
    REFUSED(SY_ERR_ARGUMENT, (def = reduce_def, d->finish = NULL));
    REFUSED(SY_ERR_ARGUMENT, (def = reduce_def, d->partial_size = 0));
    cr_expect_eq(sy_workload_register(NULL, &window_def), SY_ERR_ARGUMENT);
    cr_expect_eq(sy_workload_register(context, NULL), SY_ERR_ARGUMENT);
    cr_expect_eq(sy_workload_register(context, &window_def), SY_OK);
    REFUSED(SY_ERR_ARGUMENT, (void)0); /* the name is taken now */
    sy_context_destroy(&context);
}
