/*
 * Averages that lie so near the middle between two doubles, or zero, that no number of bits shows
 * on which side: a price that stood still for long moves by an odd number of units in the last
 * place. What is right follows from the definition by hand: such an average is the middle and b^n
 * times what it was away from the price, so its side is that of the price before. The rest was
 * computed as fractions.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "exact/bits.h"
#include "support/lab.h"

enum { MOST = 8200 };

/* A row: some values first, one for long, some at the end. */
typedef struct shape {
    double first[6];
    int n_first;
    double still;
    int n_still;
    double last[3];
    int n_last;
} shape;

typedef struct near_tie {
    const char *workload;
    sy_param params[4];
    int n_params;
    shape x;           /* of atr: the highs; lows and closes are 0 */
    uint64_t expected; /* of the last column of the first output */
} near_tie;

#define FIRST                                                                                      \
    {                                                                                              \
        "seed_with", 0, "first"                                                                    \
    }
#define EMA(p) "ema", {{"period", p, NULL}, FIRST}, 2
#define EMA_3  "ema", {{"period", 3, NULL}}, 1
#define EMA_7  "ema", {{"period", 7, NULL}}, 1
#define ATR_2  "atr", {{"period", 2, NULL}}, 1
#define RSI_14 "rsi", {{"period", 14, NULL}}, 1
#define MACD_4 "macd", {{"fast", 4, NULL}, {"slow", 8, NULL}, {"signal", 1, NULL}}, 3
#define MACD   "macd", {{"fast", 1, NULL}, {"slow", 3, NULL}, {"signal", 1, NULL}, FIRST}, 4

static const near_tie cases[] = {
    /* from above and from below */
    {EMA(3), {{100.01}, 1, 100.0, 2600, {100.01}, 1}, 0x40590051eb851eb9},
    {EMA(3), {{99.99}, 1, 100.0, 2600, {100.01}, 1}, 0x40590051eb851eb8},
    {EMA_3, {{100.01}, 1, 100.0, 2702, {100.01}, 1}, 0x40590051eb851eb9},
    {EMA(7), {{100.01}, 1, 100.0, 6300, {100.03}, 1}, 0x4059007ae147ae15},
    {EMA(3), {{0x1p-1074}, 1, 0.0, 515, {0x1p+971, 0x1p+1023}, 2}, 0x7fd0000000000001},
    {MACD, {{1.0}, 1, 0.0, 2700, {-0x1p-51, 2.0}, 2}, 0x3ff0000000000000},
    {MACD, {{-1.0}, 1, 0.0, 2700, {-0x1p-51, 2.0}, 2}, 0x3ff0000000000001},
    {ATR_2, {{0.0, 1.0}, 2, 0.0, 2621, {0x1p-51, 2.0}, 2}, 0x3ff0000000000001},
    /* away from it by multiples of 2^61 - 1, modulo which it is known */
    {EMA(3), {{0x1p-1013, -0x1p-1074, 1.0, -0.5}, 4, 0, 0, {0}, 0}, 0x0070000000000000},
    {EMA(3), {{0x1p-1013, -0x1p-1074, 0x1p+971, 0x1p+1023}, 4, 0, 0, {0}, 0}, 0x7fd0000000000001},
    {ATR_2,
     {{0.0, 0x1.ffffffffffffep-840, 0x1.ffp-892, 0x1p-51, 2.0}, 5, 0, 0, {0}, 0},
     0x3ff0000000000001},
    {MACD, {{-0x1p-839, 0x1p-900, -0x1p-51, 2.0}, 4, 0, 0, {0}, 0}, 0x3ff0000000000001},
    {EMA(3), {{0x1p+61, -1.0}, 2, 0.0, 440, {0x1p-51, 2.0}, 2}, 0x3ff0000000000001},
    {EMA(3), {{0x1p+61, -1.0}, 2, 0.0, 440, {1.0, -0.5}, 2}, 0x2810000000000000},
    {EMA_3,
     {{-0x1.ffffffffffffep+460, -0x1.ffp+408, 0x1p-1074, 0.0},
      4,
      0.0,
      770,
      {-0x1p+48, -0x1p+100},
      2},
     0xc620000000000001},
    /* among the least of numbers */
    {RSI_14, {{0x1.2p-132, 0.0}, 2, 0x3p-1074, 61, {-0x1p-52, -1.0}, 2}, 0x0000000000000007},
    {ATR_2, {{0x1.08p+5, -0x1p-1074}, 2, 0.0, 7, {0x1p-1074}, 1}, 0x0000000000000001},
    {EMA_7, {{0x3p-1074, 0x1p-1074}, 2, 0.0, 6, {0}, 0}, 0x0000000000000000},
    {EMA_7, {{0x3p-1074, 0x1p-1074}, 2, 0.0, 7, {0}, 0}, 0x0000000000000000},
    {MACD_4,
     {{0x1p-1074, 0.0, -0x2p-1074, 0x2p-1074, -0x1p-1074, -0x2p-1074},
      6,
      0,
      0,
      {-0x2p-1074, -0x1p-1074},
      2},
     0x8000000000000001},
};

static int64_t lay_out(const shape *s, double *x)
{
    int64_t n = s->n_first;
    memcpy(x, s->first, sizeof s->first);
    for (int i = 0; i < s->n_still; i++)
        x[n++] = s->still;
    memcpy(x + n, s->last, sizeof s->last);
    return n + s->n_last;
}

/* Gives how many values the report says were in doubt. */
static int64_t check(const near_tie *t, const char *devices)
{
    int64_t repaired;
    static double x[MOST], y[3][MOST], zero[MOST];
    const void *in[] = {x, zero, zero};
    void *out[] = {y[0], y[1], y[2]};
    const int64_t n = lay_out(&t->x, x);
    const sy_work work = {.struct_size = sizeof work,
                          .workload = t->workload,
                          .rows = 1,
                          .columns = n,
                          .inputs = in,
                          .outputs = out,
                          .params = t->params,
                          .n_params = t->n_params};
    sy_report report = {.struct_size = sizeof report};
    sy_context *context = lab_open(devices, NULL, NULL);
    cr_assert(context);
    cr_assert_eq(distribute_workload(context, &work, NULL, &report), SY_OK, "%s",
                 sy_last_error()->text);
    repaired = report.repaired;
    sy_report_clear(&report);
    cr_expect_eq(syi_bits(y[0][n - 1]), t->expected, "%s, case %d on %s: %016llx", t->workload,
                 (int)(t - cases), devices, (unsigned long long)syi_bits(y[0][n - 1]));
    sy_context_destroy(&context);
    return repaired;
}

/* Whether one is in doubt is the kernel's matter, but some have to be. */
Test(near_ties, are_on_their_side)
{
    int64_t repaired = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        repaired += check(&cases[i], "cpu");
        repaired += check(&cases[i], "cpu:isa=base:threads=1");
        repaired += check(&cases[i], "sim:a:speed=1e6,sim:b:speed=3e6");
    }
    cr_expect_gt(repaired, 0);
}
