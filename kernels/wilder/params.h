/* What a workload of Wilder's averages needs, by its one parameter, the period. */
#ifndef SYI_KERNELS_WILDER_PARAMS_H
#define SYI_KERNELS_WILDER_PARAMS_H

#include "wilder/fast.h"
#include "wilder/state.h"

static inline int64_t syi_wilder_halo_of(const double *params)
{
    return syi_wilder_halo(params[0]);
}

static inline int64_t syi_wilder_warmup_of(const double *params)
{
    return (int64_t)params[0];
}

static inline int64_t syi_wilder_joined_from(const double *params)
{
    return syi_wilder_warmup_of(params) + 2;
}

static inline int64_t syi_wilder_fast_block_of(const double *params)
{
    return syi_wilder_cut(params[0]).block;
}

static inline int64_t syi_wilder_fast_halo_of(const double *params)
{
    const syi_chain_cut cut = syi_wilder_cut(params[0]);
    return syi_chain_halo(&cut, (int64_t)params[0]);
}

#endif
