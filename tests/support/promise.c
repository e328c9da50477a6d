/* The errors of fast accuracy against the exact oracle. */
#include "support/promise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/oracle.h"

/* What an output's error is measured by, in units of 2^-53. */
typedef enum unit {
    OF_WINDOW, /* the largest |x| in the window */
    OF_BANDS,  /* 1 + width times the largest |x| in the window and some times its range */
    OF_SO_FAR, /* the largest |x| up to there, of all inputs */
    OF_TERMS,  /* the sum of the terms' magnitudes; of a mean, their mean */
    OF_RESULT, /* the true result */
    OF_SCORE,  /* 1 + the true result */
    OF_HUNDRED /* 100 */
} unit;

/* The contract. */
typedef struct promise {
    const char *workload;
    unit unit;
    double bound;
    double growth;  /* of the bound, per 64 columns of the longest period */
    double by_size; /* for each time that the row's tiles double */
} promise;

static const promise promises[] = {
    {"sma", OF_WINDOW, 12, 0, 0},        {"rolling_std", OF_RESULT, 32, 0, 0},
    {"bollinger", OF_BANDS, 4, 0, 0},    {"zscore", OF_SCORE, 64, 0, 0},
    {"rolling_min", OF_RESULT, 0, 0, 0}, {"rolling_max", OF_RESULT, 0, 0, 0},
    {"ema", OF_SO_FAR, 16, 4, 0},        {"macd", OF_SO_FAR, 16, 12, 0},
    {"atr", OF_SO_FAR, 16, 8, 0},        {"rsi", OF_HUNDRED, 16, 48, 0},
    {"sum", OF_TERMS, 29, 0, 1},         {"mean", OF_TERMS, 29, 0, 1},
    {"dot", OF_TERMS, 29, 0, 1},         {"variance", OF_RESULT, 42, 0, 2},
    {"min", OF_RESULT, 0, 0, 0},         {"max", OF_RESULT, 0, 0, 0},
};

static const promise *promise_of(const char *workload)
{
    for (size_t i = 0; i < sizeof promises / sizeof promises[0]; i++)
        if (!strcmp(promises[i].workload, workload))
            return &promises[i];
    return NULL;
}

static double param(const lab_case *c, const char *name, double fallback)
{
    for (int i = 0; i < c->n_params; i++)
        if (!strcmp(c->params[i].name, name))
            return c->params[i].value;
    return fallback;
}

static double largest(const double *x, int64_t from, int64_t to)
{
    double most = 0;
    for (int64_t i = from; i < to; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/* Of all inputs. */
static double largest_of_column(const lab_case *c, int64_t i)
{
    double most = fabs(c->x[i]);
    for (int k = 1; k < c->n_inputs; k++)
        most = fmax(most, fabs(c->more[k - 1][i]));
    return most;
}

/* Largest less least value. */
static double range(const double *x, int64_t from, int64_t to)
{
    double least = x[from], most = x[from];
    for (int64_t i = from; i < to; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    return most - least;
}

static double size_of_terms(const lab_case *c)
{
    double size = 0;
    for (int64_t i = 0; i < c->columns; i++)
        size += fabs(strcmp(c->workload, "dot") ? c->x[i] : c->x[i] * c->more[0][i]);
    return strcmp(c->workload, "mean") ? size : size / (double)c->columns;
}

/* Whether its windows are scanned (kernels/fast/scan.h). */
static int is_scanned(const lab_case *c)
{
    const double period = param(c, "period", 20);
    return period >= 24 && period <= 256;
}

static double unit_at(const lab_case *c, unit unit, int64_t i, double so_far, double truth)
{
    const double period = param(c, "period", 20), ranges = 12 + (is_scanned(c) ? period : 0);
    const int64_t first = i + 1 - (int64_t)period, from = first < 0 ? 0 : first;
    switch (unit) {
    case OF_WINDOW:
        return largest(c->x, from, i + 1);
    case OF_BANDS:
        return (1 + param(c, "width", 2)) *
               (largest(c->x, from, i + 1) + ranges * range(c->x, from, i + 1));
    case OF_SO_FAR:
        return so_far;
    case OF_TERMS:
        return size_of_terms(c);
    case OF_SCORE:
        return 1 + fabs(truth);
    case OF_HUNDRED:
        return 100;
    default:
        return fabs(truth);
    }
}

/* The largest error of output k, and where it is. */
static double error_of(const lab_case *c, int k, const double *truth, int64_t *at)
{
    const promise *promise = promise_of(c->workload);
    double most = 0, so_far = 0;
    for (int64_t i = 0; i < c->out_count; i++) {
        double ours = c->out[k][i], error = INFINITY, scale;
        so_far = fmax(so_far, largest_of_column(c, i));
        if (memcmp(&ours, &truth[i], sizeof ours) == 0)
            continue;
        if (isfinite(ours) && isfinite(truth[i])) {
            scale = ldexp(unit_at(c, promise->unit, i, so_far, truth[i]), -53);
            error = fabs(ours - truth[i]) / fmax(scale, 0x1p-1074);
        }
        if (error > most) {
            most = error;
            *at = i;
        }
    }
    return most;
}

double promise_bound(const lab_case *c)
{
    const promise *promise = promise_of(c->workload);
    const double tiles = fmax(1, ceil((double)c->columns / 4096)), period = param(c, "period", 20);
    if (is_scanned(c) && (promise->unit == OF_SCORE || !strcmp(c->workload, "rolling_std")))
        return period * (20 + period / 5);
    return promise->bound + promise->growth * param(c, "slow", param(c, "period", 26)) / 64 +
           promise->by_size * log2(tiles);
}

double promise_error(const lab_case *c, const char *series)
{
    const double *in[LAB_INPUTS] = {c->x, c->more[0], c->more[1]};
    double *truth[ORACLE_OUTPUTS] = {NULL}, most = 0;
    char text[256];
    int ready = 1;
    for (int k = 0; k < c->n_outputs; k++)
        ready = (truth[k] = lab_alloc(c->out_count)) && ready;
    if (!ready || oracle_run(c->workload, c->params, c->n_params, in, c->columns, truth) != 0)
        most = -1;
    for (int k = 0; k < c->n_outputs && most >= 0; k++) {
        const double bound = promise_bound(c);
        int64_t at = 0;
        double error = error_of(c, k, truth[k], &at);
        if (error > bound && most <= bound)
            fprintf(stderr,
                    "%s, series '%s', output %d, column %lld: %.17g, truth %.17g, off by %.3g "
                    "units, %.3g are promised\n",
                    lab_describe(c, text, sizeof text), series, k, (long long)at, c->out[k][at],
                    truth[k][at], error, bound);
        most = fmax(most, error);
    }
    for (int k = 0; k < c->n_outputs; k++)
        lab_free(truth[k]);
    return most;
}
