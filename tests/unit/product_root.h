/* Roots without the processor's divider (fast/vector.h). */
#ifndef SYI_TESTS_UNIT_PRODUCT_ROOT_H
#define SYI_TESTS_UNIT_PRODUCT_ROOT_H

#include <stdint.h>

void product_roots(const double *squares, double *roots, int64_t count);

#endif
