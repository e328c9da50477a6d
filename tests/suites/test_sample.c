/* What devices are profiled with, as a workload of the user's sees it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/lab.h"

enum { SEEN = 1000, INPUTS = 2 };
static double seen[INPUTS][SEEN];

static int keep_what_it_sees(const sy_segment *s)
{
    for (int k = 0; k < INPUTS; k++)
        memcpy(seen[k], s->in[k], sizeof seen[k]);
    return 0;
}

static int refuse_what_is_no_walk(const sy_segment *s)
{
    for (int k = 0; k < INPUTS; k++) {
        const double *x = s->in[k];
        for (int64_t i = 0; i < s->count; i++)
            if (!(x[i] > 0) || (i > 0 && !(fabs(x[i] - x[i - 1]) < 0.11)))
                return 1;
    }
    return 0;
}

/* Profiles go to a file of the test's own. */
static char path[64];

static void name_file(void)
{
    snprintf(path, sizeof path, "sample-%d.json", (int)getpid());
}

static void remove_file(void)
{
    lab_remove(path);
}

TestSuite(sample, .init = name_file, .fini = remove_file);

static sy_context *open_with(int (*compute)(const sy_segment *))
{
    static const char *const inputs[] = {"a", "b"}, *const outputs[] = {"c"};
    const sy_workload_def def = {.struct_size = sizeof def,
                                 .name = "my_map",
                                 .summary = "m",
                                 .version = 1,
                                 .pattern = SY_PATTERN_MAP,
                                 .n_inputs = INPUTS,
                                 .n_outputs = 1,
                                 .input_names = inputs,
                                 .output_names = outputs,
                                 .compute = compute};
    sy_context *context = lab_open("cpu:threads=1", path, NULL);
    cr_assert(context);
    cr_assert_eq(sy_workload_register(context, &def), SY_OK, "%s", sy_last_error()->text);
    return context;
}

static void profile_with_seed(sy_context *context, uint64_t seed, double into[INPUTS][SEEN])
{
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = "my_map",
                                  .sample_size = SEEN,
                                  .runs = 1,
                                  .seed = seed};
    cr_assert_eq(sy_profile_auto_balance(context, &options, NULL), SY_OK);
    memcpy(into, seen, sizeof seen);
}

/* Prices, others for every seed and for every input. */
Test(sample, of_the_seed)
{
    static double once[INPUTS][SEEN], again[INPUTS][SEEN], other[INPUTS][SEEN];
    sy_context *context = open_with(keep_what_it_sees);
    profile_with_seed(context, 1, once);
    profile_with_seed(context, 1, again);
    profile_with_seed(context, UINT64_C(1) << 40, other);
    cr_expect_arr_eq(once, again, sizeof once);
    for (int k = 0; k < INPUTS; k++)
        cr_expect(lab_difference(once[k], other[k], SEEN) >= 0, "input %d", k);
    cr_expect(lab_difference(once[0], once[1], SEEN) >= 0);
    for (int i = 0; i < SEEN; i++)
        cr_expect(once[0][i] > 0 && once[0][i] < 1e6, "%g", once[0][i]);
    sy_context_destroy(&context);
}

static int stop_at(void *user, uint64_t done, uint64_t all)
{
    (void)all;
    return done == *(const uint64_t *)user;
}

/* It is made piece by piece, and a caller who cancels is heard before the first run, too. */
Test(sample, of_any_size)
{
    uint64_t stop = UINT64_MAX;
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = "my_map",
                                  .sample_size = 3000001,
                                  .runs = 1,
                                  .progress = stop_at,
                                  .progress_user = &stop};
    sy_context *context = open_with(refuse_what_is_no_walk);
    cr_expect_eq(sy_profile_auto_balance(context, &options, NULL), SY_OK, "%s",
                 sy_last_error()->text);
    stop = 0;
    cr_expect_eq(sy_profile_auto_balance(context, &options, NULL), SY_ERR_CANCELLED);
    sy_context_destroy(&context);
}
