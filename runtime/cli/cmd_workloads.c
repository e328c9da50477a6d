/* `steelyard workloads`: what can be computed, from which inputs, with which parameters. */
#include <stdio.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "number.h"
#include "print.h"

static const char *pattern_name(sy_pattern pattern)
{
    static const char *const names[] = {"map", "window", "recurrence", "reduce"};
    return names[pattern];
}

static void params_text(const sy_workload_info *info, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < info->n_params && used < size; i++) {
        const sy_param_info *p = &info->params[i];
        char number[CLI_NUMBER_SIZE];
        cli_number_print(p->fallback, number);
        used += (size_t)snprintf(text + used, size - used, "%s--%s %s", i ? " " : "", p->name,
                                 p->choices ? p->choices[(int)p->fallback] : number);
    }
}

static void print_line(cli_table *table, const sy_workload_info *info)
{
    char inputs[120], outputs[120], params[240];
    cli_names_text(info->input_names, info->n_inputs, inputs, sizeof inputs);
    cli_names_text(info->output_names, info->n_outputs, outputs, sizeof outputs);
    params_text(info, params, sizeof params);
    cli_table_cell(table, "%s", info->name);
    cli_table_cell(table, "%s", pattern_name(info->pattern));
    cli_table_cell(table, "%s", inputs);
    cli_table_cell(table, "%s", outputs);
    cli_table_cell(table, "%s", *params ? params : "-");
}

static json_t *names_json(const char *const *names, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        list = cli_json_append(list, cli_json_text(names[i]));
    return list;
}

static json_t *param_json(const sy_param_info *p)
{
    json_t *choices = json_null(), *fallback = cli_json_number(p->fallback);
    if (p->choices) {
        int n = 0;
        while (p->choices[n])
            n++;
        choices = names_json(p->choices, n);
        json_decref(fallback);
        fallback = cli_json_text(p->choices[(int)p->fallback]);
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "name", cli_json_text(p->name),
                     "summary", cli_json_text(p->summary), "min", cli_json_number(p->min), "max",
                     cli_json_number(p->max), "default", fallback, "integer", p->is_integer,
                     "choices", choices);
}

static json_t *workload_json(const sy_workload_info *info)
{
    json_t *params = json_array();
    for (int i = 0; i < info->n_params; i++)
        params = cli_json_append(params, param_json(&info->params[i]));
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:b}", "name", cli_json_text(info->name),
                     "summary", cli_json_text(info->summary), "pattern",
                     pattern_name(info->pattern), "inputs",
                     names_json(info->input_names, info->n_inputs), "outputs",
                     names_json(info->output_names, info->n_outputs), "params", params, "has_fast",
                     info->has_fast);
}

static int print_text(sy_context *context)
{
    cli_table table;
    sy_workload_info info;
    sy_status status = SY_OK;
    cli_table_begin(&table, 5, "workload", "pattern", "inputs", "outputs",
                    "parameters and defaults");
    for (int i = 0; i < sy_workload_count(context) && status == SY_OK; i++) {
        status = sy_workload_query(context, i, &info);
        if (status == SY_OK)
            print_line(&table, &info);
    }
    CLI_TRY(cli_table_end(&table, stdout));
    return status == SY_OK ? CLI_DONE : cli_library_failed(status);
}

static int print_json(sy_context *context)
{
    json_t *list = json_array();
    for (int i = 0; i < sy_workload_count(context); i++) {
        sy_workload_info info;
        sy_status status = sy_workload_query(context, i, &info);
        if (status != SY_OK) {
            json_decref(list);
            return cli_library_failed(status);
        }
        list = cli_json_append(list, workload_json(&info));
    }
    return cli_json_print(json_pack("{s:o}", "workloads", list));
}

int cli_cmd_workloads(int argc, char **argv)
{
    bool json = false;
    cli_option options[] = {{.name = "json", .kind = CLI_FLAG, .to = &json, .help = "as JSON"}};
    cli_args args = {.command = "workloads",
                     .usage = "[--json]",
                     .summary = "Lists what can be computed; 'steelyard run WORKLOAD --help' "
                                "explains one.",
                     .options = options,
                     .n_options = 1};
    sy_context *context = NULL;
    int code;
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help) {
        cli_print_help(&args);
        return CLI_DONE;
    }
    CLI_TRY(cli_open_catalog(&context));
    code = json ? print_json(context) : print_text(context);
    sy_context_destroy(&context);
    return code;
}
