/*
 * Whether a stored profile is believed, through the public API: measured on a virtual GPU, then
 * looked at from a machine, or in a file, that differs in one thing. Other silicon or other code
 * drops the GPU's entry, other settings make it a first guess.
 *
 *     test_fingerprint DRIVER NVML
 */
#define _GNU_SOURCE
#include "gpu_lab.h"

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char gpu[] = "gpus=2;*:name=Virtual GPU,sms=16,cc=8.0,memory=1GiB,speed=4";
static const char state[] = "driver=580.65.06;*:limit=450000";
static char path[64];
static const char *nvml;
static int (*set_nvml)(const char *);

typedef enum trust { FULL, GUESS, NONE } trust;

/* One difference: appended to the machine's description or to NVML's, another device list, or a
 * field of the GPU's entry in the file, as JSON. */
typedef struct mutation {
    const char *what;
    trust expected;
    const char *machine, *management, *devices, *field, *value;
} mutation;

static const mutation mutations[] = {
    {"nothing", FULL, .machine = ""},
    {"name", NONE, .machine = ";*:name=NVIDIA Virtual"},
    {"compute_major", NONE, .machine = ";*:cc=9.0"},
    {"compute_minor", NONE, .machine = ";*:cc=8.6"},
    {"units", NONE, .machine = ";*:sms=24"},
    {"memory_total", GUESS, .machine = ";*:memory=2GiB"},
    {"clock_mhz", GUESS, .machine = ";*:speed=5"},
    {"uuid", GUESS, .devices = "cuda:1,cpu"},
    {"driver", GUESS, .management = ";driver=590.10"},
    {"power_limit_mw", GUESS, .management = ";*:limit=300000"},
    {"power_limit_mw", GUESS, .management = ";*:limit=0"},
    {"driver", GUESS, .management = ";gpus=0"},
    {"format", NONE, .field = "format", .value = "999"},
    {"workload_version", NONE, .field = "workload_version", .value = "999"},
    {"workload", NONE, .field = "workload", .value = "\"ema\""},
    {"dtype", NONE, .field = "dtype", .value = "\"f32\""},
    {"library_major", NONE, .field = "library_major", .value = "999"},
    {"library_minor", NONE, .field = "library_minor", .value = "999"},
    {"library_patch", GUESS, .field = "library_patch", .value = "999"},
    {"code", GUESS, .field = "code", .value = "\"sm_75\""},
};

typedef struct notes {
    char about_gpu[256];
    int lines;
} notes;

static void note(void *user, sy_log_level level, const char *line)
{
    notes *n = user;
    (void)level;
    if (strstr(line, "the profile of Virtual")) {
        n->lines++;
        snprintf(n->about_gpu, sizeof n->about_gpu, "%s", line);
    }
}

static sy_context *open_on(const char *machine, const char *management, const char *devices,
                           notes *n)
{
    char described[256], managed[256];
    sy_config config = {.struct_size = sizeof config,
                        .devices = devices ? devices : "cuda:0,cpu",
                        .multigpu_path = path,
                        .thresholds_path = "no-such/thresholds.json",
                        .log = note,
                        .log_user = n,
                        .cuda_driver = gpu_driver,
                        .frozen = 1,
                        .nvml = nvml};
    sy_context *context = NULL;
    snprintf(described, sizeof described, "%s%s", gpu, machine ? machine : "");
    snprintf(managed, sizeof managed, "%s%s", state, management ? management : "");
    gpu_world(described, NULL, 0);
    GPU_CHECK(set_nvml(managed) == 0, "%s", managed);
    GPU_CHECK(sy_context_create(&config, &context) == SY_OK, "%s", sy_last_error()->text);
    return context;
}

/* The stored file as it was measured, with a field of the GPU's entry changed. */
static void write_file(const json_t *measured, const mutation *m)
{
    json_t *file = json_deep_copy(measured);
    json_t *entry = json_object_get(file, "profiles");
    json_t *value = m->field ? json_loads(m->value, JSON_DECODE_ANY, NULL) : NULL;
    static const char *const way[] = {"sma", "fingerprint", "devices", "Virtual"};
    for (int i = 0; i < 4; i++)
        entry = json_object_get(entry, way[i]);
    GPU_CHECK(entry, "the file has no fingerprint of the GPU");
    GPU_CHECK(!m->field || json_object_get(entry, m->field), "no field '%s'", m->field);
    if (value)
        json_object_set_new(entry, m->field, value);
    GPU_CHECK(json_dump_file(file, path, 0) == 0, "%s cannot be written", path);
    json_decref(file);
}

static void judge(const mutation *m, sy_context *context, const notes *n)
{
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .columns = 1 << 24};
    sy_plan_info plan = {.struct_size = sizeof plan};
    GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK, "%s: %s", m->what,
              sy_last_error()->text);
    if (plan.n_devices != 2)
        return;
    int dropped = strstr(plan.devices[0].left_out, "not in the profile") != NULL;
    GPU_CHECK(dropped == (m->expected == NONE), "%s: left out: '%s'", m->what,
              plan.devices[0].left_out);
    GPU_CHECK(n->lines == (m->expected != FULL), "%s: %d lines about it", m->what, n->lines);
    if (m->expected != FULL)
        GPU_CHECK(strstr(n->about_gpu, m->what) &&
                      strstr(n->about_gpu, m->expected == NONE ? "is not used (" : "first guess ("),
                  "%s: '%s'", m->what, n->about_gpu);
    sy_plan_info_clear(&plan);
}

static json_t *measure(void)
{
    notes n = {0};
    sy_context *context = open_on(NULL, NULL, NULL, &n);
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = "sma",
                                  .sample_size = 20000,
                                  .runs = 1,
                                  .warmup = -1};
    json_t *file;
    GPU_CHECK(sy_profile_auto_balance(context, &options, NULL) == SY_OK, "%s",
              sy_last_error()->text);
    gpu_close(&context, "the measuring");
    file = json_load_file(path, 0, NULL);
    GPU_CHECK(file, "no %s", path);
    return file;
}

static int load_nvml(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    nvml = file;
    if (library)
        *(void **)&set_nvml = dlsym(library, "vnvml_setup");
    return set_nvml != NULL;
}

int main(int argc, char **argv)
{
    const int count = sizeof mutations / sizeof *mutations;
    json_t *measured;
    if (argc < 3 || !gpu_begin(2, argv) || !load_nvml(argv[2]))
        return 2;
    snprintf(path, sizeof path, "fingerprint-%d.json", (int)getpid());
    measured = measure();
    for (int i = 0; measured && i < count; i++) {
        const mutation *m = &mutations[i];
        notes n = {0};
        sy_context *context;
        write_file(measured, m);
        context = open_on(m->machine, m->management, m->devices, &n);
        if (context)
            judge(m, context, &n);
        gpu_close(&context, m->what);
    }
    json_decref(measured);
    lab_remove(path);
    printf("%d mutations\n", count - 1);
    return gpu_end();
}
