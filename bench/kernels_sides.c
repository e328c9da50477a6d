/* The sides of bench_kernels' lines: calls of the library, the textbook loop, TA-Lib, copies; see
 * kernels.h. */
#include "kernels.h"
#include "loops.h"
#include "series.h"
#include "talib.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SIDES = 14, MOST_INPUTS = 3, MOST_COPIES = 6 };

const char *const kernels_dtypes[] = {"f64", "f32", NULL};

static double *outputs[KERNELS_OUTPUTS];

void kernels_size(int64_t n)
{
    bench_series_size(n);
    for (int k = 0; k < KERNELS_OUTPUTS; k++) {
        bench_array_free(outputs[k]);
        outputs[k] = n ? bench_array(n, BENCH_SERIES + k) : NULL;
    }
}

/* Which series is input `index` of that name. */
static int which_of(const char *input, int index)
{
    return !strcmp(input, "high") ? 1 : !strcmp(input, "low") ? 2 : index == 1 ? 3 : 0;
}

static const double *series_of(const char *kind, sy_dtype dtype, const char *input, int index)
{
    return bench_series(kind, which_of(input, index), dtype == SY_F32);
}

unsigned kernels_series(const sy_workload_info *info)
{
    unsigned series = 0;
    for (int k = 0; k < info->n_inputs; k++)
        series |= 1u << which_of(info->input_names[k], k);
    return series;
}

/* ---- the sides ---- */

typedef struct call {
    sy_context *context;
    sy_work work;
    sy_param param;
    sy_options options;
    const void *in[MOST_INPUTS];
    void *out[KERNELS_OUTPUTS];
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
    int threads; /* of the stream */
} loop;

/* Calls `run` for each row. */
static void run_rows(const loop *l, void (*run)(const loop *l, const double *const *in,
                                                double *const *out, int64_t columns))
{
    const int64_t columns = l->q->n / l->q->rows;
    for (int64_t at = 0; at < l->q->n; at += columns) {
        const double *in[MOST_INPUTS];
        double *out[KERNELS_OUTPUTS];
        for (int k = 0; k < l->q->info->n_inputs; k++)
            in[k] = l->in[k] + at;
        for (int k = 0; k < KERNELS_OUTPUTS; k++)
            out[k] = outputs[k] + at;
        run(l, in, out, columns);
    }
}

static void textbook_row(const loop *l, const double *const *in, double *const *out,
                         int64_t columns)
{
    l->textbook->loop(in, out, columns, l->q->period ? l->q->period : l->textbook->period);
}

static void run_textbook(void *user)
{
    run_rows(user, textbook_row);
}

static void run_stream(void *user)
{
    const loop *l = user;
    bench_stream_run(l->stream, l->in, outputs, l->q->dtype == SY_F32 ? l->q->n / 2 + 1 : l->q->n,
                     l->threads);
}

static void talib_row(const loop *l, const double *const *in, double *const *out, int64_t columns)
{
    bench_talib_run(l->q->info->name, in, out, columns, l->q->period);
}

static void run_talib(void *user)
{
    run_rows(user, talib_row);
}

static const char *most_isa;

void kernels_limit(const char *isa)
{
    most_isa = isa;
}

sy_context *kernels_context(int threads)
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
        snprintf(devices, sizeof devices, "cpu:threads=%d%s%s", threads, most_isa ? ":isa=" : "",
                 most_isa ? most_isa : "");
        contexts[i] = bench_open(devices, NULL);
        known[i] = threads;
    }
    return contexts[i];
}

