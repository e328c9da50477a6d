/*
 * What one-call programs find of their devices goes from one to the next through the file.
 */
#define _DEFAULT_SOURCE /* flock */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "one_call.h"

TestSuite(pending, .init = one_call_set_up, .fini = one_call_tear_down);

Test(pending, the_third_call_in_a_row_corrects_the_file)
{
    struct stat corrected;
    write_profile(1);
    expect_the_third_corrects();
    corrected = look();
    b_takes(3);
    cr_expect(same(corrected, look()), "it takes what the file says by now");
}

Test(pending, a_normal_call_between_begins_again)
{
    write_profile(1);
    for (int i = 0; i < 2; i++)
        b_takes(3);
    b_takes(1);
    expect_pending(0, 0, 0);
    for (int i = 0; i < 2; i++)
        b_takes(3);
    cr_expect_eq(drift_of_b(), 1);
    b_takes(5);
    expect_pending(1, 5, 0);
    cr_expect_eq(drift_of_b(), 1, "three that do not agree");
}

Test(pending, normal_calls_leave_the_file_alone)
{
    struct stat before;
    write_profile(1);
    before = look();
    for (int i = 0; i < 5; i++)
        b_takes(1 + 0.02 * i);
    cr_expect(same(before, look()));
    cr_expect_neq(access(one_call_lock, F_OK), 0, "not even locked");
    put_pending("{\"runs\": 0, \"drift\": 0, \"idle\": 0}");
    before = look();
    b_takes(1);
    cr_expect(same(before, look()));
}

Test(pending, frozen_contexts_leave_it_alone)
{
    sy_context *context = open_devices(NULL);
    struct stat before;
    write_profile(1);
    before = look();
    context->frozen = 1;
    learn(context, &b_is_slow);
    sy_context_destroy(&context);
    cr_expect(same(before, look()));
}

/* Somebody sets other ratios, somebody else corrects the other device of the same profile. */
Test(pending, it_outlives_what_others_change)
{
    const sy_ratio ratios[] = {{"a", 0.5}, {"b", 0.5}};
    const deed a_alone = {.slower = {5, 0}, .packets = 4};
    sy_context *context;
    write_profile(1);
    for (int i = 0; i < 2; i++)
        b_takes(3);
    context = open_devices(NULL);
    cr_assert_eq(sy_balance_set(context, "another", ratios, 2), SY_OK);
    for (int i = 0; i < 3; i++)
        learn(context, &a_alone);
    sy_context_destroy(&context);
    cr_expect_eq(drift_of_b(), 1);
    expect_pending(2, 3, 0);
    one_call(&(deed){.slower = {5, 3}, .packets = 4}, NULL);
    cr_expect_float_eq(drift_of_b(), 3, 1e-9);
}

/* The others' change came after this context had read the file: that one stays as it is. */
Test(pending, nothing_is_written_over_a_newer_file)
{
    sy_context *context = open_devices(NULL);
    struct stat newer;
    write_profile(1);
    learn(context, &b_is_slow);
    write_profile(2);
    newer = look();
    sy_context_destroy(&context);
    cr_expect(same(newer, look()));
}

Test(pending, what_is_damaged_is_told_and_left_out)
{
    static const char *const damaged[] = {
        "3",
        "[]",
        "{}",
        "{\"runs\": \"2\", \"drift\": 3, \"idle\": 0}",
        "{\"runs\": 2.5, \"drift\": 3, \"idle\": 0}",
        "{\"runs\": 3, \"drift\": 3, \"idle\": 0}",
        "{\"runs\": -1, \"drift\": 3, \"idle\": 0}",
        "{\"runs\": 2, \"drift\": 0, \"idle\": 0}",
        "{\"runs\": 2, \"drift\": true, \"idle\": 0}",
        "{\"runs\": 2, \"drift\": 3, \"idle\": -1}",
        "{\"runs\": 0, \"drift\": 3, \"idle\": 0}",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        lab_log log = {0};
        write_profile(1);
        put_pending(damaged[i]);
        one_call(&b_is_slow, &log);
        cr_expect_eq(log.warnings, 1, "%s: %d warnings", damaged[i], log.warnings);
        cr_expect(strstr(log.last, one_call_path) && strstr(log.last, "pending"), "'%s'", log.last);
        expect_pending(1, 3, 0);
    }
}

