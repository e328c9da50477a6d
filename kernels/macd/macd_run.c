/* The MACD. Compiled for several instruction sets. */
#include "macd/columns.h"
#include "macd/long.h"
#include "macd/rows.h"
#include "macd/short.h"
#include "macd/unsure.h"

#if SYI_HAVE_VECTORS

static void set_map(const task *task, macd_slab *slab, int64_t columns)
{
    if (slab->mapped != columns)
        slab->map = syi_macd_map_of(&task->terms, task->macd.signal, columns);
    slab->mapped = columns;
}

/* Short lanes from column `from` on. */
static void set_short(const task *task, macd_slab *slab, int64_t from, int64_t to)
{
    int64_t length = (to - from) / MACD_LANES;
    length = length < MACD_LENGTH ? length : MACD_LENGTH;
    slab->x = task->x + from;
    for (int k = 0; k < 3; k++)
        slab->y[k] = task->y ? task->y[k] + from : NULL;
    slab->stride = slab->columns_each = slab->length = length;
    slab->past = slab->past && length % SYI_LINE == 0;
    set_map(task, slab, length);
}

/* Whether prices have come so near to a line that the steps from one to the next tell more. */
static int is_near_line(const syi_macd_state *s)
{
    return syi_macd_size(&s->fast, &s->slow, &s->signal) < 0x1p-14 * fabs(s->slope.high);
}

/* Whether prices have lost so much of such a state that columns behind it would be in doubt, one in
 * millions, and each for long. */
static int is_worn(const syi_macd_state *s)
{
    return is_near_line(s) && fmax(s->fast.error, s->slow.error) >
                                  0x1p+20 * syi_macd_size(&s->fast, &s->slow, &s->signal);
}

/* Lanes that have been chained, from and to the state between columns; *again is not 0 where that
 * stays, for they are better run in another way. */
static sy_status fill_short(const task *task, macd_slab *slab, syi_macd_state *state, int64_t from,
                            int *again)
{
    const syi_macd_triple *end = &slab->start[MACD_LANES];
    const double size = syi_macd_size(&end->fast, &end->slow, &end->signal);
    syi_macd_state next = *state;
    int64_t spare = 0;
    macd_state_set(slab, &task->terms, &next, end, MACD_LANES - 1, slab->length);
    *again = size > 0.0 && size < SYI_LOSSY;
    slab->may_step &= !*again;
    *again |= slab->may_step && is_worn(&next);
    if (task->y && !*again) {
        macd_fill(slab);
        *again = slab->may_step && count_unsure(slab) > FEW_UNSURE && macd_has_steps(slab);
        if (!*again)
            SYI_TRY(run_unsure(task, slab, from, &spare, again));
    }
    if (!*again)
        *state = next;
    return SY_OK;
}

/* The same by the steps from price to price. */
static sy_status fill_by_steps(const task *task, macd_slab *slab, syi_macd_state *state,
                               int64_t from, int *again)
{
    sy_status status = SY_OK;
    slab->may_step = 0;
    macd_set_terms(slab, &task->macd, 1);
    slab->step_before = state->slope.high;
    slab->start[0] = syi_macd_triple_of_steps(state);
    if (macd_chain(slab))
        status = fill_short(task, slab, state, from, again);
    macd_set_terms(slab, &task->macd, 0);
    return status;
}

/* Short lanes are run, from and to the state between columns, of a part that ends at `to`; *reached
 * stays there when a value is out of range. */
static sy_status run_short(const task *task, macd_slab *slab, syi_macd_state *state, int64_t from,
                           int64_t to, int64_t *reached)
{
    const int64_t count = MACD_LANES * slab->length;
    const int none_left = syi_macd_size(&state->fast, &state->slow, &state->signal) == 0.0;
    int again = 1;
    if (none_left && task->x[from] - state->x == state->slope.high) { /* as it may for long */
        SYI_TRY(run_steps(task, state, from, from + 1, to, reached));
        return run_to_line(task, state, reached, to);
    }
    slab->may_step = task->terms.tilted != 0.0 && state->slope.low == 0.0;
    slab->before = state->x;
    if (slab->may_step && is_near_line(state))
        SYI_TRY(fill_by_steps(task, slab, state, from, &again));
    if (again) {
        slab->start[0] = syi_macd_triple_of(&task->terms, state);
        if (!macd_chain(slab))
            return SY_OK;
        SYI_TRY(fill_short(task, slab, state, from, &again));
    }
    if (again && slab->may_step)
        SYI_TRY(fill_by_steps(task, slab, state, from, &again));
    if (again) {
        SYI_TRY(run_steps(task, state, from, from + count, to, reached));
        return run_to_line(task, state, reached, to);
    }
    *reached = from + count;
    return SY_OK;
}

/* Writes long lanes whose starts have been claimed, or rows whose lanes have begun; *again is not 0
 * when they are better run as short ones, or one by one. */
