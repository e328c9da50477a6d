/* sum: of all values of a row. Zero for an empty row; IEEE's answer (an infinity, or NaN) for a row
 * with values that are not finite. */
#include "cuda/forms.h"
#include "exact/total.h"
#include "fast/reduce.h"
#include "isa.h"

SYI_ISA_DECLARE(syi_sum_run);
SYI_ISA_DECLARE(syi_sum_fast_run);

static void finish(const void *partial, int64_t columns, const double *params, double *outputs,
                   int *doubt)
{
    (void)params;
    (void)columns;
    outputs[0] = syi_total_finish(partial, 1, 0.0, doubt);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    const syi_inputs in = syi_inputs_of(row, past);
    (void)first, (void)last;
    row->out[0][0] = syi_total_exact(&in, 0, row->columns, 1);
    return SY_OK;
}

static const syi_gpu_form gpu = SYI_TILE_FORM("syi_gpu_total");
static const syi_gpu_form gpu_fast = SYI_TILE_FORM("syi_gpu_total_fast");

static const char *const input_names[] = {"x"};
static const char *const output_names[] = {"sum"};

/* What the rows of both accuracies have in common. */
#define SUM_FACE                                                                                   \
    .name = "sum", .summary = "sum of a row", .pattern = SY_PATTERN_REDUCE, .n_inputs = 1,         \
    .n_outputs = 1, .input_names = input_names, .output_names = output_names

static const syi_workload fast = {
    SUM_FACE,
    .version = 1,
    .tag = "sum_fast",
    .run = {SYI_ISA_LIST(syi_sum_fast_run)},
    .partial_size = sizeof(double),
    .combine = syi_fast_add,
    .finish = syi_fast_finish,
    .takes_floats = 1,
    .gpu = &gpu_fast,
};

const syi_workload syi_workload_sum = {
    SUM_FACE,
    .version = 1,
    .run = {SYI_ISA_LIST(syi_sum_run)},
    .partial_size = sizeof(syi_total),
    .combine = syi_total_combine,
    .finish = finish,
    .repair = repair,
    .takes_floats = 1,
    .gpu = &gpu,
    .fast = &fast,
};
