/* Damage, permissions, full disks: what a profile file can meet. Each failure must
 * leave the old file, and nothing else, and say what it was about. */
#define _GNU_SOURCE /* unshare, mount */
#include "profile_folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const sy_ratio two[] = {{"RTX3090", 3}, {"GTX1660", 1}};

FOLDER_SUITE(profile_faults);

static sy_status set(const char *tag)
{
    return syi_multigpu_set(&at.multigpu, tag, two, 2, NULL, NULL);
}

static sy_status get(const char *tag)
{
    syi_stored_balance found;
    sy_status status = syi_multigpu_get(&at.multigpu, tag, &found);
    if (status == SY_OK)
        syi_stored_balance_clear(&found);
    return status;
}

/* SY_ERR_IO with one line that has the path, the system's words, and advice after a semicolon. */
static void expect_io(sy_status status, const char *path, int code)
{
    const sy_error *error = sy_last_error();
    cr_assert_eq(status, SY_ERR_IO);
    cr_expect(strstr(error->text, path), "%s", error->text);
    cr_expect_eq(error->native_code, code, "%s", error->text);
    cr_expect(strstr(error->text, "; ") && !strchr(error->text, '\n'), "%s", error->text);
}

/* ---- damage ------------------------------------------------------------------------------- */

static const char *const damaged_multigpu[] = {
    "",
    "   ",
    "{\"updated_at\": \"2026-07-15T14:35:42\", \"workload_tag\": \"t\", \"ratios\": {\"RTX",
    "{} trailing",
    "[]",
    "17",
    "null",
    "{\"ratios\": []}",
    "{\"ratios\": null}",
    "{\"ratios\": {\"a\": 0}}",
    "{\"ratios\": {\"a\": -0.5}}",
    "{\"ratios\": {\"a\": \"0.5\"}}",
    "{\"ratios\": {\"a\": NaN}}",
    "{\"ratios\": {\"a\": 1e999}}",
    "{\"ratios\": {\"a\": null}}",
    "{\"workload_tag\": 3}",
    "{\"updated_at\": 3}",
    "{\"profiles\": []}",
    "{\"profiles\": {\"t\": 1}}",
    "{\"profiles\": {\"t\": {\"ratios\": {\"a\": true}}}}",
    "{\"profiles\": {\"t\": {\"updated_at\": {}}}}",
    "{\"format\": 1, \"profiles\": \"x\"}",
    "{\"format\": \"x\"}",
    "{\"format\": 1.5}",
    "{\"profiles\": {\"t\": {\"fingerprint\": 3}}}",
    "{\"a\": \"\xff\"}",
};

static const char *const damaged_thresholds[] = {
    "{\"updated_at\": 3}",
    "{\"entries\": []}",
    "{\"entries\": {\"k\": 5}}",
    "{\"entries\": {\"k\": {\"cpu_ms_avg\": -1}}}",
    "{\"entries\": {\"k\": {\"gpu_ms_avg\": \"fast\"}}}",
    "{\"entries\": {\"k\": {\"samples\": -1}}}",
    "{\"entries\": {\"k\": {\"samples\": 1.5}}}",
};

Test(profile_faults, damage_is_set_aside_and_said_once)
{
    for (size_t i = 0; i < sizeof damaged_multigpu / sizeof *damaged_multigpu; i++) {
        at.warnings = 0;
        put_file(at.multigpu_path, damaged_multigpu[i]);
        cr_expect_eq(get("t"), SY_ERR_NOT_FOUND, "case %zu", i);
        cr_expect_eq(get("t"), SY_ERR_NOT_FOUND);
        cr_expect_eq(at.warnings, 1, "case %zu", i);
        cr_expect(strstr(at.last_warning, at.multigpu_path), "%s", at.last_warning);
        cr_expect(!exists(at.multigpu_path));
        cr_expect(file_is(with(at.multigpu_path, ".corrupt"), damaged_multigpu[i]), "case %zu", i);
    }
}

Test(profile_faults, damaged_thresholds)
{
    sy_threshold found;
    for (size_t i = 0; i < sizeof damaged_thresholds / sizeof *damaged_thresholds; i++) {
        at.warnings = 0;
        put_file(at.thresholds_path, damaged_thresholds[i]);
        cr_expect_eq(syi_threshold_find(&at.thresholds, "k", &found), SY_ERR_NOT_FOUND);
        cr_expect_eq(at.warnings, 1, "case %zu", i);
        cr_expect(file_is(with(at.thresholds_path, ".corrupt"), damaged_thresholds[i]));
    }
}

Test(profile_faults, an_update_goes_on_after_damage)
{
    put_file(at.multigpu_path, damaged_multigpu[2]);
    cr_assert_eq(set("t"), SY_OK);
    cr_expect_eq(get("t"), SY_OK);
    cr_expect_eq(at.warnings, 1);
    cr_expect(file_is(with(at.multigpu_path, ".corrupt"), damaged_multigpu[2]));
    cr_expect_eq(count_files(&at), 3);
}

