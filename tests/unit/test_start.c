/* What is known of starting a device beside others, call by call. */
#include "model/start.h"

#include <criterion/criterion.h>

static const double assumed = 30e3;

static syi_track after(int calls, double ns)
{
    syi_track start = syi_start_assumed();
    for (int i = 0; i < calls; i++)
        syi_start_add(&start, ns);
    return start;
}

Test(start, is_assumed_before_anything_is_measured)
{
    cr_expect_eq(syi_start_assumed().value, assumed);
}

Test(start, follows_what_is_measured)
{
    cr_expect_float_eq(after(1, 20e3).value, 25e3, 1);
    cr_expect_float_eq(after(60, 12e3).value, 12e3, 100);
    cr_expect_float_eq(after(60, 80e3).value, 80e3, 100);
}

/* A processor that was busy for once says nothing; for three calls in a row it does. */
Test(start, passes_over_single_strange_ones)
{
    syi_track start = after(20, 20e3);
    const double before = start.value;
    syi_start_add(&start, 5e6);
    syi_start_add(&start, 5e6);
    cr_expect_eq(start.value, before);
    syi_start_add(&start, 5e6);
    cr_expect_eq(start.value, 5e6);
}

/* Or a machine that was busy once would never be tried with several devices again. */
Test(start, what_is_not_measured_any_more_is_forgotten)
{
    syi_track start = after(3, 5e6);
    double before = start.value;
    cr_assert_eq(before, 5e6);
    for (int i = 0; i < 400; i++) {
        syi_start_add(&start, 0);
        cr_expect_leq(start.value, before);
        before = start.value;
    }
    cr_expect_float_eq(start.value, assumed, 100);
}
