#include "device/rows.h"

/* Rows that some kernels run side by side. */
#define LANES ((int64_t)8)
/* Columns of rows that are run at once: a core's caches, and for floats its desk, hold them. */
#define MOST_COLUMNS (16 * SYI_TILE)

int64_t syi_rows_at_once(const syi_job *job, const syi_slab *slab, const syi_view *view,
                         const syi_cut *cut)
{
    const syi_workload *workload = job->workload;
    const int is_whole = slab->columns == job->columns && view->stride == job->columns;
    int64_t rows;
    if (!workload->joined_from || !is_whole || cut->pieces_per_row > 1 ||
        job->columns < workload->joined_from(job->params) || 2 * job->columns > MOST_COLUMNS)
        return 1;
    rows = MOST_COLUMNS / job->columns;
    return rows < LANES ? rows : rows / LANES * LANES;
}

void syi_rows_blank(const syi_piece *piece, const syi_workload *workload)
{
    const sy_segment *segment = &piece->segment;
    const int64_t warmup = workload->warmup(segment->params);
    for (int k = 0; k < workload->n_outputs; k++)
        for (int64_t row = segment->columns; row < segment->count; row += segment->columns)
            for (int64_t i = row; i < row + warmup; i++)
                segment->out[k][i] = syi_nan();
}