/* Nobody can rename into the place of a folder, not even root. */
Test(profile_faults, damage_that_cannot_be_set_aside)
{
    put_file(at.multigpu_path, "{");
    mkdir(with(at.multigpu_path, ".corrupt"), 0777);
    cr_expect_eq(get("t"), SY_ERR_NOT_FOUND);
    cr_expect_eq(get("t"), SY_ERR_NOT_FOUND);
    cr_expect_eq(at.warnings, 1);
    cr_expect(strstr(at.last_warning, at.multigpu_path), "%s", at.last_warning);
    expect_io(set("t"), at.multigpu_path, EISDIR); /* it would destroy what is damaged */
    cr_expect(file_is(at.multigpu_path, "{"));
}

Test(profile_faults, a_newer_versions_shape_is_left_alone)
{
    const char *newer = "{\"format\": 2, \"profiles\": [1, 2]}";
    put_file(at.multigpu_path, newer);
    cr_expect_eq(get("t"), SY_ERR_NOT_FOUND);
    cr_expect_eq(get("t"), SY_ERR_NOT_FOUND);
    cr_expect_eq(at.warnings, 1);
    cr_expect_eq(set("t"), SY_ERR_UNSUPPORTED);
    cr_expect(strstr(sy_last_error()->text, at.multigpu_path));
    cr_expect(file_is(at.multigpu_path, newer));
    cr_expect(!exists(with(at.multigpu_path, ".corrupt")));
}

/* ---- what is not a file, or not allowed ---------------------------------------------------- */

Test(profile_faults, a_folder_in_place_of_the_file)
{
    mkdir(at.multigpu_path, 0777);
    expect_io(get("t"), at.multigpu_path, EISDIR);
    expect_io(set("t"), at.multigpu_path, EISDIR);
    cr_expect_eq(count_files(&at), 1);
    cr_expect_eq(at.warnings, 0);
}

Test(profile_faults, a_pipe_is_not_waited_for)
{
    cr_assert_eq(mkfifo(at.multigpu_path, 0666), 0);
    expect_io(get("t"), at.multigpu_path, EINVAL);
    expect_io(set("t"), at.multigpu_path, EINVAL);
    cr_expect_eq(count_files(&at), 1);
}

Test(profile_faults, a_device_is_neither_read_nor_renamed)
{
    syi_store store = syi_multigpu_store("/dev/null", &at.log);
    expect_io(syi_multigpu_set(&store, "t", two, 2, NULL, NULL), "/dev/null", EINVAL);
    cr_expect(exists("/dev/null") && !exists("/dev/null.lock") && !exists("/dev/null.corrupt"));
}

Test(profile_faults, a_file_in_place_of_the_folder)
{
    char path[256] = "";
    syi_store store = syi_multigpu_store(path, &at.log);
    syi_stored_balance found;
    put_file(with(at.path, "/file"), "x");
    snprintf(path, sizeof path, "%s/file/sub/multigpu.json", at.path);
    expect_io(syi_multigpu_set(&store, "t", two, 2, NULL, NULL), with(at.path, "/file"), ENOTDIR);
    expect_io(syi_multigpu_get(&store, "t", &found), path, ENOTDIR);
    snprintf(path, sizeof path, "%s/folder/", at.path);
    mkdir(path, 0777);
    expect_io(syi_multigpu_set(&store, "t", two, 2, NULL, NULL), path, EISDIR);
}

Test(profile_faults, a_path_that_is_too_long)
{
    char path[PATH_MAX + 64] = "";
    syi_store store = syi_multigpu_store(path, &at.log);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    cr_expect_eq(syi_multigpu_set(&store, "t", two, 2, NULL, NULL), SY_ERR_IO);
    path[PATH_MAX - 20] = '\0'; /* only the name is too long */
    cr_expect_eq(syi_multigpu_set(&store, "t", two, 2, NULL, NULL), SY_ERR_IO);
    snprintf(path, sizeof path, "%s/%0254d", at.path, 0); /* only the lock's name is */
    expect_io(syi_multigpu_set(&store, "t", two, 2, NULL, NULL), at.path, ENAMETOOLONG);
    cr_expect_eq(count_files(&at), 0);
}

Test(profile_faults, proc_refuses_new_files)
{
    syi_store store = syi_multigpu_store("/proc/multigpu.json", &at.log);
    sy_status status = syi_multigpu_set(&store, "t", two, 2, NULL, NULL);
    expect_io(status, "/proc/multigpu.json", sy_last_error()->native_code);
}

/* Permissions do not bind root: a test that runs as root goes on as nobody. */
static void forbid_writing(void)
{
    chmod(at.path, 0555);
    if (geteuid() == 0 && seteuid(65534) != 0)
        folder_skip(&at, "cannot give up root");
}

static void allow_writing(void)
{
    if (getuid() == 0 && seteuid(0) != 0)
        abort();
    chmod(at.path, 0777);
}