/* No device becomes so much quicker or slower, and no time is negative. */
Test(pending, a_drift_that_cannot_be_counts_for_nothing)
{
    static const double damaged[] = {-2, 0, 1e-9, 1e9};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        sy_balance balance = {.struct_size = sizeof balance};
        sy_context *context;
        write_profile(1);
        json_t *file = json_load_file(one_call_path, 0, NULL), *b = NULL;
        cr_assert_eq(json_unpack(file, "{s:{s:{s:{s:o}}}}", "profiles", "sma", "costs", "b", &b),
                     0);
        json_object_set_new(b, "drift", json_real(damaged[i]));
        cr_assert_eq(json_dump_file(file, one_call_path, 0), 0);
        json_decref(file);
        context = open_devices(NULL);
        cr_assert_eq(sy_balance_get(context, "sma", &balance), SY_OK);
        cr_expect_eq(balance.ratios[1].drift, 1, "%g: %g", damaged[i], balance.ratios[1].drift);
        sy_balance_clear(&balance);
        sy_context_destroy(&context);
    }
}

/* Neither a failure nor a wait: a file that cannot be locked, one that another process has. */
Test(pending, what_cannot_be_written_is_left)
{
    lab_log log = {0};
    struct stat before;
    int lock;
    write_profile(1);
    before = look();
    cr_assert_eq(mkdir(one_call_lock, 0777), 0);
    syi_fail(SY_ERR_USER, "an error of before");
    one_call(&b_is_slow, &log);
    cr_expect_eq(log.warnings, 0, "'%s'", log.last);
    cr_expect(strstr(log.text, "is not stored") && strstr(log.text, one_call_path), "'%s'",
              log.text);
    cr_expect_str_eq(sy_last_error()->text, "an error of before");
    cr_assert_eq(rmdir(one_call_lock), 0);
    lock = open(one_call_lock, O_RDWR | O_CREAT, 0600);
    cr_assert(lock >= 0 && flock(lock, LOCK_EX) == 0);
    b_takes(3);
    close(lock);
    cr_expect(same(before, look()));
}

/* At every allocation of the end: the file is the old one or the new one. */
Test(pending, without_memory_the_file_stays)
{
    int failed = 0;
    for (int k = 1; k < 20; k++) {
        sy_context *context;
        struct stat before;
        write_profile(1);
        before = look();
        context = open_devices(NULL);
        learn(context, &b_is_slow);
        syi_mem_fail_at(k);
        sy_context_destroy(&context);
        syi_mem_fail_at(0);
        failed += same(before, look());
        if (!same(before, look()))
            expect_pending(1, 3, 0);
    }
    cr_expect(failed > 0 && failed < 19, "%d", failed);
}

/* The correction fails, the end does not: what is pending is still there for the next call. */
Test(pending, a_correction_that_fails_can_come_later)
{
    lab_log log = {0};
    sy_context *context;
    write_profile(1);
    for (int i = 0; i < 2; i++)
        b_takes(3);
    context = open_devices(&log);
    cr_assert(remove(one_call_lock) == 0 && mkdir(one_call_lock, 0777) == 0);
    learn(context, &b_is_slow);
    cr_expect_eq(log.warnings, 1);
    cr_assert_eq(rmdir(one_call_lock), 0);
    sy_context_destroy(&context);
    expect_pending(2, 3, 0);
    b_takes(3);
    cr_expect_float_eq(drift_of_b(), 3, 1e-9);
}
