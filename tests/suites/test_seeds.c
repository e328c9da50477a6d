/* Seeds: in fast accuracy an order of merging a reduction's tiles, in exact nothing. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/lab.h"
#include "support/series.h"

enum { ROWS = 2, SEEDS = 16, MANY = 20 * 4096 + 5 };

#define SPLIT "sim:a:speed=1e6,sim:b:speed=3e6," LAB_CPU(2)

/* The row's results with the seeds 1 .. SEEDS, by one call; the result itself with `seed`. */
static void run_seeds(sy_context *context, const char *workload, sy_accuracy accuracy,
                      uint64_t seed, double result[ROWS], double seeded[SEEDS][ROWS])
{
    static double x[ROWS * MANY];
    double *lists[] = {seeded[0]};
    sy_options options = {.struct_size = sizeof options,
                          .accuracy = accuracy,
                          .seed = seed,
                          .n_seeds = SEEDS,
                          .seeded = lists};
    sy_work work = {.struct_size = sizeof work,
                    .workload = workload,
                    .rows = ROWS,
                    .columns = MANY,
                    .inputs = (const void *const[]){x, x},
                    .outputs = (void *const[]){result}};
    series_fill(SERIES_CANCEL, 9, x, ROWS * MANY);
    cr_assert_eq(distribute_workload(context, &work, &options, NULL), SY_OK, "%s",
                 sy_last_error()->text);
}

Test(seeds, merging_can_be_cancelled)
{
    enum { LONG = 4000000 };
    static double x[MANY], result, seeded[LONG];
    sy_context *context = lab_open("cpu", NULL, NULL);
    int times = 0;
    double *lists[] = {seeded};
    sy_options options = {.struct_size = sizeof options,
                          .accuracy = SY_ACCURACY_FAST,
                          .n_seeds = LONG,
                          .seeded = lists,
                          .progress = lab_stop_at_the_end,
                          .progress_user = &times};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sum",
                    .columns = MANY,
                    .inputs = (const void *const[]){x},
                    .outputs = (void *const[]){&result}};
    cr_assert(context);
    cr_expect_eq(distribute_workload(context, &work, &options, NULL), SY_ERR_CANCELLED);
    sy_context_destroy(&context);
}

Test(seeds, a_seed_is_an_order_of_merging)
{
    sy_context *whole = lab_open("cpu", NULL, NULL), *split = lab_open(SPLIT, NULL, NULL);
    double result[ROWS], seeded[SEEDS][ROWS], again[ROWS], seeded_again[SEEDS][ROWS];
    int differ = 0;
    cr_assert(whole && split);
    run_seeds(whole, "sum", SY_ACCURACY_FAST, 0, result, seeded);
    for (int seed = 0; seed <= SEEDS; seed++) {
        run_seeds(split, "sum", SY_ACCURACY_FAST, (uint64_t)seed, again, seeded_again);
        cr_expect(memcmp(again, seed ? seeded[seed - 1] : result, sizeof again) == 0, "seed %d",
                  seed);
        cr_expect(memcmp(seeded, seeded_again, sizeof seeded) == 0);
        differ += memcmp(again, result, sizeof again) != 0;
    }
    cr_expect(differ > 0, "no seed moves the sum of a series that cancels");
    sy_context_destroy(&whole);
    sy_context_destroy(&split);
}

Test(seeds, exact_results_do_not_move_with_the_seed)
{
    static const char *const names[] = {"sum", "mean", "variance", "dot"};
    sy_context *context = lab_open(SPLIT, NULL, NULL);
    double result[ROWS], seeded[SEEDS][ROWS], again[ROWS];
    cr_assert(context);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        run_seeds(context, names[i], SY_ACCURACY_EXACT, 0, result, seeded);
        for (int s = 0; s < SEEDS; s++)
            cr_expect(memcmp(seeded[s], result, sizeof result) == 0, "%s", names[i]);
        run_seeds(context, names[i], SY_ACCURACY_EXACT, 7, again, seeded);
        cr_expect(memcmp(again, result, sizeof result) == 0, "%s", names[i]);
    }
    sy_context_destroy(&context);
}

Test(seeds, are_for_reductions)
{
    sy_context *context = lab_open("cpu", NULL, NULL);
    double x[4] = {1, 2, 3, 4}, y[4], room[4], *lists[] = {room};
    sy_options options = {.struct_size = sizeof options, .n_seeds = 1, .seeded = lists};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "ema",
                    .columns = 4,
                    .inputs = (const void *const[]){x},
                    .outputs = (void *const[]){y}};
    cr_assert(context);
    cr_expect_eq(distribute_workload(context, &work, &options, NULL), SY_ERR_ARGUMENT);
    work.workload = "sum";
    options.seeded = NULL;
    cr_expect_eq(distribute_workload(context, &work, &options, NULL), SY_ERR_ARGUMENT);
    options.n_seeds = -1;
    cr_expect_eq(distribute_workload(context, &work, &options, NULL), SY_ERR_ARGUMENT);
    sy_context_destroy(&context);
}

/* They are written like outputs, so they are checked like outputs. */
Test(seeds, have_arrays_of_their_own)
{
    sy_context *context = lab_open("cpu:threads=1", NULL, NULL);
    double x[4] = {1, 2, 3, 4}, y[4], room[5], *lists[1];
    double *const wrong[] = {NULL, x, x + 3, y, (double *)((char *)room + 4)};
    sy_options options = {.struct_size = sizeof options, .n_seeds = 3, .seeded = lists};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sum",
                    .columns = 4,
                    .inputs = (const void *const[]){x},
                    .outputs = (void *const[]){y}};
    cr_assert(context);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lists[0] = wrong[i];
        cr_expect_eq(distribute_workload(context, &work, &options, NULL), SY_ERR_ARGUMENT);
        cr_expect(lab_told(SY_ERR_ARGUMENT) && strstr(sy_last_error()->text, "seeded output 'sum'"),
                  "array %zu: %s", i, sy_last_error()->text);
    }
    cr_expect(x[0] == 1 && x[3] == 4, "an input was written");
    lists[0] = room;
    cr_expect_eq(distribute_workload(context, &work, &options, NULL), SY_OK);
    options.n_seeds = INT64_MAX / 8;
    cr_expect_eq(distribute_workload(context, &work, &options, NULL), SY_ERR_ARGUMENT);
    sy_context_destroy(&context);
}
