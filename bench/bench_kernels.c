/*
 * The workloads on the CPU: nanoseconds per element, beside a copy of the same shape (as many
 * arrays read and written), the textbook loop, and TA-Lib where it is installed. All sides of a
 * line run in turn on the same arrays.
 */
#include "harness.h"
#include "loops.h"
#include "series.h"
#include "talib.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SIDES = 10, MOST_INPUTS = 3, MOST_OUTPUTS = 3 };

static const char *const accuracies[] = {"exact", "fast", NULL};
static const char *const dtypes[] = {"f64", "f32", NULL};

enum { WORKLOADS, SIZES, PERIODS, DATA, THREADS, ACCURACY, DTYPE, TALIB, OPTIONS };
static bench_option options[OPTIONS] = {
    [WORKLOADS] = {.name = "workloads", .value = "NAME", .help = "which (default all)", .many = 1},
    [SIZES] = {.name = "sizes",
               .value = "N",
               .help = "elements",
               .fallback = "10000 1000000",
               .least = 1,
               .most = 1e10,
               .many = 1},
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
               .words = dtypes,
               .many = 1},
    [TALIB] = {.name = "talib", .value = "FILE", .help = "TA-Lib (default the installed one)"},
};

/* What one line is about. */
typedef struct question {
    const sy_workload_info *info;
    const char *kind;
    sy_dtype dtype;
    int64_t n, period; /* period 0: its own, or it has none */
    int threads;
} question;

static int64_t array_size;
static double *outputs[MOST_OUTPUTS];

static void resize(int64_t n)
{
    bench_series_size(n);
    for (int k = 0; k < MOST_OUTPUTS; k++) {
        bench_array_free(outputs[k]);
        outputs[k] = n ? bench_array(n, BENCH_SERIES + k) : NULL;
    }
    array_size = n;
}

/* Input `index` of that name. */
static const double *series_of(const char *kind, sy_dtype dtype, const char *input, int index)
{
    int which = !strcmp(input, "high") ? 1 : !strcmp(input, "low") ? 2 : index == 1 ? 3 : 0;
    return bench_series(kind, which, dtype == SY_F32);
}

/* ---- the sides ---- */

typedef struct call {
    sy_context *context;
    sy_work work;
    sy_param param;
    sy_options options;
    const void *in[MOST_INPUTS];
    void *out[MOST_OUTPUTS];
} call;

static void run_call(void *user)
{
    call *c = user;
    bench_check(distribute_workload(c->context, &c->work, &c->options, NULL));
}

/* A loop of ours: the textbook's or TA-Lib's, always on doubles, or a copy of as many bytes. */
typedef struct loop {
    const question *q;
    const double *in[MOST_INPUTS];
    const bench_textbook *textbook;
    bench_stream_fn stream;
} loop;

static void run_textbook(void *user)
{
    const loop *l = user;
    l->textbook->loop(l->in, outputs, l->q->n, l->q->period ? l->q->period : l->textbook->period);
}

static void run_stream(void *user)
{
    const loop *l = user;
    bench_stream_run(l->stream, l->in, outputs, l->q->dtype == SY_F32 ? l->q->n / 2 + 1 : l->q->n,
                     l->q->threads);
}

static void run_talib(void *user)
{
    const loop *l = user;
    bench_talib_run(l->q->info->name, l->in, outputs, l->q->n, l->q->period);
}

static sy_context *context_with(int threads)
{
    static sy_context *contexts[BENCH_VALUES + 2];
    static int known[BENCH_VALUES + 2];
    char devices[32];
    int i = 0;
    if (!threads) { /* the end */
        for (; known[i]; i++)
            sy_context_destroy(&contexts[i]);
        return NULL;
    }
    while (known[i] && known[i] != threads)
        i++;
    if (!known[i]) {
        snprintf(devices, sizeof devices, "cpu:threads=%d", threads);
        contexts[i] = bench_open(devices, NULL);
        known[i] = threads;
    }
    return contexts[i];
}

