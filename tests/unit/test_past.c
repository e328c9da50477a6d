/*
 * What is put past the cache is the same as what goes through it: every workload that writes
 * columns, in both accuracies, with every instruction set, at every place that an output may have
 * within a line of the cache, also where it keeps what is read waiting (traffic.h), and nothing
 * beside the outputs. And what a reduction asks for changes nothing of what it finds; and outputs
 * of which some are written behind others are so far apart.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "kernel.h"
#include "series.h"
#include "traffic.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COLUMNS = 40000, LINE = 8, INPUTS = 3, OUTPUTS = 3, SIZE = COLUMNS + 32 * LINE };

/* From one place that is tried to the next, of those with several periods, and the same where a
 * processor has no fused operations. What AddressSanitizer watches takes thirty times as long; a
 * third or a fifth of the places still has each one within a line. */
#ifdef __SANITIZE_ADDRESS__
enum { PLACE_STEP = 3, BASE_STEP = 5 };
#else
enum { PLACE_STEP = 1, BASE_STEP = 1 };
#endif

static const double guard = 0x1.23456789abcdep+77;

typedef struct found {
    double *out[OUTPUTS]; /* SIZE each, the outputs somewhere within */
    syi_carry assumed, end;
    syi_doubts doubts;
} found;

static double *inputs[INPUTS];

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* SIZE doubles; what lies before them nobody may touch. */
static double *room(void)
{
    char *at = mmap(NULL, page() + SIZE * sizeof(double), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(at != MAP_FAILED && mprotect(at, page(), PROT_NONE) == 0);
    return (double *)(at + page());
}

static void give_back(double *room)
{
    munmap((char *)room - page(), page() + SIZE * sizeof *room);
}

/* A price that stands still: once from shortly before a block of the fast rsi, which knows the
 * value from the block before, and once until what is left of a move before a block is too little
 * within it. */
static void add_rests(double *x)
{
    static const int64_t rests[][2] = {{14000, 20000}, {23776, SIZE}};
    for (int k = 0; k < 2; k++)
        for (int64_t i = rests[k][0]; i < rests[k][1]; i++)
            x[i] = x[rests[k][0]];
}

/* Many values that are none, and then a walk without any: windows are computed from copies first,
 * and then again from where they are. */
static void add_holes(double *x)
{
    for (int64_t i = 15000; i < 22000; i += 90)
        x[i] = NAN;
}

/* High, low and close of a kind of series, for whoever reads only one the high. */
static void make_inputs(int kind, void (*change)(double *x))
{
    for (int k = 0; k < INPUTS; k++) {
        inputs[k] = inputs[k] ? inputs[k] : room();
        series_make(kind, 7, SIZE, inputs[k]);
        if (change)
            change(inputs[k]);
        for (int64_t i = 0; i < SIZE && kind != SERIES_HOLES; i++)
            inputs[k][i] += k == 0 ? 0.5 : k == 1 ? -0.5 : 0.0;
    }
}

/* Where a piece begins, where its outputs do, and the period, if there is one, and not the usual
 * one (0). Output k is (`place` + k * `apart`) % LINE elements behind the beginning of a line, that
 * is `lines` + k * `far` behind a page's. `waits`: the processor is one that waits for writes. */
typedef struct where {
    int64_t first;
    int lines, place, apart, far, period, waits;
} where;

static void run(const syi_workload *workload, syi_isa isa, where where, int past, found *found)
{
    const int64_t first = where.first;
    double params[SYI_MAX_PARAMS], *out[OUTPUTS];
    const double *in[INPUTS];
    int64_t halo;
    syi_piece piece = {.doubts = &found->doubts,
                       .assumed = &found->assumed,
                       .end = &found->end,
                       .past_cache = past,
                       .waits = where.waits};
    for (int k = 0; k < workload->n_params; k++)
        params[k] = workload->params[k].fallback;
    if (where.period > 0)
        params[0] = where.period;
    halo = workload->halo ? workload->halo(params) : 0;
    for (int k = 0; k < workload->n_inputs; k++)
        in[k] = inputs[k] + first;
    for (int k = 0; k < workload->n_outputs; k++) {
        for (int64_t i = 0; i < SIZE; i++)
            found->out[k][i] = guard;
        out[k] = found->out[k] + (where.lines + k * where.far) * LINE +
                 (where.place + k * where.apart) % LINE;
    }
    memset(&found->assumed, 0, sizeof found->assumed);
    memset(&found->end, 0, sizeof found->end);
    found->doubts.count = 0;
    piece.segment = (sy_segment){.in = in,
                                 .out = out,
                                 .first = first,
                                 .count = COLUMNS - first,
                                 .left = first < halo ? first : halo,
                                 .columns = COLUMNS,
                                 .params = params};
    cr_assert_eq(workload->run[isa](&piece), SY_OK);
}

static int same(const syi_workload *workload, const found *a, const found *b)
{
    int equal = a->doubts.count == b->doubts.count &&
                !memcmp(&a->assumed, &b->assumed, sizeof a->assumed) &&
                !memcmp(&a->end, &b->end, sizeof a->end);
    for (int64_t i = 0; equal && i < a->doubts.count; i++)
        equal = a->doubts.list[i].first == b->doubts.list[i].first &&
                a->doubts.list[i].last == b->doubts.list[i].last;
    for (int k = 0; k < workload->n_outputs; k++)
        equal &= !memcmp(a->out[k], b->out[k], SIZE * sizeof(double));
    return equal;
}

static void check_workload(const syi_workload *workload, syi_isa isa, const char *accuracy)
{
    static const int64_t firsts[] = {0, 3 * SYI_TILE};
    static const int periods[] = {0, 61, 64}, fars[] = {0, 9, 1};
    const int has_period = workload->n_params > 0 && !strcmp(workload->params[0].name, "period");
    found through = {0}, past = {0};
    for (int k = 0; k < OUTPUTS; k++) {
        through.out[k] = room();
        past.out[k] = room();
    }
    /* Only kernels whose vectors are lines do otherwise where inputs would wait for outputs, only
     * others where outputs would wait for each other. */
    const int most_lines = isa == SYI_ISA_V4 ? 4 : 0;
    const int step = !has_period ? 1 : isa == SYI_ISA_BASE ? BASE_STEP : PLACE_STEP;
    for (int place = 0; place < (has_period ? 6 : 2) * LINE; place += step) {
        for (int lines = 0; lines <= most_lines; lines += 4) {
            const int turn = place / step;
            const where where = {.first = firsts[place % 2],
                                 .lines = lines,
                                 .place = place,
                                 .apart = place / LINE % 2,
                                 .far = fars[turn % 3],
                                 .period = periods[place / LINE / 2],
                                 .waits = lines > 0 || (isa != SYI_ISA_V4 && turn / 3 % 2)};
            run(workload, isa, where, 0, &through);
            run(workload, isa, where, 1, &past);
            cr_assert(same(workload, &through, &past), "%s, %s, %s, place %d, line %d",
                      workload->name, accuracy, syi_isa_name(isa), place, lines);
        }
    }
    for (int k = 0; k < OUTPUTS; k++) {
        give_back(through.out[k]);
        give_back(past.out[k]);
    }
    syi_doubts_clear(&through.doubts);
    syi_doubts_clear(&past.doubts);
}

/* Everything that writes columns, in one accuracy. */
static void check_columns(int fast)
{
    static const struct {
        int kind;
        void (*change)(double *x);
    } series[] = {{SERIES_WALK, add_rests}, {SERIES_WALK, add_holes}, {SERIES_WALK, NULL},
                  {SERIES_FLAT, NULL},      {SERIES_SPIKES, NULL},    {SERIES_HOLES, NULL}};
    const syi_workload *workload;
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        make_inputs(series[i].kind, series[i].change);
        for (int index = 0; (workload = syi_builtin(index)); index++) {
            if (workload->pattern == SY_PATTERN_REDUCE)
                continue;
            if (fast && !(workload = workload->fast))
                continue;
            for (syi_isa isa = SYI_ISA_BASE; isa <= syi_isa_detect(); isa++)
                check_workload(workload, isa, fast ? "fast" : "exact");
        }
    }
    for (int k = 0; k < INPUTS; k++)
        give_back(inputs[k]);
}

