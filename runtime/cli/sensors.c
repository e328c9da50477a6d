/* What a device says of its state, one table for tables, JSON and Prometheus. */
#include "sensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

static const cli_sensor sensors[] = {
    {"utilization", offsetof(sy_device_info, utilization_percent), -1, 0.01},
    {"temperature_celsius", offsetof(sy_device_info, temperature_c), -1, 1},
    {"power_watts", offsetof(sy_device_info, power_mw), 0, 1e-3},
    {"power_limit_watts", offsetof(sy_device_info, power_limit_mw), 0, 1e-3},
    {"clock_mhz", offsetof(sy_device_info, clock_mhz), 0, 1},
    {"clock_max_mhz", offsetof(sy_device_info, clock_max_mhz), 0, 1},
    {"memory_clock_mhz", offsetof(sy_device_info, memory_clock_mhz), 0, 1},
    {"pcie_generation", offsetof(sy_device_info, pcie_generation), 0, 1},
    {"pcie_lanes", offsetof(sy_device_info, pcie_lanes), 0, 1},
};

const char *cli_device_type_word(sy_device_type type)
{
    return type == SY_DEVICE_CPU ? "cpu" : type == SY_DEVICE_CUDA ? "cuda" : "simulated";
}

const cli_sensor *cli_sensor_at(int index)
{
    return index < (int)(sizeof sensors / sizeof *sensors) ? &sensors[index] : NULL;
}

double cli_sensor_value(const cli_sensor *sensor, const sy_device_info *info)
{
    int value;
    memcpy(&value, (const char *)info + sensor->offset, sizeof value);
    return value == sensor->unknown ? NAN : value * sensor->scale;
}

json_t *cli_sensors_json(json_t *device, const sy_device_info *info)
{
    const uint64_t total = info->memory_total;
    int failed =
        json_object_set_new(device, "memory_total",
                            total ? json_integer((json_int_t)total) : json_null()) |
        json_object_set_new(device, "memory_free",
                            total ? json_integer((json_int_t)info->memory_free) : json_null()) |
        json_object_set_new(device, "driver",
                            *info->driver ? cli_json_text(info->driver) : json_null()) |
        json_object_set_new(device, "pci", *info->pci ? cli_json_text(info->pci) : json_null()) |
        json_object_set_new(device, "link", info->link ? json_integer(info->link) : json_null());
    const cli_sensor *sensor;
    for (int i = 0; (sensor = cli_sensor_at(i)); i++)
        failed |= json_object_set_new(device, sensor->name,
                                      cli_json_number(cli_sensor_value(sensor, info)));
    if (!failed)
        return device;
    json_decref(device);
    return NULL;
}

void cli_load_text(const sy_device_info *info, char out[32])
{
    snprintf(out, 32, info->utilization_percent < 0 ? "-" : "%d %%", info->utilization_percent);
}

void cli_temperature_text(const sy_device_info *info, char out[32])
{
    snprintf(out, 32, info->temperature_c < 0 ? "-" : "%d C", info->temperature_c);
}

void cli_power_text(const sy_device_info *info, char out[32])
{
    char drawn[12] = "-", most[12] = "-";
    if (info->power_mw)
        snprintf(drawn, sizeof drawn, "%.0f", info->power_mw * 1e-3);
    if (info->power_limit_mw)
        snprintf(most, sizeof most, "%.0f", info->power_limit_mw * 1e-3);
    if (info->power_mw || info->power_limit_mw)
        snprintf(out, 32, "%s/%s W", drawn, most);
    else
        snprintf(out, 32, "-");
}

void cli_clock_text(int mhz, char out[32])
{
    if (mhz)
        snprintf(out, 32, "%.2f GHz", mhz * 1e-3);
    else
        snprintf(out, 32, "-");
}
