/*
 * What one-call programs make of a cold start, of a profile that is only a guess, and of a device
 * that has no part.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "base/clock.h"
#include "one_call.h"
#include "planned.h"

enum { MANY_CALLS = 300 };

TestSuite(cold, .init = one_call_set_up, .fini = one_call_tear_down);

/* The first packet of a context, and arrays without memory, make any device slow; none quick. */
Test(cold, a_cold_start_is_no_slow_device)
{
    struct stat before;
    write_profile(1);
    before = look();
    one_call(&(deed){.slower = {1, 1.2}, .packets = 1}, NULL); /* 0.2 s instead of 0.02 */
    one_call(&(deed){.slower = {1, 3}, .packets = 4, .untouched = true}, NULL);
    cr_expect(same(before, look()));
    one_call(&(deed){.slower = {1, 0.05}, .packets = 1}, NULL);
    expect_pending(1, 0.5, 0); /* with the first packet's price, for want of others */
    one_call(&(deed){.slower = {1, 0.5}, .packets = 4, .untouched = true}, NULL);
    expect_pending(2, 0.5, 0);
}

/* Nothing that is done once takes so long as half a second. */
Test(cold, a_single_packet_tells_of_a_very_slow_device)
{
    write_profile(1);
    one_call(&(deed){.slower = {1, 3}, .packets = 1}, NULL);
    expect_pending(1, 30, 0);
}

/* In the second run of a context nothing is cold any more. */
Test(cold, a_warm_context_counts_all)
{
    const deed first = {.slower = {1, 1}, .packets = 4};
    const deed second = {.slower = {1, 3}, .packets = 1, .untouched = true};
    sy_context *context = open_devices(NULL);
    write_profile(1);
    learn(context, &first);
    learn(context, &second);
    sy_context_destroy(&context);
    expect_pending(1, 30, 0);
}

/* What runs say replaces a guess, and the profile is one of this driver. */
Test(cold, a_guess_is_corrected_as_well)
{
    json_t *print;
    write_profile(1);
    change_driver();
    expect_the_third_corrects();
    print = entry_of_b("fingerprint");
    cr_expect_str_eq(json_string_value(json_object_get(print, "driver")), "");
    json_decref(print);
}

/* A guess is given up for what the first runs say, a profile only for what three of them say. */
Test(cold, a_guess_is_healed_sooner_than_a_profile)
{
    for (int is_guess = 0; is_guess < 2; is_guess++) {
        sy_context *context;
        int64_t before;
        write_profile(1);
        if (is_guess)
            change_driver();
        context = open_devices(NULL);
        before = planned_tiles(context, ONE_CALL_COLUMNS, SY_F64, 1);
        for (int i = 0; i < 2; i++)
            learn(context, &b_is_slow);
        cr_expect_eq(planned_tiles(context, ONE_CALL_COLUMNS, SY_F64, 1) < before, is_guess);
        sy_context_destroy(&context);
    }
}

/* A device that has no part because it was too slow is believed to be quicker from call to call. */
Test(cold, who_was_too_slow_is_tried_again)
{
    const deed without_b = {.slower = {1, 0}, .packets = 4};
    int64_t tiles = 0;
    int calls = 0;
    write_profile(4000);
    for (; tiles == 0 && calls < MANY_CALLS; calls++) {
        sy_context *context = open_devices(NULL);
        tiles = planned_tiles(context, ONE_CALL_COLUMNS, SY_F64, 1);
        if (tiles == 0)
            learn(context, &without_b);
        sy_context_destroy(&context);
    }
    cr_expect(calls > 10 && calls < MANY_CALLS, "after %d calls", calls);
    expect_pending(0, 0, calls - 1);
    cr_expect_eq(drift_of_b(), 4000);
}

/* What has faded and is right by now becomes what the file says. */
Test(cold, who_has_become_quicker_is_corrected)
{
    const double halved = 1 + 8 * pow(0.97, 23);
    write_profile(9);
    put_pending("{\"runs\": 0, \"drift\": 0, \"idle\": 23}");
    for (int i = 1; i <= 2; i++) {
        b_takes(halved);
        expect_pending(i, halved, 23);
        cr_expect_eq(drift_of_b(), 9);
    }
    b_takes(halved);
    expect_pending(0, 0, 0);
    cr_expect_float_eq(drift_of_b(), halved, 1e-9);
}

/* Of all packets only the first is told apart: here each device has one. */
Test(cold, a_tally_tells_the_first_packet)
{
    static double in[ONE_CALL_COLUMNS], out[ONE_CALL_COLUMNS];
    const sy_ratio equal[] = {{"a", 1}, {"b", 1}};
    const sy_options options = {.struct_size = sizeof options, .ratios = equal, .n_ratios = 2};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = "sma",
                          .rows = 1,
                          .columns = ONE_CALL_COLUMNS,
                          .inputs = (const void *[]){in},
                          .outputs = (void *[]){out}};
    sy_context *context = open_devices(NULL);
    syi_tally tallies[2] = {{.packets = 0}};
    double params[SYI_MAX_PARAMS];
    syi_arena memory;
    syi_plan plan;
    syi_gate gate;
    syi_job job;
    syi_arena_open(&memory);
    cr_assert_eq(syi_work_check(context, &work, &options, params, &job), SY_OK);
    job.memory = &memory;
    cr_assert_eq(syi_context_plan(context, &job, &options, false, &plan), SY_OK);
    syi_gate_init(&gate, NULL, NULL, plan.tiles);
    job.gate = &gate;
    cr_assert_eq(syi_run_plan(&context->devices, &job, &plan, syi_now_ns(), &context->log, tallies),
                 SY_OK);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(tallies[i].packets, 1);
        cr_expect_eq(tallies[i].first_elements, ONE_CALL_COLUMNS / 2);
        cr_expect_eq(tallies[i].first_ms, tallies[i].total.busy_ms);
        syi_outcome_clear(&tallies[i].total);
    }
    syi_gate_destroy(&gate);
    syi_arena_close(&memory);
    sy_context_destroy(&context);
}