Test(past, is_what_goes_through_the_cache)
{
    check_columns(0);
}

Test(past, fast_is_what_goes_through_the_cache)
{
    check_columns(1);
}

/* Within a page, and less than a ring of fast/late.h. */
Test(past, outputs_behind_others_are_apart)
{
    enum { PAGE = 512, UNIT = 64 };
    static double memory[4 * PAGE];
    for (int a = 0; a < PAGE; a += 5)
        for (int b = 0; b < PAGE; b += 7) {
            double *const out[] = {memory + 2 * PAGE, memory + 2 * PAGE + a, memory + 2 * PAGE + b};
            int64_t lag[3];
            cr_assert(syi_lags(1, out, 3, UNIT, lag) == (lag[1] + lag[2] > 0) && lag[0] == 0);
            for (int k = 0; k < 3; k++) {
                cr_assert(lag[k] >= 0 && lag[k] <= 4 * UNIT && lag[k] % UNIT == 0);
                for (int j = 0; j < k; j++) {
                    const int64_t apart = (out[k] - lag[k]) - (out[j] - lag[j]) + 4 * PAGE;
                    cr_assert(apart % PAGE >= UNIT && apart % PAGE <= PAGE - UNIT,
                              "outputs %d and %d, at %d and %d", j, k, a, b);
                }
            }
        }
}