static sy_status fill_long(const task *task, macd_slab *slab, double before, int64_t from,
                           int *again)
{
    double *const y[] = {task->y[0] + from, task->y[1] + from, task->y[2] + from};
    int64_t spare = slab->are_rows ? SPARE_ROWS : SPARE + MACD_LANES * slab->stride / SPARE_APART;
    macd_go_to(slab, task->x + from, y, before, 0);
    for (int lane = 0; lane < MACD_LANES && !slab->are_rows; lane++)
        macd_set(slab, lane, &slab->start[lane]);
    for (int64_t at = 0; at < slab->columns_each && !*again; at += MACD_BLOCK) {
        macd_go_to(slab, task->x + from, y, before, at);
        macd_load(slab, 0, (int)slab->length);
        if (slab->is_late && slab->past)
            macd_fill_late(slab);
        else
            macd_fill_at_once(slab);
        *again = macd_is_lost(slab);
        if (!*again)
            SYI_TRY(run_unsure(task, slab, from + at, &spare, again));
    }
    macd_close(slab);
    return SY_OK;
}

/* The lanes' vague columns again, now that the states before lanes 1 .. `end` - 1 are known: side
 * by side, or where too many of them are unsure so, one by one. */
static sy_status run_vague(const task *task, macd_slab *slab, const syi_macd_state *known, int end,
                           int64_t from)
{
    struct task narrow = *task;
    syi_doubts own = {0};
    int64_t most = 0, reached;
    int again = 0;
    for (int lane = 1; lane < end; lane++)
        most = slab->vague[lane] > most ? slab->vague[lane] : most;
    if (most == 0)
        return SY_OK;
    narrow.doubts = &own;
    slab->columns_each = (most + SYI_LINE - 1) / SYI_LINE * SYI_LINE; /* as a lane has */
    const sy_status status = fill_long(&narrow, slab, known[0].x, from, &again);
    SYI_TRY(keep_doubts(task, &own, again, status));
    for (int lane = 0; lane < end && again; lane++) {
        const int64_t begin = from + lane * slab->stride, last = begin + slab->columns_each;
        syi_macd_state state = known[lane];
        SYI_TRY(run_steps(task, &state, begin, last, last, &reached));
    }
    return SY_OK;
}

/* Long lanes; *reached is where the first of them ends whose successor began wrongly. */
static sy_status run_long(const task *task, macd_slab *slab, syi_macd_state *state, int64_t from,
                          const syi_long_plan *plan, int64_t *reached)
{
    const int64_t run_in = syi_long_run_in(plan, slab->stride);
    syi_macd_state known[MACD_LANES + 1] = {*state};
    syi_doubts own = {0};
    struct task narrow = *task;
    sy_status status;
    int again = 0, lane = 0;
    narrow.doubts = &own;
    set_map(task, slab, run_in);
    slab->start[0] = syi_macd_triple_of(&task->terms, state);
    if (!macd_claim(slab, task->x + from, run_in, plan->exact))
        return SY_OK;
    slab->may_be_vague = 1;
    status = fill_long(&narrow, slab, state->x, from, &again);
    slab->may_be_vague = 0;
    SYI_TRY(keep_doubts(task, &own, again, status));
    while (lane < MACD_LANES && !again) {
        const syi_macd_triple end = macd_end(slab, lane);
        known[lane + 1] = *state;
        macd_state_set(slab, &task->terms, &known[lane + 1], &end, lane, slab->length);
        again = !macd_agrees(&slab->start[++lane], &end);
        slab->start[lane] = end;
    }
    *state = known[lane];
    *reached = lane ? from + lane * slab->stride : *reached;
    return run_vague(task, slab, known, again ? lane : MACD_LANES, from);
}

/* The long part of a stretch. */
static sy_status run_slabs(const task *task, syi_macd_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    syi_long_plan plan = macd_long_plan(&task->macd, from);
    macd_slab slab;
    macd_set_terms(&slab, &task->macd, 0);
    memset(slab.vague, 0, sizeof slab.vague);
    slab.mapped = slab.first = slab.are_rows = slab.asks = slab.may_be_vague = 0;
    slab.is_late = task->y && macd_late_begin(&slab.late, task->waits, task->y);
    for (*reached = from; to - *reached >= MACD_LEAST;) {
        const int64_t at = *reached, length = syi_long_length(&plan, at, to);
        slab.past = task->past_cache && task->y;
        if (task->y && length > 0 && !is_near_line(state)) {
            slab.stride = slab.columns_each = length;
            SYI_TRY(run_long(task, &slab, state, at, &plan, reached));
            syi_long_tried(&plan, at, length, *reached);
            continue;
        }
        set_short(task, &slab, at, to);
        SYI_TRY(run_short(task, &slab, state, at, to, reached));
        if (*reached == at)
            break;
    }
    return SY_OK;
}

