/* Lack of memory at every single allocation: a profile file must come through as it was. */
#include "profile_folder.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

static const sy_ratio two[] = {{"RTX3090", 3}, {"GTX1660", 1}};

FOLDER_SUITE(profile_memory);

static const char first[] = "first tag, which is long enough for an allocation";

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

static sy_status add(void)
{
    return syi_threshold_add(&at.thresholds, "k", 1, 1);
}

static sy_status find_threshold(void)
{
    sy_threshold found;
    return syi_threshold_find(&at.thresholds, "k", &found);
}

static sy_status correct(void)
{
    bool done;
    syi_store_look seen = {.updates = -1};
    sy_status status;
    syi_store_changed(&at.multigpu, &seen);
    status = syi_multigpu_correct(&at.multigpu, &seen, first, two, 2, NULL, NULL, &done);
    cr_expect(status != SY_OK || done);
    return status;
}

static sy_status try_add(void)
{
    bool done;
    return syi_threshold_try_add(&at.thresholds, "k", 1, 1, &done);
}

static sy_status set_other(void)
{
    return set("another");
}

static sy_status get_first(void)
{
    return get(NULL);
}

static int stop(void *user, syi_stored_balance *stored)
{
    (void)user, (void)stored;
    return 1;
}

static sy_status list(void)
{
    return syi_multigpu_each(&at.multigpu, stop, NULL);
}

static sy_status forget_first(void)
{
    return syi_multigpu_forget(&at.multigpu, first);
}

static sy_status make_key(void)
{
    char *key = NULL;
    sy_status status = syi_threshold_key("w", (const char *[]){"p"}, (double[]){1}, 1, 2, &key);
    syi_free(key);
    return status;
}

static sy_status (*const operations[])(void) = {
    add, find_threshold, set_other, get_first, list, forget_first, make_key, correct, try_add};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

static const char *const good_multigpu =
    "{\"workload_tag\": \"older\", \"ratios\": {\"RTX3090\": 0.75, \"GTX1660\": 0.25}, "
    "\"profiles\": {\"first tag, which is long enough for an allocation\": {\"updated_at\": "
    "\"2026-07-15T14:35:42\", \"ratios\": {\"a device with a long name\": 0.5, \"b\": 0.5}}}}";
static const char *const good_thresholds =
    "{\"entries\": {\"k\": {\"cpu_ms_avg\": 1.5, \"gpu_ms_avg\": 2.5, \"samples\": 4}}}";

static void fresh_files(void)
{
    put_file(at.multigpu_path, good_multigpu);
    put_file(at.thresholds_path, good_thresholds);
}

/* After a failure: the files as they were, nothing set aside, no half-written file. */
static void expect_untouched(int operation, int64_t k)
{
    cr_assert(file_is(at.multigpu_path, good_multigpu), "operation %d, k %d", operation, (int)k);
    cr_assert(file_is(at.thresholds_path, good_thresholds), "operation %d, k %d", operation,
              (int)k);
    cr_assert(!exists(with(at.multigpu_path, ".corrupt")) &&
              !exists(with(at.thresholds_path, ".corrupt")) &&
              !exists(with(at.multigpu_path, ".tmp")) && !exists(with(at.thresholds_path, ".tmp")));
}

Test(profile_memory, every_failing_allocation_of_ours)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int64_t k = 1;; k++) {
            sy_status status;
            fresh_files();
            syi_mem_fail_at(k);
            status = operations[i]();
            syi_mem_fail_at(0);
            cr_assert_eq(syi_mem_alive(), 0);
            if (status == SY_OK) {
                cr_assert_gt(k, 1, "operation %d allocates nothing", i);
                break;
            }
            cr_assert_eq(status, SY_ERR_MEMORY, "operation %d, k %d", i, (int)k);
            expect_untouched(i, k);
        }
    cr_expect_eq(at.warnings, 0);
}

static int64_t json_calls, json_fail_at, json_alive;

static void *failing_malloc(size_t size)
{
    if (++json_calls == json_fail_at) {
        errno = ENOMEM; /* as malloc does */
        return NULL;
    }
    json_alive++;
    return malloc(size);
}

static void counted_free(void *block)
{
    json_alive -= block != NULL;
    free(block);
}

/* jansson's own allocations, one after the other. What is only read may lack a few characters (the
 * parser's weakness), so that a name is not found; what is written back may not. */
Test(profile_memory, every_failing_allocation_of_jansson)
{
    json_set_alloc_funcs(failing_malloc, counted_free);
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int64_t k = 1;; k++) {
            sy_status status;
            bool reads = operations[i] == find_threshold || operations[i] == get_first ||
                         operations[i] == list;
            fresh_files();
            json_calls = 0;
            json_fail_at = k;
            status = operations[i]();
            json_fail_at = 0;
            cr_assert_eq(syi_mem_alive(), 0);
            cr_assert_eq(json_alive, 0, "operation %d, k %d", i, (int)k);
            if (json_calls < k) {
                cr_assert_eq(status, SY_OK);
                break;
            }
            cr_assert(status == SY_ERR_MEMORY ||
                          (reads && (status == SY_OK || status == SY_ERR_NOT_FOUND)),
                      "operation %d, k %d: %s", i, (int)k, sy_last_error()->text);
            expect_untouched(i, k);
        }
    cr_expect_eq(at.warnings, 0);
}
