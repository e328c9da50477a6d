#include "threshold_key.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "message.h"
#include "number.h"

enum { MAX_NAME = 64, MAX_NUMBER = 31 }; /* as profiles/threshold_key.c reads them */

/* What a key begins with. */
typedef struct key_workload {
    sy_workload_info info;
    bool is_fast;
    int length; /* of the name, with `_fast` */
} key_workload;

/* Puts the usual form, with the defaults, into `text`. */
static void write_example(const key_workload *workload, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s%s:{", workload->info.name,
                                   workload->is_fast ? "_fast" : "");
    for (int i = 0; i < workload->info.n_params && used < size; i++) {
        char number[CLI_NUMBER_SIZE];
        cli_number_print(workload->info.params[i].fallback, number);
        used += (size_t)snprintf(text + used, size - used, "'%s': %s, ",
                                 workload->info.params[i].name, number);
    }
    if (used < size)
        snprintf(text + used, size - used, "'size': 1000}");
}

static int misread(const key_workload *workload, const char *at)
{
    char example[600];
    write_example(workload, example, sizeof example);
    return cli_fail(CLI_USAGE, "KEY is not understood from here on: %.40s; write it like %s",
                    *at ? at : "(its end)", example);
}

/* What stands where a number belongs is the word of a choice; whose, for the message. */
static int is_word_of(const sy_param_info *param, const char *value, size_t length)
{
    const size_t open = length && value[0] == '\'';
    for (int i = 0; param && param->choices && param->choices[i]; i++)
        if (length == strlen(param->choices[i]) + 2 * open &&
            strncmp(value + open, param->choices[i], length - 2 * open) == 0)
            return i;
    return -1;
}

static bool is_within(const sy_param_info *param, double value)
{
    if (!param) /* the size */
        return value >= 1 && value <= 0x1p62 && value == floor(value);
    return value >= param->min && value <= param->max &&
           (!param->is_integer || value == floor(value));
}

/* The index of the parameter whose name in quotes, colon and blank `at` begins with; n_params: it
 * is the size; above: neither. */
static int named_at(const sy_workload_info *info, const char *at, const char **value)
{
    for (int i = 0; i <= info->n_params; i++) {
        const char *name = i < info->n_params ? info->params[i].name : "size";
        const size_t length = strlen(name);
        if (at[0] == '\'' && strncmp(at + 1, name, length) == 0 &&
            strncmp(at + 1 + length, "': ", 3) == 0) {
            *value = at + length + 4;
            return i;
        }
    }
    return info->n_params + 1;
}

/* One "'NAME': VALUE" and what separates it from the next; *at is moved past both. */
static int read_pair(const key_workload *workload, const char **at, unsigned *seen)
{
    const sy_workload_info *info = &workload->info;
    const char *value;
    const int i = named_at(info, *at, &value);
    const sy_param_info *param = i < info->n_params ? &info->params[i] : NULL;
    size_t length;
    double number;
    int word;
    if (i > info->n_params || *seen & 1u << i)
        return misread(workload, *at);
    length = strcspn(value, ",}");
    word = is_word_of(param, value, length);
    if (word >= 0)
        return cli_fail(CLI_USAGE, "KEY has a word for '%s'; write its index, %d for %s",
                        param->name, word, param->choices[word]);
    if (length > MAX_NUMBER || cli_number_parse(value, length, &number) != CLI_NUMBER_OK ||
        !is_within(param, number))
        return misread(workload, *at);
    *seen |= 1u << i;
    *at = value + length;
    if (strncmp(*at, ", '", 3) == 0)
        *at += 2;
    else if (strcmp(*at, "}") != 0)
        return misread(workload, *at);
    return CLI_DONE;
}

/* Whether the key is of a workload, in either accuracy; a colon ends its name. */
static bool find_workload(sy_context *context, const char *key, key_workload *out)
{
    const size_t length = strcspn(key, ":");
    char name[MAX_NAME];
    if (length >= sizeof name || key[length] != ':')
        return false;
    snprintf(name, sizeof name, "%.*s", (int)length, key);
    out->is_fast = cli_cut_off(name, "_fast");
    out->length = (int)length;
    return cli_look_up_workload(context, name, &out->info);
}

int cli_threshold_key_check(sy_context *context, const char *key)
{
    key_workload workload;
    unsigned seen = 0;
    const char *at;
    if (!find_workload(context, key, &workload))
        return CLI_DONE;
    if (workload.is_fast && !workload.info.has_fast)
        return cli_fail(CLI_USAGE, "%s is the same in both accuracies: begin KEY with '%s:'",
                        workload.info.name, workload.info.name);
    at = key + workload.length;
    if (strncmp(at, ":{", 2) != 0)
        return misread(&workload, at);
    for (at += 2; strcmp(at, "}") != 0;)
        CLI_TRY(read_pair(&workload, &at, &seen));
    return seen & 1u << workload.info.n_params ? CLI_DONE : misread(&workload, at);
}
