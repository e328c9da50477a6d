/* bollinger: mean + width * deviation, mean, mean - width * deviation over the last `period`
 * values, each the rounding of the exact value. */
#include "cuda/forms.h"
#include "fast/window.h"

SYI_ISA_DECLARE(syi_bollinger_run);
SYI_ISA_DECLARE(syi_bollinger_fast_run);

static sy_status check(const double *params)
{
    return syi_window_check(params[0], params[2]);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    (void)past;
    return syi_window_repair(row, first, last, 3, syi_bollinger_run_base);
}

static const sy_param_info params[] = {
    SYI_PERIOD_PARAM,
    {.name = "width",
     .summary = "distance of the bands from the mean, in standard deviations",
     .min = 0,
     .max = 1e9,
     .fallback = 2},
    SYI_DDOF_PARAM,
};

static const syi_gpu_form gpu = SYI_WINDOW_FORM("syi_gpu_bollinger");
static const syi_gpu_form gpu_fast = SYI_WINDOW_FORM("syi_gpu_bollinger_fast");

static const char *const input_names[] = {"close"};
static const char *const output_names[] = {"upper", "middle", "lower"};

/* What the rows of both accuracies have in common. */
#define BOLLINGER_FACE                                                                             \
    .name = "bollinger",                                                                           \
    .summary = "Bollinger bands: moving average and bands of standard deviations around it",       \
    .pattern = SY_PATTERN_WINDOW, .n_inputs = 1, .n_outputs = 3, .n_params = 3,                    \
    .input_names = input_names, .output_names = output_names, .params = params, .check = check,    \
    .halo = syi_window_halo, .warmup = syi_window_halo

static const syi_workload fast = {
    BOLLINGER_FACE,
    .version = 7,
    .tag = "bollinger_fast",
    .run = {SYI_ISA_LIST(syi_bollinger_fast_run)},
    .repair = repair,
    .gpu = &gpu_fast,
    .joined_from = syi_spread_joined_from,
    .lanes_from = SYI_SCAN_LEAST - 1,
    .is_write_bound = 1,
};

const syi_workload syi_workload_bollinger = {
    BOLLINGER_FACE, .version = 1,  .run = {SYI_ISA_LIST(syi_bollinger_run)}, .repair = repair,
    .gpu = &gpu,    .fast = &fast, .joined_from = syi_squares_joined_from,   .lanes_from = 1,
};