static void make_call(call *c, const question *q, const char *kind, int threads,
                      const char *accuracy)
{
    *c = (call){.context = kernels_context(threads), .param = {"period", (double)q->period, NULL}};
    c->work = (sy_work){.struct_size = sizeof c->work,
                        .workload = q->info->name,
                        .rows = q->rows,
                        .columns = q->n / q->rows,
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
    bench_side *textbook, *talib, *walk, *single;
    bench_side *copies[MOST_COPIES]; /* NULL past the last */
} references;

static const bench_side *best_copy(const references *r, int by_least)
{
    const bench_side *best = r->copies[0];
    for (int i = 1; i < MOST_COPIES && r->copies[i]; i++)
        if (by_least ? r->copies[i]->least < best->least : r->copies[i]->median < best->median)
            best = r->copies[i];
    return best;
}

static double least_ratio(const bench_side *side, const bench_side *reference)
{
    return reference ? side->least / reference->least : NAN;
}

static void print(const question *q, const char *accuracy, const bench_side *ours,
                  const references *r)
{
    const int arrays =
        q->info->n_inputs + (q->info->pattern == SY_PATTERN_REDUCE ? 0 : q->info->n_outputs);
    const bench_side *copy = best_copy(r, 0);
    bench_row("kernel");
    bench_word("workload", q->info->name);
    bench_word("accuracy", accuracy);
    bench_word("dtype", kernels_dtypes[q->dtype]);
    bench_word("data", q->kind);
    bench_figure("n", (double)q->n, 0);
    bench_detail("rows", (double)q->rows, 0);
    bench_figure("period", q->period ? (double)q->period : NAN, 0);
    bench_figure("threads", q->threads, 0);
    bench_figure("ns", median_of(q, ours), 3);
    bench_figure("ns_least", least_of(q, ours), 3);
    bench_detail("gb_per_s", (q->dtype == SY_F32 ? 4 : 8) * arrays / median_of(q, ours), 2);
    bench_detail("copy_ns", median_of(q, copy), 3);
    bench_figure("of_copy", ratio_of(copy, ours), 3);
    bench_detail("textbook_ns", median_of(q, r->textbook), 3);
    bench_figure("vs_textbook", ratio_of(ours, r->textbook), 3);
    bench_detail("vs_textbook_least", least_ratio(ours, r->textbook), 3);
    bench_detail("talib_ns", median_of(q, r->talib), 3);
    bench_figure("vs_talib", ratio_of(ours, r->talib), 3);
    bench_detail("vs_talib_least", least_ratio(ours, r->talib), 3);
    (q->hard_data ? bench_figure : bench_detail)("vs_walk", ratio_of(ours, r->walk), 3);
    (q->several_threads ? bench_figure : bench_detail)("speedup", ratio_of(r->single, ours), 3);
    bench_detail("copy_ns_least", least_of(q, best_copy(r, 1)), 3);
    bench_detail("textbook_ns_least", least_of(q, r->textbook), 3);
    bench_detail("talib_ns_least", least_of(q, r->talib), 3);
    bench_detail("walk_ns_least", least_of(q, r->walk), 3);
    bench_detail("single_ns_least", least_of(q, r->single), 3);
    bench_row_end();
}

/* Copies through the cache and past it, on all threads and on one, which is faster for few
 * elements: the best is the ceiling. */
static void add_copies(bench *b, const question *q, loop loops[MOST_COPIES], references *r)
{
    const int writes = q->info->pattern == SY_PATTERN_REDUCE ? 0 : q->info->n_outputs;
    const bench_stream *stream = bench_stream_of(q->info->n_inputs, writes);
    const int candidates = q->threads > 1 ? 6 : 3;
    int count = 0;
    for (int i = 0; stream && i < candidates; i++) {
        const bench_stream_fn ways[] = {stream->plain, stream->past, stream->parts};
        loop *l = &loops[count];
        *l = (loop){.q = q, .stream = ways[i % 3], .threads = i < 3 ? q->threads : 1};
        for (int k = 0; k < q->info->n_inputs; k++)
            l->in[k] = series_of(q->kind, q->dtype, q->info->input_names[k], k);
        if (l->stream)
            r->copies[count++] = add(b, run_stream, l);
    }
}

/* The sides that all accuracies are compared with. */
static references add_loops(bench *b, const question *q, loop loops[1 + MOST_COPIES])
{
    references r = {0};
    loops[0] = (loop){.q = q, .textbook = bench_textbook_of(q->info->name)};
    for (int k = 0; k < q->info->n_inputs; k++)
        loops[0].in[k] = series_of(q->kind, SY_F64, q->info->input_names[k], k);
    if (loops[0].textbook)
        r.textbook = add(b, run_textbook, &loops[0]);
    if (bench_talib_has(q->info->name, q->n / q->rows, q->period))
        r.talib = add(b, run_talib, &loops[0]);
    add_copies(b, q, loops + 1, &r);
    return r;
}

void kernels_measure(const question *q, const bench_option *accuracies)
{
    call ours[2], walk[2], single[2];
    const char *accuracy[2];
    references r[2];
    loop loops[1 + MOST_COPIES];
    bench b = {.count = 0};
    const int count = accuracies->count;
    for (int i = 0; i < count; i++) {
        accuracy[i] = accuracies->text[i];
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
