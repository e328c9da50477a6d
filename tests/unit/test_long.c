/*
 * Long lanes of ema and macd (recurrence/long.h) against the same row in pieces too short for them,
 * each begun with what the one before ended with: bits are the same wherever both are sure, on data
 * that make claimed starts wrong as on data that do not, with every instruction set.
 */
#include "kernel.h"
#include "series.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 150000, OUTPUTS = 3 };

/* Kinds of data beside those of series.h. */
enum { FAR_SPIKES = SERIES_COUNT, RESTS = FAR_SPIKES + 4, LINES, LATE_NAN, LATE_HUGE, KINDS };

typedef struct found {
    double *out[OUTPUTS];
    unsigned char *doubted;
    int64_t doubts;
} found;

static double x[COLUMNS];

static void fill(int kind)
{
    series_make(kind < SERIES_COUNT ? kind : SERIES_WALK, 11, COLUMNS, x);
    for (int64_t i = 1; i < COLUMNS; i++) {
        if (kind >= FAR_SPIKES && kind < RESTS && i % (3011 + 997 * (kind - FAR_SPIKES)) == 0)
            x[i] = 1e60; /* farther away than a run-in allows for */
        else if (kind == RESTS && i % 20000 > 3000)
            x[i] = x[i - 1];
        else if (kind == LINES && i % 50000 > 40000)
            x[i] = x[i - 1] + 0.25;
    }
    if (kind == LATE_NAN || kind == LATE_HUGE)
        x[COLUMNS / 2] = kind == LATE_NAN ? series_bits(UINT64_C(0xfff8000000000123)) : 1e300;
}

/* The row in pieces of `most` columns. */
static void run(const syi_workload *workload, syi_isa isa, int64_t most, found *found)
{
    double params[SYI_MAX_PARAMS];
    syi_doubts doubts = {0};
    syi_carry assumed, start, end;
    for (int k = 0; k < workload->n_params; k++)
        params[k] = workload->params[k].fallback;
    memset(found->doubted, 0, COLUMNS);
    for (int64_t at = 0; at < COLUMNS; at += most) {
        const double *in[] = {x + at};
        double *out[OUTPUTS];
        syi_piece piece = {
            .start = at ? &start : NULL, .assumed = &assumed, .end = &end, .doubts = &doubts};
        for (int k = 0; k < workload->n_outputs; k++)
            out[k] = found->out[k] + at;
        piece.segment = (sy_segment){.in = in,
                                     .out = out,
                                     .first = at,
                                     .count = COLUMNS - at < most ? COLUMNS - at : most,
                                     .left = at ? 1 : 0,
                                     .columns = COLUMNS,
                                     .params = params};
        cr_assert_eq(workload->run[isa](&piece), SY_OK);
        start = end;
    }
    found->doubts = doubts.count;
    for (int64_t i = 0; i < doubts.count; i++)
        memset(found->doubted + doubts.list[i].first, 1,
               (size_t)(doubts.list[i].last - doubts.list[i].first));
    syi_doubts_clear(&doubts);
}

static void make_room(found *found)
{
    for (int k = 0; k < OUTPUTS; k++)
        cr_assert((found->out[k] = malloc(COLUMNS * sizeof(double))));
    cr_assert((found->doubted = malloc(COLUMNS)));
}

static void give_back(found *found)
{
    for (int k = 0; k < OUTPUTS; k++)
        free(found->out[k]);
    free(found->doubted);
}

/* The first column at which an output differs though both are sure of it, or -1. */
static int64_t difference(const syi_workload *workload, const found *a, const found *b)
{
    for (int64_t i = 0; i < COLUMNS; i++)
        for (int k = 0; k < workload->n_outputs && !a->doubted[i] && !b->doubted[i]; k++)
            if (memcmp(&a->out[k][i], &b->out[k][i], sizeof(double)) != 0)
                return i;
    return -1;
}

static void check(const char *name)
{
    const syi_workload *workload;
    found whole, pieces;
    int index = 0;
    make_room(&whole);
    make_room(&pieces);
    while ((workload = syi_builtin(index)) && strcmp(workload->name, name))
        index++;
    cr_assert(workload);
    for (int kind = 0; kind < KINDS; kind++) {
        fill(kind);
        run(workload, SYI_ISA_BASE, SYI_TILE, &pieces);
        for (syi_isa isa = SYI_ISA_BASE; isa <= syi_isa_detect(); isa++) {
            run(workload, isa, COLUMNS, &whole);
            cr_expect_eq(difference(workload, &whole, &pieces), -1, "%s, %s, data %d: column %lld",
                         name, syi_isa_name(isa), kind,
                         (long long)difference(workload, &whole, &pieces));
            cr_expect(kind != SERIES_WALK || whole.doubts < 10);
        }
    }
    give_back(&whole);
    give_back(&pieces);
}

Test(long_lanes, ema)
{
    check("ema");
}

Test(long_lanes, macd)
{
    check("macd");
}