static void make_call(call *c, const question *q, const char *kind, int threads,
                      const char *accuracy)
{
    *c = (call){.context = context_with(threads), .param = {"period", (double)q->period, NULL}};
    c->work = (sy_work){.struct_size = sizeof c->work,
                        .workload = q->info->name,
                        .columns = q->n,
                        .inputs = c->in,
                        .outputs = c->out,
                        .params = &c->param,
                        .n_params = q->period != 0,
                        .dtype = q->dtype};
    c->options.struct_size = sizeof c->options;
    c->options.accuracy = strcmp(accuracy, "fast") ? SY_ACCURACY_EXACT : SY_ACCURACY_FAST;
    for (int k = 0; k < q->info->n_inputs; k++)
        c->in[k] = series_of(kind, q->dtype, q->info->input_names[k], k);
    for (int k = 0; k < q->info->n_outputs; k++)
        c->out[k] = outputs[k];
}

/* ---- one line for each accuracy ---- */

typedef struct bench {
    bench_side sides[MOST_SIDES];
    int count;
} bench;

static bench_side *add(bench *b, void (*work)(void *), void *user)
{
    b->sides[b->count] = (bench_side){.work = work, .user = user};
    return &b->sides[b->count++];
}

static double ratio_of(const bench_side *side, const bench_side *reference)
{
    return side && reference ? bench_ratio(side, reference) : NAN;
}

/* Nanoseconds per element. */
static double median_of(const question *q, const bench_side *side)
{
    return side ? side->median / (double)q->n : NAN;
}

static double least_of(const question *q, const bench_side *side)
{
    return side ? side->least / (double)q->n : NAN;
}

typedef struct references {
    bench_side *textbook, *talib, *copy, *past, *walk, *single;
} references;

static void print(const question *q, const char *accuracy, const bench_side *ours,
                  const references *r)
{
    const int arrays =
        q->info->n_inputs + (q->info->pattern == SY_PATTERN_REDUCE ? 0 : q->info->n_outputs);
    const bench_side *copy = r->past && r->past->median < r->copy->median ? r->past : r->copy;
    bench_row("kernel");
    bench_word("workload", q->info->name);
    bench_word("accuracy", accuracy);
    bench_word("dtype", dtypes[q->dtype]);
    bench_word("data", q->kind);
    bench_figure("n", (double)q->n, 0);
    bench_figure("period", q->period ? (double)q->period : NAN, 0);
    bench_figure("threads", q->threads, 0);
    bench_figure("ns", median_of(q, ours), 3);
    bench_figure("ns_least", least_of(q, ours), 3);
    bench_figure("gb_per_s", (q->dtype == SY_F32 ? 4 : 8) * arrays / median_of(q, ours), 2);
    bench_figure("copy_ns", median_of(q, copy), 3);
    bench_figure("of_copy", ratio_of(copy, ours), 3);
    bench_figure("textbook_ns", median_of(q, r->textbook), 3);
    bench_figure("vs_textbook", ratio_of(ours, r->textbook), 3);
    bench_figure("talib_ns", median_of(q, r->talib), 3);
    bench_figure("vs_talib", ratio_of(ours, r->talib), 3);
    bench_figure("vs_walk", ratio_of(ours, r->walk), 3);
    bench_figure("speedup", ratio_of(r->single, ours), 3);
    bench_detail("copy_ns_least",
                 least_of(q, r->past && r->past->least < r->copy->least ? r->past : r->copy), 3);
    bench_detail("textbook_ns_least", least_of(q, r->textbook), 3);
    bench_detail("talib_ns_least", least_of(q, r->talib), 3);
    bench_detail("walk_ns_least", least_of(q, r->walk), 3);
    bench_detail("single_ns_least", least_of(q, r->single), 3);
    bench_row_end();
}

/* The sides that all accuracies are compared with. */
static references add_loops(bench *b, const question *q, loop loops[4])
{
    const int writes = q->info->pattern == SY_PATTERN_REDUCE ? 0 : q->info->n_outputs;
    const bench_stream *stream = bench_stream_of(q->info->n_inputs, writes);
    references r = {0};
    for (int i = 0; i < 4; i++) {
        loops[i] = (loop){.q = q, .textbook = bench_textbook_of(q->info->name)};
        for (int k = 0; k < q->info->n_inputs; k++)
            loops[i].in[k] =
                series_of(q->kind, i < 2 ? SY_F64 : q->dtype, q->info->input_names[k], k);
    }
    if (loops[0].textbook)
        r.textbook = add(b, run_textbook, &loops[0]);
    if (bench_talib_has(q->info->name, q->n, q->period))
        r.talib = add(b, run_talib, &loops[1]);
    if (stream && (loops[2].stream = stream->plain))
        r.copy = add(b, run_stream, &loops[2]);
    if (stream && (loops[3].stream = stream->past))
        r.past = add(b, run_stream, &loops[3]);
    return r;
}

