/* `steelyard thresholds show | set | clear`: measurements of CPU against GPU. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "print.h"
#include "threshold_key.h"

typedef struct listing {
    cli_table table;
    const char *only; /* a key, or NULL for all */
    int found;
} listing;

static void add_ms(cli_table *table, double ms)
{
    if (isnan(ms))
        cli_table_cell(table, "-");
    else
        cli_table_cell(table, "%.6g", ms);
}

static int add_line(void *user, const char *key, const sy_threshold *t)
{
    listing *l = user;
    if (l->only && strcmp(l->only, key) != 0)
        return 0;
    l->found++;
    add_ms(&l->table, t->cpu_ms_avg);
    add_ms(&l->table, t->gpu_ms_avg);
    cli_table_cell(&l->table, "%lld", (long long)t->samples);
    cli_table_cell(&l->table, "%s", key);
    return 0;
}

static int show(sy_context *context, const char *key)
{
    listing l = {.only = key};
    sy_status status;
    cli_table_begin(&l.table, 4, ">cpu ms", ">gpu ms", ">samples", "key");
    status = sy_threshold_list(context, add_line, &l);
    CLI_TRY(cli_table_end(&l.table, l.found ? stdout : NULL));
    if (status != SY_OK && status != SY_ERR_NOT_FOUND)
        return cli_library_failed(status);
    if (!l.found && key)
        return cli_fail(
            CLI_FAILED,
            "no threshold is stored for '%s' in %s; 'steelyard thresholds show' lists what is", key,
            sy_thresholds_path(context));
    if (!l.found)
        cli_print(stdout, "no thresholds are stored in %s\n", sy_thresholds_path(context));
    return CLI_DONE;
}

static int set(sy_context *context, const char *key, double cpu_ms, double gpu_ms)
{
    sy_status status;
    CLI_TRY(cli_threshold_key_check(context, key));
    status = sy_threshold_update(context, key, cpu_ms, gpu_ms);
    if (status != SY_OK)
        return cli_library_failed(status);
    cli_print(stdout, "added to '%s' in %s\n", key, sy_thresholds_path(context));
    return CLI_DONE;
}

static int clear(sy_context *context, const char *key)
{
    sy_status status = sy_threshold_forget(context, key);
    if (status == SY_ERR_NOT_FOUND && key)
        return cli_fail(
            CLI_FAILED,
            "no threshold is stored for '%s' in %s; 'steelyard thresholds show' lists what is", key,
            sy_thresholds_path(context));
    if (status != SY_OK && status != SY_ERR_NOT_FOUND)
        return cli_library_failed(status);
    cli_print(stdout, "cleared in %s\n", sy_thresholds_path(context));
    return CLI_DONE;
}

int cli_cmd_thresholds(int argc, char **argv)
{
    double cpu_ms = 0, gpu_ms = 0;
    cli_option options[] = {
        {.name = "cpu-ms",
         .kind = CLI_NUMBER,
         .to = &cpu_ms,
         .placeholder = "X",
         .help = "set: what the CPU took, in milliseconds; added to its average"},
        {.name = "gpu-ms",
         .kind = CLI_NUMBER,
         .to = &gpu_ms,
         .placeholder = "Y",
         .help = "set: what the GPU took for the same; added to its average"},
    };
    cli_args args = {.command = "thresholds",
                     .usage = "show [KEY] | set KEY --cpu-ms X --gpu-ms Y | clear [KEY]",
                     .summary =
                         "Measurements of the same work on the CPU and on the GPU; set adds one to "
                         "the averages of KEY.",
                     .options = options,
                     .n_options = 2,
                     .max_positionals = 2};
    sy_context *context = NULL;
    const char *verb, *key;
    int code;
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help) {
        cli_print_help(&args);
        return CLI_DONE;
    }
    verb = args.positionals[0];
    key = args.positionals[1];
    if (!verb || (strcmp(verb, "show") && strcmp(verb, "set") && strcmp(verb, "clear")))
        return cli_fail(CLI_USAGE,
                        "thresholds needs one of show, set and clear%s%s%s; see "
                        "'steelyard thresholds --help'",
                        verb ? ", not '" : "", verb ? verb : "", verb ? "'" : "");
    if (strcmp(verb, "set") == 0 && !(key && options[0].given && options[1].given))
        return cli_fail(CLI_USAGE, "thresholds set needs KEY --cpu-ms X --gpu-ms Y");
    if (strcmp(verb, "set") != 0 && (options[0].given || options[1].given))
        return cli_fail(CLI_USAGE, "--cpu-ms and --gpu-ms belong to thresholds set");
    CLI_TRY(cli_key_check(key));
    /* The file is the same whatever the devices are. */
    CLI_TRY(cli_open_file(&args, &context));
    code = strcmp(verb, "set") == 0    ? set(context, key, cpu_ms, gpu_ms)
           : strcmp(verb, "show") == 0 ? show(context, key)
                                       : clear(context, key);
    sy_context_destroy(&context);
    return code;
}
