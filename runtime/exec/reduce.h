/* The end of a reduction: a row's partials become its outputs. */
#ifndef SYI_EXEC_REDUCE_H
#define SYI_EXEC_REDUCE_H

#include "device/job.h"

/* Merges the row's nodes (partials.h) in the canonical tree, or in the order of the job's seed, and
 * writes the outputs, and those of the seeds asked for; *doubt != 0: not certified. */
sy_status syi_reduce_row(const syi_job *job, int64_t row, unsigned char *nodes, int64_t count,
                         int *doubt);

/* Where no seed moves the result, every seed has the row's final one. */
void syi_reduce_seeds_fixed(const syi_job *job, int64_t row);

#endif
