/* The MACD. Compiled for several instruction sets. */
#include "macd/macd.h"
#include "macd/step.h"
#include "recurrence/lanes.h"

typedef struct task {
    const double *x;  /* x[0] is column `first` */
    double *const *y; /* NULL: only the state is wanted */
    int64_t first, row;
    syi_macd macd;
    int64_t seed, warmup; /* relative to `first` */
    syi_macd_terms terms;
    syi_doubts *doubts;
} task;

static sy_status put(const task *task, int64_t i, const syi_macd_state *s)
{
    if (syi_macd_settle(&task->terms, s, &task->y[0][i], &task->y[1][i], &task->y[2][i]) != 0.0)
        return syi_doubts_add(task->doubts, task->row, task->first + i);
    return SY_OK;
}

static sy_status run_steps(const task *task, syi_macd_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    syi_macd_state s = *state;
    int64_t i = from;
    for (; i < to && !syi_macd_leaves_range(&s, task->x[i]); i++) {
        syi_macd_smooth_signal(&task->terms, &s, syi_macd_advance(&task->terms, &s, task->x[i]));
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
    for (int i = 0; i < count; i++) {
        SYI_LANES_APART
        for (int l = 0; l < SYI_LANES; l++) {
            syi_macd_state s = {.x = w[X][l], .slope = {w[SLOPE][l], w[SLOPE + 1][l]}};
            s.fast = load(w, FAST, l);
            s.slow = load(w, SLOW, l);
            s.signal = load(w, SIGNAL, l);
            s.gap = load(w, GAP, l);
            syi_macd_smooth_signal(&task.terms, &s,
                                   syi_macd_advance(&task.terms, &s, lanes->x[i][l]));
            lanes->doubt[i][l] = syi_macd_settle(&task.terms, &s, &lanes->y[0][i][l],
                                                 &lanes->y[1][i][l], &lanes->y[2][i][l]);
            w[X][l] = s.x;
            w[SLOPE][l] = s.slope.high;
            w[SLOPE + 1][l] = s.slope.low;
            store(w, FAST, l, s.fast);
            store(w, SLOW, l, s.slow);
            store(w, SIGNAL, l, s.signal);
            store(w, GAP, l, s.gap);
        }
    }
}

static void assume(syi_carry *carry, const double *x, int64_t count)
{
    syi_macd_state state = syi_macd_assume(x, count);
    memcpy(carry, &state, sizeof state);
}

static void claim(syi_carry *carry)
{
    syi_macd_state state;
    memcpy(&state, carry, sizeof state);
    syi_macd_claim(&state);
    memcpy(carry, &state, sizeof state);
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

/* From the averages' first column to the signal's. */
static sy_status run_seeding(const task *task, syi_macd_state *s, int64_t from, int64_t to,
                             int64_t *reached)
{
    syi_deviation value;
    int64_t i = from;
    for (; i < to && i <= task->warmup; i++) {
        if (syi_macd_leaves_range(s, task->x[i]))
            break;
        if (i > task->seed)
            syi_macd_advance(&task->terms, s, task->x[i]);
        value = syi_macd_value(&task->terms, s);
        s->sum = syi_deviation_plus(s->sum, value.value, value.error);
        if (i == task->warmup)
            syi_macd_seed_signal(&task->terms, &task->macd, s);
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
    syi_macd_begin(s, task->x + seed, macd);
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
    unseen.y = NULL;
    *s = (syi_macd_state){.phase = SYI_PHASE_BEFORE, .from_start = 1.0};
    if (left == piece->segment.first)
        return run_columns(&unseen, s, -left, 0);
    if (piece->start) {
        memcpy(s, piece->start, sizeof *s);
        return SY_OK;
    }
    *s = syi_macd_assume(unseen.x - left, left);
    SYI_TRY(run_columns(&unseen, s, -left, 0));
    syi_macd_claim(s);
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
    task.terms = syi_macd_terms_of(&macd);
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
