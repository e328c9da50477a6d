/* The intrinsics of the instruction set that is compiled for. To read those of all takes a compiler
 * a third of a second and more, so this header is compiled before those that include it. */
#ifndef SYI_KERNELS_INTRINSICS_H
#define SYI_KERNELS_INTRINSICS_H

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#endif
