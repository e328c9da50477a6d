/* The exponential moving average. Compiled for several instruction sets. */
#include "ema/columns.h"
#include "ema/long.h"
#include "ema/tied.h"
#include "recurrence/seeds.h"

#if SYI_HAVE_VECTORS

/* A block that begins with column `begin` again, with wider arithmetic; `left`: columns of its
 * lane.
 */
static sy_status run_block_from(const task *task, const syi_ema_state *before, int64_t begin,
                                int64_t left)
{
    syi_ema_state state = *before;
    const int64_t end = begin + (left < EMA_BLOCK ? left : EMA_BLOCK);
    return run_steps(task, &state, begin, end, end, &begin);
}

/* The row of a lane, of which x[0] is column `from`. */
static task task_of_lane(const task *task, const ema_slab *slab, int64_t from, int lane)
{
    struct task row = task_of_row(task, slab->are_rows ? lane : 0);
    if (slab->are_rows)
        row.put = from - slab->first;
    else if (slab->is_long && lane > 0)
        row.put = from - slab->first + lane * slab->stride;
    return row;
}

/* A lane's columns of the block at `at`. */
static sy_status run_block(const task *task, const ema_slab *slab, int64_t from, int64_t at,
                           int lane)
{
    const int64_t block = at / EMA_BLOCK;
    const int64_t first = lane * slab->stride + at;
    const struct task row = task_of_lane(task, slab, from, lane);
    syi_ema_state state = {.x = first ? slab->x[first - 1] : slab->before};
    const syi_dd pivot = syi_dd_of_sum(slab->begun_pivot[block][lane], -state.x);
    state.deviation = syi_stage_deviation(&slab->begun[block], lane, pivot, 0.0);
    return run_block_from(&row, &state, from + (slab->are_rows ? at : first), slab->length - at);
}

/* The columns that are not sure after a slab. */
static sy_status run_unsure(const task *task, ema_slab *slab, int64_t from)
{
    for (int64_t at = 0; at < slab->length; at += EMA_BLOCK)
        for (int lane = 0; lane < EMA_LANES; lane++)
            if (slab->unsure[at / EMA_BLOCK][lane] != 0 && !ema_put_off(slab, at, lane))
                SYI_TRY(run_block(task, slab, from, at, lane));
    return SY_OK;
}

/* What has been put off of a lane, whose true start is known now: x is the value before it, `from`
 * its first column. */
static sy_status run_put_off(const task *task, const ema_slab *slab, const syi_ema_state *start,
                             int lane, int64_t from)
{
    for (int k = 0; k < slab->n_later; k++) {
        const ema_later *const later = &slab->later[k];
        const int64_t begin = from + later->at;
        if (later->lane != lane)
            continue;
        syi_ema_state state = *start;
        state.x = task->x[begin - 1];
        state.deviation = ema_corrected(slab, later, &start->deviation, state.x);
        SYI_TRY(run_block_from(task, &state, begin, slab->stride - later->at));
    }
    return SY_OK;
}

/* Short lanes from column `from` on; *reached stays there when a value is out of range. */
static sy_status run_short(const task *task, ema_slab *slab, syi_ema_state *state, int64_t from,
                           int64_t to, int64_t *reached)
{
    const int past = task->past_cache && task->y;
    int again;
    slab->may_put_off = slab->is_long = 0;
    slab->x = task->x + from;
    slab->length = (to - from) / EMA_LANES;
    slab->length = slab->length < EMA_LENGTH ? slab->length : EMA_LENGTH;
    slab->stride = slab->length;
    slab->before = state->x;
    slab->start[0] = state->deviation;
    if (!ema_chain(slab))
        return SY_OK;
    again = ema_is_lossy(slab, 0);
    if (task->y && !again) {
        slab->y = task->y + from;
        slab->past = past && slab->length % SYI_LINE == 0; /* then the lanes begin lines */
        ema_fill(slab);
        again = ema_is_unsure(slab) && ema_is_lossy(slab, 1);
    }
    if (again) {
        slab->end_side = 0.0;
        SYI_TRY(run_steps(task, state, from, from + EMA_LANES * slab->length, to, reached));
        return run_to_line(task, state, reached, to);
    }
    if (task->y)
        SYI_TRY(run_unsure(task, slab, from));
    state->x = slab->x[EMA_LANES * slab->length - 1];
    state->deviation = slab->start[EMA_LANES];
    *reached = from + EMA_LANES * slab->length;
    return SY_OK;
}

