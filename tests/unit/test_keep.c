/* Whether a stored profile stays when the devices are measured again: rule by rule, on made
 * numbers. */
#include <criterion/criterion.h>
#include <string.h>

#include "api/keep.h"
#include "base/mem.h"
#include "costs.h"

static const char *const names[] = {"a", "b"};

/* Costs of `a` and `b` as a profile stores them, of these spreads. */
static json_t *costs(double a_spread, double b_spread)
{
    const double spreads[] = {a_spread, b_spread};
    json_t *all = json_object(), *entry;
    for (int i = 0; i < 2; i++) {
        syi_cost cost = {.phase[SYI_COMPUTE] = syi_curve_line(1000, 10)};
        cost.phase[SYI_COMPUTE].spread = spreads[i];
        cr_assert_eq(syi_json_child(all, names[i], &entry), SY_OK);
        cr_assert_eq(syi_cost_store(entry, &cost), SY_OK);
    }
    return all;
}

/* What it stores of the devices, `b` having so many units. */
static json_t *fingerprint(int64_t units)
{
    json_t *all = json_object(), *devices, *entry;
    cr_assert_eq(syi_json_child(all, "devices", &devices), SY_OK);
    for (int i = 0; i < 2; i++) {
        const syi_fingerprint print = {.format = 1, .units = i ? units : 1, .name = "chip"};
        cr_assert_eq(syi_json_child(devices, names[i], &entry), SY_OK);
        cr_assert_eq(syi_fingerprint_store(entry, &print), SY_OK);
    }
    return all;
}

/* Sizes where the cost bends that do not grow are no measurement. */
Test(keep, bends_have_to_follow_each_other)
{
    static const double until[3][2] = {{100, 200}, {200, 100}, {100, 100}};
    for (int i = 0; i < 3; i++) {
        syi_cost found;
        json_t *entry = json_pack("{s:{s:{s:i, s:i, s:[i,i,i], s:[f,f]}}}", "phases", "compute",
                                  "fixed_ns", 1, "spread", 0, "per_element_ns", 3, 2, 1,
                                  "until_elements", until[i][0], until[i][1]);
        cr_assert(entry);
        cr_expect_eq(syi_cost_load(entry, &found), i == 0, "%g, %g", until[i][0], until[i][1]);
        json_decref(entry);
    }
}

/* A stored profile: `a` has that part, `b` the rest. */
static syi_stored_balance stored_of(double a_part, json_t *costs_of, json_t *print)
{
    syi_stored_balance stored = {.costs = costs_of, .fingerprint = print};
    stored.balance.n_ratios = 2;
    stored.balance.ratios = syi_alloc(2, sizeof *stored.balance.ratios);
    cr_assert(stored.balance.ratios);
    for (int i = 0; i < 2; i++) {
        strcpy(stored.balance.ratios[i].device, names[i]);
        stored.balance.ratios[i].ratio = i ? 1 - a_part : a_part;
    }
    return stored;
}

/* `a` three quarters; measured now: `a_now` to 1, with a spread of `now` where there was `then`. */
static bool keeps(double then, double now, double a_now, double within, char *why)
{
    syi_stored_balance stored = stored_of(0.75, costs(0.01, then), fingerprint(4));
    sy_ratio ratios[] = {{"a", a_now}, {"b", 1}};
    json_t *measured = costs(0.01, now), *print = fingerprint(4);
    bool keep = syi_keep_stored(&stored, ratios, 2, measured, print, within, why);
    json_decref(measured);
    json_decref(print);
    syi_stored_balance_clear(&stored);
    return keep;
}

/* Worse means: scatters by more than a tenth, and more than three times as much as it did. */
Test(keep, what_scatters_more_stays_out)
{
    char why[SYI_KEEP_TEXT];
    cr_expect_not(keeps(0.02, 0.02, 4, 0, why));
    cr_expect_not(keeps(0.02, 0.099, 4, 0, why), "five times as much, but still little");
    cr_expect(keeps(0.02, 0.101, 4, 0, why));
    cr_expect_str_eq(why, "the times of b now scatter by 10 %, then by 2 %");
    cr_expect_not(keeps(0.05, 0.149, 4, 0, why), "less than three times as much");
    cr_expect(keeps(0.05, 0.151, 4, 0, why));
    cr_expect(keeps(0.05, 0.151, 3, 0.5, why), "also where no ratio has changed");
    cr_expect(strstr(why, "scatter"));
    cr_expect_not(keeps(0.5, 0.02, 4, 0, why), "a better one comes in");
    cr_expect_not(keeps(-1, 0.5, 4, 0, why), "what was stored cannot be read");
}

