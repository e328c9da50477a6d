/* Exact recurrences by GMP: see fractions.h. */
#include "support/fractions.h"

#include "support/oracle_num.h"

enum { BOTTOM = -1074, QUANTITIES = 4 };

/* num[k] / den * 2^BOTTOM. */
typedef struct state {
    mpz_t den, num[QUANTITIES], change, term;
} state;

static void open(state *s)
{
    mpz_init_set_si(s->den, 1);
    for (int k = 0; k < QUANTITIES; k++)
        mpz_init(s->num[k]);
    mpz_inits(s->change, s->term, NULL);
}

static void close(state *s)
{
    mpz_clears(s->den, s->change, s->term, NULL);
    for (int k = 0; k < QUANTITIES; k++)
        mpz_clear(s->num[k]);
}

/* change = to - from. */
static void take_change(state *s, double from, double to)
{
    num_scale(s->change, to, BOTTOM);
    num_scale(s->term, from, BOTTOM);
    mpz_sub(s->change, s->change, s->term);
}

/* num[k] += count * change */
static void add_change(state *s, int k, int64_t count)
{
    mpz_mul(s->term, s->change, s->den);
    mpz_mul_si(s->term, s->term, (long)count);
    mpz_add(s->num[k], s->num[k], s->term);
}

/* num[k] *= multiply / divide, in lowest terms where these are even. */
static void scale(state *s, int k, int64_t multiply, int64_t divide)
{
    if (multiply == 0) {
        mpz_set_si(s->num[k], 0);
        return;
    }
    for (; multiply % 2 == 0 && divide % 2 == 0; multiply /= 2, divide /= 2)
        ;
    mpz_mul_si(s->den, s->den, (long)divide);
    for (int j = 0; j < QUANTITIES; j++)
        mpz_mul_si(s->num[j], s->num[j], (long)(j == k ? multiply : divide));
}

/* What is left after a column of a distance from the price, which moves by `change`. */
static void smooth(state *s, int k, int64_t period)
{
    scale(s, k, period - 1, period + 1);
}

static double rounded(const state *s, const mpz_t num)
{
    return num_round_quotient(num, s->den, BOTTOM);
}

double fractions_ema(const double *x, int64_t n, int64_t period, int first)
{
    const int64_t seeded = first ? 1 : period;
    double result;
    state s;
    open(&s);
    for (int64_t i = 0; i < seeded; i++) {
        take_change(&s, x[seeded - 1], x[i]);
        add_change(&s, 0, 1);
    }
    scale(&s, 0, 1, seeded);
    for (int64_t t = seeded; t < n; t++) {
        take_change(&s, x[t - 1], x[t]);
        add_change(&s, 0, -1);
        smooth(&s, 0, period);
    }
    take_change(&s, 0.0, x[n - 1]);
    add_change(&s, 0, 1);
    result = rounded(&s, s.num[0]);
    close(&s);
    return result;
}

/* change = the larger of it and |to - from|. */
static void widen(state *s, mpz_t range, double from, double to)
{
    take_change(s, from, to);
    mpz_abs(s->change, s->change);
    if (mpz_cmp(s->change, range) > 0)
        mpz_set(range, s->change);
}

double fractions_atr(const double *high, const double *low, const double *close_, int64_t n,
                     int64_t period)
{
    double result;
    mpz_t range;
    state s;
    open(&s);
    mpz_init(range);
    for (int64_t t = 1; t < n; t++) {
        if (t > period)
            scale(&s, 0, period - 1, period);
        mpz_set_si(range, 0);
        widen(&s, range, low[t], high[t]);
        widen(&s, range, close_[t - 1], high[t]);
        widen(&s, range, close_[t - 1], low[t]);
        mpz_set(s.change, range);
        add_change(&s, 0, 1);
    }
    scale(&s, 0, 1, period);
    result = rounded(&s, s.num[0]);
    mpz_clear(range);
    close(&s);
    return result;
}

double fractions_rsi(const double *x, int64_t n, int64_t period)
{
    double result = 50.0;
    state s;
    open(&s);
    for (int64_t t = 1; t < n; t++) {
        for (int k = 0; k < 2 && t > period; k++)
            scale(&s, k, period - 1, period);
        take_change(&s, x[t - 1], x[t]);
        add_change(&s, mpz_sgn(s.change) < 0, mpz_sgn(s.change));
    }
    mpz_add(s.term, s.num[0], s.num[1]);
    mpz_mul_si(s.change, s.num[0], 100);
    if (mpz_sgn(s.term))
        result = num_round_quotient(s.change, s.term, 0);
    close(&s);
    return result;
}

void fractions_macd(const double *x, int64_t n, const int64_t period[3], double out[3])
{
    enum { FAST, SLOW, VALUE, SIGNAL }; /* the first two and the last: distances */
    state s;
    open(&s);
    for (int64_t t = 1; t < n; t++) {
        take_change(&s, x[t - 1], x[t]);
        for (int k = FAST; k <= SLOW; k++) {
            add_change(&s, k, -1);
            smooth(&s, k, period[k]);
        }
        mpz_sub(s.term, s.num[FAST], s.num[SLOW]);
        mpz_sub(s.change, s.term, s.num[VALUE]);
        mpz_set(s.num[VALUE], s.term);
        mpz_sub(s.num[SIGNAL], s.num[SIGNAL], s.change);
        smooth(&s, SIGNAL, period[2]);
    }
    out[0] = rounded(&s, s.num[VALUE]);
    mpz_add(s.term, s.num[VALUE], s.num[SIGNAL]);
    out[1] = rounded(&s, s.term);
    mpz_neg(s.term, s.num[SIGNAL]);
    out[2] = rounded(&s, s.term);
    close(&s);
}
