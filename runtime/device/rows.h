/*
 * Short rows that lie one behind the other, run as one. What a rolling kernel does before its first
 * window takes as long as some dozens of columns; a window that reaches over a row's end is none,
 * and its result is replaced.
 */
#ifndef SYI_DEVICE_ROWS_H
#define SYI_DEVICE_ROWS_H

#include "device/cut.h"

/* How many rows of the slab, from its first one on, are run at once; 1: each by itself. */
int64_t syi_rows_at_once(const syi_job *job, const syi_slab *slab, const syi_view *view,
                         const syi_cut *cut);

/* After a piece of several whole rows: of each the columns before its first window. */
void syi_rows_blank(const syi_piece *piece, const syi_workload *workload);

#endif
