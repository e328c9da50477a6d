/*
 * A stretch of Wilder's averages. Included by rsi_run.c and atr_run.c, which are compiled for
 * several instruction sets and define IS_RANGE: 1 for the averages of ranges (atr), 0 of moves.
 */
#ifndef SYI_KERNELS_WILDER_RUN_H
#define SYI_KERNELS_WILDER_RUN_H

#include "wilder/rows.h"

SYI_INLINE sy_status syi_wilder_run(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    task task = {.x = {.close = segment->in[IS_RANGE ? 2 : 0]},
                 .y = segment->out[0],
                 .first = segment->first,
                 .row = segment->row,
                 .period = segment->params[0],
                 .doubts = piece->doubts,
                 .known = syi_known(piece),
                 .past_cache = piece->past_cache && segment->count >= LONG,
                 .is_long = segment->count >= LONG,
                 .is_last = segment->first + segment->count >= segment->columns};
    weights weights = {.columns = 0};
    syi_wilder_state state;
    task.weights = &weights;
    if (IS_RANGE) {
        task.x.high = segment->in[0];
        task.x.low = segment->in[1];
    }
    task.factor = syi_wilder_factor(task.period);
    if (segment->count > segment->columns) {
        task.is_long = segment->columns >= LONG;
        task.past_cache &= task.is_long;
        SYI_TRY(run_rows(&task, segment->count / segment->columns, segment->columns));
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

#endif
