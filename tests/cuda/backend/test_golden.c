/*
 * The real series on one to four GPUs, with and without the CPU, against their reference bits. The
 * GPUs are of different generations, so that each gets another translation of the kernels.
 */
#include "gpu_lab.h"
#include "support/data.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *workload, *indicator;
} references[] = {{"sma", "SMA"},          {"ema", "EMA"},   {"rolling_std", "STDDEV"},
                  {"bollinger", "BBANDS"}, {"macd", "MACD"}, {"rsi", "RSI"},
                  {"atr", "ATR"}};
enum { REFERENCES = sizeof references / sizeof references[0] };

static void check_series(sy_context *context, int reference, const char *series, const char *where)
{
    const char *workload = references[reference].workload;
    double *golden = NULL;
    lab_case c;
    int ready = data_case(workload, series, &c);
    if (ready)
        golden = data_golden(series, references[reference].indicator, c.n_outputs, c.columns);
    GPU_CHECK(golden && lab_run(context, &c, NULL, NULL) == SY_OK, "%s of %s %s: %s", workload,
              series, where, sy_last_error()->text);
    for (int k = 0; golden && k < c.n_outputs; k++) {
        int64_t at = lab_difference(c.out[k], golden + k * c.columns, c.columns);
        GPU_CHECK(at < 0, "%s of %s %s: output %d differs at %lld", workload, series, where, k,
                  (long long)at);
    }
    free(golden);
    if (ready)
        data_case_release(&c);
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    for (int i = 0; i < GPU_MIXES; i++) {
        char where[GPU_WORDS];
        sy_context *context = gpu_open_mix(i, where);
        for (int r = 0; context && r < REFERENCES; r++)
            for (int s = 0; s < DATA_SERIES; s++)
                check_series(context, r, data_series[s], where);
        gpu_check_all_worked(i, where);
        gpu_close(&context, where);
    }
    printf("%d references of %d series on %d mixes of devices\n", REFERENCES, DATA_SERIES,
           GPU_MIXES);
    return gpu_end();
}
