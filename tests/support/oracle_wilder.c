/* Wilder's averages as their definition says, (average * (period - 1) + term) / period, each once
 * rounded down and once up at so many bits: what the two ends cannot decide is reported. */
#include "support/oracle_wilder.h"

#include <math.h>

#include "support/oracle_num.h"

enum { QUOTIENT_BITS = 400 }; /* what is only rounded needs no more */

typedef struct average {
    mpfr_t end[2]; /* rounded down, rounded up */
} average;

static const mpfr_rnd_t towards[2] = {MPFR_RNDD, MPFR_RNDU};

static void set_up(average *a, int bits)
{
    for (int k = 0; k < 2; k++) {
        mpfr_init2(a->end[k], bits);
        mpfr_set_zero(a->end[k], 1);
    }
}

static void clear(average *a)
{
    mpfr_clears(a->end[0], a->end[1], (mpfr_ptr)NULL);
}

/* Takes the term of column i. */
static void take(average *a, const mpfr_t term, int64_t i, int64_t period)
{
    for (int k = 0; k < 2; k++) {
        if (i > period)
            mpfr_mul_si(a->end[k], a->end[k], (long)(period - 1), towards[k]);
        mpfr_add(a->end[k], a->end[k], term, towards[k]);
        if (i >= period)
            mpfr_div_si(a->end[k], a->end[k], (long)period, towards[k]);
    }
}

static double rounded(const mpfr_t low, const mpfr_t high, int64_t *undecided)
{
    double a = num_round(low), b = num_round(high);
    *undecided += a != b;
    return a == b ? a : num_nan();
}

static double index_of(const average *up, const average *down, int64_t *undecided)
{
    mpfr_t end[2], total;
    double value = 50;
    mpfr_inits2(QUOTIENT_BITS, end[0], end[1], total, (mpfr_ptr)NULL);
    for (int k = 0; k < 2; k++) { /* grows with the gains, falls with the losses */
        mpfr_add(total, up->end[k], down->end[1 - k], towards[1 - k]);
        mpfr_mul_si(end[k], up->end[k], 100, towards[k]);
        if (mpfr_zero_p(up->end[k]))
            mpfr_set_zero(end[k], 1);
        else if (mpfr_zero_p(down->end[1 - k]))
            mpfr_set_si(end[k], 100, towards[k]);
        else
            mpfr_div(end[k], end[k], total, towards[k]);
    }
    if (!mpfr_zero_p(up->end[1]) || !mpfr_zero_p(down->end[1]))
        value = rounded(end[0], end[1], undecided);
    mpfr_clears(end[0], end[1], total, (mpfr_ptr)NULL);
    return value;
}

/* Exact, or counted. */
static void difference(mpfr_t out, double a, double b, int64_t *undecided)
{
    mpfr_set_d(out, a, MPFR_RNDN);
    *undecided += mpfr_sub_d(out, out, b, MPFR_RNDN) != 0;
}

int64_t oracle_rsi(const double *x, int64_t n, int64_t period, int bits, double *out)
{
    int64_t undecided = 0;
    int finite = 1;
    average up, down;
    mpfr_t change, none;
    mpfr_inits2(bits, change, none, (mpfr_ptr)NULL);
    mpfr_set_zero(none, 1);
    set_up(&up, bits);
    set_up(&down, bits);
    for (int64_t i = 0; i < n; i++) {
        finite &= isfinite(x[i]) != 0;
        out[i] = num_nan();
        if (i == 0 || !finite)
            continue;
        difference(change, x[i], x[i - 1], &undecided);
        take(&up, mpfr_sgn(change) > 0 ? change : none, i, period);
        mpfr_neg(change, change, MPFR_RNDN);
        take(&down, mpfr_sgn(change) > 0 ? change : none, i, period);
        if (i >= period)
            out[i] = index_of(&up, &down, &undecided);
    }
    clear(&up);
    clear(&down);
    mpfr_clears(change, none, (mpfr_ptr)NULL);
    return undecided;
}

int64_t oracle_atr(const double *high, const double *low, const double *close, int64_t n,
                   int64_t period, int bits, double *out)
{
    int64_t undecided = 0;
    int finite = n > 0 && isfinite(close[0]);
    average range;
    mpfr_t term, other;
    mpfr_inits2(bits, term, other, (mpfr_ptr)NULL);
    set_up(&range, bits);
    for (int64_t i = 0; i < n; i++) {
        out[i] = num_nan();
        finite &= i == 0 || (isfinite(high[i]) && isfinite(low[i]) && isfinite(close[i]));
        if (i == 0 || !finite)
            continue;
        difference(term, high[i], low[i], &undecided);
        for (int k = 0; k < 2; k++) {
            difference(other, k ? high[i] : low[i], close[i - 1], &undecided);
            mpfr_abs(other, other, MPFR_RNDN);
            mpfr_max(term, term, other, MPFR_RNDN);
        }
        take(&range, term, i, period);
        if (i >= period)
            out[i] = rounded(range.end[0], range.end[1], &undecided);
    }
    clear(&range);
    mpfr_clears(term, other, (mpfr_ptr)NULL);
    return undecided;
}
