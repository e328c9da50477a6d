/* Texts for people have a decimal point in every host. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "api/keep.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "costs.h"
#include "support/comma.h"

static void skip_without_comma(void)
{
    char text[8];
    if (!comma_set())
        cr_skip_test("no locale with a decimal comma on this system");
    snprintf(text, sizeof text, "%.1f", 0.5);
    cr_assert_str_eq(text, "0,5");
}

static void remember(void *user, sy_log_level level, const char *line)
{
    (void)level;
    snprintf(user, 64, "%s", line);
}

Test(text, errors_and_the_log_have_a_point)
{
    char line[64] = "", after[8];
    syi_log log = {.write = remember, .user = line};
    skip_without_comma();
    syi_log_init(&log);
    syi_fail(SY_ERR_ARGUMENT, "%g of %.2f", 2.5, 3.25);
    cr_expect_str_eq(sy_last_error()->text, "2.5 of 3.25");
    syi_fail_device(SY_ERR_DEVICE, 1, 0, "%.1f s", 0.5);
    cr_expect_str_eq(sy_last_error()->text, "0.5 s");
    syi_log_line(&log, SY_LOG_INFO, "%.3f ms", 1.125);
    cr_expect_str_eq(line, "1.125 ms");
    snprintf(after, sizeof after, "%.1f", 0.5);
    cr_expect_str_eq(after, "0,5", "the host's own locale is gone");
    pthread_mutex_destroy(&log.lock);
}

Test(text, what_is_cut_short_ends)
{
    char few[4];
    syi_format(few, sizeof few, "%.3f", 1.125);
    cr_expect_str_eq(few, "1.1");
}

Test(text, why_a_profile_is_kept_has_a_point)
{
    static const sy_ratio now[] = {{"a", 0.5}};
    const syi_fingerprint print = {.format = 1, .units = 1, .name = "chip"};
    syi_cost cost = {.phase[SYI_COMPUTE] = syi_curve_line(1000, 10)};
    syi_stored_balance stored = {.costs = json_object(), .fingerprint = json_object()};
    json_t *devices, *entry;
    char why[SYI_KEEP_TEXT] = "";
    skip_without_comma();
    cr_assert_eq(syi_json_child(stored.costs, "a", &entry), SY_OK);
    cr_assert_eq(syi_cost_store(entry, &cost), SY_OK);
    cr_assert_eq(syi_json_child(stored.fingerprint, "devices", &devices), SY_OK);
    cr_assert_eq(syi_json_child(devices, "a", &entry), SY_OK);
    cr_assert_eq(syi_fingerprint_store(entry, &print), SY_OK);
    stored.balance.n_ratios = 1;
    stored.balance.ratios = syi_alloc(1, sizeof *stored.balance.ratios);
    cr_assert(stored.balance.ratios);
    strcpy(stored.balance.ratios[0].device, "a");
    stored.balance.ratios[0].ratio = 1;
    cr_expect(syi_keep_stored(&stored, now, 1, stored.costs, stored.fingerprint, 0.125, why));
    cr_expect_str_eq(why, "no ratio differs by more than 12.5 % (the most is 0.0 %)");
    syi_stored_balance_clear(&stored);
}
