#include "short_series.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "number.h"

/* "fast 12, slow 26, signal 9" */
static void list_params(const sy_workload_info *workload, const sy_param *params, int n_params,
                        char *text, size_t size)
{
    char number[CLI_NUMBER_SIZE];
    *text = '\0';
    for (int i = 0; i < workload->n_params; i++) {
        const sy_param_info *p = &workload->params[i];
        const size_t used = strlen(text);
        if (p->choices)
            continue;
        cli_number_print(cli_param_value(p, params, n_params), number);
        snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", p->name, number);
    }
}

int cli_series_check(sy_context *context, const sy_workload_info *workload, const sy_param *params,
                     int n_params, const cli_input *input, int64_t *needed)
{
    char text[300];
    sy_status status = sy_workload_least_columns(context, workload->name, params, n_params, needed);
    if (status != SY_OK)
        return cli_library_failed(status);
    if (input->columns >= *needed)
        return CLI_DONE;
    list_params(workload, params, n_params, text, sizeof text);
    return cli_fail(CLI_USAGE,
                    "%s with %s needs at least %lld values, the series has %lld: every result "
                    "would be nan; take a longer series, or smaller parameters%s",
                    workload->name, text, (long long)*needed, (long long)input->columns,
                    !input->from_csv && input->rows >= *needed
                        ? ", or save array.T if each column is a series"
                        : "");
}
