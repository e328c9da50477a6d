/* The library's objects from the command line's words. */
#include "context.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "number.h"
#include "print.h"
#include "stack.h"

int cli_open(cli_args *args, sy_context **out)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = args->devices,
                        .cuda_driver = args->cuda_driver,
                        .nvml = args->nvml,
                        .frozen = args->frozen,
                        .log = cli_log,
                        .log_user = &args->verbose};
    sy_status status;
    CLI_TRY(cli_stack_check());
    status = sy_context_create(&config, out);
    return status == SY_OK ? CLI_DONE : cli_library_failed(status);
}

int cli_devices_query(sy_context *context, cli_devices *out)
{
    sy_status status = SY_OK;
    out->count = sy_device_count(context);
    out->list = malloc((size_t)out->count * sizeof *out->list);
    if (!out->list)
        return cli_no_memory();
    for (int i = 0; i < out->count && status == SY_OK; i++)
        status = sy_device_query(context, i, &out->list[i]);
    return status == SY_OK ? CLI_DONE : cli_library_failed(status);
}

void cli_devices_free(cli_devices *devices)
{
    free(devices->list);
    *devices = (cli_devices){0};
}

int cli_accuracy_parse(const char *word, sy_accuracy *out)
{
    *out = word && strcmp(word, "fast") == 0 ? SY_ACCURACY_FAST : SY_ACCURACY_EXACT;
    if (!word || strcmp(word, cli_accuracy_word(*out)) == 0)
        return CLI_DONE;
    return cli_fail(CLI_USAGE, "--accuracy must be exact or fast, not '%s'", word);
}

const char *cli_accuracy_word(sy_accuracy accuracy)
{
    return accuracy == SY_ACCURACY_FAST ? "fast" : "exact";
}

int cli_dtype_parse(const char *word, sy_dtype *out)
{
    *out = word && strcmp(word, "f32") == 0 ? SY_F32 : SY_F64;
    if (!word || *out == SY_F32 || strcmp(word, "f64") == 0)
        return CLI_DONE;
    return cli_fail(CLI_USAGE, "--dtype must be f64 or f32, not '%s'", word);
}

int cli_open_file(cli_args *args, sy_context **out)
{
    if (!args->devices)
        args->devices = "cpu";
    return cli_open(args, out);
}

int cli_open_catalog(sy_context **out)
{
    sy_config config = {.struct_size = sizeof config, .devices = "cpu"};
    sy_status status = sy_context_create(&config, out);
    return status == SY_OK ? CLI_DONE : cli_library_failed(status);
}

/* ---- words that are stored --------------------------------------------------------------- */

static int check_printable(const char *what, const char *text)
{
    for (size_t i = 0; text[i]; i++)
        if (iscntrl((unsigned char)text[i]))
            return cli_fail(CLI_USAGE,
                            "%s has a control character, 0x%02x, as its byte %zu; leave it out",
                            what, (unsigned)(unsigned char)text[i], i + 1);
    return CLI_DONE;
}

int cli_tag_check(const char *tag)
{
    const size_t most = sizeof((sy_balance *)0)->tag - 1;
    if (!tag)
        return CLI_DONE;
    if (!*tag || strlen(tag) > most)
        return cli_fail(CLI_USAGE, "--tag must have 1 to %zu bytes, not the %zu of '%.40s%s'", most,
                        strlen(tag), tag, strlen(tag) > 40 ? "..." : "");
    return check_printable("--tag", tag);
}

int cli_key_check(const char *key)
{
    return key ? check_printable("KEY", key) : CLI_DONE;
}

/* ---- ratios ------------------------------------------------------------------------------ */

static int find_device(sy_context *context, const char *name, int *index)
{
    char list[400] = "";
    int n = sy_device_count(context);
    for (int i = 0; i < n; i++) {
        sy_device_info info;
        size_t used = strlen(list);
        sy_status status = sy_device_query(context, i, &info);
        if (status != SY_OK)
            return cli_library_failed(status);
        if (strcmp(name, info.name) == 0 || strcmp(name, info.id) == 0 ||
            (*info.uuid && strcmp(name, info.uuid) == 0)) {
            *index = i;
            return CLI_DONE;
        }
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", info.name);
    }
    return cli_fail(CLI_USAGE, "there is no device '%s' to give a ratio; the devices are: %s", name,
                    list);
}

