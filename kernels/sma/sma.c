/* sma: the mean of the last `period` values. */
#include "cuda/forms.h"
#include "window/window.h"

SYI_ISA_DECLARE(syi_sma_run);

static sy_status repair(const sy_segment *row, int64_t first, int64_t last)
{
    return syi_window_repair(row, first, last, 1, syi_sma_run_base);
}

static const sy_param_info params[] = {SYI_PERIOD_PARAM};

static const syi_gpu_form gpu = SYI_WINDOW_FORM("syi_gpu_sma");

const syi_workload syi_workload_sma = {
    .name = "sma",
    .summary = "simple moving average",
    .version = 1,
    .pattern = SY_PATTERN_WINDOW,
    .n_inputs = 1,
    .n_outputs = 1,
    .n_params = 1,
    .input_names = (const char *const[]){"x"},
    .output_names = (const char *const[]){"y"},
    .params = params,
    .halo = syi_window_halo,
    .warmup = syi_window_halo,
    .run = {SYI_ISA_LIST(syi_sma_run)},
    .repair = repair,
    .gpu = &gpu,
};
