/* The inputs of a row that is decided: doubles, or floats that are widened where they are read. */
#ifndef SYI_KERNELS_ELEMENT_INPUTS_H
#define SYI_KERNELS_ELEMENT_INPUTS_H

#include "kernel.h"

typedef struct syi_inputs {
    const double *const *doubles;
    const float *const *floats; /* NULL: they are doubles */
} syi_inputs;

SYI_INLINE syi_inputs syi_inputs_of(const sy_segment *row, const syi_past *past)
{
    return (syi_inputs){row->in, past->floats};
}

/* `count` columns of input k from column `from` on; floats are widened in `room`. */
SYI_INLINE const double *syi_inputs_at(const syi_inputs *in, int k, int64_t from, int64_t count,
                                       double *room)
{
    if (!in->floats)
        return in->doubles[k] + from;
    for (int64_t i = 0; i < count; i++)
        room[i] = in->floats[k][from + i];
    return room;
}

SYI_INLINE double syi_input(const syi_inputs *in, int k, int64_t i)
{
    return in->floats ? (double)in->floats[k][i] : in->doubles[k][i];
}

#endif
