/* The textbook loops; see loops.h. Compiled once for each instruction set: BENCH_ISA. */
#include "loops.h"

#include <math.h>

#define JOIN(a, b)     a##b
#define TABLE_OF(isa)  JOIN(bench_textbook_, isa)
#define BENCH_TEXTBOOK TABLE_OF(BENCH_ISA)

/* ---- windows: the sums slide, what comes in is added and what goes out subtracted ---- */

static void sma(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double *x = in[0];
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        out[0][i] = i >= period - 1 ? sum / (double)period : NAN;
        if (i >= period - 1)
            sum -= x[i - period + 1];
    }
}

/* What the three below have in common: E(x^2) - E(x)^2, and what each makes of it. */
enum deviation_use { AS_IT_IS, BANDS, SCORE };

static inline void deviations(const double *x, double *const *out, int64_t n, int64_t period,
                              enum deviation_use use)
{
    const double scale = 1 / (double)period;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double mean, deviation, old = i >= period - 1 ? x[i - period + 1] : 0;
        sum += x[i];
        squares += x[i] * x[i];
        mean = sum * scale;
        deviation = squares * scale - mean * mean;
        deviation = i < period - 1 ? NAN : sqrt(deviation > 0 ? deviation : 0);
        out[0][i] = use == SCORE ? (x[i] - mean) / deviation : deviation;
        if (use == BANDS) {
            out[0][i] = mean + 2 * deviation;
            out[1][i] = i < period - 1 ? NAN : mean;
            out[2][i] = mean - 2 * deviation;
        }
        sum -= old;
        squares -= old * old;
    }
}

static void rolling_std(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    deviations(in[0], out, n, period, AS_IT_IS);
}

static void bollinger(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    deviations(in[0], out, n, period, BANDS);
}

static void zscore(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    deviations(in[0], out, n, period, SCORE);
}

/* Every window looked through, a block of columns at a time. */
static inline void rolling_least(const double *x, double *y, int64_t n, int64_t period, double sign)
{
    enum { BLOCK = 512 };
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t last = first + BLOCK < n ? first + BLOCK : n;
        const int64_t whole = first < period - 1 ? period - 1 : first;
        for (int64_t i = first; i < whole && i < last; i++)
            y[i] = NAN;
        for (int64_t i = whole; i < last; i++)
            y[i] = x[i];
        for (int64_t k = 1; k < period; k++)
            for (int64_t i = whole; i < last; i++)
                y[i] = sign * x[i - k] < sign * y[i] ? x[i - k] : y[i];
    }
}

static void rolling_min(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    rolling_least(in[0], out[0], n, period, 1);
}

static void rolling_max(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    rolling_least(in[0], out[0], n, period, -1);
}

/* ---- recurrences: the next from the last ---- */

static void ema(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double k = 2 / ((double)period + 1), keep = 1 - k;
    double value = in[0][0];
    for (int64_t i = 0; i < n; i++)
        out[0][i] = value = k * in[0][i] + keep * value;
}

static void macd(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double *x = in[0];
    double fast = x[0], slow = x[0], signal = 0;
    (void)period;
    for (int64_t i = 0; i < n; i++) {
        fast = 2.0 / 13 * x[i] + 11.0 / 13 * fast;
        slow = 2.0 / 27 * x[i] + 25.0 / 27 * slow;
        signal = 2.0 / 10 * (fast - slow) + 8.0 / 10 * signal;
        out[0][i] = fast - slow;
        out[1][i] = signal;
        out[2][i] = fast - slow - signal;
    }
}

static void rsi(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double *x = in[0], scale = 1 / (double)period, keep = (double)(period - 1);
    double up = 0, down = 0;
    for (int64_t i = 0; i < n; i++) {
        double move = i ? x[i] - x[i - 1] : 0;
        up = (up * keep + (move > 0 ? move : 0)) * scale;
        down = (down * keep + (move < 0 ? -move : 0)) * scale;
        out[0][i] = i < period ? NAN : up + down > 0 ? 100 * up / (up + down) : 50;
    }
}

static void atr(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double *high = in[0], *low = in[1], *close = in[2];
    const double k = 1 / (double)period, keep = 1 - k;
    double value = high[0] - low[0];
    for (int64_t i = 0; i < n; i++) {
        double before = close[i ? i - 1 : 0], range = high[i] - low[i];
        double above = fabs(high[i] - before), below = fabs(low[i] - before);
        range = range > above ? range : above;
        range = range > below ? range : below;
        value = k * range + keep * value;
        out[0][i] = i < period ? NAN : value;
    }
}

/* ---- reductions: as many running values as the vector units like ---- */

enum { LANES = 32 };

static void sum(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double *x = in[0];
    double lane[LANES] = {0}, whole = 0;
    int64_t i = 0;
    (void)period;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[i + k];
    for (; i < n; i++)
        whole += x[i];
    for (int k = 0; k < LANES; k++)
        whole += lane[k];
    out[0][0] = whole;
}

static void mean(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    sum(in, out, n, period);
    out[0][0] /= (double)n;
}

static void dot(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double *x = in[0], *y = in[1];
    double lane[LANES] = {0}, whole = 0;
    int64_t i = 0;
    (void)period;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        whole += x[i] * y[i];
    for (int k = 0; k < LANES; k++)
        whole += lane[k];
    out[0][0] = whole;
}

/* E(x^2) - E(x)^2 in one pass. */
static void variance(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    const double *both[2] = {in[0], in[0]};
    double squares, *place = &squares, average;
    dot(both, &place, n, period);
    mean(in, out, n, period);
    average = out[0][0];
    out[0][0] = squares / (double)n - average * average;
}

static inline double least(const double *x, int64_t n, double sign)
{
    double lane[LANES], whole = INFINITY;
    int64_t i = 0;
    for (int k = 0; k < LANES; k++)
        lane[k] = INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = sign * x[i + k] < lane[k] ? sign * x[i + k] : lane[k];
    for (; i < n; i++)
        whole = sign * x[i] < whole ? sign * x[i] : whole;
    for (int k = 0; k < LANES; k++)
        whole = lane[k] < whole ? lane[k] : whole;
    return sign * whole;
}

static void min(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    (void)period;
    out[0][0] = least(in[0], n, 1);
}

static void max(const double *const *in, double *const *out, int64_t n, int64_t period)
{
    (void)period;
    out[0][0] = least(in[0], n, -1);
}

const bench_textbook BENCH_TEXTBOOK[] = {
    {"sma", 20, sma},
    {"rolling_std", 20, rolling_std},
    {"bollinger", 20, bollinger},
    {"zscore", 20, zscore},
    {"rolling_min", 20, rolling_min},
    {"rolling_max", 20, rolling_max},
    {"ema", 20, ema},
    {"macd", 0, macd},
    {"rsi", 14, rsi},
    {"atr", 14, atr},
    {"sum", 0, sum},
    {"mean", 0, mean},
    {"variance", 0, variance},
    {"min", 0, min},
    {"max", 0, max},
    {"dot", 0, dot},
    {0},
};
