/* Recurrences on floats: what the same doubles give, rounded to floats, wherever kernels take some
 * columns at a time, rows begin and end, and something is not finite. */
#include "support/lab.h"
#include "support/series.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400000, PAST = 4000000, ARRAYS = 3, GUARD = 32 };

static const struct {
    const char *name, *period;
    int inputs, outputs;
} workloads[] = {{"ema", "period", 1, 1},
                 {"rsi", "period", 1, 1},
                 {"atr", "period", 3, 1},
                 {"macd", "slow", 1, 3}};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

typedef struct arrays {
    float *x[ARRAYS], *y[ARRAYS];
    double *wide_x[ARRAYS], *wide_y[ARRAYS];
} arrays;

typedef struct shape {
    int64_t rows, columns;
    double period;
    sy_accuracy accuracy;
} shape;

static void *room_for(int64_t count, size_t size)
{
    void *room = calloc((size_t)count + GUARD, size);
    cr_assert_not_null(room);
    return room;
}

static void take_arrays(arrays *a, int64_t count)
{
    for (int k = 0; k < ARRAYS; k++) {
        a->x[k] = room_for(count, sizeof(float));
        a->y[k] = room_for(count, sizeof(float));
        a->wide_x[k] = room_for(count, sizeof(double));
        a->wide_y[k] = room_for(count, sizeof(double));
    }
}

static void give_arrays(arrays *a)
{
    for (int k = 0; k < ARRAYS; k++) {
        free(a->x[k]);
        free(a->y[k]);
        free(a->wide_x[k]);
        free(a->wide_y[k]);
    }
}

/* The inputs are high, low and close, or the close alone. */
static void fill(arrays *a, int inputs, int64_t count, series_kind kind, int64_t strange)
{
    double *close = a->wide_x[inputs - 1];
    series_fill(kind, 7, close, count);
    for (int64_t i = 0; i < count && inputs == 3; i++) {
        a->wide_x[0][i] = close[i] * (1 + (double)(i % 7) / 256);
        a->wide_x[1][i] = close[i] * (1 - (double)(i % 5) / 256);
    }
    if (strange >= 0 && strange < count)
        a->wide_x[strange % inputs][strange] = strange % 2 ? INFINITY : (double)NAN;
    for (int k = 0; k < inputs; k++)
        for (int64_t i = 0; i < count; i++)
            a->wide_x[k][i] = a->x[k][i] = (float)a->wide_x[k][i];
}

static void run(sy_context *context, int w, const shape *shape, sy_dtype dtype, arrays *a, int at)
{
    const double fast = shape->period > 1 ? floor(shape->period / 2) : 1;
    const double period = workloads[w].outputs == 3 ? fast + 1 + fast : shape->period;
    const void *in[ARRAYS];
    void *out[ARRAYS];
    const sy_param params[] = {{workloads[w].period, period, NULL}, {"fast", fast, NULL}};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = workloads[w].name,
                          .rows = shape->rows,
                          .columns = shape->columns,
                          .inputs = in,
                          .outputs = out,
                          .params = params,
                          .n_params = workloads[w].outputs == 3 ? 2 : 1,
                          .dtype = dtype};
    const sy_options options = {.struct_size = sizeof options, .accuracy = shape->accuracy};
    for (int k = 0; k < ARRAYS; k++) {
        in[k] = dtype == SY_F32 ? (void *)a->x[k] : (void *)a->wide_x[k];
        out[k] = dtype == SY_F32 ? (void *)(a->y[k] + at) : (void *)a->wide_y[k];
    }
    cr_assert_eq(distribute_workload(context, &work, &options, NULL), SY_OK, "%s",
                 sy_last_error()->text);
}

/* The results are written from element `at` of their arrays on. */
static void check(sy_context *context, int w, shape shape, arrays *a, int at)
{
    const int64_t count = shape.rows * shape.columns;
    for (int k = 0; k < ARRAYS; k++)
        memset(a->y[k], 0x55, (size_t)(count + GUARD) * sizeof(float));
    run(context, w, &shape, SY_F64, a, at);
    run(context, w, &shape, SY_F32, a, at);
    for (int k = 0; k < workloads[w].outputs; k++) {
        float untouched;
        memset(&untouched, 0x55, sizeof untouched);
        for (int64_t i = -at; i < count + GUARD - at; i++) {
            const float right = i < 0 || i >= count ? untouched : (float)a->wide_y[k][i] + 0.0f;
            cr_assert_eq(memcmp(&a->y[k][at + i], &right, sizeof right), 0,
                         "%s of %g, accuracy %d, %lld rows of %lld: output %d, element %lld",
                         workloads[w].name, shape.period, shape.accuracy, (long long)shape.rows,
                         (long long)shape.columns, k, (long long)i);
        }
    }
}

