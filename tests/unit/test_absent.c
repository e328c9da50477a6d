/* Threads that did not come are done without, as many and for as long as is said. */
#include "device/absent.h"

#include <criterion/criterion.h>

enum { MS = 1000000 };

Test(absent, nobody)
{
    syi_absent known = {0, 0};
    cr_assert_eq(syi_absent_limit(&known, 16, 0), 16);
    cr_assert_eq(syi_absent_limit(&known, 16, INT64_MAX), 16);
}

Test(absent, for_twenty_times_the_wait)
{
    syi_absent known = {0, 0};
    syi_absent_note(&known, 16, 3, 100 * MS, 104 * MS);
    cr_assert_eq(syi_absent_limit(&known, 16, 104 * MS), 13);
    cr_assert_eq(syi_absent_limit(&known, 4, 104 * MS), 4);
    cr_assert_eq(syi_absent_limit(&known, 16, (104 + 79) * MS), 13);
    cr_assert_eq(syi_absent_limit(&known, 16, (104 + 80) * MS), 16);
    cr_assert_eq(known.most, 0); /* no clock is asked any more */
}

Test(absent, more_of_them)
{
    syi_absent known = {0, 0};
    syi_absent_note(&known, 16, 3, 0, MS);
    syi_absent_note(&known, 13, 12, 2 * MS, 4 * MS);
    cr_assert_eq(syi_absent_limit(&known, 16, 5 * MS), 1);
    cr_assert_eq(syi_absent_limit(&known, 16, 44 * MS), 16);
}

/* A process that was stopped for hours. */
Test(absent, for_a_second_at_most)
{
    const int64_t hours = INT64_C(36000000) * MS;
    syi_absent known = {0, 0};
    syi_absent_note(&known, 2, 1, 0, hours);
    cr_assert_eq(syi_absent_limit(&known, 2, hours + 999 * MS), 1);
    cr_assert_eq(syi_absent_limit(&known, 2, hours + 1000 * MS), 2);
}
