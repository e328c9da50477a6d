/* Joining the links of a recurrence's pieces: what is joined says the same as its parts. */
#include "device/job.h"

#include <criterion/criterion.h>

static int same_state(const syi_carry *assumed, const syi_carry *end)
{
    return assumed->word[0] == end->word[0];
}

static const syi_workload running = {.pattern = SY_PATTERN_RECURRENCE, .agrees = same_state};

static void add(syi_outcome *outcome, int64_t row, int64_t first, int64_t columns, double from,
                double to)
{
    syi_link link = {.row = row, .first = first, .columns = columns};
    link.assumed.word[0] = from;
    link.end.word[0] = to;
    cr_assert_eq(syi_outcome_add_link(outcome, &link), SY_OK);
}

static void expect(const syi_outcome *outcome, int64_t i, int64_t row, int64_t first,
                   int64_t columns, double from, double to)
{
    const syi_link *link = &outcome->links[i];
    cr_assert_lt(i, outcome->n_links);
    cr_expect(link->row == row && link->first == first && link->columns == columns, "link %d",
              (int)i);
    cr_expect(link->assumed.word[0] == from && link->end.word[0] == to, "link %d", (int)i);
}

Test(links, neighbours_that_agree_become_one)
{
    syi_outcome outcome = {0};
    add(&outcome, 0, 0, 512, 1, 2);
    add(&outcome, 0, 512, 512, 2, 3);
    add(&outcome, 0, 1024, 512, 9, 4); /* another state than its neighbour left */
    add(&outcome, 0, 1536, 512, 4, 5);
    add(&outcome, 1, 2048, 512, 5, 6); /* another row */
    add(&outcome, 1, 4096, 512, 6, 7); /* a gap */
    syi_outcome_join_links(&outcome, &running);
    cr_expect_eq(outcome.n_links, 4);
    expect(&outcome, 0, 0, 0, 1024, 1, 3);
    expect(&outcome, 1, 0, 1024, 1024, 9, 5);
    expect(&outcome, 2, 1, 2048, 512, 5, 6);
    expect(&outcome, 3, 1, 4096, 512, 6, 7);
    syi_outcome_clear(&outcome);
}

Test(links, later_ones_join_the_last)
{
    syi_outcome outcome = {0};
    add(&outcome, 0, 0, 512, 1, 2);
    syi_outcome_join_links(&outcome, &running);
    add(&outcome, 0, 512, 512, 2, 3);
    syi_outcome_join_links(&outcome, &running);
    cr_expect_eq(outcome.n_links, 1);
    expect(&outcome, 0, 0, 0, 1024, 1, 3);
    syi_outcome_clear(&outcome);
}

Test(links, a_long_row_takes_little_memory)
{
    const int64_t columns = 512, pieces = 100 * SYI_LINK_MOST / columns;
    syi_outcome outcome = {0};
    for (int64_t i = 0; i < pieces; i++) {
        add(&outcome, 0, i * columns, columns, (double)i, (double)(i + 1));
        if (i % 1000 == 999)
            syi_outcome_join_links(&outcome, &running);
    }
    syi_outcome_join_links(&outcome, &running);
    cr_expect_eq(outcome.n_links, 100);
    cr_expect_leq(outcome.links_capacity, 4096);
    for (int64_t i = 0; i < outcome.n_links; i++)
        cr_expect_eq(outcome.links[i].columns, SYI_LINK_MOST);
    syi_outcome_clear(&outcome);
}