/* One "NAME=R", cut in two in place. */
static int parse_ratio(char *text, sy_ratio *out)
{
    char *equals = strrchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return cli_fail(CLI_USAGE, "a ratio is written NAME=R, as in 'cpu=0.25', not '%s'", text);
    *equals = '\0';
    if (cli_number_parse(equals + 1, strlen(equals + 1), &out->ratio) != CLI_NUMBER_OK ||
        !isfinite(out->ratio) || !(out->ratio > 0))
        return cli_fail(CLI_USAGE,
                        "the ratio of '%s' must be a number above 0, not '%s'; leave a "
                        "device out of the list to give it nothing",
                        text, equals + 1);
    out->device = text;
    return CLI_DONE;
}

static int parse_ratios(sy_context *context, cli_ratios *out, int *seen)
{
    char *next = out->text;
    while (next) {
        char *entry = next, *comma = strchr(entry, ',');
        sy_ratio *ratio = &out->ratios[out->count];
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = '\0';
        CLI_TRY(parse_ratio(entry, ratio));
        CLI_TRY(find_device(context, ratio->device, &seen[out->count]));
        for (int i = 0; i < out->count; i++)
            if (seen[i] == seen[out->count])
                return cli_fail(CLI_USAGE, "device '%s' has two ratios; give it one",
                                ratio->device);
        out->count++;
    }
    return CLI_DONE;
}

int cli_ratios_parse(sy_context *context, const char *text, cli_ratios *out)
{
    size_t entries = 1;
    int *seen, code;
    *out = (cli_ratios){0};
    for (const char *p = text; *p; p++)
        entries += *p == ',';
    out->text = malloc(strlen(text) + 1);
    out->ratios = calloc(entries, sizeof *out->ratios);
    seen = calloc(entries, sizeof *seen);
    if (out->text && out->ratios && seen) {
        strcpy(out->text, text);
        code = parse_ratios(context, out, seen);
    } else
        code = cli_no_memory();
    free(seen);
    return code;
}

void cli_ratios_free(cli_ratios *ratios)
{
    free(ratios->text);
    free(ratios->ratios);
    *ratios = (cli_ratios){0};
}

/* ---- workloads and their parameters ------------------------------------------------------ */