/* 0.75 and 0.25; 4:1 is 0.8 and 0.2: a fifth less for b. */
Test(keep, small_changes_are_not_worth_it)
{
    char why[SYI_KEEP_TEXT];
    cr_expect_not(keeps(0.02, 0.02, 4, 0.19, why));
    cr_expect(keeps(0.02, 0.02, 4, 0.21, why));
    cr_expect_str_eq(why, "no ratio differs by more than 21.0 % (the most is 20.0 %)");
    cr_expect_not(keeps(0.02, 0.02, 3, 0, why), "0 means that every new one comes in");
}

Test(keep, devices_that_are_away_and_ratios_by_hand)
{
    sy_ratio ratios[] = {{"a", 3}, {"c", 1}};
    syi_stored_balance stored = {.balance = {.n_ratios = 1}};
    json_t *now = costs(0.01, 0.01), *print = fingerprint(4);
    char why[SYI_KEEP_TEXT];
    stored.balance.ratios = syi_alloc(1, sizeof *stored.balance.ratios);
    cr_assert(stored.balance.ratios);
    strcpy(stored.balance.ratios[0].device, "b");
    stored.balance.ratios[0].ratio = 1;
    cr_expect(syi_keep_stored(&stored, ratios, 2, now, print, 0, why));
    cr_expect_str_eq(why, "it was set by hand");
    stored.costs = costs(0.01, 0.01);
    stored.fingerprint = fingerprint(4);
    cr_expect(syi_keep_stored(&stored, ratios, 2, now, print, 0, why));
    cr_expect_str_eq(why, "device b of it could not be measured");
    /* A device more than before makes it another machine. */
    strcpy(stored.balance.ratios[0].device, "a");
    cr_expect_not(syi_keep_stored(&stored, ratios, 2, now, print, 1e9, why));
    syi_stored_balance_clear(&stored);
    json_decref(now);
    json_decref(print);
}

/* What no call goes by stays on no account: the device is another one now, or nobody knows. */
Test(keep, what_is_not_believed_goes)
{
    sy_ratio ratios[] = {{"a", 3}, {"b", 1}};
    json_t *now = costs(0.01, 0.9), *print = fingerprint(8);
    json_t *const prints[] = {fingerprint(4), json_object(), NULL};
    char why[SYI_KEEP_TEXT];
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
        syi_stored_balance stored = stored_of(0.75, costs(0.01, 0.01), prints[i]);
        cr_expect_not(syi_keep_stored(&stored, ratios, 2, now, print, 0.5, why), "print %zu", i);
        syi_stored_balance_clear(&stored);
    }
    json_decref(now);
    json_decref(print);
}

/* Within a budget that leaves hardly a sample. */
Test(keep, much_smaller_samples_stay_out)
{
    static const int64_t samples[] = {65536, 65535};
    sy_ratio ratios[] = {{"a", 3}, {"b", 1}};
    syi_stored_balance stored = stored_of(0.6, costs(0.01, 0.01), fingerprint(4));
    json_t *now = costs(0.01, 0.01);
    char why[SYI_KEEP_TEXT];
    for (int k = 0; k < 2; k++) {
        json_object_set_new(json_object_get(stored.costs, names[k]), "sample_size",
                            json_integer(1 << 20));
        json_object_set_new(json_object_get(now, names[k]), "sample_size", json_integer(1 << 20));
    }
    cr_expect_eq(syi_stored_sample(&stored), 1 << 20);
    for (int i = 0; i < 2; i++) {
        json_object_set_new(json_object_get(now, "b"), "sample_size", json_integer(samples[i]));
        cr_expect_eq(syi_keep_stored(&stored, ratios, 2, now, stored.fingerprint, 0, why), i == 1);
    }
    cr_expect(strstr(why, "b had time for a sample of 65535 values now, of 1048576 then"), "%s",
              why);
    syi_stored_balance_clear(&stored);
    json_decref(now);
}
