/*
 * A recurrence's unit on a GPU: a thread runs through the columns that let an assumed start decay,
 * and then through its own. A unit that sees the row's beginning starts there, exactly.
 */
#ifndef SYI_KERNELS_CUDA_STRETCH_H
#define SYI_KERNELS_CUDA_STRETCH_H

#include "cuda/forms.h"

#include "cuda/device.h"
#include "kernel.h"

typedef struct syi_stretch {
    syi_unit unit;
    const double *x; /* x[0] is the unit's first column */
    int64_t left;    /* columns to run before it */
    int64_t first;   /* its place in the whole row */
    int64_t doubt_first, doubt_last;
} syi_stretch;

/* 0 when this thread has no unit. */
SYI_DEVICE int syi_stretch_of(const syi_launch *launch, int64_t halo, syi_stretch *s)
{
    int64_t index = SYI_BLOCK * SYI_STRETCH_THREADS + SYI_THREAD;
    if (index >= launch->rows * launch->units_per_row)
        return 0;
    s->unit = syi_unit_of(launch, index);
    s->x = syi_unit_in(launch, &s->unit, launch->in[0]);
    s->left = launch->left + s->unit.at < halo ? launch->left + s->unit.at : halo;
    s->first = launch->first + s->unit.at;
    s->doubt_first = s->unit.count;
    s->doubt_last = 0;
    return 1;
}

SYI_DEVICE void syi_stretch_doubt(syi_stretch *s, int64_t column)
{
    s->doubt_first = column < s->doubt_first ? column : s->doubt_first;
    s->doubt_last = column + 1;
}

/* What the unit took at its beginning, or reached. */
SYI_DEVICE syi_carry *syi_stretch_assumed(const syi_launch *launch, const syi_stretch *s)
{
    return launch->links + 2 * s->unit.index;
}

SYI_DEVICE syi_carry *syi_stretch_end(const syi_launch *launch, const syi_stretch *s)
{
    return launch->links + 2 * s->unit.index + 1;
}

#endif
