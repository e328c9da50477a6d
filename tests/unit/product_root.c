/* For test_root.c, but compiled for AVX-512: the roots of a multiple of eight numbers. */
#include "product_root.h"

#include "fast/vector.h"

void product_roots(const double *squares, double *roots, int64_t count)
{
    for (int64_t i = 0; i < count; i += SYI_WIDTH)
        SYI_STORE(roots + i, syi_product_root(SYI_LOAD(squares + i)));
}
