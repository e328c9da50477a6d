/*
 * Devices of which little is known: left out on a guess, or not in the profile. Large works find
 * out, small ones do not pay for it.
 */
#include <criterion/criterion.h>

#include "one_call.h"
#include "planned.h"
#include "support/cost_file.h"

enum { SMALL = 64 * 4096, LARGE = 1600 * 4096 };

TestSuite(trials, .init = one_call_set_up, .fini = one_call_tear_down);

static const deed alone = {.slower = {1, 0}, .packets = 4};

static int64_t tiles_of_b(sy_context *context, int64_t columns)
{
    return planned_tiles(context, columns, SY_F64, 1);
}

/* Without a profile: what a run has told is believed of works of that size. */
Test(trials, a_first_run_tells_of_works_like_it)
{
    sy_context *context = open_devices(NULL);
    learn(context, &(deed){.slower = {1, 4000}, .packets = 4});
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 0);
    cr_expect_eq(tiles_of_b(context, LARGE), 800);
    learn(context, &(deed){.slower = {1, 1. / 3}, .packets = 4, .columns = LARGE});
    cr_expect_eq(tiles_of_b(context, LARGE), 1200);
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 0);
    sy_context_destroy(&context);
}

/* A first run of one packet may have been the loading of code. */
Test(trials, a_single_packet_is_tried_again)
{
    for (int is_slow = 0; is_slow < 2; is_slow++) {
        const deed again = {.slower = {1, is_slow ? 4000 : 1}, .packets = 1};
        sy_context *context = open_devices(NULL);
        learn(context, &(deed){.slower = {1, 4000}, .packets = 1});
        cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 1);
        learn(context, &again);
        cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), is_slow ? 0 : 50);
        sy_context_destroy(&context);
    }
}

/* A context of one call goes by the profile. */
Test(trials, whom_a_guess_leaves_out_is_tried_once)
{
    for (int is_slow = 0; is_slow < 2; is_slow++) {
        sy_context *context;
        write_profile(4000);
        change_driver();
        context = open_devices(NULL);
        cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 0);
        learn(context, &alone);
        cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 1);
        cr_expect_eq(tiles_of_b(context, SMALL), 0);
        learn(context, &(deed){.slower = {1, is_slow ? 4000 : 1}, .packets = 4});
        cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), is_slow ? 0 : 50);
        sy_context_destroy(&context);
    }
}

/* A trial in the last call of a context counts for the next one. */
Test(trials, what_a_trial_has_shown_is_handed_on)
{
    sy_context *context;
    write_profile(4000);
    change_driver();
    context = open_devices(NULL);
    learn(context, &alone);
    learn(context, &(deed){.slower = {1, 1}, .packets = 4});
    sy_context_destroy(&context);
    context = open_devices(NULL);
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 50);
    sy_context_destroy(&context);
}

/* Floats for want of their own profile by that of doubles. */
Test(trials, floats_by_doubles)
{
    sy_context *context;
    write_profile(4000);
    context = open_devices(NULL);
    learn(context, &(deed){.slower = {1, 0}, .packets = 4, .dtype = SY_F32});
    cr_expect_eq(planned_tiles(context, ONE_CALL_COLUMNS, SY_F32, 1), 1);
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 0, "doubles have a profile");
    sy_context_destroy(&context);
}

static void write_profile_of_a(void)
{
    const cost_row row = {"a", 0, 4000, 0.01, 1};
    cr_assert(cost_file_write(one_call_path, "sma", 1, &row, 1));
}

/* Devices of the same nominal speed: half for each, until a run has told. */
Test(trials, who_is_not_in_the_profile_shows_its_speed)
{
    const deed first = {.slower = {1, 9}, .packets = 4};
    sy_context *context;
    struct stat before;
    write_profile_of_a();
    before = look();
    context = open_devices(NULL);
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 0, "a context of one call");
    learn(context, &alone);
    cr_expect_eq(tiles_of_b(context, SMALL), 0);
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 50);
    learn(context, &first);
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 10);
    cr_expect_eq(tiles_of_b(context, SMALL), 0);
    for (int i = 0; i < 9; i++)
        learn(context, &(deed){.slower = {1, 1}, .packets = 4, .warm = true});
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 50);
    sy_context_destroy(&context);
    cr_expect(same(before, look()), "what is not profiled is not stored");
}

/* The profile of the others is corrected without it. */
Test(trials, a_corrected_profile_is_of_those_it_was_of)
{
    sy_context *context;
    json_t *file, *costs;
    write_profile_of_a();
    context = open_devices(NULL);
    for (int i = 0; i < 4; i++)
        learn(context, &(deed){.slower = {i ? 3 : 1, i ? 1 : 0}, .packets = 4, .warm = true});
    cr_expect_gt(tiles_of_b(context, ONE_CALL_COLUMNS), 50, "what b has shown is of no file");
    sy_context_destroy(&context);
    file = json_load_file(one_call_path, 0, NULL);
    costs = json_object_get(json_object_get(json_object_get(file, "profiles"), "sma"), "costs");
    cr_expect_eq(json_object_size(costs), 1);
    cr_expect_float_eq(json_number_value(json_object_get(json_object_get(costs, "a"), "drift")), 3,
                       1e-9);
    json_decref(file);
}

/* Who learns nothing tries nothing. */
Test(trials, a_frozen_context_goes_by_the_profile)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = "sim:a:speed=0.1,sim:b:speed=0.1",
                        .multigpu_path = one_call_path,
                        .thresholds_path = "no-such/thresholds.json",
                        .frozen = 1};
    sy_context *context;
    write_profile_of_a();
    cr_assert_eq(sy_context_create(&config, &context), SY_OK);
    cr_expect_eq(tiles_of_b(context, ONE_CALL_COLUMNS), 0);
    sy_context_destroy(&context);
}
