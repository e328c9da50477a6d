/* atr: the average true range, Wilder's average of the greatest of high - low, |high - close| and
 * |low - close|, the close being the one before. */
#include "cuda/forms.h"
#include "recurrence/repair.h"
#include "wilder/pairs.h"
#include "wilder/params.h"

SYI_ISA_DECLARE(syi_atr_run);
SYI_ISA_DECLARE(syi_atr_fast_run);

/* Of a bar whose high is below its low: whether it is the high that is farther from the close. */
static int is_high_farther(double high, double low, double close)
{
    syi_number from_high, from_low;
    syi_number_set_difference(&from_high, close, high, SYI_NUMBER_MOST); /* all bits */
    syi_number_set_difference(&from_low, low, close, SYI_NUMBER_MOST);
    syi_number_subtract(&from_high, &from_high, &from_low);
    return from_high.sign > 0;
}

static int has_range(const syi_inputs *in, int64_t t)
{
    const double low = syi_input(in, 1, t);
    return syi_input(in, 0, t) != low || syi_input(in, 2, t - 1) != low;
}

/* sum + the true range of column t. */
static void add_range(syi_number *sum, const syi_inputs *in, int64_t t)
{
    const double high = syi_input(in, 0, t), low = syi_input(in, 1, t);
    const double close = syi_input(in, 2, t - 1);
    syi_number range;
    if (high >= low)
        syi_number_set_difference(&range, close > high ? close : high, close < low ? close : low,
                                  sum->limbs);
    else if (is_high_farther(high, low, close))
        syi_number_set_difference(&range, close, high, sum->limbs);
    else
        syi_number_set_difference(&range, low, close, sum->limbs);
    syi_number_add(sum, sum, &range);
}

static void compute(const sy_segment *row, syi_attempt *attempt)
{
    int64_t period = (int64_t)row->params[0];
    int64_t t = attempt->from_seed ? period : attempt->start, still = 0;
    syi_factor factor = syi_factor_of(period - 1, period), mean = syi_factor_of(1, period);
    syi_number sum, y;
    syi_number_unknown(&sum, attempt->from_seed ? 0.0 : attempt->peak, 2 * period, attempt->limbs);
    for (int64_t i = 1; attempt->from_seed && i <= period; i++)
        add_range(&sum, attempt->in, i);
    for (;;) {
        if (t >= attempt->first) {
            syi_number_fade(&sum, &factor, still);
            still = 0;
            syi_number_scale(&y, &sum, &mean);
            syi_attempt_tell(attempt, t, syi_attempt_round(attempt, &y, &row->out[0][t]));
        }
        if (++t >= attempt->last)
            return;
        still++;
        if (!has_range(attempt->in, t))
            continue;
        syi_number_fade(&sum, &factor, still);
        still = 0;
        add_range(&sum, attempt->in, t);
    }
}

static void compute_in_pairs(const sy_segment *row, syi_attempt *attempt)
{
    syi_wilder_in_pairs(row, attempt, 1);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    double period = row->params[0];
    syi_repairer how = {
        compute, compute_in_pairs, 1, (int64_t)period, syi_wilder_decay(period, SYI_REPAIR_BITS),
        2};
    return syi_recurrence_repair(row, first, last, past, &how);
}

static const sy_param_info params[] = {
    {"period", "columns; each adds 1 / period of its range", 1, 16777216, 14, 1, NULL},
};

static const syi_gpu_form gpu = SYI_STRETCH_FORM("syi_gpu_atr");

static const syi_gpu_form gpu_fast = SYI_WALK_FORM("syi_gpu_atr_fast");

static const char *const input_names[] = {"high", "low", "close"};
static const char *const output_names[] = {"atr"};

/* What the rows of both accuracies have in common. */
#define ATR_FACE                                                                                   \
    .name = "atr", .summary = "average true range (Wilder)", .pattern = SY_PATTERN_RECURRENCE,     \
    .n_inputs = 3, .n_outputs = 1, .n_params = 1, .input_names = input_names,                      \
    .output_names = output_names, .params = params, .warmup = syi_wilder_warmup_of,                \
    .joined_from = syi_wilder_joined_from

static const syi_workload fast = {
    ATR_FACE,
    .version = 3,
    .tag = "atr_fast",
    .halo = syi_wilder_fast_halo_of,
    .takes_floats = 1,
    .block = syi_wilder_fast_block_of,
    .run = {SYI_ISA_LIST(syi_atr_fast_run)},
    .agrees = syi_chain_agrees,
    .gpu = &gpu_fast,
    .is_write_bound = 1,
};

const syi_workload syi_workload_atr = {
    ATR_FACE,
    .version = 1,
    .halo = syi_wilder_halo_of,
    .run = {SYI_ISA_LIST(syi_atr_run)},
    .agrees = syi_wilder_agrees,
    .repair = repair,
    .gpu = &gpu,
    .fast = &fast,
};
