/* macd: a fast less a slow exponential moving average, that difference's own average (the signal),
 * and the distance between the two (the histogram). */
#include "cuda/forms.h"
#include "macd/carry.h"
#include "macd/fast.h"
#include "macd/macd.h"
#include "recurrence/repair.h"

SYI_ISA_DECLARE(syi_macd_run);
SYI_ISA_DECLARE(syi_macd_fast_run);

static sy_status check(const double *params)
{
    if (params[0] < params[1])
        return SY_OK;
    return syi_fail(
        SY_ERR_ARGUMENT,
        "macd: fast %.0f is not below slow %.0f; choose a fast period below the slow one",
        params[0], params[1]);
}

extern const syi_workload syi_workload_macd;

static int64_t halo(const double *params)
{
    syi_macd macd = syi_macd_of(params);
    return syi_macd_halo(&macd);
}

static int64_t warmup(const double *params)
{
    syi_macd macd = syi_macd_of(params);
    return syi_macd_warmup(&macd);
}

static int64_t joined_from(const double *params)
{
    return warmup(params) + 2;
}

/* The three deviations of the definition with wide numbers. */
typedef struct walk {
    const sy_segment *row;
    syi_attempt *attempt;
    syi_macd macd;
    syi_factor fast_factor, slow_factor, signal_factor;
    syi_number fast, slow, value, signal;
    int64_t column;
} walk;

static void begin(walk *w)
{
    const syi_attempt *attempt = w->attempt;
    if (attempt->from_seed) {
        w->column = w->macd.seeded_slow - 1;
        syi_number_seed(&w->fast, attempt->in, w->column, w->macd.seeded_fast, attempt->limbs);
        syi_number_seed(&w->slow, attempt->in, w->column, w->macd.seeded_slow, attempt->limbs);
    } else {
        w->column = attempt->start;
        syi_number_unknown(&w->fast, attempt->peak, 2, attempt->limbs);
        syi_number_unknown(&w->slow, attempt->peak, 2, attempt->limbs);
        syi_number_unknown(&w->signal, attempt->peak, 4, attempt->limbs);
    }
    syi_number_subtract(&w->value, &w->fast, &w->slow);
}

/* Moves the averages to the next column; `change` becomes that of their difference. */
static void advance(walk *w, syi_number *change)
{
    const double before = syi_input(w->attempt->in, 0, w->column);
    syi_number next;
    syi_number_set_difference(change, syi_input(w->attempt->in, 0, ++w->column), before,
                              w->attempt->limbs);
    syi_number_smooth(&w->fast, change, &w->fast_factor);
    syi_number_smooth(&w->slow, change, &w->slow_factor);
    syi_number_subtract(&next, &w->fast, &w->slow);
    syi_number_subtract(change, &next, &w->value);
    w->value = next;
}

/* What an average, times `sign` in the difference, adds to the signal's distance so that the sum
 * fades as that does by itself: (signal - 1) / (signal - period) of it. Where the periods are equal
 * nothing does, but what comes in of it in so many columns is added. */
static void add_share(walk *w, const syi_number *average, double period, int sign, int64_t columns)
{
    const int64_t apart = (int64_t)(w->macd.signal - period);
    const syi_factor share =
        apart ? syi_factor_of((int64_t)w->macd.signal - 1, apart < 0 ? -apart : apart)
              : syi_factor_of(2 * columns, (int64_t)period + 1);
    syi_number part;
    syi_number_scale(&part, average, &share);
    if ((apart < 0) != (sign < 0))
        syi_number_subtract(&w->signal, &w->signal, &part);
    else
        syi_number_add(&w->signal, &w->signal, &part);
}

/* Passes columns in which the price stands still, all at once; of few, one after the other takes no
 * longer. */
static void pass(walk *w, int64_t columns)
{
    if (columns < 3)
        return;
    add_share(w, &w->fast, w->macd.fast, 1, columns);
    add_share(w, &w->slow, w->macd.slow, -1, columns);
    syi_number_fade(&w->signal, &w->signal_factor, columns);
    syi_number_fade(&w->fast, &w->fast_factor, columns);
    syi_number_fade(&w->slow, &w->slow_factor, columns);
    add_share(w, &w->fast, w->macd.fast, -1, 0);
    add_share(w, &w->slow, w->macd.slow, 1, 0);
    syi_number_subtract(&w->value, &w->fast, &w->slow);
    w->column += columns;
}

