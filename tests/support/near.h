/* For what has a tolerance by its nature: times, costs, ratios. */
#ifndef STEELYARD_TESTS_NEAR_H
#define STEELYARD_TESTS_NEAR_H

#include <criterion/criterion.h>
#include <math.h>

static inline void near(double got, double want, double tolerance, const char *what)
{
    cr_expect(fabs(got - want) <= tolerance * fabs(want), "%s: %.9g, expected %.9g", what, got,
              want);
}

#endif
