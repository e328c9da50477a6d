/* dot: the sum of two rows' products. Zero for empty rows. A product that is not finite counts as
 * in IEEE 754 (an infinity times zero is NaN); a finite product never overflows or underflows. */
#include "cuda/forms.h"
#include "exact/total.h"
#include "isa.h"

SYI_ISA_DECLARE(syi_dot_run);

static void finish(const void *partial, int64_t columns, const double *params, double *outputs,
                   int *doubt)
{
    (void)params;
    outputs[0] = syi_total_finish(partial, 1, (double)columns * SYI_PRODUCT_LOSS, doubt);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last)
{
    (void)first, (void)last;
    row->out[0][0] = syi_total_exact(row->in[0], row->in[1], row->columns, 1);
    return SY_OK;
}

static const syi_gpu_form gpu = SYI_TILE_FORM("syi_gpu_dot");

const syi_workload syi_workload_dot = {
    .name = "dot",
    .summary = "sum of two rows' products",
    .version = 1,
    .pattern = SY_PATTERN_REDUCE,
    .n_inputs = 2,
    .n_outputs = 1,
    .input_names = (const char *const[]){"x", "y"},
    .output_names = (const char *const[]){"dot"},
    .run = {SYI_ISA_LIST(syi_dot_run)},
    .partial_size = sizeof(syi_total),
    .combine = syi_total_combine,
    .finish = finish,
    .repair = repair,
    .gpu = &gpu,
};
