/* What a MACD's slab leaves unsure, run again column by column. Included by macd_run.c. */
#ifndef SYI_KERNELS_MACD_UNSURE_H
#define SYI_KERNELS_MACD_UNSURE_H

#include "macd/columns.h"
#include "macd/long.h"

#if SYI_HAVE_VECTORS

/* More unsure blocks, or parts, of lanes than this: the slab is run again as a whole. */
#define MOST_UNSURE 16
/* With more unsure parts it is run by steps, where that may be. */
#define FEW_UNSURE 8
/* What a slab of long lanes, or of rows, leaves to the repair of doubts; of long lanes one more for
 * so many columns, for some may be in doubt anywhere. */
#define SPARE       4
#define SPARE_APART 131072
#define SPARE_ROWS  MACD_LANES

/* Columns of the block at `at` up to the end of its last part that is unsure. */
static int unsure_columns(const macd_slab *slab, int64_t at, int lane)
{
    const int count = slab->columns[at / MACD_PART];
    int last = 0;
    for (int i = 0; i < count; i += MACD_PART)
        if (slab->unsure[(at + i) / MACD_PART][lane] != 0)
            last = i + MACD_PART;
    return last < count ? last : count;
}

/* Parts of lanes that are. */
static int64_t count_unsure(const macd_slab *slab)
{
    syi_bits_vec parts = {0};
    int64_t count = 0;
    for (int64_t at = 0; at < slab->length; at += MACD_PART)
        parts -= (syi_bits_vec)(slab->unsure[at / MACD_PART] != 0);
    for (int lane = 0; lane < MACD_LANES; lane++)
        count += (int64_t)parts[lane];
    return count;
}

/* Runs columns of the block at `at` again, with wider arithmetic. */
static sy_status run_block(const task *task, const macd_slab *slab, int64_t from, int lane,
                           int64_t at, int columns)
{
    const int64_t first = lane * slab->stride + at;
    const syi_macd_triple triple =
        macd_triple(slab, &slab->begun[at / MACD_PART], lane, macd_input_before(slab, lane, at));
    syi_macd_state state = {.phase = SYI_PHASE_RUNNING};
    double *y[3];
    const struct task row = task_of_row(task, slab->are_rows ? lane : 0, y);
    int64_t reached, begin = from + (slab->are_rows ? at : first), end = begin + columns;
    macd_state_set(slab, &task->terms, &state, &triple, lane, at);
    return run_steps(&row, &state, begin, end, end, &reached);
}

/* Runs the unsure blocks of a slab again; what is in doubt then goes to `doubts`. Gives how many
 * there are, but no more than are too many. */
static sy_status run_blocks(const task *task, macd_slab *slab, int64_t from, syi_doubts *doubts,
                            int *blocks)
{
    for (int64_t at = 0; at < slab->length; at += MACD_PART)
        for (int lane = 0; lane < MACD_LANES; lane++) {
            const int columns = unsure_columns(slab, at, lane);
            syi_doubts own = {0};
            struct task narrow = *task;
            sy_status status;
            if (columns == 0 || macd_is_vague(slab, lane, at, columns))
                continue;
            if (++*blocks > MOST_UNSURE)
                return SY_OK;
            narrow.doubts = &own;
            status = run_block(&narrow, slab, from, lane, at, columns);
            if (status == SY_OK && own.count > 0 && !macd_make_vague(slab, lane, at, columns))
                status = syi_doubts_join(doubts, &own);
            syi_doubts_clear(&own);
            SYI_TRY(status);
        }
    return SY_OK;
}

/* Doubts that are a task's if its columns are not run `again`. */
static sy_status keep_doubts(const task *task, syi_doubts *own, int again, sy_status status)
{
    if (status == SY_OK && !again)
        status = syi_doubts_join(task->doubts, own);
    syi_doubts_clear(own);
    return status;
}

/* What is unsure in a slab, with wider arithmetic; of the stretches that are in doubt then, `spare`
 * are. *again is not 0 when there are more: then it is better to run the slab from its beginning
 * so, for that keeps more of what has become small. */
static sy_status run_unsure(const task *task, macd_slab *slab, int64_t from, int64_t *spare,
                            int *again)
{
    const int64_t parts = count_unsure(slab);
    const int64_t most = slab->are_rows ? slab->length * MACD_LANES / (2 * MACD_PART)
                                        : MOST_UNSURE * (MACD_BLOCK / MACD_PART);
    syi_doubts doubts = {0};
    int blocks = 0;
    sy_status status;
    /* Of long lanes some may be vague. */
    *again = parts > most && !slab->may_be_vague;
    if (parts == 0 || *again)
        return SY_OK;
    macd_close(slab);
    status = run_blocks(task, slab, from, &doubts, &blocks);
    *again = blocks > MOST_UNSURE || doubts.count > *spare;
    *spare -= doubts.count;
    return keep_doubts(task, &doubts, *again, status);
}

#endif
#endif
