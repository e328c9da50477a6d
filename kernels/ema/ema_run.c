/* The exponential moving average. Compiled for several instruction sets. */
#include "ema/ema.h"
#include "ema/state.h"
#include "recurrence/lanes.h"

typedef struct task {
    const double *x; /* x[0] is column `first` */
    double *y;       /* NULL: only the state is wanted */
    int64_t first, row;
    syi_ema ema;
    syi_factor_dd factor;
    syi_doubts *doubts;
} task;

static sy_status put(const task *task, int64_t i, const syi_ema_state *state)
{
    if (syi_ema_settle(state, &task->y[i]) != 0.0)
        return syi_doubts_add(task->doubts, task->row, task->first + i);
    return SY_OK;
}

static sy_status run_steps(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    syi_ema_state s = *state;
    int64_t i = from;
    for (; i < to; i++) {
        double x = task->x[i];
        if (!(fabs(x) <= SYI_HUGE)) {
            s.phase = syi_phase_after(x);
            break;
        }
        syi_ema_advance(&s, x, &task->factor);
        if (task->y)
            SYI_TRY(put(task, i, &s));
    }
    *state = s;
    *reached = i;
    return SY_OK;
}

enum { X, HIGH, LOW, ERROR }; /* words of a lane's state */

static void step_lanes(const void *of, syi_lanes *lanes, int count)
{
    const syi_factor_dd factor = ((const task *)of)->factor;
    double(*w)[SYI_LANES] = lanes->state + offsetof(syi_ema_state, x) / sizeof(double);
    for (int i = 0; i < count; i++) {
        SYI_LANES_APART
        for (int l = 0; l < SYI_LANES; l++) {
            syi_ema_state s = {0, 0, w[X][l], {{w[HIGH][l], w[LOW][l]}, w[ERROR][l]}};
            syi_ema_advance(&s, lanes->x[i][l], &factor);
            lanes->doubt[i][l] = syi_ema_settle(&s, &lanes->y[0][i][l]);
            w[X][l] = s.x;
            w[HIGH][l] = s.deviation.value.high;
            w[LOW][l] = s.deviation.value.low;
            w[ERROR][l] = s.deviation.error;
        }
    }
}

static void assume(syi_carry *carry, const double *x, int64_t count)
{
    syi_ema_state state = syi_ema_assume(x, count);
    memcpy(carry, &state, sizeof state);
}

static void claim(syi_carry *carry)
{
    syi_ema_state state;
    memcpy(&state, carry, sizeof state);
    syi_ema_claim(&state);
    memcpy(carry, &state, sizeof state);
}

static sy_status run_alone(const void *of, syi_carry *carry, int64_t from, int64_t to)
{
    syi_ema_state state;
    int64_t reached;
    memcpy(&state, carry, sizeof state);
    SYI_TRY(run_steps(of, &state, from, to, &reached));
    memcpy(carry, &state, sizeof state);
    return SY_OK;
}

/* The long part of a stretch. */
static sy_status run_lanes(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    const syi_lane_form form = {1,
                                syi_decay_columns(task->ema.period, SYI_HALO_BITS),
                                syi_ema_agrees,
                                assume,
                                claim,
                                step_lanes,
                                run_alone};
    double *y[1] = {task->y};
    syi_lane_place place = {task->x, y, task->first, task->row, task->doubts};
    syi_carry carry = {{0.0}};
    memcpy(&carry, state, sizeof *state);
    SYI_TRY(syi_lanes_run(&form, task, &place, &carry, from, to, reached));
    memcpy(state, &carry, sizeof *state);
    return SY_OK;
}

/* Columns before the first value, and that value once it is reached. */
static sy_status run_seed(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                          int64_t *reached)
{
    int64_t seed = task->ema.seeded - 1 - task->first;
    if (task->y)
        syi_fill_nan(task->y, from, seed < to ? seed : to);
    *reached = seed < to ? seed : to;
    if (seed >= to)
        return SY_OK;
    state->phase = syi_phase_of_seed(task->x + seed + 1 - task->ema.seeded, task->ema.seeded,
                                     SYI_PHASE_RUNNING);
    if (state->phase != SYI_PHASE_RUNNING)
        return SY_OK;
    state->x = task->x[seed];
    state->deviation = syi_deviation_seed(task->x + seed, task->ema.seeded);
    ++*reached;
    return task->y ? put(task, seed, state) : SY_OK;
}

/* Beyond the fast arithmetic's range, until something is not finite. */
static sy_status run_huge(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                          int64_t *reached)
{
    int64_t i = from;
    for (; i < to && syi_is_finite(task->x[i]); i++)
        if (task->y) {
            task->y[i] = task->x[i];
            SYI_TRY(syi_doubts_add(task->doubts, task->row, task->first + i));
        }
    if (i < to)
        state->phase = SYI_PHASE_POISONED;
    *reached = i;
    return SY_OK;
}

static sy_status run_columns(const task *task, syi_ema_state *state, int64_t from, int64_t to)
{
    int64_t i = from;
    if (i < to && state->phase == SYI_PHASE_BEFORE)
        SYI_TRY(run_seed(task, state, i, to, &i));
    if (SYI_HAVE_LANES && task->y && i < to && state->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_lanes(task, state, i, to, &i));
    if (i < to && state->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_steps(task, state, i, to, &i));
    if (i < to && state->phase == SYI_PHASE_HUGE)
        SYI_TRY(run_huge(task, state, i, to, &i));
    if (task->y)
        syi_fill_nan(task->y, i, to);
    return SY_OK;
}

/* The state before column 0 of the segment. */
static sy_status find_start(const task *columns, const syi_piece *piece, syi_ema_state *state)
{
    int64_t left = piece->segment.left;
    task unseen = *columns;
    unseen.y = NULL;
    *state = (syi_ema_state){.phase = SYI_PHASE_BEFORE, .from_start = 1.0};
    if (left == piece->segment.first)
        return run_columns(&unseen, state, -left, 0);
    if (piece->start) {
        memcpy(state, piece->start, sizeof *state);
        return SY_OK;
    }
    *state = syi_ema_assume(unseen.x - left, left);
    SYI_TRY(run_columns(&unseen, state, -left, 0));
    syi_ema_claim(state);
    return SY_OK;
}

sy_status SYI_ISA_NAME(syi_ema_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    task task = {segment->in[0],
                 segment->out[0],
                 segment->first,
                 segment->row,
                 syi_ema_of(segment->params),
                 {{0.0, 0.0}, 0.0},
                 piece->doubts};
    syi_ema_state state;
    task.factor = syi_smoothing_factor(task.ema.period);
    SYI_TRY(find_start(&task, piece, &state));
    memcpy(piece->assumed, &state, sizeof state);
    SYI_TRY(run_columns(&task, &state, 0, segment->count));
    memcpy(piece->end, &state, sizeof state);
    return SY_OK;
}
