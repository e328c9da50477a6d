/* max: the greatest value of a row and the lowest column that holds it; zeros of both signs are
 * equal. NaN, with the column NaN, for an empty row and one that holds a NaN. */
#include "cuda/forms.h"
#include "extreme/extreme.h"

static void finish(const void *partial, int64_t columns, const double *params, double *outputs,
                   int *doubt)
{
    (void)params;
    (void)doubt;
    syi_extreme_finish(partial, columns, 1, outputs);
}

static const syi_gpu_form gpu = SYI_TILE_FORM("syi_gpu_max");

const syi_workload syi_workload_max = {
    .name = "max",
    .summary = "greatest value of a row, and its column",
    .version = 1,
    .pattern = SY_PATTERN_REDUCE,
    .n_inputs = 1,
    .n_outputs = 2,
    .input_names = (const char *const[]){"x"},
    .output_names = (const char *const[]){"value", "index"},
    .run = {SYI_ISA_LIST(syi_max_run)},
    .partial_size = sizeof(syi_extreme),
    .combine = syi_extreme_combine,
    .finish = finish,
    .takes_floats = 1,
    .gpu = &gpu,
};
