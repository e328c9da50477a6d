/* Order statistics of small samples. Pure. */
#ifndef SYI_MODEL_STATS_H
#define SYI_MODEL_STATS_H

/* Sorts `values` and returns the median (count >= 1). */
double syi_median(double *values, int count);

#endif
