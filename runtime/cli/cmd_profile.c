/* `steelyard profile`: measures the devices and stores their ratios. */
#include <stdint.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "print.h"
#include "progress.h"
#include "quantity.h"

static int print_balance(const sy_balance *balance)
{
    cli_table table;
    cli_table_begin(&table, 2, "device", ">ratio");
    for (int i = 0; i < balance->n_ratios; i++) {
        cli_table_cell(&table, "%s", balance->ratios[i].device);
        cli_table_cell(&table, "%.4f", balance->ratios[i].ratio);
    }
    return cli_table_end(&table, stdout);
}

static int check_workload(const char *name)
{
    sy_context *catalog = NULL;
    sy_workload_info info;
    int code;
    if (!name)
        return CLI_DONE;
    CLI_TRY(cli_open_catalog(&catalog));
    code = cli_find_workload(catalog, name, &info);
    sy_context_destroy(&catalog);
    return code;
}

static int profile(sy_context *context, const sy_profile_options *options)
{
    sy_balance balance = {.struct_size = sizeof balance};
    sy_status status;
    int code;
    cli_progress_begin("profiling", "runs");
    status = sy_profile_auto_balance(context, options, &balance);
    cli_progress_erase();
    if (status != SY_OK)
        return cli_library_failed(status);
    code = print_balance(&balance);
    cli_print(stdout, "\nwritten to %s under the tag '%s'\n", sy_multigpu_path(context),
              balance.tag);
    sy_balance_clear(&balance);
    return code;
}

int cli_cmd_profile(int argc, char **argv)
{
    sy_profile_options to = {.struct_size = sizeof to, .progress = cli_progress_tiles};
    const char *budget = NULL, *accuracy = NULL, *dtype = NULL;
    double budget_s = 0;
    int64_t runs = 0, warmup = 1, seed = 0;
    cli_option options[] = {
        {.name = "workload",
         .kind = CLI_TEXT,
         .to = &to.workload,
         .placeholder = "W",
         .help = "what to measure with (default bollinger)"},
        CLI_ACCURACY_OPTION(accuracy),
        CLI_DTYPE_OPTION(dtype),
        {.name = "sample-size",
         .kind = CLI_INTEGER,
         .to = &to.sample_size,
         .placeholder = "N",
         .min = 1,
         .max = (int64_t)1 << 40,
         .help = "values of the sample (default 1048576)"},
        {.name = "runs",
         .kind = CLI_INTEGER,
         .to = &runs,
         .placeholder = "N",
         .min = 1,
         .max = 1000,
         .help = "timed runs a device, whose median counts (default 5)"},
        {.name = "warmup",
         .kind = CLI_INTEGER,
         .to = &warmup,
         .placeholder = "N",
         .max = 1000,
         .help = "runs before those (default 1)"},
        {.name = "tag",
         .kind = CLI_TEXT,
         .to = &to.tag,
         .placeholder = "T",
         .help = "where to store the ratios (default: the workload's name, with _fast, _f32)"},
        {.name = "budget",
         .kind = CLI_TEXT,
         .to = &budget,
         .placeholder = "TIME",
         .help = "for all devices together, by a smaller sample, such as 2s (default: no limit)"},
        {.name = "seed",
         .kind = CLI_INTEGER,
         .to = &seed,
         .placeholder = "N",
         .max = INT64_MAX,
         .help = "of the sample's values (default 0)"},
    };
    cli_args args = {.command = "profile",
                     .usage = "[OPTION]...",
                     .summary = "Times every device alone on the same sample, and stores the "
                                "ratios of their speeds.",
                     .options = options,
                     .n_options = sizeof options / sizeof *options};
    sy_context *context = NULL;
    int code;
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help) {
        cli_print_help(&args);
        return CLI_DONE;
    }
    if (budget)
        CLI_TRY(cli_budget_parse(budget, &budget_s));
    to.budget_ms = 1000 * budget_s;
    to.runs = (int)runs;
    to.warmup = warmup ? (int)warmup : -1; /* the library's 0 is its default */
    to.seed = (uint64_t)seed;
    CLI_TRY(cli_tag_check(to.tag));
    CLI_TRY(cli_accuracy_parse(accuracy, &to.accuracy));
    CLI_TRY(cli_dtype_parse(dtype, &to.dtype));
    CLI_TRY(check_workload(to.workload));
    CLI_TRY(cli_open(&args, &context));
    code = profile(context, &to);
    sy_context_destroy(&context);
    return code;
}
