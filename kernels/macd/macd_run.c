/* The MACD. Compiled for several instruction sets. */
#include "macd/macd.h"
#include "macd/state.h"
#include "recurrence/lanes.h"

/*
 * On a straight line of prices an average of period p trails by c = (p - 1) / 2 steps, and what the
 * histogram is made of vanishes. So the averages are kept as g = (y - x) + c * (x' - x), for which
 *
 *     g' = b * (g + c * (change of slope)),   macd = g_fast - g_slow + (c_slow - c_fast) * slope
 *
 * and straight or flat stretches decay to the last bit. With a long period c only enlarges the
 * noise; then the plain deviations are better.
 */
#define LONGEST_TILTED 512.0

typedef struct task {
    const double *x;  /* x[0] is column `first` */
    double *const *y; /* NULL: only the state is wanted */
    int64_t first, row;
    syi_macd macd;
    int64_t seed, warmup; /* relative to `first` */
    syi_factor_dd fast, slow, signal;
    double tilted; /* 1 or 0 */
    double fast_tilt, slow_tilt, gap_tilt;
    syi_doubts *doubts;
} task;

SYI_INLINE syi_deviation add(syi_deviation a, syi_dd b, double b_error)
{
    syi_dd sum = syi_dd_add(a.value, b);
    return (syi_deviation){sum, a.error + b_error + SYI_DD_ERROR * fabs(sum.high)};
}

SYI_INLINE syi_deviation difference(syi_deviation a, syi_deviation b)
{
    return add(a, syi_dd_negative(b.value), b.error);
}

/* The macd: the gap and what the slope adds. */
SYI_INLINE syi_deviation value_of(const task *task, const syi_macd_state *s)
{
    syi_dd tilt = syi_dd_scale(s->slope, task->gap_tilt);
    return add(s->gap, tilt, SYI_DD_ERROR * fabs(tilt.high));
}

/* Moves the averages on to x; returns the macd's change. */
SYI_INLINE syi_deviation advance(const task *task, syi_macd_state *s, double x)
{
    syi_dd slope = syi_dd_of_sum(x, -s->x), bend = syi_dd_subtract(slope, s->slope);
    syi_dd tilt = syi_dd_scale(bend, task->gap_tilt);
    /* The bend, or -slope: exactly, and without a branch. */
    syi_dd moved = {task->tilted * bend.high + (task->tilted - 1.0) * slope.high,
                    task->tilted * bend.low + (task->tilted - 1.0) * slope.low};
    syi_dd fast = syi_dd_scale(moved, task->fast_tilt), slow = syi_dd_scale(moved, task->slow_tilt);
    syi_deviation gap = s->gap, change;
    s->fast = syi_deviation_step(s->fast, fast, 2.0 * SYI_DD_ERROR * fabs(fast.high), &task->fast);
    s->slow = syi_deviation_step(s->slow, slow, 2.0 * SYI_DD_ERROR * fabs(slow.high), &task->slow);
    s->gap = difference(s->fast, s->slow);
    s->slope = slope;
    s->x = x;
    change = difference(s->gap, gap);
    return add(change, tilt, 2.0 * SYI_DD_ERROR * fabs(tilt.high));
}

SYI_INLINE void smooth_signal(const task *task, syi_macd_state *s, syi_deviation change)
{
    s->signal =
        syi_deviation_step(s->signal, syi_dd_negative(change.value), change.error, &task->signal);
}

/* The three outputs; not 0.0 when one of them is in doubt. */
SYI_INLINE double settle(const task *task, const syi_macd_state *s, double *macd_out,
                         double *signal_out, double *histogram_out)
{
    syi_deviation macd = value_of(task, s), signal = add(macd, s->signal.value, s->signal.error);
    syi_dd histogram = syi_dd_negative(s->signal.value);
    double doubt = syi_dd_settle(macd.value, macd.error, macd_out);
    doubt += syi_dd_settle(signal.value, signal.error, signal_out);
    return doubt + syi_dd_settle(histogram, s->signal.error, histogram_out);
}

static sy_status put(const task *task, int64_t i, const syi_macd_state *s)
{
    if (settle(task, s, &task->y[0][i], &task->y[1][i], &task->y[2][i]) != 0.0)
        return syi_doubts_add(task->doubts, task->row, task->first + i);
    return SY_OK;
}

/* Non-zero when x is out of range, which ends the present phase. */
SYI_INLINE int leaves_range(syi_macd_state *s, double x)
{
    if (fabs(x) <= SYI_HUGE)
        return 0;
    s->phase = syi_phase_after(x);
    return 1;
}

static sy_status run_steps(const task *task, syi_macd_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    syi_macd_state s = *state;
    int64_t i = from;
    for (; i < to && !leaves_range(&s, task->x[i]); i++) {
        smooth_signal(task, &s, advance(task, &s, task->x[i]));
        if (task->y)
            SYI_TRY(put(task, i, &s));
    }
    *state = s;
    *reached = i;
    return SY_OK;
}

