/* Keys of thresholds.json as the existing files write them. */
#include "thresholds.h"

#include "base/mem.h"
#include "base/neutral.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 32 };

static bool is_whole(double value)
{
    return fabs(value) < 9007199254740992.0 && value == floor(value); /* 2^53 */
}

static void format_number(double value, char text[NUMBER_SIZE])
{
    if (is_whole(value)) {
        snprintf(text, NUMBER_SIZE, "%" PRId64, (int64_t)value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        double back;
        snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
        if (syi_parse_number(text, &back) && back == value)
            return;
    }
}

static size_t size_of_key(const char *workload, const char *const *names, int n_params)
{
    size_t size = strlen(workload) + sizeof ":{'size': }" + NUMBER_SIZE;
    for (int i = 0; i < n_params; i++)
        size += strlen(names[i]) + sizeof "'': , " + NUMBER_SIZE;
    return size;
}

static void write_key(char *key, const char *workload, const char *const *names,
                      const double *values, int n_params, int64_t size)
{
    key += sprintf(key, "%s:{", workload);
    for (int i = 0; i < n_params; i++) {
        char number[NUMBER_SIZE];
        format_number(values[i], number);
        key += sprintf(key, "'%s': %s, ", names[i], number);
    }
    sprintf(key, "'size': %" PRId64 "}", size);
}

sy_status syi_threshold_key(const char *workload, const char *const *names, const double *values,
                            int n_params, int64_t size, char **out)
{
    size_t bytes = size_of_key(workload, names, n_params);
    char *key = syi_alloc(bytes, 1);
    syi_neutral neutral;
    if (!key || !syi_neutral_enter(&neutral)) {
        syi_free(key);
        return syi_no_memory(bytes);
    }
    write_key(key, workload, names, values, n_params, size);
    syi_neutral_leave(&neutral);
    *out = key;
    return SY_OK;
}

/* "'NAME': NUMBER" and a comma, if one follows; NULL: it is something else. */
static const char *read_pair(const char *key, char name[64], double *value)
{
    char number[NUMBER_SIZE];
    const char *digits;
    size_t length;
    if (*key++ != '\'')
        return NULL;
    length = strcspn(key, "'");
    if (length >= 64 || strncmp(key + length, "': ", 3) != 0)
        return NULL;
    memcpy(name, key, length);
    name[length] = '\0';
    digits = key + length + 3;
    length = strcspn(digits, ",}");
    if (length >= sizeof number)
        return NULL;
    memcpy(number, digits, length);
    number[length] = '\0';
    if (!syi_parse_number(number, value))
        return NULL;
    return digits + length + (strncmp(digits + length, ", ", 2) == 0 ? 2 : 0);
}

bool syi_threshold_key_read(const char *key, const char *workload, const sy_param_info *params,
                            int n_params, const double *values, int64_t *size)
{
    size_t length = strlen(workload);
    unsigned seen = 0;
    *size = 0;
    if (strncmp(key, workload, length) != 0 || strncmp(key + length, ":{", 2) != 0)
        return false;
    for (key += length + 2; *key != '}';) {
        char name[64];
        double value;
        int i = 0;
        key = read_pair(key, name, &value);
        if (!key)
            return false;
        while (i < n_params && strcmp(params[i].name, name) != 0)
            i++;
        if (i < n_params && value == values[i])
            seen |= 1u << i;
        else if (i == n_params && !strcmp(name, "size") && value >= 1 && value <= 0x1p62 &&
                 value == floor(value))
            *size = (int64_t)value;
        else
            return false;
    }
    for (int i = 0; i < n_params; i++)
        if (!(seen & 1u << i) && values[i] != params[i].fallback)
            return false;
    return key[1] == '\0' && *size > 0;
}
