/* `steelyard status`: the devices and the age of what is stored, for people, monitors and
 * Prometheus. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "print.h"
#include "profile_age.h"
#include "sensors.h"

/* ---- what is shown ------------------------------------------------------------------------ */

static int each_profile(sy_context *context, int (*each)(void *, const sy_balance *), void *user)
{
    sy_status status = SY_OK;
    if (sy_multigpu_path(context)) /* else there is no place where any could be */
        status = sy_balance_list(context, each, user);
    return status == SY_OK ? CLI_DONE : cli_library_failed(status);
}

/* ---- text --------------------------------------------------------------------------------- */

/* A half is as far away as the double. */
static double factor_of(double drift)
{
    return drift > 1 ? drift : 1 / drift;
}

/* "RTX3090 +30 %": who has moved the most from what was measured; `-` when nobody has. */
static void add_drift(cli_table *table, const sy_balance *balance)
{
    int most = -1;
    for (int i = 0; i < balance->n_ratios; i++)
        if (balance->ratios[i].drift != 1 && !isnan(balance->ratios[i].drift) &&
            (most < 0 ||
             factor_of(balance->ratios[i].drift) > factor_of(balance->ratios[most].drift)))
            most = i;
    if (most < 0)
        cli_table_cell(table, "-");
    else
        cli_table_cell(table, "%s %+.0f %%", balance->ratios[most].device,
                       100 * (balance->ratios[most].drift - 1));
}

static int add_row(void *user, const sy_balance *balance)
{
    double age = cli_profile_age(balance);
    cli_table_cell(user, "%s", balance->tag);
    cli_table_cell(user, "%s", *balance->updated_at ? balance->updated_at : "-");
    if (age >= 0)
        cli_table_cell(user, "%.1f h", age / 3600);
    else
        cli_table_cell(user, "-");
    add_drift(user, balance);
    return 0;
}

static void add_device(cli_table *table, const sy_device_info *info)
{
    char text[32];
    cli_table_cell(table, "%s", info->name);
    cli_table_cell(table, "%s", cli_device_type_word(info->type));
    cli_table_cell(table, "%s", info->usable ? "ok" : info->reason);
    cli_bytes_text((double)info->memory_total, text);
    cli_table_cell(table, "%s", info->memory_total ? text : "-");
    cli_bytes_text((double)info->memory_free, text);
    cli_table_cell(table, "%s", info->memory_total ? text : "-");
    cli_load_text(info, text);
    cli_table_cell(table, "%s", text);
    cli_temperature_text(info, text);
    cli_table_cell(table, "%s", text);
    cli_power_text(info, text);
    cli_table_cell(table, "%s", text);
    cli_clock_text(info->clock_mhz, text);
    cli_table_cell(table, "%s", text);
}