/* A lane's state is its carry, word by word: what changes in it, in order from x on. */
enum { X, SLOPE, FAST = SLOPE + 2, SLOW = FAST + 3, SIGNAL = SLOW + 3, GAP = SIGNAL + 3 };

SYI_INLINE syi_deviation load(double (*w)[SYI_LANES], int at, int lane)
{
    return (syi_deviation){{w[at][lane], w[at + 1][lane]}, w[at + 2][lane]};
}

SYI_INLINE void store(double (*w)[SYI_LANES], int at, int lane, syi_deviation a)
{
    w[at][lane] = a.value.high;
    w[at + 1][lane] = a.value.low;
    w[at + 2][lane] = a.error;
}

static void step_lanes(const void *of, syi_lanes *lanes, int count)
{
    const task task = *(const struct task *)of;
    double(*w)[SYI_LANES] = lanes->state + offsetof(syi_macd_state, x) / sizeof(double);
    for (int i = 0; i < count; i++)
#pragma GCC ivdep
        for (int l = 0; l < SYI_LANES; l++) {
            syi_macd_state s = {.x = w[X][l], .slope = {w[SLOPE][l], w[SLOPE + 1][l]}};
            s.fast = load(w, FAST, l);
            s.slow = load(w, SLOW, l);
            s.signal = load(w, SIGNAL, l);
            s.gap = load(w, GAP, l);
            smooth_signal(&task, &s, advance(&task, &s, lanes->x[i][l]));
            lanes->doubt[i][l] =
                settle(&task, &s, &lanes->y[0][i][l], &lanes->y[1][i][l], &lanes->y[2][i][l]);
            w[X][l] = s.x;
            w[SLOPE][l] = s.slope.high;
            w[SLOPE + 1][l] = s.slope.low;
            store(w, FAST, l, s.fast);
            store(w, SLOW, l, s.slow);
            store(w, SIGNAL, l, s.signal);
            store(w, GAP, l, s.gap);
        }
}

static void assume(syi_carry *carry, const double *x, int64_t count)
{
    double slope = count > 1 ? x[1] - x[0] : 0.0, error = syi_assumed_error(x, count);
    syi_macd_state s = {.phase = SYI_PHASE_RUNNING, .x = x[0] - slope, .slope = {slope, 0.0}};
    if (syi_is_straight(x, count))
        error = 0.0;
    s.fast.error = s.slow.error = s.signal.error = error;
    s.gap.error = 2.0 * error;
    memcpy(carry, &s, sizeof s);
}

static void claim(syi_carry *carry)
{
    syi_macd_state s;
    memcpy(&s, carry, sizeof s);
    s.fast.error = syi_claimed_error(s.fast.error);
    s.slow.error = syi_claimed_error(s.slow.error);
    s.signal.error = syi_claimed_error(s.signal.error);
    s.gap.error = 2.0 * syi_claimed_error(s.gap.error);
    memcpy(carry, &s, sizeof s);
}

static sy_status run_alone(const void *of, syi_carry *carry, int64_t from, int64_t to)
{
    syi_macd_state state;
    int64_t reached;
    memcpy(&state, carry, sizeof state);
    SYI_TRY(run_steps(of, &state, from, to, &reached));
    memcpy(carry, &state, sizeof state);
    return SY_OK;
}

/* The long part of a stretch. */
static sy_status run_lanes(const task *task, syi_macd_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    const syi_lane_form form = {3,
                                syi_macd_decay(&task->macd, SYI_HALO_BITS),
                                syi_macd_agrees,
                                assume,
                                claim,
                                step_lanes,
                                run_alone};
    syi_lane_place place = {task->x, task->y, task->first, task->row, task->doubts};
    syi_carry carry = {{0.0}};
    memcpy(&carry, state, sizeof *state);
    SYI_TRY(syi_lanes_run(&form, task, &place, &carry, from, to, reached));
    memcpy(state, &carry, sizeof *state);
    return SY_OK;
}

/* The signal's first deviation, once the macd has come so far. */
static void seed_signal(const task *task, syi_macd_state *s)
{
    double count = (double)task->macd.seeded_signal;
    syi_dd mean = syi_dd_divide(s->sum.value, count);
    double error = s->sum.error / count + SYI_DD_ERROR * fabs(mean.high);
    s->signal = (syi_deviation){{0.0, 0.0}, 0.0};
    if (task->macd.seeded_signal > 1)
        s->signal = difference((syi_deviation){mean, error}, value_of(task, s));
    s->phase = SYI_PHASE_RUNNING;
}

/* From the averages' first column to the signal's. */
static sy_status run_seeding(const task *task, syi_macd_state *s, int64_t from, int64_t to,
                             int64_t *reached)
{
    syi_deviation value;
    int64_t i = from;
    for (; i < to && i <= task->warmup; i++) {
        if (leaves_range(s, task->x[i]))
            break;
        if (i > task->seed)
            advance(task, s, task->x[i]);
        value = value_of(task, s);
        s->sum = add(s->sum, value.value, value.error);
        if (i == task->warmup)
            seed_signal(task, s);
        if (i == task->warmup && task->y)
            SYI_TRY(put(task, i, s));
    }
    *reached = i;
    return SY_OK;
}

