/*
 * Floats to doubles and back, for works whose arrays are floats: what the host does for the CPU
 * (element/element.h), and the same bits. Of a NaN the conversions' own instructions keep
 * nothing on a GPU; here as on a CPU it keeps its sign and the upper part of its payload, quietly.
 */
#include "cuda/forms.h"

#include "cuda/device.h"

#define ELEMENT_QUIET 0x00400000u /* of a float's NaN */

SYI_DEVICE double element_widen(uint32_t bits)
{
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    if ((bits & 0x7fffffffu) <= 0x7f800000u)
        return narrow;
    return syi_from_bits((uint64_t)(bits >> 31) << 63 | UINT64_C(0x7ff) << 52 |
                         (uint64_t)((bits | ELEMENT_QUIET) & 0x007fffffu) << 29);
}

SYI_DEVICE uint32_t element_narrow(double wide)
{
    const uint64_t all = syi_bits(wide);
    const float narrow = (float)wide;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if ((all & (UINT64_MAX >> 1)) <= UINT64_C(0x7ff) << 52)
        return bits << 1 ? bits : 0; /* what is rounded to zero is +0 */
    return (uint32_t)(all >> 63) << 31 | 0x7f800000u | ELEMENT_QUIET |
           ((uint32_t)(all >> 29) & 0x007fffffu);
}

SYI_KERNEL __launch_bounds__(SYI_ELEMENT_THREADS)
    syi_gpu_widen(const uint32_t *from, double *to, long long count)
{
    int64_t i = SYI_BLOCK * SYI_ELEMENT_THREADS + SYI_THREAD;
    if (i < count)
        to[i] = element_widen(from[i]);
}

SYI_KERNEL __launch_bounds__(SYI_ELEMENT_THREADS)
    syi_gpu_narrow(const double *from, uint32_t *to, long long count)
{
    int64_t i = SYI_BLOCK * SYI_ELEMENT_THREADS + SYI_THREAD;
    if (i < count)
        to[i] = element_narrow(from[i]);
}
