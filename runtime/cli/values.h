/* Arrays of either dtype. */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include <stddef.h>

#include <steelyard/steelyard.h>

static inline size_t cli_value_size(sy_dtype dtype)
{
    return dtype == SY_F32 ? sizeof(float) : sizeof(double);
}

static inline double cli_value(const void *values, sy_dtype dtype, size_t i)
{
    return dtype == SY_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static inline void cli_value_set(void *values, sy_dtype dtype, size_t i, double value)
{
    if (dtype == SY_F32)
        ((float *)values)[i] = (float)value;
    else
        ((double *)values)[i] = value;
}

#endif
