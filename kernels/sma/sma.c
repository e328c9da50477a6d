/* sma: the mean of the last `period` values. */
#include "cuda/forms.h"
#include "window/window.h"

SYI_ISA_DECLARE(syi_sma_run);
SYI_ISA_DECLARE(syi_sma_fast_run);

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    (void)past;
    return syi_window_repair(row, first, last, 1, syi_sma_run_base);
}

static const sy_param_info params[] = {SYI_PERIOD_PARAM};

static const syi_gpu_form gpu = SYI_WINDOW_FORM("syi_gpu_sma");
static const syi_gpu_form gpu_fast = SYI_WINDOW_FORM("syi_gpu_sma_fast");

static const char *const input_names[] = {"x"};
static const char *const output_names[] = {"y"};

/* What the rows of both accuracies have in common. */
#define SMA_FACE                                                                                   \
    .name = "sma", .summary = "simple moving average", .pattern = SY_PATTERN_WINDOW,               \
    .n_inputs = 1, .n_outputs = 1, .n_params = 1, .input_names = input_names,                      \
    .output_names = output_names, .params = params, .halo = syi_window_halo,                       \
    .warmup = syi_window_halo, .joined_from = syi_window_joined_from

static const syi_workload fast = {
    SMA_FACE,
    .version = 4,
    .tag = "sma_fast",
    .run = {SYI_ISA_LIST(syi_sma_fast_run)},
    .repair = repair,
    .gpu = &gpu_fast,
    .is_write_bound = 1,
};

const syi_workload syi_workload_sma = {
    SMA_FACE,         .version = 1, .run = {SYI_ISA_LIST(syi_sma_run)},
    .repair = repair, .gpu = &gpu,  .fast = &fast,
};
