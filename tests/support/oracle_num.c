/*
 * Exact integers and the one rounding of the oracle. Nothing here knows an indicator.
 */
#include "support/oracle_num.h"

#include <math.h>
#include <string.h>

double num_nan(void)
{
    uint64_t bits = UINT64_C(0x7ff8000000000000);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void num_fill_nan(double *out, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        out[i] = num_nan();
}

long num_exponent(const double *x, int64_t n)
{
    long least = 1024;
    for (int64_t i = 0; i < n; i++) {
        if (isfinite(x[i]) && x[i] != 0) {
            int e;
            (void)frexp(x[i], &e); /* |x| < 2^e, so x is an integer times 2^(e-53) */
            least = e - 53 < least ? e - 53 : least;
        }
    }
    if (least == 1024)
        return 0;
    return least < -1074 ? -1074 : least;
}

void num_scale(mpz_t out, double x, long exponent)
{
    int e;
    double mantissa = ldexp(frexp(x, &e), 53); /* an integer; x = mantissa * 2^(e-53) */
    mpz_set_d(out, mantissa);
    if (x == 0)
        return;
    if (e - 53 >= exponent)
        mpz_mul_2exp(out, out, (mp_bitcnt_t)(e - 53 - exponent));
    else
        mpz_tdiv_q_2exp(out, out, (mp_bitcnt_t)(exponent - (e - 53))); /* zeros only */
}

/* The precision at which rounding to nearest is rounding to the nearest double: 53 for a normal
 * number, fewer for a subnormal one, 0 or less below the least subnormal. */
static long bits_of_double(const mpfr_t value)
{
    long below = mpfr_get_exp(value) + 1074; /* 2^(exp-1) <= |value| < 2^exp */
    return below < 53 ? below : 53;
}

double num_round(const mpfr_t value)
{
    mpfr_t rounded;
    double result;
    long bits;
    if (mpfr_zero_p(value))
        return 0.0;
    bits = bits_of_double(value);
    if (bits < 0)
        return 0.0;
    mpfr_init2(rounded, bits > 0 ? bits : 1);
    if (bits > 0)
        mpfr_set(rounded, value, MPFR_RNDN);
    else if (mpfr_cmp_si_2exp(value, 1, -1075) > 0) /* the tie 2^-1075 goes to zero */
        mpfr_set_si_2exp(rounded, 1, -1074, MPFR_RNDN);
    else if (mpfr_cmp_si_2exp(value, -1, -1075) < 0)
        mpfr_set_si_2exp(rounded, -1, -1074, MPFR_RNDN);
    else
        mpfr_set_zero(rounded, 1);
    result = mpfr_get_d(rounded, MPFR_RNDN); /* exact, or infinite */
    mpfr_clear(rounded);
    return result;
}

/* Enough bits that a quotient rounded towards zero and marked in its last bit when it was inexact
 * ("round to odd") rounds again to the same double as the quotient itself. */
enum { ODD_BITS = 128 };

double num_round_quotient(const mpz_t num, const mpz_t den, long exponent)
{
    mpz_t quotient, rest, shifted;
    mpfr_t value;
    double result;
    long up;
    if (mpz_sgn(num) == 0)
        return 0.0;
    mpz_inits(quotient, rest, shifted, NULL);
    up = ODD_BITS + (long)mpz_sizeinbase(den, 2) - (long)mpz_sizeinbase(num, 2);
    up = up > 0 ? up : 0;
    mpz_mul_2exp(shifted, num, (mp_bitcnt_t)up);
    mpz_tdiv_qr(quotient, rest, shifted, den);
    mpz_mul_2exp(quotient, quotient, 1);
    up++;
    if (mpz_sgn(rest) > 0) /* a last bit that makes it neither a tie nor a double */
        mpz_add_ui(quotient, quotient, 1);
    else if (mpz_sgn(rest) < 0)
        mpz_sub_ui(quotient, quotient, 1);
    mpfr_init2(value, (mpfr_prec_t)mpz_sizeinbase(quotient, 2) + 2);
    mpfr_set_z_2exp(value, quotient, exponent - up, MPFR_RNDN); /* exact */
    result = num_round(value);
    mpfr_clear(value);
    mpz_clears(quotient, rest, shifted, NULL);
    return result;
}

/* One bracket of (a + sign*sqrt(b)) / den at `bits`; true when both ends round to one double. */
static int bracket(const mpz_t a, int sign, const mpz_t b, const mpz_t den, long exponent,
                   mpfr_prec_t bits, double *result)
{
    mpfr_t end;
    double at[2];
    mpfr_init2(end, bits);
    for (int up = 0; up < 2; up++) {
        mpfr_rnd_t towards = up ? MPFR_RNDU : MPFR_RNDD;
        mpfr_t root;
        mpfr_init2(root, bits);
        mpfr_set_z(root, b, sign > 0 ? towards : (up ? MPFR_RNDD : MPFR_RNDU));
        mpfr_sqrt(root, root, sign > 0 ? towards : (up ? MPFR_RNDD : MPFR_RNDU));
        if (sign < 0)
            mpfr_neg(root, root, MPFR_RNDN);
        mpfr_add_z(end, root, a, towards);
        mpfr_div_z(end, end, den, towards);
        mpfr_mul_2si(end, end, exponent, towards);
        at[up] = num_round(end);
        mpfr_clear(root);
    }
    mpfr_clear(end);
    *result = at[0];
    return memcmp(&at[0], &at[1], sizeof at[0]) == 0;
}

double num_round_root(const mpz_t a, int sign, const mpz_t b, const mpz_t den, long exponent)
{
    mpfr_prec_t bits = 124; /* below 128 MPFR is quickest */
    double result;
    if (sign == 0 || mpz_perfect_square_p(b)) { /* rational: may be a tie, so exactly */
        mpz_t sum;
        mpz_init(sum);
        mpz_sqrt(sum, b);
        mpz_mul_si(sum, sum, sign);
        mpz_add(sum, sum, a);
        result = num_round_quotient(sum, den, exponent);
        mpz_clear(sum);
        return result;
    }
    while (!bracket(a, sign, b, den, exponent, bits, &result)) /* irrational: ends */
        bits *= 2;
    return result;
}
