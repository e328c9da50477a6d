/* A call's parameters against what the workload declares. */
#include "api/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int find_param(const syi_workload *workload, const char *name)
{
    for (int i = 0; name && i < workload->n_params; i++)
        if (!strcmp(workload->params[i].name, name))
            return i;
    return -1;
}

static sy_status unknown_param(const syi_workload *workload, const char *name)
{
    char names[256] = "none";
    size_t used = 0;
    for (int i = 0; i < workload->n_params && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 workload->params[i].name);
    return syi_fail(SY_ERR_ARGUMENT, "%s has no parameter '%s'; it has: %s", workload->name,
                    name ? name : "(none)", names);
}

static sy_status resolve_choice(const sy_param_info *info, const char *word, double *value)
{
    char words[256];
    size_t used = 0;
    words[0] = '\0';
    for (int i = 0; info->choices[i]; i++) {
        if (word && !strcmp(info->choices[i], word)) {
            *value = i;
            return SY_OK;
        }
        if (used < sizeof words)
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "",
                                     info->choices[i]);
    }
    return syi_fail(SY_ERR_ARGUMENT, "%s '%s': must be one of: %s", info->name, word ? word : "",
                    words);
}

static sy_status resolve_one(const sy_param_info *info, const sy_param *given, double *value)
{
    if (info->choices && given->text)
        return resolve_choice(info, given->text, value);
    if (given->text)
        return syi_fail(SY_ERR_ARGUMENT, "%s '%s': must be a number, in `value`, with `text` NULL",
                        info->name, given->text);
    if (!(given->value >= info->min && given->value <= info->max) ||
        (info->is_integer && given->value != floor(given->value)))
        return syi_fail(SY_ERR_ARGUMENT, "%s %.17g: must be a %snumber from %.15g to %.15g",
                        info->name, given->value, info->is_integer ? "whole " : "", info->min,
                        info->max);
    *value = given->value;
    return SY_OK;
}

sy_status syi_params_resolve(const syi_workload *workload, const sy_param *given, int n_given,
                             double *values)
{
    unsigned seen = 0;
    if (n_given < 0 || (n_given && !given))
        return syi_fail(SY_ERR_ARGUMENT,
                        n_given < 0 ? "%d parameters: must not be negative"
                                    : "%d parameters in a NULL list",
                        n_given);
    for (int i = 0; i < workload->n_params; i++)
        values[i] = workload->params[i].fallback;
    for (int g = 0; g < n_given; g++) {
        int i = find_param(workload, given[g].name);
        if (i < 0)
            return unknown_param(workload, given[g].name);
        if (seen & 1u << i)
            return syi_fail(SY_ERR_ARGUMENT, "parameter '%s' is given twice", given[g].name);
        seen |= 1u << i;
        SYI_TRY(resolve_one(&workload->params[i], &given[g], &values[i]));
    }
    return workload->check ? workload->check(values) : SY_OK;
}
