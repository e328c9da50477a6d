/* Where the two profile files are: the order of docs/files.md, one step after the other. */
#define _XOPEN_SOURCE 700
#include "paths.h"
#include "profile_folder.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static folder at;

static void set_up(void)
{
    static const char *const all[] = {
        "STEELYARD_MULTIGPU_PATH",    "STEELYARD_THRESHOLD_PATH", "THREADX_MULTIGPU_PROFILE_PATH",
        "THREADX_GPU_THRESHOLD_PATH", "XDG_STATE_HOME",           "HOME"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    folder_make(&at);
    cr_assert_eq(chdir(at.path), 0);
}

static void tear_down(void)
{
    folder_remove(&at);
    cr_expect_eq(syi_mem_alive(), 0, "memory was not given back");
}

TestSuite(profile_paths, .init = set_up, .fini = tear_down);

static void expect_path(syi_profile_file file, const char *chosen, const char *expected)
{
    char *found = NULL;
    cr_assert_eq(syi_profile_path(file, chosen, &found), SY_OK, "%s", sy_last_error()->text);
    cr_expect_str_eq(found, expected);
    syi_free(found);
}

Test(profile_paths, order)
{
    char home[256];
    snprintf(home, sizeof home, "%s/.local/state/steelyard/multigpu.json",
             getpwuid(getuid())->pw_dir);
    expect_path(SYI_FILE_MULTIGPU, NULL, home);
    setenv("HOME", "/home/someone", 1);
    expect_path(SYI_FILE_MULTIGPU, NULL, "/home/someone/.local/state/steelyard/multigpu.json");
    setenv("HOME", "/", 1);
    expect_path(SYI_FILE_MULTIGPU, NULL, "/.local/state/steelyard/multigpu.json");
    setenv("XDG_STATE_HOME", "/state", 1);
    expect_path(SYI_FILE_MULTIGPU, NULL, "/state/steelyard/multigpu.json");
    expect_path(SYI_FILE_THRESHOLDS, NULL, "/state/steelyard/thresholds.json");
    mkdir("artifacts", 0777);
    mkdir("artifacts/profiles", 0777);
    expect_path(SYI_FILE_MULTIGPU, NULL, with(at.path, "/artifacts/profiles/multigpu.json"));
    expect_path(SYI_FILE_THRESHOLDS, NULL, with(at.path, "/artifacts/profiles/thresholds.json"));
    setenv("THREADX_MULTIGPU_PROFILE_PATH", "/older/m.json", 1);
    setenv("THREADX_GPU_THRESHOLD_PATH", "/older/t.json", 1);
    expect_path(SYI_FILE_MULTIGPU, NULL, "/older/m.json");
    expect_path(SYI_FILE_THRESHOLDS, NULL, "/older/t.json");
    setenv("STEELYARD_MULTIGPU_PATH", "/ours/m.json", 1);
    setenv("STEELYARD_THRESHOLD_PATH", "/ours/t.json", 1);
    expect_path(SYI_FILE_MULTIGPU, NULL, "/ours/m.json");
    expect_path(SYI_FILE_THRESHOLDS, NULL, "/ours/t.json");
    expect_path(SYI_FILE_MULTIGPU, "/chosen/m.json", "/chosen/m.json");
    expect_path(SYI_FILE_MULTIGPU, "relative/m.json", with(at.path, "/relative/m.json"));
    cr_assert_eq(chdir("/"), 0);
    expect_path(SYI_FILE_MULTIGPU, "m.json", "/m.json");
}

Test(profile_paths, empty_and_relative_variables_do_not_count)
{
    setenv("HOME", "/home/someone", 1);
    setenv("XDG_STATE_HOME", "state", 1);
    setenv("STEELYARD_MULTIGPU_PATH", "", 1);
    setenv("THREADX_MULTIGPU_PROFILE_PATH", "", 1);
    expect_path(SYI_FILE_MULTIGPU, "", "/home/someone/.local/state/steelyard/multigpu.json");
    setenv("XDG_STATE_HOME", "", 1);
    expect_path(SYI_FILE_MULTIGPU, NULL, "/home/someone/.local/state/steelyard/multigpu.json");
}

Test(profile_paths, a_file_called_artifacts_is_no_folder)
{
    setenv("XDG_STATE_HOME", "/state", 1);
    put_file("artifacts", "");
    expect_path(SYI_FILE_MULTIGPU, NULL, "/state/steelyard/multigpu.json");
}

/* Of a container's user there may be nothing: no HOME, and no entry in the user database. */
Test(profile_paths, a_user_without_a_home)
{
    char *found = at.path;
    if (setreuid(54321, (uid_t)-1) != 0 || getpwuid(54321))
        folder_skip(&at, "the user's number cannot be another one");
    cr_assert_eq(syi_profile_path(SYI_FILE_MULTIGPU, NULL, &found), SY_OK);
    cr_expect_null(found);
    setenv("XDG_STATE_HOME", "/state", 1);
    expect_path(SYI_FILE_MULTIGPU, NULL, "/state/steelyard/multigpu.json");
}

static sy_status edit_nothing(json_t *root, void *user)
{
    (void)root;
    (void)user;
    return SY_OK;
}

Test(profile_paths, what_has_no_place_cannot_be_used)
{
    syi_store store = syi_threshold_store(NULL, &at.log);
    syi_store_look look = {.updates = -1};
    json_t *root = NULL;
    bool done = true;
    cr_expect_eq(syi_store_read(&store, &root), SY_ERR_IO);
    cr_expect_str_eq(sy_last_error()->text,
                     "no place for thresholds.json: neither HOME nor the user database names a "
                     "home folder; set HOME or XDG_STATE_HOME");
    cr_expect_eq(syi_store_prepare(&store), SY_ERR_IO);
    cr_expect_eq(syi_store_update(&store, edit_nothing, NULL), SY_ERR_IO);
    cr_expect_eq(syi_store_amend(&store, NULL, edit_nothing, NULL, &done), SY_ERR_IO);
    cr_expect_not(done);
    cr_expect_not(syi_store_changed(&store, &look));
}

Test(profile_paths, every_failing_allocation)
{
    char *found = NULL;
    int64_t k;
    for (k = 1;; k++) {
        sy_status status;
        syi_mem_fail_at(k);
        status = syi_profile_path(SYI_FILE_MULTIGPU, NULL, &found);
        syi_mem_fail_at(0);
        if (status == SY_OK)
            break;
        cr_assert_eq(status, SY_ERR_MEMORY);
        cr_assert_eq(syi_mem_alive(), 0);
    }
    cr_expect_eq(k, 3); /* the user's home folder needs two */
    syi_free(found);
}

Test(profile_paths, missing_folders_are_made_on_writing)
{
    char path[256] = "";
    syi_store store = syi_threshold_store(path, &at.log);
    sy_threshold found;
    struct stat made;
    snprintf(path, sizeof path, "%s/one/two//three/t.json", at.path);
    cr_expect_eq(syi_threshold_find(&store, "k", &found), SY_ERR_NOT_FOUND);
    cr_expect_eq(count_files(&at), 0);
    cr_assert_eq(syi_threshold_add(&store, "k", 1, 1), SY_OK, "%s", sy_last_error()->text);
    cr_expect(exists(path));
    cr_assert_eq(stat(with(at.path, "/one"), &made), 0);
    cr_expect_eq(made.st_mode & 077, 0, "open to others: %o", (unsigned)made.st_mode);
    strcpy(path, "plain.json");
    cr_assert_eq(syi_threshold_add(&store, "k", 1, 1), SY_OK, "%s", sy_last_error()->text);
    cr_expect(exists(path));
}
