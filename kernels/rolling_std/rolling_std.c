/* rolling_std: sqrt(sum (x - mean)^2 / (period - ddof)) over the last `period` values. */
#include "cuda/forms.h"
#include "fast/window.h"

SYI_ISA_DECLARE(syi_rolling_std_run);
SYI_ISA_DECLARE(syi_rolling_std_fast_run);

static sy_status check(const double *params)
{
    return syi_window_check(params[0], params[1]);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    (void)past;
    return syi_window_repair(row, first, last, 1, syi_rolling_std_run_base);
}

static const sy_param_info params[] = {SYI_PERIOD_PARAM, SYI_DDOF_PARAM};

static const syi_gpu_form gpu = SYI_WINDOW_FORM("syi_gpu_rolling_std");
static const syi_gpu_form gpu_fast = SYI_WINDOW_FORM("syi_gpu_rolling_std_fast");

static const char *const input_names[] = {"x"};
static const char *const output_names[] = {"y"};

/* What the rows of both accuracies have in common. */
#define ROLLING_STD_FACE                                                                           \
    .name = "rolling_std",                                                                         \
    .summary = "rolling standard deviation, of the population unless ddof is given",               \
    .pattern = SY_PATTERN_WINDOW, .n_inputs = 1, .n_outputs = 1, .n_params = 2,                    \
    .input_names = input_names, .output_names = output_names, .params = params, .check = check,    \
    .halo = syi_window_halo, .warmup = syi_window_halo

static const syi_workload fast = {
    ROLLING_STD_FACE,
    .version = 7,
    .tag = "rolling_std_fast",
    .run = {SYI_ISA_LIST(syi_rolling_std_fast_run)},
    .repair = repair,
    .gpu = &gpu_fast,
    .joined_from = syi_spread_joined_from,
    .lanes_from = SYI_SCAN_LEAST - 1,
};

const syi_workload syi_workload_rolling_std = {
    ROLLING_STD_FACE, .version = 1,  .run = {SYI_ISA_LIST(syi_rolling_std_run)}, .repair = repair,
    .gpu = &gpu,      .fast = &fast, .joined_from = syi_squares_joined_from,     .lanes_from = 1,
};
