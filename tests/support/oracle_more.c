/* More definitions: the z-score, extremes, and the product of two rows. */
#include "support/oracle_more.h"

#include <math.h>

#include "support/oracle_num.h"

/* (x - mean) / deviation = T / sqrt(N count / free) for T = count x - S and N = count Q - S^2,
 * which is the sign of T times sqrt(T^2 free N count) / (N count): integers under the root. */
static double score_of(const mpz_t newest, const mpz_t sum, const mpz_t squares, int64_t count,
                       int64_t ddof)
{
    mpz_t distance, spread, root, zero;
    double score = num_nan();
    mpz_inits(distance, spread, root, zero, NULL);
    mpz_mul_si(distance, newest, (long)count);
    mpz_sub(distance, distance, sum);
    mpz_mul_si(spread, squares, (long)count);
    mpz_submul(spread, sum, sum);
    if (mpz_sgn(spread) > 0) {
        mpz_mul_si(spread, spread, (long)count);
        mpz_mul(root, distance, distance);
        mpz_mul(root, root, spread);
        mpz_mul_si(root, root, (long)(count - ddof));
        score = num_round_root(zero, mpz_sgn(distance), root, spread, 0);
    }
    mpz_clears(distance, spread, root, zero, NULL);
    return score;
}

void oracle_zscore(const double *x, int64_t n, int64_t period, int64_t ddof, double *out)
{
    long exponent = num_exponent(x, n);
    int64_t odd = 0;
    mpz_t sum, squares, value;
    mpz_inits(sum, squares, value, NULL);
    for (int64_t i = 0; i < n; i++) {
        if (i >= period && isfinite(x[i - period])) {
            num_scale(value, x[i - period], exponent);
            mpz_sub(sum, sum, value);
            mpz_submul(squares, value, value);
        } else if (i >= period) {
            odd--;
        }
        if (isfinite(x[i])) {
            num_scale(value, x[i], exponent);
            mpz_add(sum, sum, value);
            mpz_addmul(squares, value, value);
        } else {
            odd++;
        }
        out[i] = i < period - 1 || odd ? num_nan() : score_of(value, sum, squares, period, ddof);
    }
    mpz_clears(sum, squares, value, NULL);
}

/* Where the least or greatest of x[from], .. x[to] is. */
static int64_t find_extreme(const double *x, int64_t from, int64_t to, int greatest)
{
    int64_t at = from;
    for (int64_t k = from + 1; k <= to; k++)
        if (greatest ? x[k] > x[at] : x[k] < x[at])
            at = k;
    return at;
}

/* The extreme stays what it is while its column is in the window and none beyond it comes. */
void oracle_rolling_extreme(const double *x, int64_t n, int64_t period, int greatest, double *out)
{
    int64_t at = -1, finite = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i - period + 1;
        finite = isfinite(x[i]) ? finite + 1 : 0;
        out[i] = num_nan();
        if (finite < period)
            continue;
        if (at < first)
            at = find_extreme(x, first, i, greatest);
        else if (greatest ? x[i] > x[at] : x[i] < x[at])
            at = i;
        out[i] = x[at] == 0 ? 0 : x[at];
    }
}

void oracle_extreme(const double *x, int64_t n, int greatest, double *const *out)
{
    double best = n > 0 ? x[0] : NAN;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        best = isnan(x[i])   ? NAN
               : greatest    ? (best < x[i] ? x[i] : best)
               : best > x[i] ? x[i]
                             : best;
        if (isnan(best))
            break;
    }
    while (!isnan(best) && x[at] != best)
        at++;
    out[0][0] = isnan(best) ? num_nan() : best == 0 ? 0 : best;
    out[1][0] = isnan(best) ? num_nan() : (double)at;
}

void oracle_dot(const double *x, const double *y, int64_t n, double *out)
{
    long x_exponent = num_exponent(x, n), y_exponent = num_exponent(y, n);
    double odd = 0;
    int finite = 1;
    mpz_t sum, a, b;
    mpz_inits(sum, a, b, NULL);
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            odd += x[i] * y[i];
            finite = 0;
            continue;
        }
        num_scale(a, x[i], x_exponent);
        num_scale(b, y[i], y_exponent);
        mpz_addmul(sum, a, b);
    }
    mpz_set_ui(a, 1);
    if (finite)
        *out = num_round_quotient(sum, a, x_exponent + y_exponent);
    else
        *out = isnan(odd) ? num_nan() : odd;
    mpz_clears(sum, a, b, NULL);
}
