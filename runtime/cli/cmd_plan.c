/* `steelyard plan`: explains a split without running it. */
#include <stdint.h>
#include <stdio.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "print.h"

static const char *decision_text(const char *decision)
{
    return *decision == 'c'   ? "the CPU alone"
           : *decision == 'o' ? "one device"
           : *decision == 's' ? "some of the devices"
           : *decision == 'a' ? "all devices"
                              : "no work";
}

static int print_text(const sy_plan_info *plan, const char *workload)
{
    cli_table table;
    char time[32];
    cli_time_text(plan->predicted_ms, time);
    cli_print(stdout, "%s, %lld x %lld (%lld tile%s): %s\n%s\n", workload, (long long)plan->rows,
              (long long)plan->columns, (long long)plan->tiles, plan->tiles == 1 ? "" : "s",
              decision_text(plan->decision), plan->reason);
    if (plan->predicted_ms >= 0)
        cli_print(stdout, "predicted: %s\n", time);
    cli_print(stdout, "\n");
    cli_table_begin(&table, 9, "device", ">ratio", ">tiles", ">elements", ">predicted", ">copy in",
                    ">compute", ">copy out", "note");
    for (int i = 0; i < plan->n_devices; i++) {
        const sy_planned_device *d = &plan->devices[i];
        const double times[] = {d->predicted_ms, d->copy_in_ms, d->compute_ms, d->copy_out_ms};
        cli_table_cell(&table, "%s", d->name);
        cli_table_cell(&table, "%.4f", d->ratio);
        cli_table_cell(&table, "%lld", (long long)d->tiles);
        cli_table_cell(&table, "%lld", (long long)d->elements);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            cli_time_text(times[k] > 0 ? times[k] : -1, time); /* none */
            cli_table_cell(&table, "%s", time);
        }
        if (*d->left_out)
            cli_table_cell(&table, "left out: %s", d->left_out);
        else
            cli_table_cell(&table, "%s%s", *d->limited_by ? "limited by " : "-", d->limited_by);
    }
    return cli_table_end(&table, stdout);
}

static json_t *predicted(double ms)
{
    return ms >= 0 ? cli_json_number(ms) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return *text ? cli_json_text(text) : json_null();
}

static int print_json(const sy_plan_info *plan, const char *workload)
{
    json_t *devices = json_array();
    for (int i = 0; i < plan->n_devices; i++) {
        const sy_planned_device *d = &plan->devices[i];
        devices = cli_json_append(
            devices, json_pack("{s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                               cli_json_text(d->name), "id", cli_json_text(d->id), "ratio",
                               cli_json_number(d->ratio), "tiles", (json_int_t)d->tiles, "elements",
                               (json_int_t)d->elements, "predicted_ms", predicted(d->predicted_ms),
                               "copy_in_ms", predicted(d->copy_in_ms), "compute_ms",
                               predicted(d->compute_ms), "copy_out_ms", predicted(d->copy_out_ms),
                               "limited_by", text_or_null(d->limited_by), "left_out",
                               text_or_null(d->left_out)));
    }
    return cli_json_print(json_pack(
        "{s:o, s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "workload", cli_json_text(workload), "rows",
        (json_int_t)plan->rows, "columns", (json_int_t)plan->columns, "tiles",
        (json_int_t)plan->tiles, "decision", plan->decision, "predicted_ms",
        predicted(plan->predicted_ms), "reason", cli_json_text(plan->reason), "devices", devices));
}

typedef struct plan_request {
    int64_t size, rows; /* a size below 0: not given */
    const char *ratios, *tag, *accuracy_word, *dtype_word, *device;
    sy_accuracy accuracy;
    sy_dtype dtype;
    bool json;
} plan_request;