Test(profile_faults, a_read_only_folder)
{
    cr_assert_eq(set("t"), SY_OK);
    chmod(at.multigpu_path, 0644);
    forbid_writing();
    cr_expect_eq(get("t"), SY_OK);
    expect_io(set("u"), at.multigpu_path, EACCES);
    cr_expect_eq(get("u"), SY_ERR_NOT_FOUND);
    allow_writing();
    cr_expect_eq(count_files(&at), 2);
}

Test(profile_faults, damage_in_a_read_only_folder)
{
    put_file(at.multigpu_path, "{");
    forbid_writing();
    cr_expect_eq(get("t"), SY_ERR_NOT_FOUND);
    cr_expect_eq(get("t"), SY_ERR_NOT_FOUND);
    allow_writing();
    cr_expect_eq(at.warnings, 1);
    cr_expect(file_is(at.multigpu_path, "{"));
    cr_expect_eq(count_files(&at), 1);
}

Test(profile_faults, a_file_that_may_not_be_read)
{
    cr_assert_eq(set("t"), SY_OK);
    chmod(at.multigpu_path, 0);
    forbid_writing();
    expect_io(get("t"), at.multigpu_path, EACCES);
    allow_writing();
    cr_expect(!exists(with(at.multigpu_path, ".corrupt")));
}

/* ---- writing ------------------------------------------------------------------------------ */

static char *contents(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    return text;
}

static void fill_with_tags(void)
{
    char tag[64];
    for (int i = 0; i < 20; i++) {
        snprintf(tag, sizeof tag, "a tag to fill the file with, number %d", i);
        cr_assert_eq(set(tag), SY_OK);
    }
}

Test(profile_faults, a_write_cut_short)
{
    struct rlimit limit;
    fill_with_tags();
    char *before = strdup(contents(at.multigpu_path));
    signal(SIGXFSZ, SIG_DFL); /* which would end us */
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    sy_status status = set("one more");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    expect_io(status, at.multigpu_path, EFBIG);
    cr_expect_str_eq(contents(at.multigpu_path), before);
    cr_expect_eq(count_files(&at), 2);
    free(before);
}

Test(profile_faults, a_full_disk)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", at.path, "tmpfs", 0, "size=16k") != 0)
        folder_skip(&at, "may not mount a small file system");
    sy_status status = SY_OK;
    char tag[64], *before = NULL;
    for (int i = 0; i < 1000 && status == SY_OK; i++) {
        free(before);
        before = strdup(contents(at.multigpu_path));
        snprintf(tag, sizeof tag, "a tag to fill the disk with, number %d", i);
        status = set(tag);
    }
    expect_io(status, at.multigpu_path, ENOSPC);
    cr_expect_str_eq(contents(at.multigpu_path), before);
    cr_expect_eq(count_files(&at), 2);
    cr_expect_eq(get("a tag to fill the disk with, number 0"), SY_OK);
    free(before);
    umount(at.path);
}

static volatile sig_atomic_t ends_at_flush, ended, found;

/* In place of the system's, for the library. */
int fsync(int descriptor)
{
    if (ends_at_flush)
        raise(SIGTERM);
    return (int)syscall(SYS_fsync, descriptor);
}

static void look_around(int signal_number)
{
    (void)signal_number;
    ended = 1;
    found |= access(with(at.multigpu_path, ".tmp"), F_OK) == 0;
}

/* What the signal's handler finds is what a process that ends by it would leave. */
Test(profile_faults, a_process_that_is_ended_leaves_no_half_of_a_file)
{
    signal(SIGTERM, look_around);
    ends_at_flush = 1;
    cr_assert_eq(set("t"), SY_OK);
    ends_at_flush = 0;
    cr_expect(ended && !found);
    cr_expect_eq(get("t"), SY_OK);
}

Test(profile_faults, what_a_killed_process_left_is_swept_away)
{
    put_file(with(at.multigpu_path, ".tmp"), "half a doc");
    cr_assert_eq(set("t"), SY_OK);
    cr_expect_eq(count_files(&at), 2);
    cr_expect_eq(get("t"), SY_OK);
}

Test(profile_faults, something_in_the_way_of_the_temporary_file)
{
    cr_assert_eq(set("t"), SY_OK);
    mkdir(with(at.multigpu_path, ".tmp"), 0777);
    expect_io(set("u"), at.multigpu_path, EEXIST);
    cr_expect_eq(get("t"), SY_OK);
}

Test(profile_faults, a_link_stays_a_link_and_the_mode_is_kept)
{
    char target[256];
    struct stat info;
    snprintf(target, sizeof target, "%s/real.json", at.path);
    put_file(target, "{}");
    chmod(target, 0640);
    cr_assert_eq(symlink("real.json", at.multigpu_path), 0);
    cr_assert_eq(set("t"), SY_OK);
    cr_assert_eq(lstat(at.multigpu_path, &info), 0);
    cr_expect(S_ISLNK(info.st_mode));
    cr_assert_eq(stat(target, &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0640);
    cr_expect(exists(with(target, ".lock")));
    cr_expect_eq(get("t"), SY_OK);
}
