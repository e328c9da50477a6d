/* Floats become doubles on their way to a kernel, and what it computes becomes floats on its way
 * back. */
#ifndef SYI_KERNELS_ELEMENT_ELEMENT_H
#define SYI_KERNELS_ELEMENT_ELEMENT_H

#include "isa.h"

/* Asks for what is `ahead` of each as far as the second cache, unless that is 0. */
typedef void (*syi_widen_fn)(double *to, const float *from, int64_t count, int64_t ahead);
/* To the nearest; what is rounded to zero is +0. */
typedef void (*syi_narrow_fn)(float *to, const double *from, int64_t count);

/* For each instruction set of this build. */
extern const syi_widen_fn syi_widen[SYI_ISA_COUNT];
extern const syi_narrow_fn syi_narrow[SYI_ISA_COUNT];
/* The same, past the cache, which is not waited for. */
extern const syi_narrow_fn syi_narrow_past[SYI_ISA_COUNT];

#endif
