/* Whether all results are nan because there are too few values, and not for another reason. */
#include "short_series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "number.h"

int cli_series_check(const sy_workload_info *workload, const sy_param *params, int n_params,
                     const cli_input *input)
{
    const sy_param_info *length = workload->params; /* of a window: its first */
    long long needed, n = (long long)input->columns;
    if (workload->pattern != SY_PATTERN_WINDOW)
        return CLI_DONE;
    needed = (long long)cli_param_value(length, params, n_params);
    if (needed <= n)
        return CLI_DONE;
    return cli_fail(CLI_USAGE,
                    "%s with %s %lld needs at least %lld values, the series has %lld: every result "
                    "would be nan; take a longer series, or give --%s at most %lld",
                    workload->name, length->name, needed, needed, n, length->name, n);
}

static bool any_value(const void *values, sy_dtype dtype, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(cli_value(values, dtype, i)))
            return true;
    return false;
}

static bool all_finite(const void *values, sy_dtype dtype, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(cli_value(values, dtype, i)))
            return false;
    return true;
}

/* A series longer than the whole numbers among the parameters together is long enough for every
 * workload. Where it is all nan, fast sums may have overflowed in both directions. */
static bool may_be_short(const sy_workload_info *workload, const sy_param *params, int n_params,
                         int64_t columns)
{
    double sum = 0;
    for (int i = 0; i < workload->n_params; i++)
        if (workload->params[i].is_integer && !workload->params[i].choices)
            sum += cli_param_value(&workload->params[i], params, n_params);
    return (double)columns <= sum;
}

static int too_short(const sy_workload_info *workload, const sy_param *params, int n_params,
                     int64_t columns)
{
    char text[300] = "", number[CLI_NUMBER_SIZE];
    for (int i = 0; i < workload->n_params; i++) {
        const sy_param_info *p = &workload->params[i];
        double value = cli_param_value(p, params, n_params);
        size_t used = strlen(text);
        cli_number_print(value, number);
        snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "", p->name,
                 p->choices ? p->choices[(int)value] : number);
    }
    return cli_fail(CLI_USAGE,
                    "%s with %s has no result for a series of %lld values: every one would be nan; "
                    "take a longer series, or smaller parameters",
                    workload->name, text, (long long)columns);
}

int cli_series_explain(const sy_workload_info *workload, const sy_param *params, int n_params,
                       const cli_input *input, void *const *results)
{
    size_t inputs = (size_t)input->rows * (size_t)input->columns;
    size_t outputs = workload->pattern == SY_PATTERN_REDUCE ? (size_t)input->rows : inputs;
    if (workload->pattern == SY_PATTERN_WINDOW ||
        !may_be_short(workload, params, n_params, input->columns))
        return CLI_DONE;
    for (int k = 0; k < workload->n_outputs; k++)
        if (any_value(results[k], input->dtype, outputs))
            return CLI_DONE;
    for (int k = 0; k < workload->n_inputs; k++)
        if (!all_finite(input->values[k], input->dtype, inputs))
            return CLI_DONE;
    return too_short(workload, params, n_params, input->columns);
}