/* Columns before the averages' first values, and those values once they are reached. */
static void run_seed(const task *task, syi_macd_state *s, int64_t to, int64_t *reached)
{
    int64_t seed = task->seed;
    const syi_macd *macd = &task->macd;
    *reached = seed < to ? seed : to;
    if (seed >= to)
        return;
    s->phase = syi_phase_of_seed(task->x + seed + 1 - macd->seeded_slow, macd->seeded_slow,
                                 SYI_PHASE_SEEDING);
    if (s->phase != SYI_PHASE_SEEDING)
        return;
    s->x = task->x[seed];
    s->fast = syi_deviation_seed(task->x + seed, macd->seeded_fast);
    s->slow = syi_deviation_seed(task->x + seed, macd->seeded_slow);
    s->gap = difference(s->fast, s->slow);
}

/* Beyond the fast arithmetic's range, until something is not finite. */
static sy_status run_huge(const task *task, syi_macd_state *s, int64_t from, int64_t to,
                          int64_t *reached)
{
    int64_t i = from;
    for (; i < to && syi_is_finite(task->x[i]); i++)
        if (task->y && i >= task->warmup) {
            for (int k = 0; k < 3; k++)
                task->y[k][i] = 0.0;
            SYI_TRY(syi_doubts_add(task->doubts, task->row, task->first + i));
        }
    if (i < to)
        s->phase = SYI_PHASE_POISONED;
    *reached = i;
    return SY_OK;
}

static sy_status run_columns(const task *task, syi_macd_state *s, int64_t from, int64_t to)
{
    int64_t i = from;
    for (int k = 0; task->y && k < 3; k++)
        syi_fill_nan(task->y[k], from, task->warmup < to ? task->warmup : to);
    if (i < to && s->phase == SYI_PHASE_BEFORE)
        run_seed(task, s, to, &i);
    if (i < to && s->phase == SYI_PHASE_SEEDING)
        SYI_TRY(run_seeding(task, s, i, to, &i));
    if (SYI_HAVE_LANES && task->y && i < to && s->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_lanes(task, s, i, to, &i));
    if (i < to && s->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_steps(task, s, i, to, &i));
    if (i < to && s->phase == SYI_PHASE_HUGE)
        SYI_TRY(run_huge(task, s, i, to, &i));
    for (int k = 0; task->y && k < 3; k++)
        syi_fill_nan(task->y[k], i, to);
    return SY_OK;
}

/* The state before column 0 of the segment. */
static sy_status find_start(const task *columns, const syi_piece *piece, syi_macd_state *s)
{
    int64_t left = piece->segment.left;
    task unseen = *columns;
    syi_carry carry = {{0.0}};
    unseen.y = NULL;
    *s = (syi_macd_state){.phase = SYI_PHASE_BEFORE, .from_start = 1.0};
    if (left == piece->segment.first)
        return run_columns(&unseen, s, -left, 0);
    if (piece->start) {
        memcpy(s, piece->start, sizeof *s);
        return SY_OK;
    }
    assume(&carry, unseen.x - left, left);
    memcpy(s, &carry, sizeof *s);
    SYI_TRY(run_columns(&unseen, s, -left, 0));
    memcpy(&carry, s, sizeof *s);
    claim(&carry);
    memcpy(s, &carry, sizeof *s);
    return SY_OK;
}

static task make_task(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    task task = {.x = segment->in[0], .y = segment->out, .first = segment->first};
    syi_macd macd = syi_macd_of(segment->params);
    task.row = segment->row;
    task.doubts = piece->doubts;
    task.macd = macd;
    task.seed = macd.seeded_slow - 1 - segment->first;
    task.warmup = syi_macd_warmup(&macd) - segment->first;
    task.fast = syi_smoothing_factor(macd.fast);
    task.slow = syi_smoothing_factor(macd.slow);
    task.signal = syi_smoothing_factor(macd.signal);
    task.tilted = macd.slow <= LONGEST_TILTED ? 1.0 : 0.0;
    task.fast_tilt = task.tilted != 0.0 ? 0.5 * (macd.fast - 1.0) : 1.0;
    task.slow_tilt = task.tilted != 0.0 ? 0.5 * (macd.slow - 1.0) : 1.0;
    task.gap_tilt = task.tilted != 0.0 ? 0.5 * (macd.slow - macd.fast) : 0.0;
    return task;
}

sy_status SYI_ISA_NAME(syi_macd_run)(const syi_piece *piece)
{
    task task = make_task(piece);
    syi_macd_state state;
    SYI_TRY(find_start(&task, piece, &state));
    memcpy(piece->assumed, &state, sizeof state);
    SYI_TRY(run_columns(&task, &state, 0, piece->segment.count));
    memcpy(piece->end, &state, sizeof state);
    return SY_OK;
}
