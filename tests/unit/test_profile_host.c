/* What the host program has set takes no part in what is stored: its decimal comma, its rounding.
 * Nor do its child processes keep anybody from it, nor is anything lost with a lock file. */
#define _XOPEN_SOURCE 700
#include "profile_folder.h"
#include "support/comma.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "locked_file.h"

FOLDER_SUITE(profile_host);

static void set(const char *tag, double a, double b)
{
    const sy_ratio ratios[] = {{"a", a}, {"b", b}};
    cr_expect_eq(syi_multigpu_set(&at.multigpu, tag, ratios, 2, NULL, NULL), SY_OK);
}

static void expect_first(const char *tag, double ratio)
{
    syi_stored_balance found;
    cr_assert_eq(syi_multigpu_get(&at.multigpu, tag, &found), SY_OK, "%s", sy_last_error()->text);
    cr_expect_eq(found.balance.ratios[0].ratio, ratio);
    syi_stored_balance_clear(&found);
}

static void expect_ratios(const json_t *entry, double a, double b)
{
    const json_t *ratios = json_object_get(entry, "ratios");
    cr_expect_eq(json_number_value(json_object_get(ratios, "a")), a);
    cr_expect_eq(json_number_value(json_object_get(ratios, "b")), b);
}

Test(profile_host, a_decimal_comma_stays_outside)
{
    json_t *root;
    if (!comma_set())
        folder_skip(&at, "no locale with a decimal comma on this system");
    set("t", 3, 1);
    expect_first("t", 0.75);
    setlocale(LC_ALL, "C");
    root = parse_file(at.multigpu_path);
    expect_ratios(root, 0.75, 0.25);
    expect_ratios(json_object_get(json_object_get(root, "profiles"), "t"), 0.75, 0.25);
    json_decref(root);
}

/* A process that the host has forked while a file was locked may go on for long. */
Test(profile_host, a_child_keeps_no_lock)
{
    syi_locked_file file;
    pid_t child;
    cr_assert_eq(syi_file_lock(at.multigpu_path, false, 0, &file), SY_OK);
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    cr_assert_gt(child, 0);
    syi_file_unlock(&file);
    cr_expect_eq(syi_file_lock(at.multigpu_path, false, 0, &file), SY_OK, "%s",
                 sy_last_error()->text);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    syi_file_unlock(&file);
}

/* Who deletes a lock file in use lets another writer in: the one who had it writes no more. */
Test(profile_host, a_lock_file_deleted_meanwhile)
{
    syi_locked_file file;
    set("t", 3, 1);
    cr_assert_eq(syi_file_lock(at.multigpu_path, false, 0, &file), SY_OK);
    remove(with(at.multigpu_path, ".lock"));
    set("u", 1, 3);
    cr_expect_eq(syi_file_replace(&file, "{}", 2), SY_ERR_IO);
    cr_expect(strstr(sy_last_error()->text, "its lock file was deleted meanwhile"), "'%s'",
              sy_last_error()->text);
    syi_file_unlock(&file);
    expect_first("t", 0.75);
    set("t", 1, 3);
    expect_first("t", 0.25);
}

/* Nor does it move what is stored beside. */
Test(profile_host, rounding_stays_outside)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    set("t", 7, 3);
    for (int i = 0; i < 30; i++) {
        fesetround(modes[i % 3]);
        set("u", 3, 1);
        fesetround(FE_TONEAREST);
    }
    expect_first("t", 0.7);
}
