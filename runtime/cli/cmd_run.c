/* `steelyard run`: a workload from a file to a file. Everything that can be wrong with the request
 * is looked for before the computation, and the output appears, whole, after it. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "csv_write.h"
#include "lost_series.h"
#include "message.h"
#include "path.h"
#include "progress.h"
#include "run_report.h"
#include "short_series.h"
#include "spread.h"
#include "touch.h"
#include "trace.h"

typedef struct run {
    /* The request. */
    const char *input_path, *output_path, *column, *accuracy_word, *dtype_word, *report_path, *tag,
        *trace_path, *ratio_list, *device;
    sy_accuracy accuracy;
    int64_t seed;
    bool quiet, shows_table, frozen;
    /* What it became. */
    sy_dtype dtype;
    sy_context *catalog, *context; /* the workload's description; the devices */
    sy_workload_info info;
    sy_param params[CLI_MAX_PARAMS];
    int n_params;
    cli_ratios ratios;
    cli_input input;
    int64_t needed;    /* columns, for a result */
    cli_format format; /* of the output */
    cli_output output, report_file, trace_file;
    cli_trace trace;
    cli_npy_result npy; /* holds the results of an .npy output, */
    void *owned;        /* and this those of a CSV output */
    void *results[CLI_MAX_ARRAYS];
    cli_spread spread;
    sy_report report;
} run;

/* ---- the request ------------------------------------------------------------------------- */

static int check_two(const char *option, const char *path, const char *other, const char *taken)
{
    if (path && taken && cli_path_hits(path, taken, strcmp(other, "--input") == 0))
        return cli_fail(CLI_USAGE, "%s and %s name the same file '%s'; choose two", option, other,
                        path);
    return CLI_DONE;
}

/* The output may replace the input, but not be written into it; what else is written does
 * neither. */
static int check_paths(const run *r)
{
    if (cli_path_output(r->output_path) >= 0)
        CLI_TRY(check_two("--output", r->output_path, "--input", r->input_path));
    CLI_TRY(check_two("--report", r->report_path, "--input", r->input_path));
    CLI_TRY(check_two("--trace", r->trace_path, "--input", r->input_path));
    CLI_TRY(check_two("--report", r->report_path, "--output", r->output_path));
    CLI_TRY(check_two("--trace", r->trace_path, "--output", r->output_path));
    return check_two("--trace", r->trace_path, "--report", r->report_path);
}

static int check_request(run *r)
{
    if (!r->input_path || !r->output_path)
        return cli_fail(CLI_USAGE, "run needs %s F; see 'steelyard run --help'",
                        r->input_path ? "--output" : "--input");
    CLI_TRY(cli_accuracy_parse(r->accuracy_word, &r->accuracy));
    CLI_TRY(cli_dtype_parse(r->dtype_word, &r->dtype));
    CLI_TRY(cli_tag_check(r->tag));
    return check_paths(r);
}

/* Everything that can be checked without the devices, which may have warnings of their own. */
static int prepare(run *r, const cli_args *args)
{
    CLI_TRY(cli_open_catalog(&r->catalog));
    CLI_TRY(cli_named_workload(args, r->catalog, &r->info));
    /* An option that is misspelt is looked for before one that is missing. */
    CLI_TRY(cli_params(args, &r->info, r->params, &r->n_params));
    CLI_TRY(check_request(r));
    CLI_TRY(cli_format_of("--output", r->output_path, &r->format));
    CLI_TRY(cli_input_open(r->input_path, &r->info, r->column, r->dtype, &r->input));
    CLI_TRY(cli_series_check(r->catalog, &r->info, r->params, r->n_params, &r->input, &r->needed));
    CLI_TRY(cli_output_open(&r->output, r->output_path));
    if (r->report_path)
        CLI_TRY(cli_output_open(&r->report_file, r->report_path));
    if (r->trace_path)
        CLI_TRY(cli_output_open(&r->trace_file, r->trace_path));
    return cli_input_read(&r->input);
}

static int open_devices(run *r, cli_args *args)
{
    CLI_TRY(cli_open(args, &r->context));
    return r->ratio_list ? cli_ratios_parse(r->context, r->ratio_list, &r->ratios) : CLI_DONE;
}

/* ---- the computation --------------------------------------------------------------------- */