/* The columns after this one up to `end` in which the price stands still; not too many to count. */
static int64_t still_after(const walk *w, int64_t end)
{
    const syi_inputs *in = w->attempt->in;
    const double price = syi_input(in, 0, w->column);
    const int64_t left = end - w->column - 1, most = left < 1 << 24 ? left : 1 << 24;
    int64_t still = 0;
    if (!in->floats)
        return syi_count_still(in->doubles[0] + w->column + 1, price, most);
    while (still < most && syi_input(in, 0, w->column + 1 + still) == price)
        still++;
    return still;
}

/* Goes on to the first column of the signal, which is the mean of the differences so far. */
static void seed_signal(walk *w)
{
    syi_factor mean = syi_factor_of(1, w->macd.seeded_signal);
    syi_number sum = w->value, change;
    while (w->column < syi_macd_warmup(&w->macd)) {
        advance(w, &change);
        syi_number_add(&sum, &sum, &w->value);
    }
    syi_number_scale(&sum, &sum, &mean);
    syi_number_subtract(&w->signal, &sum, &w->value);
}

static void put(walk *w)
{
    int certain;
    double *const *out = w->row->out;
    int64_t t = w->column;
    syi_number y;
    certain = syi_attempt_round(w->attempt, &w->value, &out[0][t]);
    syi_number_add(&y, &w->value, &w->signal);
    certain &= syi_attempt_round(w->attempt, &y, &out[1][t]);
    syi_number_negate(&y, &w->signal);
    certain &= syi_attempt_round(w->attempt, &y, &out[2][t]);
    syi_attempt_tell(w->attempt, t, certain);
}

static void compute(const sy_segment *row, syi_attempt *attempt)
{
    walk w = {.row = row, .attempt = attempt, .macd = syi_macd_of(row->params)};
    syi_number change;
    w.fast_factor = syi_factor_of((int64_t)w.macd.fast - 1, (int64_t)w.macd.fast + 1);
    w.slow_factor = syi_factor_of((int64_t)w.macd.slow - 1, (int64_t)w.macd.slow + 1);
    w.signal_factor = syi_factor_of((int64_t)w.macd.signal - 1, (int64_t)w.macd.signal + 1);
    begin(&w);
    if (attempt->from_seed)
        seed_signal(&w);
    for (;;) {
        if (w.column >= attempt->first)
            put(&w);
        if (w.column + 1 >= attempt->last)
            return;
        pass(&w, still_after(&w, attempt->first));
        advance(&w, &change);
        syi_number_smooth(&w.signal, &change, &w.signal_factor);
    }
}

/* What is known of the state at column t: of the averages, and so of the signal, that they are
 * within the peak. */
static syi_macd_state state_at(const syi_inputs *in, int64_t t, const syi_macd_terms *k,
                               double peak)
{
    const double x = syi_input(in, 0, t), before = syi_input(in, 0, t - 1);
    const double most = 2.0001 * SYI_PER_FINE * peak;
    syi_macd_state s = {.phase = SYI_PHASE_RUNNING, .x = x};
    s.slope = syi_dd_of_sum(x, -before);
    s.fast.error = most * (1.0 + k->tilted * k->fast_tilt);
    s.slow.error = most * (1.0 + k->tilted * k->slow_tilt);
    s.gap.error = s.fast.error + s.slow.error;
    s.signal.error = 2.0 * most;
    return s;
}

/* From the row's beginning to the signal's first column; gives whether all is in range. */
static int run_from_seed(const double *x, const syi_macd *macd, const syi_macd_terms *k,
                         syi_macd_state *s)
{
    const int64_t seeded = macd->seeded_slow;
    int is_in_range = syi_phase_of_seed(x, seeded, SYI_PHASE_RUNNING) == SYI_PHASE_RUNNING;
    syi_macd_begin(k, s, x + seeded - 1, macd);
    for (int64_t t = seeded - 1; t <= syi_macd_warmup(macd); t++) {
        is_in_range &= fabs(x[t]) <= SYI_HUGE;
        syi_macd_seed_column(k, s, x[t], (double)(t - (seeded - 1)));
    }
    syi_macd_seed_signal(macd, s);
    return is_in_range;
}

/* Whether the steps up to what is wanted change so much that plain deviations are the smaller ones
 * (step.h). */
static int is_crooked(const syi_macd *macd, const syi_attempt *attempt)
{
    const int64_t last = attempt->first, least = attempt->from_seed ? 2 : attempt->start + 2;
    double steps = 0.0, bends = 0.0;
    for (int64_t t = last - 16 > least ? last - 16 : least; t <= last; t++) {
        const double x = syi_input(attempt->in, 0, t - 1);
        const double step = syi_input(attempt->in, 0, t) - x;
        const double before = x - syi_input(attempt->in, 0, t - 2);
        steps += fabs(step);
        bends += fabs(step - before);
    }
    return macd->slow * bends > steps;
}

