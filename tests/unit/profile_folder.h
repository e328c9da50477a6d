/* A scratch folder with profile files in it, and the warnings that were given, for the tests of
 * profiles/. */
#ifndef PROFILE_FOLDER_H
#define PROFILE_FOLDER_H

#include "base/mem.h"
#include "multigpu.h"
#include "thresholds.h"

#include <criterion/criterion.h>
#include <limits.h>

typedef struct folder {
    char path[128];
    char multigpu_path[192], thresholds_path[192];
    syi_log log;
    int warnings;
    char last_warning[700];
    syi_store multigpu, thresholds;
} folder;

/* Makes a new one. It must not be moved. */
void folder_make(folder *f);
void folder_remove(folder *f);
/* Leaves a test that cannot be done here. Criterion then runs no .fini. */
void folder_skip(folder *f, const char *why);

/* A suite in which each test has a folder `at` of its own, and gives all memory back. */
#define FOLDER_SUITE(suite)                                                                        \
    static folder at;                                                                              \
    static void set_up(void)                                                                       \
    {                                                                                              \
        folder_make(&at);                                                                          \
    }                                                                                              \
    static void tear_down(void)                                                                    \
    {                                                                                              \
        folder_remove(&at);                                                                        \
        cr_expect_eq(syi_mem_alive(), 0, "memory was not given back");                             \
    }                                                                                              \
    TestSuite(suite, .init = set_up, .fini = tear_down)

void put_file(const char *path, const char *text);
/* The file parsed by jansson alone; to be given back. NULL: it is not there, or not whole. */
json_t *parse_file(const char *path);
bool file_is(const char *path, const char *text);
bool exists(const char *path);
/* `path` with something after it; lives until the next call. */
const char *with(const char *path, const char *suffix);
/* How many files and folders are in the folder. */
int count_files(const folder *f);

#endif
