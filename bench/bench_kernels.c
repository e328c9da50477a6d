/*
 * The workloads on the CPU: nanoseconds per element, beside a copy of the same shape (as many
 * arrays read and written), the textbook loop, and TA-Lib where it is installed. All sides of a
 * line run in turn on the same arrays.
 */
#include "kernels.h"
#include "series.h"
#include "talib.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const accuracies[] = {"exact", "fast", NULL};
static const char *const places[] = {"apart", "alike", NULL};
static const char *const isas[] = {"base", "v3", "v4", NULL};

enum {
    WORKLOADS,
    SIZES,
    ROWS,
    PERIODS,
    DATA,
    THREADS,
    ACCURACY,
    DTYPE,
    PLACES,
    ISA,
    TALIB,
    OPTIONS
};
static bench_option options[OPTIONS] = {
    [WORKLOADS] = {.name = "workloads", .value = "NAME", .help = "which (default all)", .many = 1},
    [SIZES] = {.name = "sizes",
               .value = "N",
               .help = "elements",
               .fallback = "10000 1000000",
               .least = 1,
               .most = 1e10,
               .many = 1},
    [ROWS] = {.name = "rows",
              .value = "N",
              .help = "rows that each size is cut into",
              .fallback = "1",
              .least = 1,
              .most = 1e9},
    [PERIODS] = {.name = "periods",
                 .value = "N",
                 .help = "columns (default each workload's own)",
                 .least = 1,
                 .most = 1e6,
                 .many = 1},
    [DATA] = {.name = "data",
              .value = "KIND",
              .help = "prices",
              .fallback = "walk",
              .words = bench_series_kinds,
              .many = 1},
    [THREADS] = {.name = "threads",
                 .value = "N",
                 .help = "threads",
                 .fallback = "1",
                 .least = 1,
                 .most = 1024,
                 .many = 1},
    [ACCURACY] = {.name = "accuracy",
                  .value = "WORD",
                  .help = "of the results",
                  .fallback = "exact fast",
                  .words = accuracies,
                  .many = 1},
    [DTYPE] = {.name = "dtype",
               .value = "TYPE",
               .help = "of the arrays, the same for accuracy",
               .fallback = "f64",
               .words = kernels_dtypes,
               .many = 1},
    [PLACES] = {.name = "places",
                .value = "WORD",
                .help = "where in a page arrays begin; alike: as those of malloc do",
                .fallback = "apart",
                .words = places},
    [ISA] = {.name = "isa",
             .value = "WORD",
             .help = "an instruction set at most, for the workloads alone",
             .words = isas},
    [TALIB] = {.name = "talib", .value = "FILE", .help = "TA-Lib (default the installed one)"},
};

/* ---- which lines ---- */

/* Columns, when none are asked for; 0: it has no such parameter. */
static int64_t period_of(const sy_workload_info *info)
{
    for (int i = 0; i < info->n_params; i++)
        if (!strcmp(info->params[i].name, "period"))
            return (int64_t)info->params[i].fallback;
    return 0;
}

static void measure_periods(question q)
{
    const bench_option *periods = &options[PERIODS];
    const int asked = period_of(q.info) ? periods->count : 0;
    for (int i = 0; i < (asked ? asked : 1); i++) {
        q.period = asked ? (int64_t)periods->number[i] : 0;
        bench_progress("%s, %lld elements, %s, %d thread%s", q.info->name, (long long)q.n, q.kind,
                       q.threads, q.threads > 1 ? "s" : "");
        kernels_measure(&q, &options[ACCURACY]);
    }
}

static void measure_all(const sy_workload_info *info, int64_t n)
{
    question q = {.info = info, .n = n, .rows = (int64_t)options[ROWS].number[0]};
    for (int k = 0; k < options[DATA].count; k++)
        q.hard_data |= strcmp(options[DATA].text[k], "walk") != 0;
    for (int t = 0; t < options[THREADS].count; t++)
        q.several_threads |= options[THREADS].number[t] > 1;
    for (int t = 0; t < options[THREADS].count; t++)
        for (int k = 0; k < options[DATA].count; k++)
            for (int d = 0; d < options[DTYPE].count; d++) {
                q.threads = (int)options[THREADS].number[t];
                q.kind = options[DATA].text[k];
                q.dtype = strcmp(options[DTYPE].text[d], "f32") ? SY_F64 : SY_F32;
                measure_periods(q);
            }
}

