/* `steelyard devices`: what there is to compute on. */
#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "print.h"
#include "sensors.h"

static void print_memory(cli_table *table, const sy_device_info *d)
{
    char total[32], available[32];
    cli_bytes_text((double)d->memory_total, total);
    cli_bytes_text((double)d->memory_free, available);
    cli_table_cell(table, "%s", d->memory_total ? total : "-");
    cli_table_cell(table, "%s", d->memory_free ? available : "-");
}

static int print_text(const cli_devices *devices)
{
    cli_table table;
    char clock[32], power[32];
    cli_table_begin(&table, 12, ">index", "id", "name", "type", ">memory", ">free", "compute",
                    ">units", ">clock", ">power", "driver", "description");
    for (int i = 0; i < devices->count; i++) {
        const sy_device_info *d = &devices->list[i];
        cli_table_cell(&table, "%d", i);
        cli_table_cell(&table, "%s", d->id);
        cli_table_cell(&table, "%s", d->name);
        cli_table_cell(&table, "%s", cli_device_type_word(d->type));
        print_memory(&table, d);
        if (d->compute_major)
            cli_table_cell(&table, "%d.%d", d->compute_major, d->compute_minor);
        else
            cli_table_cell(&table, "-");
        cli_table_cell(&table, "%d", d->units);
        cli_clock_text(d->clock_max_mhz, clock);
        cli_power_text(d, power);
        cli_table_cell(&table, "%s", clock);
        cli_table_cell(&table, "%s", power);
        cli_table_cell(&table, "%s", *d->driver ? d->driver : "-");
        cli_table_cell(&table, "%s%s%s%s", d->description,
                       d->usable ? "" : " (not usable: ", d->usable ? "" : d->reason,
                       d->usable ? "" : ")");
    }
    return cli_table_end(&table, stdout);
}

static json_t *device_json(const sy_device_info *d, int index)
{
    json_t *compute =
        d->compute_major ? json_sprintf("%d.%d", d->compute_major, d->compute_minor) : json_null();
    json_t *device =
        json_pack("{s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:i, s:b, s:o}", "index", index, "id",
                  cli_json_text(d->id), "name", cli_json_text(d->name), "type",
                  cli_device_type_word(d->type), "description", cli_json_text(d->description),
                  "uuid", *d->uuid ? cli_json_text(d->uuid) : json_null(), "compute_capability",
                  compute, "units", d->units, "usable", d->usable, "reason",
                  *d->reason ? cli_json_text(d->reason) : json_null());
    return device ? cli_sensors_json(device, d) : NULL;
}

static int print_json(const cli_devices *devices)
{
    json_t *list = json_array();
    for (int i = 0; i < devices->count; i++)
        list = cli_json_append(list, device_json(&devices->list[i], i));
    return cli_json_print(json_pack("{s:o}", "devices", list));
}

int cli_cmd_devices(int argc, char **argv)
{
    bool json = false;
    cli_option options[] = {{.name = "json", .kind = CLI_FLAG, .to = &json, .help = "as JSON"}};
    cli_args args = {.command = "devices",
                     .usage = "[--json] [--devices LIST]",
                     .summary = "Lists the devices, and why one is not usable.",
                     .options = options,
                     .n_options = 1};
    sy_context *context = NULL;
    cli_devices devices;
    int code;
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help) {
        cli_print_help(&args);
        return CLI_DONE;
    }
    CLI_TRY(cli_open(&args, &context));
    code = cli_devices_query(context, &devices);
    if (code == CLI_DONE)
        code = json ? print_json(&devices) : print_text(&devices);
    cli_devices_free(&devices);
    sy_context_destroy(&context);
    return code;
}