/* Writes lanes of so many columns whose starts are known, or claimed; *again is not 0 when they are
 * better run as short ones, or one by one. */
static sy_status fill_long(const task *task, ema_slab *slab, double before, int64_t from,
                           int64_t columns, int *again)
{
    slab->outside = (syi_bits_vec){0};
    slab->is_long = 1;
    ema_go_to(slab, task->x + from, task->y + from, before, 0);
    for (int lane = 0; lane < EMA_LANES && !slab->are_rows; lane++)
        ema_set(slab, lane, &slab->start[lane]);
    ema_go_from(slab, 0.0);
    for (int64_t at = 0; at < columns && !*again; at += EMA_BLOCK) {
        ema_go_to(slab, task->x + from, task->y + from, before, at);
        slab->length = columns - at < EMA_BLOCK ? columns - at : EMA_BLOCK;
        ema_read(slab, 0, (int)slab->length);
        ema_write_settled(slab, 0, (int)slab->length);
        *again = ema_is_lost(slab) || ema_is_faint(slab);
        if (!*again)
            SYI_TRY(run_unsure(task, slab, from + at));
    }
    return SY_OK;
}

/* Long lanes; *reached is where the first of them ends whose successor began wrongly. */
static sy_status run_long(const task *task, ema_slab *slab, syi_ema_state *state, int64_t from,
                          const syi_long_plan *plan, int64_t *reached)
{
    int again = 0;
    slab->past = task->past_cache;
    slab->may_put_off = 1;
    slab->n_later = 0;
    slab->start[0] = state->deviation;
    if (!ema_claim(slab, task->x + from, syi_long_run_in(plan, slab->stride), plan->exact))
        return SY_OK;
    SYI_TRY(fill_long(task, slab, state->x, from, slab->stride, &again));
    for (int lane = 0; lane < EMA_LANES && !again; lane++) {
        state->deviation = ema_end(slab, lane);
        state->x = slab->x[lane * slab->stride + slab->length - 1];
        *reached = from + (lane + 1) * slab->stride;
        again = !syi_deviation_agrees(&slab->start[lane + 1], &state->deviation);
        if (!again)
            SYI_TRY(run_put_off(task, slab, state, lane + 1, *reached));
    }
    return SY_OK;
}

/* The long part of a stretch. */
static sy_status run_slabs(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    const syi_stage_terms terms = syi_stage_terms_of(task->ema.period, 0.5, EMA_BLOCK);
    syi_long_plan plan = syi_long_plan_of(task->ema.period, EMA_LANES, EMA_BLOCK, from);
    ema_slab slab;
    slab.are_rows = slab.asks = 0;
    ema_set_terms(&slab, &terms, &task->factor, &task->ema);
    for (*reached = from; to - *reached >= EMA_LEAST;) {
        const int64_t at = *reached, length = syi_long_length(&plan, at, to);
        if (task->y && length > 0) {
            slab.stride = length;
            SYI_TRY(run_long(task, &slab, state, at, &plan, reached));
            syi_long_tried(&plan, at, length, *reached);
            continue;
        }
        SYI_TRY(run_short(task, &slab, state, at, to, reached));
        if (*reached == at)
            break;
    }
    return SY_OK;
}

#else

static sy_status run_slabs(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                           int64_t *reached)
{
    (void)task, (void)state, (void)to;
    *reached = from;
    return SY_OK;
}

#endif

static sy_status run_columns(const task *task, syi_ema_state *state, int64_t from, int64_t to)
{
    int64_t i = from;
    if (i < to && state->phase == SYI_PHASE_BEFORE)
        run_seed(task, state, i, to, &i);
    if (i < to && state->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_to_line(task, state, &i, to));
    if (i < to && state->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_slabs(task, state, i, to, &i));
    if (i < to && state->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_steps(task, state, i, to, to, &i));
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
        if (piece->is_claim && state->from_start == 0.0)
            syi_ema_claim(state);
        return SY_OK;
    }
    *state = syi_ema_assume(unseen.x - left, left);
    SYI_TRY(run_columns(&unseen, state, -left, 0));
    syi_ema_claim(state);
    return SY_OK;
}