static int explain(sy_context *context, const sy_work *work, const plan_request *request)
{
    sy_plan_info plan = {.struct_size = sizeof plan};
    cli_ratios ratios = {0};
    int code = CLI_DONE;
    if (request->ratios)
        code = cli_ratios_parse(context, request->ratios, &ratios);
    if (code == CLI_DONE) {
        sy_options options = {.struct_size = sizeof options,
                              .accuracy = request->accuracy,
                              .tag = request->tag,
                              .ratios = ratios.ratios,
                              .n_ratios = ratios.count,
                              .device = request->device};
        sy_status status = sy_plan_explain(context, work, &options, &plan);
        code = status != SY_OK ? cli_library_failed(status)
               : request->json ? print_json(&plan, work->workload)
                               : print_text(&plan, work->workload);
        sy_plan_info_clear(&plan);
    }
    cli_ratios_free(&ratios);
    return code;
}

static int check_request(plan_request *request)
{
    if (request->size < 0)
        return cli_fail(CLI_USAGE, "plan needs --size N; see 'steelyard plan --help'");
    CLI_TRY(cli_accuracy_parse(request->accuracy_word, &request->accuracy));
    CLI_TRY(cli_dtype_parse(request->dtype_word, &request->dtype));
    return cli_tag_check(request->tag);
}

/* The request is checked before the devices, which may have warnings of their own, are opened. */
static int plan(cli_args *args, plan_request *request)
{
    sy_context *catalog = NULL, *context = NULL;
    sy_param params[CLI_MAX_PARAMS];
    sy_workload_info info;
    sy_work work = {.struct_size = sizeof work,
                    .rows = request->rows,
                    .columns = request->size,
                    .params = params};
    int code;
    CLI_TRY(cli_open_catalog(&catalog));
    code = cli_named_workload(args, catalog, &info);
    /* An option that is misspelt is looked for before one that is missing. */
    if (code == CLI_DONE)
        code = cli_params(args, &info, params, &work.n_params);
    if (code == CLI_DONE)
        code = check_request(request);
    if (code == CLI_DONE)
        code = cli_open(args, &context);
    if (code == CLI_DONE) {
        work.workload = info.name;
        work.dtype = request->dtype;
        code = explain(context, &work, request);
    }
    sy_context_destroy(&context);
    sy_context_destroy(&catalog);
    return code;
}

int cli_cmd_plan(int argc, char **argv)
{
    plan_request request = {.size = -1, .rows = 1};
    cli_option options[] = {
        {.name = "size",
         .kind = CLI_INTEGER,
         .to = &request.size,
         .placeholder = "N",
         .max = (int64_t)1 << 53,
         .help = "values a series"},
        {.name = "rows",
         .kind = CLI_INTEGER,
         .to = &request.rows,
         .placeholder = "N",
         .min = 1,
         .max = (int64_t)1 << 53,
         .help = "series (default 1)"},
        CLI_ACCURACY_OPTION(request.accuracy_word),
        CLI_DTYPE_OPTION(request.dtype_word),
        {.name = "ratios",
         .kind = CLI_TEXT,
         .to = &request.ratios,
         .placeholder = "NAME=R,..",
         .help = "as if these were the ratios"},
        {.name = "device",
         .kind = CLI_TEXT,
         .to = &request.device,
         .placeholder = "WHICH",
         .help = "auto (default), cpu or cuda: as if computed there alone"},
        {.name = "tag",
         .kind = CLI_TEXT,
         .to = &request.tag,
         .placeholder = "T",
         .help = "whose stored ratios (default: the workload's name, with _fast, _f32)"},
        {.name = "json", .kind = CLI_FLAG, .to = &request.json, .help = "as JSON"},
    };
    cli_args args = {.command = "plan",
                     .usage = "WORKLOAD --size N [--rows N] [OPTION]...",
                     .summary =
                         "Explains how a run of that size would be split. 'steelyard plan WORKLOAD "
                         "--help' lists its parameters.",
                     .options = options,
                     .n_options = sizeof options / sizeof *options,
                     .max_positionals = 1,
                     .keep_extras = true};
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help)
        return cli_workload_help(&args);
    return plan(&args, &request);
}