static int show_text(sy_context *context, const cli_devices *devices)
{
    cli_table table;
    int code;
    cli_table_begin(&table, 9, "device", "type", "state", ">memory", ">free", ">load", ">heat",
                    ">power", ">clock");
    for (int i = 0; i < devices->count; i++)
        add_device(&table, &devices->list[i]);
    CLI_TRY(cli_table_end(&table, stdout));
    cli_print(stdout, "\n");
    cli_table_begin(&table, 4, "profile", "updated", ">age", "drift");
    code = each_profile(context, add_row, &table);
    CLI_TRY(cli_table_end(&table, stdout));
    return code;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static int add_profile(void *user, const sy_balance *balance)
{
    json_t **list = user, *devices = json_array();
    double age = cli_profile_age(balance);
    for (int i = 0; i < balance->n_ratios; i++)
        devices = cli_json_append(
            devices, json_pack("{s:o, s:o, s:o}", "name", cli_json_text(balance->ratios[i].device),
                               "ratio", cli_json_number(balance->ratios[i].ratio), "drift",
                               cli_json_number(balance->ratios[i].drift)));
    *list = cli_json_append(
        *list, json_pack("{s:o, s:o, s:o, s:o}", "tag", cli_json_text(balance->tag), "updated_at",
                         cli_json_text(balance->updated_at), "age_seconds",
                         age >= 0 ? cli_json_number(age) : json_null(), "devices", devices));
    return *list == NULL;
}

static int show_json(sy_context *context, const cli_devices *devices)
{
    json_t *list = json_array(), *profiles = json_array();
    int code;
    for (int i = 0; i < devices->count; i++) {
        const sy_device_info *info = &devices->list[i];
        json_t *device = json_pack(
            "{s:o, s:o, s:s, s:b, s:o}", "name", cli_json_text(info->name), "id",
            cli_json_text(info->id), "type", cli_device_type_word(info->type), "available",
            info->usable, "reason", *info->reason ? cli_json_text(info->reason) : json_null());
        list = cli_json_append(list, device ? cli_sensors_json(device, info) : NULL);
    }
    code = each_profile(context, add_profile, &profiles);
    CLI_TRY(cli_json_print(json_pack("{s:s, s:o, s:o}", "version", sy_version(), "devices", list,
                                     "profiles", profiles)));
    return code;
}

/* ---- Prometheus --------------------------------------------------------------------------- */

/* In a label's value, backslash, quote and line feed have to be escaped. */
static void print_label(const char *name, const char *text)
{
    cli_print(stdout, "%s=\"", name);
    for (; *text; text++) {
        if (*text == '\n')
            cli_print(stdout, "\\n");
        else if (*text == '\\' || *text == '"')
            cli_print(stdout, "\\%c", *text);
        else
            cli_print(stdout, "%c", *text);
    }
    cli_print(stdout, "\"");
}

/* A metric of a profile or of a device, or of a device in a profile. */
static void print_metric(const char *name, const char *tag, const char *device, double number)
{
    cli_print(stdout, "%s{", name);
    if (tag)
        print_label("tag", tag);
    if (tag && device)
        cli_print(stdout, ",");
    if (device)
        print_label("device", device);
    cli_print(stdout, "} %.17g\n", number);
}

static int print_age(void *user, const sy_balance *balance)
{
    double age = cli_profile_age(balance);
    (void)user;
    if (age >= 0)
        print_metric("steelyard_profile_age_seconds", balance->tag, NULL, age);
    return 0;
}

static int print_drift(void *user, const sy_balance *balance)
{
    (void)user;
    for (int i = 0; i < balance->n_ratios; i++)
        if (!isnan(balance->ratios[i].drift))
            print_metric("steelyard_profile_drift_ratio", balance->tag, balance->ratios[i].device,
                         balance->ratios[i].drift);
    return 0;
}

enum { BASIC_METRICS = 3 };

/* The value of a metric by its index: three of every device, then the sensors. NaN: not known. */
static double metric_value(int metric, const sy_device_info *info)
{
    const double basic[BASIC_METRICS] = {info->usable,
                                         info->memory_total ? (double)info->memory_total : NAN,
                                         info->memory_total ? (double)info->memory_free : NAN};
    return metric < BASIC_METRICS ? basic[metric]
                                  : cli_sensor_value(cli_sensor_at(metric - BASIC_METRICS), info);
}

static int show_prometheus(sy_context *context, const cli_devices *devices)
{
    static const char *const names[BASIC_METRICS] = {
        "steelyard_device_available", "steelyard_memory_bytes", "steelyard_memory_free_bytes"};
    for (int metric = 0; metric < BASIC_METRICS || cli_sensor_at(metric - BASIC_METRICS);
         metric++) {
        char name[64];
        if (metric < BASIC_METRICS)
            snprintf(name, sizeof name, "%s", names[metric]);
        else
            snprintf(name, sizeof name, "steelyard_device_%s",
                     cli_sensor_at(metric - BASIC_METRICS)->name);
        cli_print(stdout, "# TYPE %s gauge\n", name);
        for (int i = 0; i < devices->count; i++) {
            const double value = metric_value(metric, &devices->list[i]);
            if (!isnan(value))
                print_metric(name, NULL, devices->list[i].name, value);
        }
    }
    cli_print(stdout, "# TYPE steelyard_profile_age_seconds gauge\n");
    CLI_TRY(each_profile(context, print_age, NULL));
    cli_print(stdout, "# TYPE steelyard_profile_drift_ratio gauge\n");
    return each_profile(context, print_drift, NULL);
}

int cli_cmd_status(int argc, char **argv)
{
    const char *format = "text";
    cli_option options[] = {{.name = "format",
                             .kind = CLI_TEXT,
                             .to = &format,
                             .placeholder = "WORD",
                             .help = "text (default), json or prometheus"}};
    cli_args args = {.command = "status",
                     .usage = "[OPTION]...",
                     .summary = "The devices, and how old the stored profiles are.",
                     .options = options,
                     .n_options = sizeof options / sizeof *options};
    sy_context *context = NULL;
    cli_devices devices;
    int code;
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help) {
        cli_print_help(&args);
        return CLI_DONE;
    }
    if (strcmp(format, "text") && strcmp(format, "json") && strcmp(format, "prometheus"))
        return cli_fail(CLI_USAGE, "--format must be text, json or prometheus, not '%s'", format);
    CLI_TRY(cli_open(&args, &context));
    code = cli_devices_query(context, &devices);
    if (code == CLI_DONE)
        code = *format == 't'   ? show_text(context, &devices)
               : *format == 'j' ? show_json(context, &devices)
                                : show_prometheus(context, &devices);
    cli_devices_free(&devices);
    sy_context_destroy(&context);
    return code;
}