bool cli_look_up_workload(sy_context *context, const char *name, sy_workload_info *out)
{
    for (int i = 0; sy_workload_query(context, i, out) == SY_OK; i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

bool cli_cut_off(char *tag, const char *end)
{
    const size_t length = strlen(tag), size = strlen(end);
    if (length < size || strcmp(tag + length - size, end) != 0)
        return false;
    tag[length - size] = '\0';
    return true;
}

int cli_find_workload(sy_context *context, const char *name, sy_workload_info *out)
{
    const char *names[64], *nearest;
    int n = 0;
    if (cli_look_up_workload(context, name, out))
        return CLI_DONE;
    while (n < 64 && sy_workload_query(context, n, out) == SY_OK)
        names[n++] = out->name;
    nearest = cli_nearest(name, names, n);
    return cli_fail(CLI_USAGE, "there is no workload '%s'%s%s%s; 'steelyard workloads' lists them",
                    name, nearest ? " (did you mean " : "", nearest ? nearest : "",
                    nearest ? "?)" : "");
}

static bool is_param(sy_context *context, const char *name)
{
    sy_workload_info info;
    for (int i = 0; sy_workload_query(context, i, &info) == SY_OK; i++)
        for (int k = 0; k < info.n_params; k++)
            if (cli_same_name(info.params[k].name, name))
                return true;
    return false;
}

int cli_named_workload(const cli_args *args, sy_context *context, sy_workload_info *out)
{
    if (args->n_positionals)
        return cli_find_workload(context, args->positionals[0], out);
    for (int i = 0; i < args->n_extras; i++)
        if (!is_param(context, args->extras[i].name))
            return cli_unknown_option(args, args->extras[i].name, NULL, NULL, 0);
    return cli_fail(CLI_USAGE, "%s needs a workload; 'steelyard workloads' lists them",
                    args->command);
}

static void choices_text(const sy_param_info *info, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; info->choices[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", info->choices[i]);
}

static int set_choice(const sy_param_info *info, const char *value, sy_param *out)
{
    char list[200];
    for (int i = 0; info->choices[i]; i++)
        if (strcmp(info->choices[i], value) == 0) {
            *out = (sy_param){.name = info->name, .value = i, .text = info->choices[i]};
            return CLI_DONE;
        }
    choices_text(info, list, sizeof list);
    return cli_fail(CLI_USAGE, "--%s must be one of %s, not '%s'", info->name, list, value);
}

static int set_param(const sy_param_info *info, const char *value, sy_param *out)
{
    char low[CLI_NUMBER_SIZE], high[CLI_NUMBER_SIZE];
    if (info->choices)
        return set_choice(info, value, out);
    *out = (sy_param){.name = info->name};
    if (cli_number_parse(value, strlen(value), &out->value) == CLI_NUMBER_OK &&
        out->value >= info->min && out->value <= info->max &&
        (!info->is_integer || out->value == floor(out->value)))
        return CLI_DONE;
    cli_number_print(info->min, low);
    cli_number_print(info->max, high);
    return cli_fail(CLI_USAGE, "--%s must be a %snumber from %s to %s, not '%s'", info->name,
                    info->is_integer ? "whole " : "", low, high, value);
}

int cli_params(const cli_args *args, const sy_workload_info *info, sy_param params[CLI_MAX_PARAMS],
               int *n_params)
{
    const char *names[CLI_MAX_PARAMS];
    *n_params = 0;
    for (int k = 0; k < info->n_params && k < CLI_MAX_PARAMS; k++)
        names[k] = info->params[k].name;
    for (int i = 0; i < args->n_extras; i++) {
        const cli_extra *extra = &args->extras[i];
        int k = 0;
        while (k < info->n_params && !cli_same_name(extra->name, info->params[k].name))
            k++;
        if (k == info->n_params || *n_params == CLI_MAX_PARAMS)
            return cli_unknown_option(args, extra->name, info->name, names, info->n_params);
        if (!extra->value)
            return cli_fail(CLI_USAGE, "--%s needs a value; see 'steelyard %s %s --help'",
                            extra->name, args->command, info->name);
        CLI_TRY(set_param(&info->params[k], extra->value, &params[*n_params]));
        ++*n_params;
    }
    return CLI_DONE;
}

double cli_param_value(const sy_param_info *info, const sy_param *params, int n_params)
{
    for (int i = 0; i < n_params; i++)
        if (strcmp(params[i].name, info->name) == 0)
            return params[i].value;
    return info->fallback;
}

static void print_workload_help(const sy_workload_info *info)
{
    char inputs[120], outputs[120];
    cli_names_text(info->input_names, info->n_inputs, inputs, sizeof inputs);
    cli_names_text(info->output_names, info->n_outputs, outputs, sizeof outputs);
    cli_print(stdout, "\n%s: %s; from %s to %s\n", info->name, info->summary, inputs, outputs);
    if (info->n_params)
        cli_print(stdout, "parameters:\n");
    for (int i = 0; i < info->n_params; i++) {
        const sy_param_info *param = &info->params[i];
        char low[CLI_NUMBER_SIZE], high[CLI_NUMBER_SIZE], fallback[CLI_NUMBER_SIZE];
        char range[240], help[480], choices[200];
        cli_number_print(param->min, low);
        cli_number_print(param->max, high);
        cli_number_print(param->fallback, fallback);
        if (param->choices) {
            choices_text(param, choices, sizeof choices);
            snprintf(range, sizeof range, "one of %s; default %s", choices,
                     param->choices[(int)param->fallback]);
        } else
            snprintf(range, sizeof range, "%s to %s; default %s", low, high, fallback);
        snprintf(help, sizeof help, "%s (%s)", param->summary, range);
        cli_print_option(param->name,
                         param->choices      ? "WORD"
                         : param->is_integer ? "N"
                                             : "X",
                         help);
    }
}

int cli_workload_help(const cli_args *args)
{
    sy_context *context = NULL;
    sy_workload_info info;
    int code = CLI_DONE;
    if (args->n_positionals) {
        CLI_TRY(cli_open_catalog(&context));
        code = cli_find_workload(context, args->positionals[0], &info);
    }
    if (code == CLI_DONE)
        cli_print_help(args);
    if (code == CLI_DONE && context)
        print_workload_help(&info);
    sy_context_destroy(&context);
    return code;
}
