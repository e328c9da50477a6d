/*
 * The definitions. A window's mean and variance come from exact integer sums S and Q of x and x^2
 * (x being integers times one power of two for the whole row), so nothing is lost before the one
 * rounding. A recurrence is computed in brackets that hold the truth: what narrow ones decide is as
 * true as what wide ones do.
 */
#include "support/oracle.h"

#include <math.h>
#include <string.h>

#include "support/oracle_ema.h"
#include "support/oracle_more.h"
#include "support/oracle_num.h"
#include "support/oracle_wilder.h"

/* Of a bracket. */
enum { QUICK_BITS = 512, MOST_BITS = 4400 };

typedef struct args {
    int64_t period, ddof, macd[3];
    double width;
    int first; /* EMA seeded with its first value */
} args;

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

int oracle_outputs(const char *workload)
{
    static const char *const one[] = {"sma",         "rolling_std", "zscore",   "rolling_min",
                                      "rolling_max", "ema",         "rsi",      "atr",
                                      "sum",         "mean",        "variance", "dot"};
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        if (is(workload, one[i]))
            return 1;
    if (is(workload, "min") || is(workload, "max"))
        return 2;
    return is(workload, "bollinger") || is(workload, "macd") ? 3 : 0;
}

int oracle_is_reduction(const char *workload)
{
    static const char *const names[] = {"sum", "mean", "variance", "min", "max", "dot"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is(workload, names[i]))
            return 1;
    return 0;
}

static int read_args(const sy_param *params, int n_params, int wilder, args *out)
{
    *out = (args){.period = wilder ? 14 : 20, .macd = {12, 26, 9}, .width = 2};
    for (int i = 0; i < n_params; i++) {
        const sy_param *p = &params[i];
        if (is(p->name, "period"))
            out->period = (int64_t)p->value;
        else if (is(p->name, "ddof"))
            out->ddof = (int64_t)p->value;
        else if (is(p->name, "width"))
            out->width = p->value;
        else if (is(p->name, "fast"))
            out->macd[0] = (int64_t)p->value;
        else if (is(p->name, "slow"))
            out->macd[1] = (int64_t)p->value;
        else if (is(p->name, "signal"))
            out->macd[2] = (int64_t)p->value;
        else if (is(p->name, "seed_with"))
            out->first = p->text ? is(p->text, "first") : p->value != 0;
        else
            return 0;
    }
    return 1;
}

/* ---- windows and reductions -------------------------------------------------------------- */

/* Exact sums of the finite x in a stretch, and how many are not finite. */
typedef struct moments {
    mpz_t sum, squares;
    long exponent;
    int64_t odd;
} moments;

static void moments_add(moments *m, double x, int sign)
{
    mpz_t scaled;
    if (!isfinite(x)) {
        m->odd += sign;
        return;
    }
    mpz_init(scaled);
    num_scale(scaled, x, m->exponent);
    if (sign > 0)
        mpz_add(m->sum, m->sum, scaled), mpz_addmul(m->squares, scaled, scaled);
    else
        mpz_sub(m->sum, m->sum, scaled), mpz_submul(m->squares, scaled, scaled);
    mpz_clear(scaled);
}

static double mean_of(const moments *m, int64_t count)
{
    mpz_t den;
    double mean;
    mpz_init_set_si(den, (long)count);
    mean = num_round_quotient(m->sum, den, m->exponent);
    mpz_clear(den);
    return mean;
}

/* spread = count * Q - S^2 and den = count * (count - ddof): the variance is spread / den. */
static void spread_of(const moments *m, int64_t count, int64_t ddof, mpz_t spread, mpz_t den)
{
    mpz_mul_si(spread, m->squares, (long)count);
    mpz_submul(spread, m->sum, m->sum);
    mpz_set_si(den, (long)count);
    mpz_mul_si(den, den, (long)(count - ddof));
}

static double variance_of(const moments *m, int64_t count, int64_t ddof)
{
    mpz_t spread, den;
    double variance;
    mpz_inits(spread, den, NULL);
    spread_of(m, count, ddof, spread, den);
    variance = num_round_quotient(spread, den, 2 * m->exponent);
    mpz_clears(spread, den, NULL);
    return variance;
}

/* mean + sign * width * deviation, = (S * (n - d) + sign * sqrt(width^2 * spread * den)) / den;
 * width = digits * 2^shift. With no mean (`std`) the first term is left out. */
static double band_of(const moments *m, int64_t count, const args *a, int sign, int std)
{
    mpz_t spread, den, centre, digits, root;
    double band;
    double width = std ? 1 : a->width;
    long shift = num_exponent(&width, 1);
    mpz_inits(spread, den, centre, digits, root, NULL);
    spread_of(m, count, a->ddof, spread, den);
    num_scale(digits, width, shift);
    if (shift > 0) {
        mpz_mul_2exp(digits, digits, (mp_bitcnt_t)shift);
        shift = 0;
    }
    if (!std) {
        mpz_mul_si(centre, m->sum, (long)(count - a->ddof));
        mpz_mul_2exp(centre, centre, (mp_bitcnt_t)-shift);
    }
    mpz_mul(root, spread, den);
    mpz_mul(root, root, digits);
    mpz_mul(root, root, digits);
    band =
        num_round_root(centre, mpz_sgn(digits) < 0 ? -sign : sign, root, den, m->exponent + shift);
    mpz_clears(spread, den, centre, digits, root, NULL);
    return band;
}

