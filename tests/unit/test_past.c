/*
 * What is put past the cache is the same as what goes through it: every workload that writes
 * columns, in both accuracies, with every instruction set, at every place that an output may have
 * within a line of the cache, and nothing beside the outputs.
 */
#include "kernel.h"
#include "series.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 40000, LINE = 8, INPUTS = 3, OUTPUTS = 3, SIZE = COLUMNS + 3 * LINE };

static const double guard = 0x1.23456789abcdep+77;

typedef struct found {
    double *out[OUTPUTS]; /* SIZE each, the outputs somewhere within */
    syi_carry assumed, end;
    syi_doubts doubts;
} found;

static double *inputs[INPUTS];

static double *room(void)
{
    double *at = aligned_alloc(64, SIZE * sizeof *at);
    cr_assert_not_null(at);
    return at;
}

/* High, low and close of a kind of series, for whoever reads only one the high. */
static void make_inputs(int kind)
{
    for (int k = 0; k < INPUTS; k++) {
        inputs[k] = inputs[k] ? inputs[k] : room();
        series_make(kind, 7, SIZE, inputs[k]);
        for (int64_t i = 0; i < SIZE && kind != SERIES_HOLES; i++)
            inputs[k][i] += k == 0 ? 0.5 : k == 1 ? -0.5 : 0.0;
    }
}

/* The columns from `first` on, output k `place` + k * `apart` elements behind the beginning of a
 * line. */
static void run(const syi_workload *workload, syi_isa isa, int64_t first, int place, int apart,
                int past, found *found)
{
    double params[SYI_MAX_PARAMS], *out[OUTPUTS];
    const double *in[INPUTS];
    int64_t halo;
    syi_piece piece = {.doubts = &found->doubts,
                       .assumed = &found->assumed,
                       .end = &found->end,
                       .past_cache = past};
    for (int k = 0; k < workload->n_params; k++)
        params[k] = workload->params[k].fallback;
    halo = workload->halo ? workload->halo(params) : 0;
    for (int k = 0; k < workload->n_inputs; k++)
        in[k] = inputs[k] + first;
    for (int k = 0; k < workload->n_outputs; k++) {
        for (int64_t i = 0; i < SIZE; i++)
            found->out[k][i] = guard;
        out[k] = found->out[k] + LINE + (place + k * apart) % LINE;
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
    found through = {0}, past = {0};
    for (int k = 0; k < OUTPUTS; k++) {
        through.out[k] = room();
        past.out[k] = room();
    }
    for (int place = 0; place < 2 * LINE; place++) {
        const int64_t first = firsts[place % 2];
        run(workload, isa, first, place, place / LINE, 0, &through);
        run(workload, isa, first, place, place / LINE, 1, &past);
        cr_assert(same(workload, &through, &past), "%s, %s, %s, place %d", workload->name, accuracy,
                  syi_isa_name(isa), place);
    }
    for (int k = 0; k < OUTPUTS; k++) {
        free(through.out[k]);
        free(past.out[k]);
    }
    syi_doubts_clear(&through.doubts);
    syi_doubts_clear(&past.doubts);
}

Test(past, is_what_goes_through_the_cache, .timeout = 120)
{
    static const int kinds[] = {SERIES_WALK, SERIES_FLAT, SERIES_SPIKES, SERIES_HOLES};
    const syi_workload *workload;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        make_inputs(kinds[kind]);
        for (int index = 0; (workload = syi_builtin(index)); index++) {
            if (workload->pattern == SY_PATTERN_REDUCE)
                continue;
            for (syi_isa isa = SYI_ISA_BASE; isa <= syi_isa_detect(); isa++) {
                check_workload(workload, isa, "exact");
                if (workload->fast)
                    check_workload(workload->fast, isa, "fast");
            }
        }
    }
    for (int k = 0; k < INPUTS; k++)
        free(inputs[k]);
}
