/* What a device says of its state, one table for tables, JSON and Prometheus. */
#ifndef CLI_SENSORS_H
#define CLI_SENSORS_H

#include <jansson.h>
#include <stddef.h>

#include <steelyard/steelyard.h>

typedef struct cli_sensor {
    const char *name; /* in JSON, and behind `steelyard_device_` for Prometheus; with its unit */
    size_t offset;    /* of an int in sy_device_info */
    int unknown;      /* what it holds when it is not known */
    double scale;     /* from there to the unit */
} cli_sensor;

/* `cpu`, `cuda`, `simulated`. */
const char *cli_device_type_word(sy_device_type type);

/* NULL past the end. */
const cli_sensor *cli_sensor_at(int index);
/* NaN: not known. */
double cli_sensor_value(const cli_sensor *sensor, const sy_device_info *info);

/* Adds memory, driver, PCI id and every sensor to a device's object (null: not known); NULL, with
 * the object given back, for a lack of memory. */
json_t *cli_sensors_json(json_t *device, const sy_device_info *info);

/* "37 %", "64 C", "215/450 W", "2.10 GHz"; `-` for what is not known. */
void cli_load_text(const sy_device_info *info, char out[32]);
void cli_temperature_text(const sy_device_info *info, char out[32]);
void cli_power_text(const sy_device_info *info, char out[32]);
void cli_clock_text(int mhz, char out[32]);

#endif