/* A reduction's outputs, then whether they are in doubt; the last tile is short. */
static void reduce(const syi_workload *workload, syi_isa isa, syi_gain asks, int past,
                   double *result)
{
    enum { TILES = (COLUMNS + SYI_TILE - 1) / SYI_TILE };
    const double *in[INPUTS] = {inputs[0], inputs[1], inputs[2]};
    double params[SYI_MAX_PARAMS];
    char *partials = calloc(TILES, workload->partial_size);
    int doubt = 0;
    syi_piece piece = {.partials = partials, .past_cache = past, .asks = asks};
    cr_assert(partials);
    for (int k = 0; k < workload->n_params; k++)
        params[k] = workload->params[k].fallback;
    piece.segment = (sy_segment){.in = in, .count = COLUMNS, .columns = COLUMNS, .params = params};
    cr_assert_eq(workload->run[isa](&piece), SY_OK);
    for (size_t tile = 1; tile < TILES; tile++)
        workload->combine(partials, partials + tile * workload->partial_size);
    memset(result, 0, (OUTPUTS + 1) * sizeof *result);
    workload->finish(partials, COLUMNS, params, result, &doubt);
    if (doubt) /* then they are decided otherwise */
        memset(result, 0, OUTPUTS * sizeof *result);
    result[OUTPUTS] = doubt;
    free(partials);
}

static void check_reduction(const syi_workload *workload, syi_isa isa, const char *accuracy)
{
    double plain[OUTPUTS + 1], other[OUTPUTS + 1];
    reduce(workload, isa, SYI_GAINS_NOT, 0, plain);
    for (int way = 1; way < 6; way++) {
        reduce(workload, isa, (syi_gain)(way % 3), way / 3, other);
        cr_expect(!memcmp(plain, other, sizeof plain), "%s, %s, %s, way %d", workload->name,
                  accuracy, syi_isa_name(isa), way);
    }
}

Test(past, what_is_asked_for_changes_nothing)
{
    static const int kinds[] = {SERIES_WALK, SERIES_SPIKES, SERIES_HOLES};
    const syi_workload *workload;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        make_inputs(kinds[kind], NULL);
        for (int index = 0; (workload = syi_builtin(index)); index++) {
            if (workload->pattern != SY_PATTERN_REDUCE)
                continue;
            for (syi_isa isa = SYI_ISA_BASE; isa <= syi_isa_detect(); isa++) {
                check_reduction(workload, isa, "exact");
                if (workload->fast)
                    check_reduction(workload->fast, isa, "fast");
            }
        }
    }
    for (int k = 0; k < INPUTS; k++) {
        give_back(inputs[k]);
        inputs[k] = NULL;
    }
}