static void check_name(sy_context *context, const char *name)
{
    char list[512] = "";
    sy_workload_info info;
    for (int k = 0; k < sy_workload_count(context); k++) {
        bench_check(sy_workload_query(context, k, &info));
        if (!strcmp(info.name, name))
            return;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", info.name);
    }
    bench_usage("--workloads: '%s' is none of %s", name, list);
}

/* A window longer than a row has no value to compute. */
static void check_periods(const sy_workload_info *info)
{
    const bench_option *sizes = &options[SIZES], *periods = &options[PERIODS];
    const double rows = options[ROWS].number[0];
    const int64_t own = period_of(info);
    for (int i = 0; i < sizes->count; i++)
        for (int k = 0; own && k < (periods->count ? periods->count : 1); k++) {
            double period = periods->count ? periods->number[k] : (double)own;
            if (period * rows > sizes->number[i])
                bench_usage("--sizes %.0f: less than the period %.0f of %s in each row; choose "
                            "larger --sizes or smaller --periods or --rows",
                            sizes->number[i], period, info->name);
        }
}

static void check_rows(void)
{
    const double rows = options[ROWS].number[0];
    for (int i = 0; i < options[SIZES].count; i++)
        if (fmod(options[SIZES].number[i], rows) != 0)
            bench_usage("--sizes %.0f: not a multiple of --rows %.0f; choose one that is",
                        options[SIZES].number[i], rows);
}

/* Results, and each kind of prices, the walk besides: all that is read of a size stays until it has
 * been measured, also as floats. */
static void check_memory(unsigned series)
{
    const int kinds = options[DATA].count + !bench_wants(&options[DATA], "walk");
    const int width = bench_wants(&options[DTYPE], "f32") ? 12 : 8;
    int read = 0;
    for (; series; series >>= 1)
        read += (int)(series & 1);
    bench_check_memory(&options[SIZES], KERNELS_OUTPUTS * 8 + read * kinds * width);
}

static void check_options(sy_context *context)
{
    sy_workload_info info;
    unsigned series = 0;
    check_rows();
    for (int i = 0; i < options[WORKLOADS].count; i++)
        check_name(context, options[WORKLOADS].text[i]);
    for (int k = 0; k < sy_workload_count(context); k++) {
        bench_check(sy_workload_query(context, k, &info));
        if (!bench_wants(&options[WORKLOADS], info.name))
            continue;
        check_periods(&info);
        series |= kernels_series(&info);
    }
    bench_check_threads(&options[THREADS]);
    check_memory(series);
}

int main(int argc, char **argv)
{
    sy_context *context;
    sy_workload_info info;
    bench_begin("bench_kernels", "The workloads on the CPU beside a copy and the textbook loop.",
                options, OPTIONS, argc, argv);
    kernels_limit(options[ISA].text[0]);
    if (bench_wants(&options[PLACES], "alike"))
        bench_arrays_alike();
    context = kernels_context(1);
    check_options(context);
    bench_talib_open(options[TALIB].count ? options[TALIB].text[0] : NULL);
    bench_start(options[ISA].text[0]);
    for (int s = 0; s < options[SIZES].count; s++) {
        int64_t n = (int64_t)options[SIZES].number[s];
        kernels_size(n);
        for (int k = 0; k < sy_workload_count(context); k++) {
            bench_check(sy_workload_query(context, k, &info));
            if (bench_wants(&options[WORKLOADS], info.name))
                measure_all(&info, n);
        }
    }
    kernels_size(0);
    bench_talib_close();
    kernels_context(0);
    return bench_end();
}
