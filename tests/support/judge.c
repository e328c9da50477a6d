/* The library's outputs against the oracle's. */
#include "support/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/oracle.h"

enum { TOLD = 3 };

static int within_macd_limit(double ours, double truth, double largest)
{
    return fabs(truth) < ldexp(largest, -50) && fabs(ours - truth) <= ldexp(largest, -100);
}

static void tell(const lab_case *c, int64_t row, int k, int64_t i, double ours, double truth)
{
    char text[256];
    uint64_t bits[2];
    memcpy(&bits[0], &ours, 8);
    memcpy(&bits[1], &truth, 8);
    fprintf(stderr,
            "%s: output %d, row %lld, column %lld: %.17g (%016llx), truth %.17g (%016llx)\n",
            lab_describe(c, text, sizeof text), k, (long long)row, (long long)i, ours,
            (unsigned long long)bits[0], truth, (unsigned long long)bits[1]);
}

static int64_t judge_output(const lab_case *c, int64_t row, int k, const double *truth)
{
    int is_macd = !strcmp(c->workload, "macd");
    int64_t count = c->out_count / c->rows, wrong = 0;
    const double *ours = c->out[k] + row * count, *x = c->x + row * c->columns;
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (is_macd && isfinite(x[i]))
            largest = fmax(largest, fabs(x[i]));
        if (memcmp(&ours[i], &truth[i], sizeof truth[i]) == 0 ||
            (is_macd && within_macd_limit(ours[i], truth[i], largest)))
            continue;
        if (wrong++ < TOLD)
            tell(c, row, k, i, ours[i], truth[i]);
    }
    return wrong;
}

int64_t judge_case(const lab_case *c)
{
    int64_t wrong = 0, count = c->rows ? c->out_count / c->rows : 0;
    double *truth[ORACLE_OUTPUTS] = {NULL};
    if (count == 0)
        return 0;
    for (int k = 0; k < c->n_outputs; k++)
        truth[k] = lab_alloc(count);
    for (int64_t row = 0; row < c->rows; row++) {
        const double *in[LAB_INPUTS] = {c->x + row * c->columns};
        for (int k = 1; k < c->n_inputs; k++)
            in[k] = c->more[k - 1] + row * c->columns;
        int64_t undecided = oracle_run(c->workload, c->params, c->n_params, in, c->columns, truth);
        if (undecided != 0) {
            fprintf(stderr, "%s: the oracle could not decide %lld values\n", c->workload,
                    (long long)undecided);
            wrong++;
        }
        for (int k = 0; k < c->n_outputs; k++) {
            if (c->dtype == SY_F32)
                lab_round_to_floats(truth[k], count);
            for (int64_t i = 0; i < count; i++)
                truth[k][i] += 0.0; /* no zero has a sign */
            wrong += judge_output(c, row, k, truth[k]);
        }
    }
    for (int k = 0; k < c->n_outputs; k++) {
        wrong += !lab_guards_intact(truth[k], count);
        lab_free(truth[k]);
    }
    return wrong;
}
