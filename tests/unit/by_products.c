/* For test_divide.c, but compiled for AVX-512: of a multiple of eight numbers. */
#include "by_products.h"

#include "fast/divide.h"

void product_roots(const double *squares, double *roots, int64_t count)
{
    for (int64_t i = 0; i < count; i += SYI_WIDTH)
        SYI_STORE(roots + i, syi_product_root(SYI_LOAD(squares + i)));
}

void product_scores(const double *distances, const double *variances, double *scores, int64_t count)
{
    for (int64_t i = 0; i < count; i += SYI_WIDTH)
        SYI_STORE(scores + i, syi_product_score(SYI_LOAD(distances + i), SYI_LOAD(variances + i)));
}
