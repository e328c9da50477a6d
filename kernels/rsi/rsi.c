/* rsi: the relative strength index, 100 * gains / (gains + losses) of Wilder's averages. */
#include "cuda/forms.h"
#include "recurrence/repair.h"
#include "recurrence/rest.h"
#include "rsi/fast.h"
#include "wilder/pairs.h"
#include "wilder/params.h"

SYI_ISA_DECLARE(syi_rsi_run);
SYI_ISA_DECLARE(syi_rsi_fast_run);

/* The two sums with wide numbers. Columns without a move are counted, as in the fast arithmetic:
 * they change nothing until the next move. */
typedef struct walk {
    syi_number up, down;
    syi_factor factor;
    int64_t still;
    int limbs;
} walk;

static void add_move(walk *w, double from, double to)
{
    syi_number move;
    syi_number_set_difference(&move, to, from, w->limbs);
    if (move.sign > 0)
        syi_number_add(&w->up, &w->up, &move);
    else
        syi_number_subtract(&w->down, &w->down, &move);
}

static void advance(walk *w, double from, double to)
{
    w->still++;
    if (from == to && w->factor.multiply)
        return;
    syi_number_fade(&w->up, &w->factor, w->still);
    syi_number_fade(&w->down, &w->factor, w->still);
    w->still = 0;
    add_move(w, from, to);
}

static int put(const walk *w, const syi_attempt *attempt, double *y)
{
    const syi_factor hundred = syi_factor_of(100, 1);
    syi_number part, total;
    syi_number_add(&total, &w->up, &w->down);
    if (total.sign == 0) {
        *y = 50.0;
        return syi_rest_is_none(total.rest);
    }
    syi_number_scale(&part, &w->up, &hundred);
    syi_number_divide(&part, &part, &total);
    return syi_attempt_round(attempt, &part, y);
}

static void begin(walk *w, int64_t period, const syi_attempt *attempt)
{
    const double peak = attempt->from_seed ? 0.0 : attempt->peak;
    syi_number_unknown(&w->up, peak, 2 * period, w->limbs);
    syi_number_unknown(&w->down, peak, 2 * period, w->limbs);
    for (int64_t i = 1; attempt->from_seed && i <= period; i++)
        add_move(w, syi_input(attempt->in, 0, i - 1), syi_input(attempt->in, 0, i));
}

static void compute(const sy_segment *row, syi_attempt *attempt)
{
    int64_t period = (int64_t)row->params[0];
    int64_t t = attempt->from_seed ? period : attempt->start;
    walk w = {.factor = syi_factor_of(period - 1, period), .limbs = attempt->limbs};
    int certain = 0, fresh = 1;
    double value = 50.0;
    begin(&w, period, attempt);
    for (;;) {
        if (t >= attempt->first) {
            if (fresh)
                certain = put(&w, attempt, &value);
            row->out[0][t] = value;
            fresh = 0;
            syi_attempt_tell(attempt, t, certain);
        }
        if (++t >= attempt->last)
            return;
        const double last = syi_input(attempt->in, 0, t - 1), next = syi_input(attempt->in, 0, t);
        advance(&w, last, next);
        fresh |= period == 1 || last != next;
    }
}

static void compute_in_pairs(const sy_segment *row, syi_attempt *attempt)
{
    syi_wilder_in_pairs(row, attempt, 0);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    double period = row->params[0];
    syi_repairer how = {
        compute, compute_in_pairs, 1, (int64_t)period, syi_wilder_decay(period, SYI_REPAIR_BITS),
        0};
    return syi_recurrence_repair(row, first, last, past, &how);
}

static const sy_param_info params[] = {
    {"period", "columns; each adds 1 / period of its gain or loss", 1, 16777216, 14, 1, NULL},
};

static const syi_gpu_form gpu = SYI_STRETCH_FORM("syi_gpu_rsi");

static const syi_gpu_form gpu_fast = SYI_WALK_FORM("syi_gpu_rsi_fast");

static const char *const input_names[] = {"close"};
static const char *const output_names[] = {"rsi"};

/* What the rows of both accuracies have in common. */
#define RSI_FACE                                                                                   \
    .name = "rsi", .summary = "relative strength index (Wilder)",                                  \
    .pattern = SY_PATTERN_RECURRENCE, .n_inputs = 1, .n_outputs = 1, .n_params = 1,                \
    .input_names = input_names, .output_names = output_names, .params = params,                    \
    .warmup = syi_wilder_warmup_of, .joined_from = syi_wilder_joined_from

static const syi_workload fast = {
    RSI_FACE,
    .version = 2,
    .tag = "rsi_fast",
    .halo = syi_wilder_fast_halo_of,
    .takes_floats = 1,
    .block = syi_wilder_fast_block_of,
    .run = {SYI_ISA_LIST(syi_rsi_fast_run)},
    .agrees = syi_rsi_fast_agrees,
    .gpu = &gpu_fast,
    .is_write_bound = 1,
};

const syi_workload syi_workload_rsi = {
    RSI_FACE,
    .version = 1,
    .halo = syi_wilder_halo_of,
    .beside_to = 65536,
    .run = {SYI_ISA_LIST(syi_rsi_run)},
    .agrees = syi_wilder_agrees,
    .repair = repair,
    .gpu = &gpu,
    .fast = &fast,
};
