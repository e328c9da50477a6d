/* Set-up and small checks for the tests of profiles/. */
#define _XOPEN_SOURCE 700
#include "profile_folder.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_warning(void *user, sy_log_level level, const char *line)
{
    folder *f = user;
    f->warnings += level == SY_LOG_WARNING;
    snprintf(f->last_warning, sizeof f->last_warning, "%s", line);
}

void folder_make(folder *f)
{
    memset(f, 0, sizeof *f);
    strcpy(f->path, "/tmp/steelyard-test-XXXXXX");
    if (!mkdtemp(f->path))
        abort();
    snprintf(f->multigpu_path, sizeof f->multigpu_path, "%s/multigpu.json", f->path);
    snprintf(f->thresholds_path, sizeof f->thresholds_path, "%s/thresholds.json", f->path);
    f->log.write = on_warning;
    f->log.user = f;
    pthread_mutex_init(&f->log.lock, NULL);
    f->multigpu = syi_multigpu_store(f->multigpu_path, &f->log);
    f->thresholds = syi_threshold_store(f->thresholds_path, &f->log);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

void folder_remove(folder *f)
{
    pthread_mutex_destroy(&f->log.lock);
    nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void folder_skip(folder *f, const char *why)
{
    folder_remove(f);
    cr_skip_test("%s", why);
}

void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

json_t *parse_file(const char *path)
{
    return json_load_file(path, 0, NULL);
}

bool file_is(const char *path, const char *text)
{
    char found[4096] = "";
    FILE *file = fopen(path, "r");
    size_t size;
    if (!file)
        return false;
    size = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    return size == strlen(text) && memcmp(found, text, size) == 0;
}

bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *with(const char *path, const char *suffix)
{
    static char result[PATH_MAX];
    snprintf(result, sizeof result, "%s%s", path, suffix);
    return result;
}

int count_files(const folder *f)
{
    DIR *directory = opendir(f->path);
    int count = -2; /* . and .. */
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}