static void measure(const question *q)
{
    const bench_option *asked = &options[ACCURACY];
    call ours[2], walk[2], single[2];
    const char *accuracy[2];
    references r[2];
    loop loops[4];
    bench b = {.count = 0};
    const int count = asked->count;
    for (int i = 0; i < count; i++) {
        accuracy[i] = asked->text[i];
        make_call(&ours[i], q, q->kind, q->threads, accuracy[i]);
        add(&b, run_call, &ours[i]);
    }
    r[0] = r[1] = add_loops(&b, q, loops);
    for (int i = 0; i < count; i++) {
        make_call(&walk[i], q, "walk", q->threads, accuracy[i]);
        make_call(&single[i], q, q->kind, 1, accuracy[i]);
        if (strcmp(q->kind, "walk"))
            r[i].walk = add(&b, run_call, &walk[i]);
        if (q->threads > 1)
            r[i].single = add(&b, run_call, &single[i]);
    }
    bench_time(b.sides, b.count);
    for (int i = 0; i < count; i++)
        print(q, accuracy[i], &b.sides[i], &r[i]);
}

/* ---- which lines ---- */

static int has_period(const sy_workload_info *info)
{
    for (int i = 0; i < info->n_params; i++)
        if (!strcmp(info->params[i].name, "period"))
            return 1;
    return 0;
}

static void measure_periods(question q)
{
    const bench_option *periods = &options[PERIODS];
    int count = has_period(q.info) && periods->count ? periods->count : 1;
    for (int i = 0; i < count; i++) {
        q.period = has_period(q.info) && periods->count ? (int64_t)periods->number[i] : 0;
        bench_progress("%s, %lld elements, %s, %d thread%s", q.info->name, (long long)q.n, q.kind,
                       q.threads, q.threads > 1 ? "s" : "");
        measure(&q);
    }
}

static void measure_all(const sy_workload_info *info)
{
    question q = {.info = info, .n = array_size};
    for (int t = 0; t < options[THREADS].count; t++)
        for (int k = 0; k < options[DATA].count; k++)
            for (int d = 0; d < options[DTYPE].count; d++) {
                q.threads = (int)options[THREADS].number[t];
                q.kind = options[DATA].text[k];
                q.dtype = strcmp(options[DTYPE].text[d], "f32") ? SY_F64 : SY_F32;
                measure_periods(q);
            }
}

static void check_options(sy_context *context)
{
    sy_workload_info info;
    for (int i = 0; i < options[WORKLOADS].count; i++) {
        int found = 0;
        for (int k = 0; k < sy_workload_count(context) && !found; k++) {
            bench_check(sy_workload_query(context, k, &info));
            found = !strcmp(info.name, options[WORKLOADS].text[i]);
        }
        if (!found)
            bench_usage("--workloads: there is no '%s'; see steelyard workloads",
                        options[WORKLOADS].text[i]);
    }
    bench_check_threads(&options[THREADS]);
}

int main(int argc, char **argv)
{
    sy_context *context;
    sy_workload_info info;
    bench_begin("bench_kernels", "The workloads on the CPU beside a copy and the textbook loop.",
                options, OPTIONS, argc, argv);
    context = context_with(1);
    check_options(context);
    bench_talib_open(options[TALIB].count ? options[TALIB].text[0] : NULL);
    bench_start();
    for (int s = 0; s < options[SIZES].count; s++) {
        resize((int64_t)options[SIZES].number[s]);
        for (int k = 0; k < sy_workload_count(context); k++) {
            bench_check(sy_workload_query(context, k, &info));
            if (bench_wants(&options[WORKLOADS], info.name))
                measure_all(&info);
        }
    }
    resize(0);
    bench_talib_close();
    context_with(0);
    return bench_end();
}