static void window_outputs(const char *workload, const moments *m, const args *a, int64_t i,
                           double *const *out)
{
    int64_t w = a->period;
    if (m->odd) {
        for (int k = 0; k < oracle_outputs(workload); k++)
            out[k][i] = num_nan();
    } else if (is(workload, "sma")) {
        out[0][i] = mean_of(m, w);
    } else if (is(workload, "rolling_std")) {
        out[0][i] = band_of(m, w, a, 1, 1);
    } else {
        out[0][i] = band_of(m, w, a, 1, 0);
        out[1][i] = mean_of(m, w);
        out[2][i] = band_of(m, w, a, -1, 0);
    }
}

static void run_window(const char *workload, const args *a, const double *x, int64_t n,
                       double *const *out)
{
    moments m = {.exponent = num_exponent(x, n)};
    mpz_inits(m.sum, m.squares, NULL);
    for (int64_t i = 0; i < n; i++) {
        moments_add(&m, x[i], 1);
        if (i >= a->period)
            moments_add(&m, x[i - a->period], -1);
        if (i >= a->period - 1)
            window_outputs(workload, &m, a, i, out);
        else
            for (int k = 0; k < oracle_outputs(workload); k++)
                out[k][i] = num_nan();
    }
    mpz_clears(m.sum, m.squares, NULL);
}

static void run_reduction(const char *workload, const args *a, const double *x, int64_t n,
                          double *const *out)
{
    moments m = {.exponent = num_exponent(x, n)};
    mpz_t one;
    mpz_inits(m.sum, m.squares, NULL);
    mpz_init_set_ui(one, 1);
    for (int64_t i = 0; i < n; i++)
        moments_add(&m, x[i], 1);
    if (m.odd)
        out[0][0] = num_nan();
    else if (is(workload, "sum"))
        out[0][0] = num_round_quotient(m.sum, one, m.exponent);
    else if (is(workload, "mean"))
        out[0][0] = mean_of(&m, n);
    else
        out[0][0] = n > a->ddof ? variance_of(&m, n, a->ddof) : num_nan();
    mpz_clears(m.sum, m.squares, one, NULL);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int is_wilder(const char *workload)
{
    return is(workload, "rsi") || is(workload, "atr");
}

/* Gives how many values brackets of so many bits could not decide. */
static int64_t run_recurrence(const char *workload, const args *a, const double *const *in,
                              int64_t n, int bits, double *const *out)
{
    if (is(workload, "ema"))
        return oracle_ema(in[0], n, a->period, a->first, bits, out[0]);
    if (is(workload, "macd"))
        return oracle_macd(in[0], n, a->macd, a->first, bits, out);
    if (is(workload, "rsi"))
        return oracle_rsi(in[0], n, a->period, bits, out[0]);
    return oracle_atr(in[0], in[1], in[2], n, a->period, bits, out[0]);
}

int64_t oracle_run(const char *workload, const sy_param *params, int n_params,
                   const double *const *in, int64_t n, double *const *out)
{
    const double *x = in[0];
    args a;
    if (!oracle_outputs(workload) || !read_args(params, n_params, is_wilder(workload), &a))
        return -1;
    if (is(workload, "ema") || is(workload, "macd") || is_wilder(workload)) {
        int64_t undecided = run_recurrence(workload, &a, in, n, QUICK_BITS, out);
        return undecided ? run_recurrence(workload, &a, in, n, MOST_BITS, out) : 0;
    }
    if (is(workload, "zscore"))
        oracle_zscore(x, n, a.period, a.ddof, out[0]);
    else if (is(workload, "rolling_min") || is(workload, "rolling_max"))
        oracle_rolling_extreme(x, n, a.period, is(workload, "rolling_max"), out[0]);
    else if (is(workload, "min") || is(workload, "max"))
        oracle_extreme(x, n, is(workload, "max"), out);
    else if (is(workload, "dot"))
        oracle_dot(x, in[1], n, out[0]);
    else if (oracle_is_reduction(workload))
        run_reduction(workload, &a, x, n, out);
    else
        run_window(workload, &a, x, n, out);
    return 0;
}

double oracle_round(const char *mantissa, long exponent)
{
    mpz_t num, den;
    double rounded;
    mpz_init_set_str(num, mantissa, 0);
    mpz_init_set_ui(den, 1);
    rounded = num_round_quotient(num, den, exponent);
    mpz_clears(num, den, NULL);
    return rounded;
}