/* A whole row. */
static sy_status run_row(const task *task)
{
    syi_ema_state state = {.phase = SYI_PHASE_BEFORE, .from_start = 1.0};
    return run_columns(task, &state, 0, task->columns);
}

#if SYI_HAVE_VECTORS

/* Puts the rows' first values, x and what their means are above it. */
SYI_INLINE void put_seeds(const task *task, syi_vec x, const syi_lanes_number *mean)
{
    const int64_t seed = task->ema.seeded - 1;
    const syi_lanes_number last = {x, {0}, {0}};
    syi_bits_vec unsure = {0};
    const syi_vec y = syi_lanes_rounded(syi_lanes_plus(last, *mean), &unsure);
    for (int lane = 0; lane < EMA_LANES; lane++) {
        const struct task row = task_of_row(task, lane);
        const syi_ema_state state = {.x = x[lane], .deviation = syi_lanes_deviation(mean, lane)};
        syi_fill_nan(row.y, 0, seed);
        row.y[seed] = y[lane];
        if (unsure[lane] != 0)
            put_seed(&row, seed, &state);
    }
}

/* As many rows as lanes, one in each; *done is 0 when they have to be run one by one. */
static sy_status run_beside(const task *task, ema_slab *slab, int *done)
{
    const int64_t from = task->ema.seeded;
    syi_lanes_number mean;
    int again = 0;
    *done = 0;
    if (!syi_lanes_seed(task->x + from - 1, task->columns, from, &mean))
        return SY_OK;
    slab->pivot = syi_lanes_column(task->x + from - 1, task->columns);
    slab->stage = (syi_stage){mean.high, mean.low, mean.error};
    put_seeds(task, slab->pivot, &mean);
    SYI_TRY(fill_long(task, slab, task->x[from - 1], from, task->columns - from, &again));
    *done = !again;
    return SY_OK;
}

/* `known`: how many rows there are to be read. */
static sy_status run_rows(const task *first, int64_t rows, int64_t known)
{
    const syi_stage_terms terms = syi_stage_terms_of(first->ema.period, 0.5, EMA_BLOCK);
    ema_slab slab;
    ema_set_terms(&slab, &terms, &first->factor, &first->ema);
    slab.past = 0;
    slab.are_rows = 1;
    slab.may_put_off = 0;
    slab.stride = first->columns;
    for (int64_t row = 0; row < rows; row += EMA_LANES) {
        const task task = task_of_row(first, row);
        int done = 0;
        slab.asks = known - row >= 2 * EMA_LANES;
        if (rows - row >= EMA_LANES)
            SYI_TRY(run_beside(&task, &slab, &done));
        for (int64_t k = 0; k < EMA_LANES && row + k < rows && !done; k++) {
            const struct task own = task_of_row(&task, k);
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
        const task own = task_of_row(first, row);
        SYI_TRY(run_row(&own));
    }
    return SY_OK;
}

#endif

sy_status SYI_ISA_NAME(syi_ema_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    task task = {.x = segment->in[0],
                 .y = segment->out[0],
                 .first = segment->first,
                 .row = segment->row,
                 .columns = segment->columns,
                 .ema = syi_ema_of(segment->params),
                 .doubts = piece->doubts,
                 .past_cache = piece->past_cache};
    syi_ema_state state;
    task.factor = syi_smoothing_factor(task.ema.period);
    if (segment->count > segment->columns) {
        SYI_TRY(run_rows(&task, segment->count / segment->columns,
                         syi_known(piece) / segment->columns));
        return SY_OK;
    }
    SYI_TRY(find_start(&task, piece, &state));
    if (piece->assumed)
        memcpy(piece->assumed, &state, sizeof state);
    SYI_TRY(run_columns(&task, &state, 0, segment->count));
    if (piece->end)
        memcpy(piece->end, &state, sizeof state);
    return SY_OK;
}