#else

static sy_status run_slabs(const task *task, syi_macd_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    (void)task, (void)state, (void)to;
    *reached = from;
    return SY_OK;
}

#endif

static sy_status run_columns(const task *task, syi_macd_state *s, int64_t from, int64_t to)
{
    int64_t i = from;
    for (int k = 0; task->y && k < 3; k++)
        syi_fill_nan(task->y[k], from, task->warmup < to ? task->warmup : to);
    if (i < to && s->phase == SYI_PHASE_BEFORE)
        run_seed(task, s, to, &i);
    if (i < to && s->phase == SYI_PHASE_SEEDING)
        SYI_TRY(run_seeding(task, s, i, to, &i));
    if (i < to && s->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_to_line(task, s, &i, to));
    if (i < to && s->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_slabs(task, s, i, to, &i));
    if (i < to && s->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_steps(task, s, i, to, to, &i));
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
        if (piece->is_claim && s->from_start == 0.0)
            syi_macd_claim(s);
        return SY_OK;
    }
    *s = syi_macd_assume(unseen.x - left, left);
    SYI_TRY(run_columns(&unseen, s, -left, 0));
    syi_macd_claim(s);
    return SY_OK;
}

/* A whole row. */
static sy_status run_row(const task *task)
{
    syi_macd_state state = {.phase = SYI_PHASE_BEFORE, .from_start = 1.0};
    return run_columns(task, &state, 0, task->columns);
}

#if SYI_HAVE_VECTORS

/* As many rows as lanes, one in each; *again is not 0 when they have to be run one by one. */
static sy_status run_beside(const task *task, macd_slab *slab, int *again)
{
    const int64_t from = task->warmup + 1;
    syi_doubts own = {0};
    struct task narrow = *task;
    sy_status status;
    int begun;
    narrow.doubts = &own;
    status = begin_rows(&narrow, slab, &begun);
    *again = !begun;
    slab->columns_each = task->columns - from;
    if (status == SY_OK && begun)
        status = fill_long(&narrow, slab, task->x[from - 1], from, again);
    return keep_doubts(task, &own, *again, status);
}

/* `known`: how many rows there are to be read. */
static sy_status run_rows(const task *first, int64_t rows, int64_t known)
{
    macd_slab slab;
    macd_set_terms(&slab, &first->macd, 0);
    memset(slab.vague, 0, sizeof slab.vague);
    slab.past = slab.is_late = slab.may_be_vague = 0;
    slab.are_rows = 1;
    slab.stride = first->columns;
    for (int64_t row = 0; row < rows; row += MACD_LANES) {
        double *y[3], *own_y[3];
        const task task = task_of_row(first, row, y);
        int again = 1;
        slab.asks = known - row >= 2 * MACD_LANES;
        if (rows - row >= MACD_LANES)
            SYI_TRY(run_beside(&task, &slab, &again));
        for (int64_t k = 0; k < MACD_LANES && row + k < rows && again; k++) {
            const struct task own = task_of_row(&task, k, own_y);
            SYI_TRY(run_row(&own));
        }
    }
    return SY_OK;
}

#else

static sy_status run_rows(const task *first, int64_t rows, int64_t known)
{
    (void)known;
    for (int64_t row = 0; row < rows; row++) {
        double *y[3];
        const task own = task_of_row(first, row, y);
        SYI_TRY(run_row(&own));
    }
    return SY_OK;
}

#endif

static task make_task(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    task task = {
        .x = segment->in[0], .y = segment->out[0] ? segment->out : NULL, .first = segment->first};
    syi_macd macd = syi_macd_of(segment->params);
    task.row = segment->row;
    task.columns = segment->columns;
    task.doubts = piece->doubts;
    task.past_cache = piece->past_cache && syi_in_line(segment->out, 3);
    task.waits = piece->waits;
    task.macd = macd;
    task.seed = macd.seeded_slow - 1 - segment->first;
    task.warmup = syi_macd_warmup(&macd) - segment->first;
    task.terms = syi_macd_terms_of(&macd);
    return task;
}

sy_status SYI_ISA_NAME(syi_macd_run)(const syi_piece *piece)
{
    task task = make_task(piece);
    macd_fade fade = {.is_known = 0};
    syi_macd_state state;
    task.fade = &fade;
    if (piece->segment.count > piece->segment.columns) {
        SYI_TRY(run_rows(&task, piece->segment.count / piece->segment.columns,
                         syi_known(piece) / piece->segment.columns));
        return SY_OK;
    }
    SYI_TRY(find_start(&task, piece, &state));
    if (piece->assumed)
        memcpy(piece->assumed, &state, sizeof state);
    SYI_TRY(run_columns(&task, &state, 0, piece->segment.count));
    if (piece->end)
        memcpy(piece->end, &state, sizeof state);
    return SY_OK;
}