/* Makes the averages' deviations plain ones (step.h). */
static void untilt(const syi_macd_terms *tilted, syi_macd_state *s)
{
    s->fast = syi_macd_tilt(s->fast, s->slope, -tilted->fast_tilt);
    s->slow = syi_macd_tilt(s->slow, s->slope, -tilted->slow_tilt);
    s->gap = syi_deviation_less(s->fast, s->slow);
}

static void compute_in_pairs(const sy_segment *row, syi_attempt *attempt)
{
    const syi_macd macd = syi_macd_of(row->params);
    const syi_macd_terms kernels = syi_macd_terms_of(&macd);
    const syi_macd_terms k = is_crooked(&macd, attempt) ? syi_macd_terms_with(&macd, 0.0) : kernels;
    syi_macd_state s = {.phase = SYI_PHASE_RUNNING};
    int64_t t = attempt->from_seed ? syi_macd_warmup(&macd) : attempt->start;
    int is_in_range;
    if (attempt->from_seed) {
        is_in_range = run_from_seed(row->in[0], &macd, &k, &s);
    } else {
        syi_macd_state known = state_at(attempt->in, t, &kernels, attempt->peak);
        t = syi_attempt_approach(row, attempt, &syi_workload_macd, &known, sizeof known);
        if (k.tilted != kernels.tilted)
            untilt(&kernels, &known);
        s = known; /* which stays in registers */
        is_in_range = attempt->peak <= SYI_HUGE && s.phase == SYI_PHASE_RUNNING;
    }
    for (;;) {
        if (t >= attempt->first) {
            double y[3];
            const int is_certain =
                is_in_range && syi_macd_settle(&k, &s, &y[0], &y[1], &y[2]) == 0.0;
            for (int o = 0; o < 3 && is_certain; o++)
                row->out[o][t] = y[o];
            syi_attempt_tell(attempt, t, is_certain);
        }
        if (++t >= attempt->last)
            return;
        const double x = syi_input(attempt->in, 0, t);
        is_in_range &= fabs(x) <= SYI_HUGE;
        syi_macd_smooth_signal(&k, &s, syi_macd_advance(&k, &s, x));
    }
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    syi_macd macd = syi_macd_of(row->params);
    syi_repairer how = {compute,
                        compute_in_pairs,
                        3,
                        syi_macd_warmup(&macd),
                        syi_macd_decay(&macd, SYI_REPAIR_BITS),
                        0};
    return syi_recurrence_repair(row, first, last, past, &how);
}

static const sy_param_info params[] = {
    {"fast", "period of the fast average", 1, 16777216, 12, 1, NULL},
    {"slow", "period of the slow average", 1, 16777216, 26, 1, NULL},
    {"signal", "period of the signal, the average of the macd", 1, 16777216, 9, 1, NULL},
    SYI_SEED_PARAM,
};

static const syi_gpu_form gpu = SYI_STRETCH_FORM("syi_gpu_macd");

static int64_t fast_block(const double *params)
{
    syi_macd macd = syi_macd_of(params);
    return syi_macd_cut(&macd).block;
}

static const syi_gpu_form gpu_fast = SYI_WALK_FORM("syi_gpu_macd_fast");

static int64_t fast_halo(const double *params)
{
    syi_macd macd = syi_macd_of(params);
    syi_chain_cut cut = syi_macd_cut(&macd);
    return syi_chain_halo(&cut, macd.seeded_slow);
}

static const char *const input_names[] = {"close"};
static const char *const output_names[] = {"macd", "signal", "histogram"};

/* What the rows of both accuracies have in common. */
#define MACD_FACE                                                                                  \
    .name = "macd",                                                                                \
    .summary = "moving average convergence/divergence, its signal and their distance",             \
    .pattern = SY_PATTERN_RECURRENCE, .n_inputs = 1, .n_outputs = 3, .n_params = 4,                \
    .input_names = input_names, .output_names = output_names, .params = params, .check = check,    \
    .warmup = warmup, .joined_from = joined_from

static const syi_workload fast = {
    MACD_FACE,
    .version = 4,
    .tag = "macd_fast",
    .halo = fast_halo,
    .takes_floats = 1,
    .block = fast_block,
    .run = {SYI_ISA_LIST(syi_macd_fast_run)},
    .agrees = syi_chain_agrees,
    .gpu = &gpu_fast,
    .is_write_bound = 1,
};

const syi_workload syi_workload_macd = {
    MACD_FACE,
    .version = 1,
    .halo = halo,
    .beside_to = 16384,
    .run = {SYI_ISA_LIST(syi_macd_run)},
    .agrees = syi_macd_agrees,
    .repair = repair,
    .gpu = &gpu,
    .is_write_bound = 1,
    .fast = &fast,
};