/* Periods of which a block is shorter than what is taken at once, and much longer; before one of
 * 205 a step more is gathered than some times that. */
static const double periods[] = {1, 2, 14, 205, 700, 3000};
enum { PERIODS = sizeof periods / sizeof *periods };

static void check_row(sy_context *context, int64_t columns, series_kind kind, int64_t strange)
{
    arrays a;
    take_arrays(&a, columns);
    for (int w = 0; w < WORKLOADS; w++) {
        fill(&a, workloads[w].inputs, columns, kind, strange);
        for (int p = 0; p < PERIODS; p++)
            for (int accuracy = SY_ACCURACY_EXACT; accuracy <= SY_ACCURACY_FAST; accuracy++)
                check(context, w, (shape){1, columns, periods[p], (sy_accuracy)accuracy}, &a,
                      p % 3);
    }
    give_arrays(&a);
}

Test(floats, long_rows)
{
    sy_context *context = lab_open(LAB_CPU(2), NULL, NULL);
    static const int64_t sizes[] = {1, 17, 1000, 1025, 9000, 70001, MOST};
    cr_assert_not_null(context);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        check_row(context, sizes[s], SERIES_TICK, -1);
        check_row(context, sizes[s], SERIES_FLATS, -1);
    }
    sy_context_destroy(&context);
}

/* At either side of what is taken at once, and in the columns that run before a block. */
Test(floats, not_finite)
{
    sy_context *context = lab_open(LAB_CPU(2), NULL, NULL);
    static const int64_t strange[] = {0, 20, 1023, 1024, 1040, 2047, 65535, 65536, 180000, 299999};
    cr_assert_not_null(context);
    for (size_t k = 0; k < sizeof strange / sizeof *strange; k++)
        check_row(context, 300000, SERIES_TICK, strange[k]);
    sy_context_destroy(&context);
}

/* Each device has a tile or two, and the first value comes after several of these: what goes on
 * from the state before it still needs all columns. */
Test(floats, slabs_before_the_first_value)
{
    sy_context *context = lab_open("sim:a,sim:b,sim:c,sim:d,sim:e,sim:f,sim:g,sim:h", NULL, NULL);
    static const double late[] = {4097, 5000, 9000};
    const int64_t columns = 16000;
    arrays a;
    cr_assert_not_null(context);
    take_arrays(&a, 2 * columns);
    for (int w = 0; w < WORKLOADS; w++)
        for (size_t p = 0; p < sizeof late / sizeof *late; p++) {
            fill(&a, workloads[w].inputs, 2 * columns, SERIES_CANCEL, -1);
            check(context, w, (shape){2, columns, late[p], SY_ACCURACY_EXACT}, &a, 0);
        }
    give_arrays(&a);
    sy_context_destroy(&context);
}

Test(floats, whole_rows)
{
    sy_context *context = lab_open(LAB_CPU(2), NULL, NULL);
    static const int64_t columns[] = {16, 37, 100, 128, 129, 500, 1000, 5000};
    arrays a;
    cr_assert_not_null(context);
    take_arrays(&a, 40 * 5000);
    for (size_t s = 0; s < sizeof columns / sizeof *columns; s++)
        for (int w = 0; w < WORKLOADS; w++)
            for (int p = 1; p < 4; p++) {
                const shape fast = {40, columns[s], periods[p], SY_ACCURACY_FAST};
                fill(&a, workloads[w].inputs, 40 * columns[s], p % 2 ? SERIES_FLATS : SERIES_TICK,
                     3 * columns[s] + 15);
                check(context, w, fast, &a, p);
            }
    give_arrays(&a);
    sy_context_destroy(&context);
}

/* Of results that go past the cache. */
Test(floats, past_the_cache)
{
    sy_context *context = lab_open(LAB_CPU(2), NULL, NULL);
    arrays a;
    cr_assert_not_null(context);
    take_arrays(&a, PAST);
    for (int w = 0; w < WORKLOADS; w++)
        for (int at = 0; at < 6; at += 5) {
            fill(&a, workloads[w].inputs, PAST, SERIES_FLATS, -1);
            check(context, w, (shape){1, PAST - 3, 14, SY_ACCURACY_FAST}, &a, at);
            check(context, w, (shape){4, PAST / 4 - 5, 200, SY_ACCURACY_FAST}, &a, at);
        }
    give_arrays(&a);
    sy_context_destroy(&context);
}