/* Room for the results, in the file itself where it is an .npy. */
static int make_results(run *r)
{
    bool reduces = r->info.pattern == SY_PATTERN_REDUCE;
    size_t rows = (size_t)r->input.rows, columns = reduces ? 1 : (size_t)r->input.columns;
    size_t outputs = (size_t)r->info.n_outputs, each;
    int64_t shape[CLI_NPY_MAX_DIMENSIONS];
    char *values;
    int n = 0;
    if (rows > SIZE_MAX / sizeof(double) / outputs / columns)
        return cli_no_memory();
    each = rows * columns * cli_value_size(r->dtype);
    if (r->format == CLI_NPY) {
        if (outputs > 1)
            shape[n++] = (int64_t)outputs;
        if (reduces || !r->input.flat)
            shape[n++] = (int64_t)rows;
        if (!reduces)
            shape[n++] = (int64_t)columns;
        CLI_TRY(cli_npy_create(&r->output, r->dtype, shape, n, &r->npy));
        values = r->npy.values;
    } else {
        values = r->owned = malloc(outputs * each);
        if (!values)
            return cli_no_memory();
    }
    for (size_t k = 0; k < outputs; k++)
        r->results[k] = values + k * each;
    return CLI_DONE;
}

/* New memory costs the computation several times what it takes otherwise, which says nothing of the
 * devices. Beyond some size it is for all threads together to get it, as they go. */
static void touch_arrays(const run *r)
{
    const size_t most = (size_t)1 << 28;
    const size_t value = cli_value_size(r->dtype), rows = (size_t)r->input.rows;
    const size_t in = rows * (size_t)r->input.columns * value;
    const size_t out = r->info.pattern == SY_PATTERN_REDUCE ? rows * value : in;
    const size_t inputs = (size_t)r->info.n_inputs, outputs = (size_t)r->info.n_outputs;
    if (sy_device_count(r->context) < 2 || in > most / (inputs + outputs))
        return;
    for (size_t k = 0; k < inputs; k++)
        cli_touch(r->input.values[k], in, false);
    for (size_t k = 0; k < outputs; k++)
        cli_touch(r->results[k], out, true);
}

static int compute(run *r)
{
    sy_work work = {.struct_size = sizeof work,
                    .workload = r->info.name,
                    .rows = r->input.rows,
                    .columns = r->input.columns,
                    .inputs = r->input.values,
                    .outputs = r->results,
                    .params = r->params,
                    .n_params = r->n_params,
                    .dtype = r->dtype};
    sy_options options = {.struct_size = sizeof options,
                          .accuracy = r->accuracy,
                          .seed = (uint64_t)r->seed,
                          .tag = r->tag,
                          .ratios = r->ratios.ratios,
                          .n_ratios = r->ratios.count,
                          .device = r->device,
                          .checksum = r->report_path != NULL,
                          .progress = cli_progress_tiles,
                          .trace = r->trace_path ? cli_trace_add : NULL,
                          .trace_user = &r->trace,
                          .n_seeds = r->spread.seeds,
                          .seeded = &r->spread.values};
    sy_status status;
    r->report = (sy_report){.struct_size = sizeof r->report};
    touch_arrays(r);
    cli_progress_begin(r->info.name, "tiles");
    status = distribute_workload(r->context, &work, &options, &r->report);
    if (status == SY_OK && r->spread.seeds)
        cli_spread_fill(&r->spread, (size_t)r->input.rows, r->dtype, r->results);
    return status == SY_OK ? CLI_DONE : cli_library_failed(status);
}

/* ---- the whole --------------------------------------------------------------------------- */

static int finish(run *r)
{
    CLI_TRY(r->format == CLI_NPY ? cli_npy_finish(&r->npy, &r->output)
                                 : cli_csv_write(&r->output, &r->input, &r->info, r->results));
    /* All files or none. */
    if (r->report_path) {
        CLI_TRY(cli_report_write(&r->report_file, &r->report, r->info.name, r->dtype, r->accuracy,
                                 (uint64_t)r->seed));
        CLI_TRY(cli_output_seal(&r->report_file));
    }
    if (r->trace_path) {
        CLI_TRY(cli_trace_write(&r->trace_file, &r->trace, &r->report));
        CLI_TRY(cli_output_seal(&r->trace_file));
    }
    CLI_TRY(cli_output_seal(&r->output));
    CLI_TRY(cli_output_commit(&r->output));
    if (r->report_path)
        CLI_TRY(cli_output_commit(&r->report_file));
    if (r->trace_path)
        CLI_TRY(cli_output_commit(&r->trace_file));
    cli_progress_erase();
    if (r->shows_table)
        return cli_report_show(&r->report, r->info.name);
    return CLI_DONE;
}

