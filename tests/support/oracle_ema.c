/*
 * Exponential averages as their definition says, (2x + (p - 1)y) / (p + 1) step by step, in a
 * bracket that holds the truth.
 *
 * Why a bracket of 4,400 bits decides an EMA: while every division by p + 1 leaves no remainder the
 * value is exact and both ends agree, ties included. Once one does, the value has an odd
 * denominator for good (or, where p + 1 is a power of two, ever more bits), so it is never a tie
 * again and the ends are 2^-4400 of the largest x apart. A difference of two EMAs could in theory
 * be a tie all the same: then the bracket says so and the test fails.
 */
#include "support/oracle_ema.h"

#include <math.h>
#include <mpfr.h>

#include "support/oracle_num.h"

/* low <= truth <= high. */
typedef struct bracket {
    mpfr_t low, high;
} bracket;

static void bracket_init(bracket *b, int bits)
{
    mpfr_inits2(bits, b->low, b->high, (mpfr_ptr)NULL);
    mpfr_set_zero(b->low, 1);
    mpfr_set_zero(b->high, 1);
}

static void bracket_clear(bracket *b)
{
    mpfr_clears(b->low, b->high, (mpfr_ptr)NULL);
}

static void bracket_set(bracket *b, double x)
{
    mpfr_set_d(b->low, x, MPFR_RNDD);
    mpfr_set_d(b->high, x, MPFR_RNDU);
}

static void bracket_add(bracket *b, const bracket *other)
{
    mpfr_add(b->low, b->low, other->low, MPFR_RNDD);
    mpfr_add(b->high, b->high, other->high, MPFR_RNDU);
}

static void bracket_difference(bracket *out, const bracket *a, const bracket *b)
{
    mpfr_sub(out->low, a->low, b->high, MPFR_RNDD);
    mpfr_sub(out->high, a->high, b->low, MPFR_RNDU);
}

static void bracket_divide(bracket *b, int64_t by)
{
    mpfr_div_si(b->low, b->low, (long)by, MPFR_RNDD);
    mpfr_div_si(b->high, b->high, (long)by, MPFR_RNDU);
}

/* y = (2x + (p - 1)y) / (p + 1) */
static void ema_step(bracket *y, const bracket *x, int64_t p)
{
    mpfr_mul_si(y->low, y->low, (long)(p - 1), MPFR_RNDD);
    mpfr_mul_si(y->high, y->high, (long)(p - 1), MPFR_RNDU);
    bracket_add(y, x);
    bracket_add(y, x);
    bracket_divide(y, p + 1);
}

/* The rounded truth, or NaN counted as undecided. */
static double bracket_round(const bracket *b, int64_t *undecided)
{
    double low = num_round(b->low), high = num_round(b->high);
    if (low == high)
        return low;
    ++*undecided;
    return num_nan();
}

/* One step of an EMA whose seed is the mean of the `seed` values from index `from` on. */
static void ema_at(bracket *y, const bracket *x, int64_t i, int64_t from, int64_t seed, int64_t p)
{
    if (i < from)
        return;
    if (i >= from + seed) {
        ema_step(y, x, p);
        return;
    }
    bracket_add(y, x);
    if (i == from + seed - 1)
        bracket_divide(y, seed);
}

int64_t oracle_ema(const double *x, int64_t n, int64_t period, int first, int bits, double *out)
{
    int64_t undecided = 0, seed = first ? 1 : period;
    bracket y, in;
    bracket_init(&y, bits);
    bracket_init(&in, bits);
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            num_fill_nan(out, i, n);
            break;
        }
        bracket_set(&in, x[i]);
        ema_at(&y, &in, i, 0, seed, period);
        out[i] = i < seed - 1 ? num_nan() : bracket_round(&y, &undecided);
    }
    bracket_clear(&y);
    bracket_clear(&in);
    return undecided;
}

int64_t oracle_macd(const double *x, int64_t n, const int64_t *periods, int first, int bits,
                    double *const *out)
{
    int64_t fast_seed = first ? 1 : periods[0], slow_seed = first ? 1 : periods[1];
    int64_t signal_seed = first ? 1 : periods[2];
    int64_t undecided = 0, shown = slow_seed + signal_seed - 2;
    bracket in, fast, slow, macd, signal, histogram;
    bracket *all[] = {&in, &fast, &slow, &macd, &signal, &histogram};
    for (int k = 0; k < 6; k++)
        bracket_init(all[k], bits);
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            for (int k = 0; k < 3; k++)
                num_fill_nan(out[k], i, n);
            break;
        }
        bracket_set(&in, x[i]);
        ema_at(&fast, &in, i, slow_seed - fast_seed, fast_seed, periods[0]);
        ema_at(&slow, &in, i, 0, slow_seed, periods[1]);
        bracket_difference(&macd, &fast, &slow);
        ema_at(&signal, &macd, i, slow_seed - 1, signal_seed, periods[2]);
        bracket_difference(&histogram, &macd, &signal);
        out[0][i] = i < shown ? num_nan() : bracket_round(&macd, &undecided);
        out[1][i] = i < shown ? num_nan() : bracket_round(&signal, &undecided);
        out[2][i] = i < shown ? num_nan() : bracket_round(&histogram, &undecided);
    }
    for (int k = 0; k < 6; k++)
        bracket_clear(all[k]);
    return undecided;
}
