/* ema: the exponential moving average, y' = y + 2 / (period + 1) * (x' - y). */
#include "cuda/forms.h"
#include "ema/ema.h"
#include "ema/fast.h"
#include "ema/state.h"
#include "recurrence/repair.h"

SYI_ISA_DECLARE(syi_ema_run);
SYI_ISA_DECLARE(syi_ema_fast_run);

extern const syi_workload syi_workload_ema;

static int64_t halo(const double *params)
{
    syi_ema ema = syi_ema_of(params);
    return syi_ema_halo(&ema);
}

static int64_t warmup(const double *params)
{
    return syi_ema_of(params).seeded - 1;
}

static int64_t joined_from(const double *params)
{
    return warmup(params) + 2;
}

static void compute(const sy_segment *row, syi_attempt *attempt)
{
    const syi_inputs *in = attempt->in;
    syi_ema ema = syi_ema_of(row->params);
    syi_factor factor = syi_factor_of((int64_t)ema.period - 1, (int64_t)ema.period + 1);
    syi_number change, deviation, y;
    int64_t t = attempt->from_seed ? ema.seeded - 1 : attempt->start, still = 0;
    if (attempt->from_seed)
        syi_number_seed(&deviation, in, t, ema.seeded, attempt->limbs);
    else
        syi_number_unknown(&deviation, attempt->peak, 2, attempt->limbs);
    for (;;) {
        if (t >= attempt->first) {
            syi_number_fade(&deviation, &factor, still);
            still = 0;
            syi_number_set(&y, syi_input(in, 0, t), attempt->limbs);
            syi_number_add(&y, &y, &deviation);
            syi_attempt_tell(attempt, t, syi_attempt_round(attempt, &y, &row->out[0][t]));
        }
        if (++t >= attempt->last)
            return;
        still++;
        if (syi_input(in, 0, t) == syi_input(in, 0, t - 1))
            continue;
        syi_number_set_difference(&change, syi_input(in, 0, t), syi_input(in, 0, t - 1),
                                  attempt->limbs);
        syi_number_fade(&deviation, &factor, still - 1);
        syi_number_smooth(&deviation, &change, &factor);
        still = 0;
    }
}

static void compute_in_pairs(const sy_segment *row, syi_attempt *attempt)
{
    const syi_inputs *in = attempt->in;
    const syi_ema ema = syi_ema_of(row->params);
    const syi_factor_dd factor = syi_smoothing_factor(ema.period);
    int64_t t = attempt->from_seed ? ema.seeded - 1 : attempt->start;
    syi_ema_state s = {.phase = SYI_PHASE_RUNNING, .x = syi_input(in, 0, t)};
    int is_in_range;
    if (attempt->from_seed) {
        const double *x = row->in[0];
        is_in_range = syi_phase_of_seed(x, ema.seeded, SYI_PHASE_RUNNING) == SYI_PHASE_RUNNING;
        s.deviation = syi_deviation_seed(x + t, ema.seeded, 0.0);
    } else {
        syi_ema_state known = s; /* so that the other stays in registers */
        known.deviation.error = 2.0001 * SYI_PER_FINE * attempt->peak;
        t = syi_attempt_approach(row, attempt, &syi_workload_ema, &known, sizeof known);
        s = known;
        is_in_range = attempt->peak <= SYI_HUGE && s.phase == SYI_PHASE_RUNNING;
    }
    for (;;) {
        if (t >= attempt->first) {
            double y;
            const int is_certain = is_in_range && syi_ema_settle(&s, &y) == 0.0;
            if (is_certain)
                row->out[0][t] = y;
            syi_attempt_tell(attempt, t, is_certain);
        }
        if (++t >= attempt->last)
            return;
        const double x = syi_input(in, 0, t);
        is_in_range &= fabs(x) <= SYI_HUGE;
        syi_ema_advance(&s, x, &factor);
    }
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    syi_ema ema = syi_ema_of(row->params);
    syi_repairer how = {compute,
                        compute_in_pairs,
                        1,
                        ema.seeded - 1,
                        syi_decay_columns(ema.period, SYI_REPAIR_BITS),
                        0};
    return syi_recurrence_repair(row, first, last, past, &how);
}

static const sy_param_info params[] = {
    {"period", "columns; the smoothing is 2 / (period + 1)", 1, 16777216, 20, 1, NULL},
    SYI_SEED_PARAM,
};

static const syi_gpu_form gpu = SYI_STRETCH_FORM("syi_gpu_ema");

static int64_t fast_block(const double *params)
{
    return syi_ema_cut(syi_ema_of(params).period).block;
}

static const syi_gpu_form gpu_fast = SYI_WALK_FORM("syi_gpu_ema_fast");

static int64_t fast_halo(const double *params)
{
    syi_ema ema = syi_ema_of(params);
    syi_chain_cut cut = syi_ema_cut(ema.period);
    return syi_chain_halo(&cut, ema.seeded);
}

static const char *const input_names[] = {"x"};
static const char *const output_names[] = {"y"};

/* What the rows of both accuracies have in common. */
#define EMA_FACE                                                                                   \
    .name = "ema", .summary = "exponential moving average", .pattern = SY_PATTERN_RECURRENCE,      \
    .n_inputs = 1, .n_outputs = 1, .n_params = 2, .input_names = input_names,                      \
    .output_names = output_names, .params = params, .warmup = warmup, .joined_from = joined_from

static const syi_workload fast = {
    EMA_FACE,
    .version = 3,
    .tag = "ema_fast",
    .halo = fast_halo,
    .takes_floats = 1,
    .block = fast_block,
    .run = {SYI_ISA_LIST(syi_ema_fast_run)},
    .agrees = syi_chain_agrees,
    .gpu = &gpu_fast,
    .is_write_bound = 1,
};

const syi_workload syi_workload_ema = {
    EMA_FACE,
    .version = 1,
    .halo = halo,
    .beside_to = 16384,
    .run = {SYI_ISA_LIST(syi_ema_run)},
    .agrees = syi_ema_agrees,
    .repair = repair,
    .gpu = &gpu,
    .fast = &fast,
};