static int execute(run *r, cli_args *args)
{
    CLI_TRY(prepare(r, args));
    CLI_TRY(open_devices(r, args));
    if (r->spread.seeds)
        CLI_TRY(cli_spread_open(&r->spread, &r->info, (size_t)r->input.rows));
    CLI_TRY(make_results(r));
    CLI_TRY(compute(r));
    cli_warn_of_lost(&r->info, &r->input, r->results, r->needed);
    return finish(r);
}

static void release(run *r)
{
    cli_npy_discard(&r->npy);
    cli_spread_free(&r->spread);
    cli_output_discard(&r->output);
    cli_output_discard(&r->report_file);
    cli_output_discard(&r->trace_file);
    cli_trace_free(&r->trace);
    cli_input_close(&r->input);
    cli_ratios_free(&r->ratios);
    sy_report_clear(&r->report);
    sy_context_destroy(&r->context);
    sy_context_destroy(&r->catalog);
    free(r->owned);
}

int cli_cmd_run(int argc, char **argv)
{
    run r = {0};
    cli_option options[] = {
        {.name = "input",
         .kind = CLI_TEXT,
         .to = &r.input_path,
         .placeholder = "F",
         .help = ".csv or .npy file, or - for CSV on standard input"},
        {.name = "output",
         .kind = CLI_TEXT,
         .to = &r.output_path,
         .placeholder = "F",
         .help = ".csv or .npy file, or - for CSV on standard output"},
        {.name = "column",
         .kind = CLI_TEXT,
         .to = &r.column,
         .placeholder = "NAME[,NAME..]",
         .help = "which columns of a CSV file; several of them are several series"},
        {.name = "ratios",
         .kind = CLI_TEXT,
         .to = &r.ratio_list,
         .placeholder = "NAME=R,..",
         .help = "each device's share, in this run only"},
        {.name = "seed",
         .kind = CLI_INTEGER,
         .to = &r.seed,
         .placeholder = "N",
         .max = INT64_MAX,
         .help = "of every random order; exact results do not depend on it (default 0)"},
        {.name = "seeds",
         .kind = CLI_INTEGER,
         .to = &r.spread.seeds,
         .placeholder = "N",
         .min = 1,
         .max = 1 << 20,
         .help = "of sum, mean, variance and dot also how far the seeds 1 to N differ"},
        CLI_ACCURACY_OPTION(r.accuracy_word),
        CLI_DTYPE_OPTION(r.dtype_word),
        {.name = "report",
         .kind = CLI_TEXT,
         .to = &r.report_path,
         .placeholder = "F.json",
         .help = "also write what each device did, and a checksum of the result"},
        {.name = "trace",
         .kind = CLI_TEXT,
         .to = &r.trace_path,
         .placeholder = "F.json",
         .help = "also write the run's timeline, for Perfetto or chrome://tracing"},
        {.name = "device",
         .kind = CLI_TEXT,
         .to = &r.device,
         .placeholder = "WHICH",
         .help = "auto (default), cpu or cuda: compute there alone"},
        {.name = "tag",
         .kind = CLI_TEXT,
         .to = &r.tag,
         .placeholder = "T",
         .help = "whose stored ratios (default: the workload's name, with _fast, _f32)"},
        {.name = "frozen",
         .kind = CLI_FLAG,
         .to = &r.frozen,
         .help = "do not correct the stored profile by what this run takes"},
        {.name = "quiet",
         .kind = CLI_FLAG,
         .to = &r.quiet,
         .help = "no table of what each device did (on a terminal, or with --verbose)"},
    };
    cli_args args = {.command = "run",
                     .usage = "WORKLOAD --input F --output F [--KEY VALUE]... [OPTION]...",
                     .summary = "Computes a workload on all devices. 'steelyard run WORKLOAD "
                                "--help' lists its parameters.",
                     .options = options,
                     .n_options = sizeof options / sizeof *options,
                     .max_positionals = 1,
                     .keep_extras = true};
    int code;
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help)
        return cli_workload_help(&args);
    args.frozen = r.frozen;
    r.shows_table = !r.quiet && (args.verbose || isatty(STDERR_FILENO));
    code = execute(&r, &args);
    release(&r);
    return code;
}
