#define _POSIX_C_SOURCE 200809L
#include "device/sim_options.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static const syi_unit byte_units[] = {{"", 1},
                                      {"B", 1},
                                      {"kB", 1e3},
                                      {"KB", 1e3},
                                      {"MB", 1e6},
                                      {"GB", 1e9},
                                      {"TB", 1e12},
                                      {"KiB", 1024},
                                      {"MiB", 1024 * 1024},
                                      {"GiB", 1024.0 * 1024 * 1024},
                                      {"TiB", 1099511627776.0},
                                      {NULL, 0}};

static const syi_unit rate_units[] = {{"B/s", 1},
                                      {"kB/s", 1e3},
                                      {"MB/s", 1e6},
                                      {"GB/s", 1e9},
                                      {"TB/s", 1e12},
                                      {"KiB/s", 1024},
                                      {"MiB/s", 1024.0 * 1024},
                                      {"GiB/s", 1024.0 * 1024 * 1024},
                                      {NULL, 0}};

static const syi_unit time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};

static const struct {
    const char *word;
    sim_fault fault;
} faults[] = {{"oom@", SIM_FAULT_OOM}, {"launch@", SIM_FAULT_LAUNCH}, {"lost@", SIM_FAULT_LOST}};

static sy_status wrong(const char *name, const char *key, const char *value, const char *example)
{
    return syi_fail(SY_ERR_ARGUMENT, "sim:%s: %s=%s is not understood; write it like %s=%s", name,
                    key, value, key, example);
}

static int parse_fault(const char *value, sim_options *out)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        size_t length = strlen(faults[i].word);
        if (!strncmp(value, faults[i].word, length)) {
            out->fault = faults[i].fault;
            return syi_parse_integer(value + length, 1, INT64_C(1) << 52, &out->fault_at);
        }
    }
    return 0;
}

/* Above 0, and infinite only where it says `inf`, not as what 1e400 is read as. */
static int is_amount(const char *text, double value)
{
    return value > 0 && (isfinite(value) || strchr("iI", text[*text == '+']));
}

static sy_status parse_option(const char *key, const char *value, sim_options *out)
{
    if (!strcmp(key, "speed"))
        return syi_parse_number(value, &out->speed) && is_amount(value, out->speed) &&
                       (isinf(out->speed) || out->speed < 1e18)
                   ? SY_OK
                   : wrong(out->name, key, value,
                           "3.0 (more than 0, less than 1e18; 1 is 1e8 elements per second)");
    if (!strcmp(key, "memory"))
        return syi_parse_with_unit(value, byte_units, &out->memory) &&
                       is_amount(value, out->memory) && (isinf(out->memory) || out->memory < 1e18)
                   ? SY_OK
                   : wrong(out->name, key, value, "6GiB (less than 1e18 bytes)");
    if (!strcmp(key, "link"))
        return syi_parse_with_unit(value, rate_units, &out->bytes_per_second) &&
                       is_amount(value, out->bytes_per_second)
                   ? SY_OK
                   : wrong(out->name, key, value, "12GB/s (more than 0)");
    if (!strcmp(key, "latency"))
        return syi_parse_with_unit(value, time_units, &out->latency_ns) && out->latency_ns >= 0 &&
                       out->latency_ns <= 1e12
                   ? SY_OK
                   : wrong(out->name, key, value, "20us (at most 1000s)");
    if (!strcmp(key, "fail"))
        return parse_fault(value, out) ? SY_OK
                                       : wrong(out->name, key, value, "oom@3, launch@2 or lost@5");
    return syi_fail(SY_ERR_ARGUMENT,
                    "sim:%s: unknown option '%s'; use speed, memory, link, latency or fail",
                    out->name, key);
}

enum { LONGEST_NAME = sizeof((sim_options *)0)->name - 1 };

static int is_name(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_-.+");
    return length > 0 && length <= LONGEST_NAME && text[length] == '\0';
}

sy_status syi_sim_parse_options(const char *text, sim_options *out)
{
    char copy[256];
    char *option, *rest, *seen[5]; /* as many as there are to be known */
    int n_seen = 0;
    *out = (sim_options){.speed = 1, .memory = INFINITY, .bytes_per_second = INFINITY};
    syi_copy_text(copy, sizeof copy, text);
    option = strtok_r(copy, ":", &rest);
    if (!option || !is_name(option) || !strcmp(option, "cpu") || strlen(text) >= sizeof copy)
        return syi_fail(SY_ERR_ARGUMENT,
                        "sim:%s: a simulated device needs a name of up to %d letters, digits, _ - "
                        ". +, other than cpu, like sim:a:speed=3.0",
                        text, LONGEST_NAME);
    syi_copy_text(out->name, sizeof out->name, option);
    while ((option = strtok_r(NULL, ":", &rest))) {
        char *equals = strchr(option, '=');
        if (!equals)
            return syi_fail(SY_ERR_ARGUMENT, "sim:%s: '%s' has no value; write it like speed=3.0",
                            out->name, option);
        *equals = '\0';
        for (int i = 0; i < n_seen; i++)
            if (!strcmp(seen[i], option))
                return syi_fail(SY_ERR_ARGUMENT, "sim:%s: %s is given twice; give it once",
                                out->name, option);
        SYI_TRY(parse_option(option, equals + 1, out));
        seen[n_seen++] = option;
    }
    return SY_OK;
}
