/* dot: the sum of two rows' products. Zero for empty rows. A product that is not finite counts as
 * in IEEE 754 (an infinity times zero is NaN); a finite product never overflows or underflows. */
#include "cuda/forms.h"
#include "exact/total.h"
#include "fast/reduce.h"
#include "isa.h"

SYI_ISA_DECLARE(syi_dot_run);
SYI_ISA_DECLARE(syi_dot_fast_run);

static void finish(const void *partial, int64_t columns, const double *params, double *outputs,
                   int *doubt)
{
    (void)params;
    outputs[0] = syi_total_finish(partial, 1, (double)columns * SYI_PRODUCT_LOSS, doubt);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    const syi_inputs in = syi_inputs_of(row, past);
    (void)first, (void)last;
    row->out[0][0] = syi_total_exact(&in, 1, row->columns, 1);
    return SY_OK;
}

static const syi_gpu_form gpu = SYI_TILE_FORM("syi_gpu_dot");
static const syi_gpu_form gpu_fast = SYI_TILE_FORM("syi_gpu_dot_fast");

static const char *const input_names[] = {"x", "y"};
static const char *const output_names[] = {"dot"};

/* What the rows of both accuracies have in common. */
#define DOT_FACE                                                                                   \
    .name = "dot", .summary = "sum of two rows' products", .pattern = SY_PATTERN_REDUCE,           \
    .n_inputs = 2, .n_outputs = 1, .input_names = input_names, .output_names = output_names

static const syi_workload fast = {
    DOT_FACE,
    .version = 1,
    .tag = "dot_fast",
    .run = {SYI_ISA_LIST(syi_dot_fast_run)},
    .partial_size = sizeof(double),
    .combine = syi_fast_add,
    .finish = syi_fast_finish,
    .takes_floats = 1,
    .gpu = &gpu_fast,
};

const syi_workload syi_workload_dot = {
    DOT_FACE,
    .version = 1,
    .run = {SYI_ISA_LIST(syi_dot_run)},
    .partial_size = sizeof(syi_total),
    .combine = syi_total_combine,
    .finish = finish,
    .repair = repair,
    .takes_floats = 1,
    .gpu = &gpu,
    .fast = &fast,
};
