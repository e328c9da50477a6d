/* rolling_min: the least of the last `period` values. */
#include "cuda/forms.h"
#include "extreme/rolling.h"

static const sy_param_info params[] = {SYI_PERIOD_PARAM};

static const syi_gpu_form gpu = SYI_WINDOW_FORM("syi_gpu_rolling_min");

const syi_workload syi_workload_rolling_min = {
    .name = "rolling_min",
    .summary = "least value of a moving window",
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
    .joined_from = syi_window_joined_from,
    .run = {SYI_ISA_LIST(syi_rolling_min_run)},
    .gpu = &gpu,
    .is_write_bound = 1,
};
