/* The report of a run. */
#include "run_report.h"

#include <math.h>
#include <stdio.h>

#include "context.h"
#include "message.h"
#include "print.h"

static json_t *device_json(const sy_device_report *d)
{
    return json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:i, s:o}", "name",
        cli_json_text(d->name), "id", cli_json_text(d->id), "ratio", cli_json_number(d->ratio),
        "tiles", (json_int_t)d->tiles, "tail_tiles", (json_int_t)d->tail_tiles, "elements",
        (json_int_t)d->elements, "copy_in_ms", cli_json_number(d->copy_in_ms), "compute_ms",
        cli_json_number(d->compute_ms), "copy_out_ms", cli_json_number(d->copy_out_ms), "busy_ms",
        cli_json_number(d->busy_ms), "retries", d->retries, "state", cli_json_text(d->state));
}

static json_t *report_json(const sy_report *report, const char *workload, sy_dtype dtype,
                           sy_accuracy accuracy, uint64_t seed)
{
    json_t *devices = json_array();
    for (int i = 0; i < report->n_devices; i++)
        devices = cli_json_append(devices, device_json(&report->devices[i]));
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:s, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:I, s:s, s:o}",
        "workload", cli_json_text(workload), "rows", (json_int_t)report->rows, "columns",
        (json_int_t)report->columns, "tiles", (json_int_t)report->tiles, "dtype",
        dtype == SY_F32 ? "f32" : "f64", "seed", (json_int_t)seed, "accuracy",
        cli_accuracy_word(accuracy), "wall_ms", cli_json_number(report->wall_ms), "ideal_ms",
        cli_json_number(report->ideal_ms), "efficiency", cli_json_number(report->efficiency),
        "predicted_ms",
        report->predicted_ms >= 0 ? cli_json_number(report->predicted_ms) : json_null(),
        "unaccounted_ms", cli_json_number(report->unaccounted_ms), "used_profile",
        report->used_profile, "repaired", (json_int_t)report->repaired, "checksum",
        report->checksum, "devices", devices);
}

int cli_report_write(cli_output *output, const sy_report *report, const char *workload,
                     sy_dtype dtype, sy_accuracy accuracy, uint64_t seed)
{
    return cli_json_write(output, report_json(report, workload, dtype, accuracy, seed));
}

int cli_report_show(const sy_report *report, const char *workload)
{
    cli_table table;
    char time[32];
    /* A device that was busy for 100 % of the ideal time did just its share. */
    cli_table_begin(&table, 6, "device", ">ratio", ">tiles", ">time", ">of ideal", "state");
    for (int i = 0; i < report->n_devices; i++) {
        const sy_device_report *d = &report->devices[i];
        cli_time_text(d->busy_ms, time);
        cli_table_cell(&table, "%s", d->name);
        cli_table_cell(&table, "%.4f", d->ratio);
        cli_table_cell(&table, "%lld", (long long)d->tiles);
        cli_table_cell(&table, "%s", time);
        cli_table_cell(&table, "%.0f %%", 100 * d->busy_ms / report->ideal_ms);
        cli_table_cell(&table, "%s", d->state);
    }
    CLI_TRY(cli_table_end(&table, stderr));
    cli_time_text(report->wall_ms, time);
    fprintf(stderr, "%s: %lld x %lld in %s", workload, (long long)report->rows,
            (long long)report->columns, time);
    if (isfinite(report->efficiency) && report->efficiency > 0)
        fprintf(stderr, ", %.1f %% of the ideal", 100 * report->efficiency);
    if (report->predicted_ms >= 0) {
        cli_time_text(report->predicted_ms, time);
        fprintf(stderr, ", predicted %s", time);
    }
    fprintf(stderr, "\n");
    return CLI_DONE;
}
