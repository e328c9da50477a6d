/* TA-Lib's functions, by the signatures of its documented C interface. */
#include "talib.h"

#include "harness.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

typedef int (*plain_fn)(int, int, const double *, int, int *, int *, double *);
typedef int (*deviation_fn)(int, int, const double *, int, double, int *, int *, double *);
typedef int (*bands_fn)(int, int, const double *, int, double, double, int, int *, int *, double *,
                        double *, double *);
typedef int (*macd_fn)(int, int, const double *, int, int, int, int *, int *, double *, double *,
                       double *);
typedef int (*range_fn)(int, int, const double *, const double *, const double *, int, int *, int *,
                        double *);

/* Which signature, and the period that the workload has when none is asked for. */
typedef struct function {
    const char *workload, *symbol;
    enum { PLAIN, DEVIATION, BANDS, MACD, RANGE } form;
    int period;
} function;

static const function functions[] = {
    {"sma", "TA_SMA", PLAIN, 20},          {"ema", "TA_EMA", PLAIN, 20},
    {"rsi", "TA_RSI", PLAIN, 14},          {"rolling_min", "TA_MIN", PLAIN, 20},
    {"rolling_max", "TA_MAX", PLAIN, 20},  {"rolling_std", "TA_STDDEV", DEVIATION, 20},
    {"bollinger", "TA_BBANDS", BANDS, 20}, {"macd", "TA_MACD", MACD, 0},
    {"atr", "TA_ATR", RANGE, 14},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void *library, *found[FUNCTIONS];

int bench_talib_open(const char *path)
{
    static const char *const names[] = {"libta-lib.so.1", "libta-lib.so.0", "libta-lib.so",
                                        "libta_lib.so.0", "libta_lib.so"};
    int (*initialize)(void);
    for (size_t i = 0; !library && i < (path ? 1 : sizeof names / sizeof *names); i++)
        library = dlopen(path ? path : names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library && path)
        bench_fail("--talib: %s", dlerror());
    if (!library)
        return 0;
    *(void **)&initialize = dlsym(library, "TA_Initialize");
    if (!initialize || initialize() != 0)
        bench_fail("TA-Lib: TA_Initialize is missing or failed; is it TA-Lib's library?");
    for (int i = 0; i < FUNCTIONS; i++)
        found[i] = dlsym(library, functions[i].symbol);
    return 1;
}

void bench_talib_close(void)
{
    if (library)
        dlclose(library);
    library = NULL;
}

static int index_of(const char *workload)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (!strcmp(functions[i].workload, workload) && found[i])
            return i;
    return -1;
}

int bench_talib_has(const char *workload, int64_t n, int64_t period)
{
    const int64_t least = 2, most = 100000; /* TA-Lib refuses others */
    return library && n < INT_MAX && index_of(workload) >= 0 &&
           (period == 0 || (period >= least && period <= most));
}

static int call(const function *f, void *address, const double *const *in, double *const *out,
                int last, int period)
{
    int begin, count;
    union {
        void *address;
        plain_fn plain;
        deviation_fn deviation;
        bands_fn bands;
        macd_fn macd;
        range_fn range;
    } as = {address};
    switch (f->form) {
    case PLAIN:
        return as.plain(0, last, in[0], period, &begin, &count, out[0]);
    case DEVIATION:
        return as.deviation(0, last, in[0], period, 1.0, &begin, &count, out[0]);
    case BANDS:
        return as.bands(0, last, in[0], period, 2.0, 2.0, 0, &begin, &count, out[0], out[1],
                        out[2]);
    case MACD:
        return as.macd(0, last, in[0], 12, 26, 9, &begin, &count, out[0], out[1], out[2]);
    default:
        return as.range(0, last, in[0], in[1], in[2], period, &begin, &count, out[0]);
    }
}

void bench_talib_run(const char *workload, const double *const *in, double *const *out, int64_t n,
                     int64_t period)
{
    int which = index_of(workload);
    const function *f = &functions[which];
    if (call(f, found[which], in, out, (int)n - 1, period ? (int)period : f->period) != 0)
        bench_fail("%s failed", f->symbol);
}
