/* Roots and scores without the processor's divider (fast/divide.h). */
#ifndef SYI_TESTS_UNIT_BY_PRODUCTS_H
#define SYI_TESTS_UNIT_BY_PRODUCTS_H

#include <stdint.h>

void product_roots(const double *squares, double *roots, int64_t count);
void product_scores(const double *distances, const double *variances, double *scores,
                    int64_t count);

#endif
