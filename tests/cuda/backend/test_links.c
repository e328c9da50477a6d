/*
 * GPUs that share their way to the host, through the public API: below one PCIe switch, as NVML
 * tells, or as parts of one GPU. The same profile then predicts a later end, since copies wait for
 * each other; and what shares nothing is predicted as ever.
 *
 *     test_links DRIVER NVML
 */
#define _GNU_SOURCE
#include "gpu_lab.h"

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS = 3 * 4096 * 4096 };

static char path[64];
static const char *nvml;
static int (*set_nvml)(const char *);

static const char machine[] = "gpus=3;*:sms=64,cc=9.0";

static sy_context *open_on(const char *devices, const char *management)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = devices,
                        .multigpu_path = path,
                        .thresholds_path = "no-such/thresholds.json",
                        .cuda_driver = gpu_driver,
                        .frozen = 1,
                        .nvml = nvml};
    sy_context *context = NULL;
    gpu_world(machine, NULL, 0);
    GPU_CHECK(set_nvml(management) == 0, "%s", management);
    GPU_CHECK(sy_context_create(&config, &context) == SY_OK, "%s", sy_last_error()->text);
    return context;
}

/* Every device of the stored profile as fast as the others: an element takes 8 ns to copy and 1 ns
 * to compute. What was measured is the time of this machine, which says nothing here. */
static void set_costs(void)
{
    static const char cost[] =
        "{\"phases\": {"
        "\"copy_in\": {\"fixed_ns\": 0, \"per_element_ns\": [8.0], \"until_elements\": [], "
        "\"spread\": 0.0}, "
        "\"compute\": {\"fixed_ns\": 0, \"per_element_ns\": [1.0], \"until_elements\": [], "
        "\"spread\": 0.0}}}";
    json_t *file = json_load_file(path, 0, NULL);
    json_t *costs =
        json_object_get(json_object_get(json_object_get(file, "profiles"), "sum"), "costs");
    const char *device;
    json_t *entry;
    void *next;
    GPU_CHECK(json_object_size(costs) > 1, "%s has no costs", path);
    json_object_foreach_safe(costs, next, device, entry)
        json_object_set_new(costs, device, json_loads(cost, 0, NULL));
    GPU_CHECK(json_dump_file(file, path, 0) == 0, "%s cannot be written", path);
    json_decref(file);
}

static void measure(const char *devices)
{
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = "sum",
                                  .sample_size = 100000,
                                  .runs = 1,
                                  .warmup = -1};
    sy_context *context = open_on(devices, "");
    GPU_CHECK(sy_profile_auto_balance(context, &options, NULL) == SY_OK, "%s",
              sy_last_error()->text);
    gpu_close(&context, "the measuring");
    set_costs();
}

/* The links of the devices, and what a large sum is predicted to take. */
static double predicted(const char *devices, const char *management, const int *links)
{
    sy_work work = {.struct_size = sizeof work, .workload = "sum", .columns = ELEMENTS};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_context *context = open_on(devices, management);
    double ms;
    for (int i = 0; i < sy_device_count(context); i++) {
        sy_device_info info;
        GPU_CHECK(sy_device_query(context, i, &info) == SY_OK && info.link == links[i],
                  "%s, %s: device %d has link %d, not %d", devices, management, i, info.link,
                  links[i]);
    }
    GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK, "%s", sy_last_error()->text);
    ms = plan.predicted_ms;
    GPU_CHECK(ms > 0 && !strcmp(plan.decision, "all"), "%s: %s, %g ms", management, plan.decision,
              ms);
    sy_plan_info_clear(&plan);
    gpu_close(&context, management);
    return ms;
}

/* A plan also counts what it takes to start devices: little here, and not this test's. */
static int is_about(double ms, double ns)
{
    return ms >= ns / 1e6 && ms < 1.01 * ns / 1e6;
}

static void switches(void)
{
    static const char list[] = "cuda:0,cuda:1,cuda:2";
    double apart, same, two, all;
    measure(list);
    apart = predicted(list, "", (const int[]){0, 0, 0});
    same = predicted(list, "0:switch=1;1:switch=2;2:switch=3", (const int[]){0, 0, 0});
    two = predicted(list, "0:switch=1;2:switch=1", (const int[]){1, 0, 1});
    all = predicted(list, "*:switch=1", (const int[]){1, 1, 1});
    /* A third each: 8 + 1 ns an element alone, 3 * 8 + 1 when all three copy at once. */
    GPU_CHECK(same == apart, "nothing shared: %g and %g ms", apart, same);
    GPU_CHECK(is_about(apart, ELEMENTS / 3 * 9.0), "%g ms", apart);
    GPU_CHECK(is_about(all, ELEMENTS / 3 * 25.0), "%g ms", all);
    GPU_CHECK(two > 1.2 * apart && all > 1.2 * two, "%g, %g, %g ms", apart, two, all);
}

/* Two halves of a GPU that copies longer than it computes are hardly faster than one. */
static void parts(void)
{
    static const char list[] = "cuda:0/32+32", one[] = "cuda:0/32,cuda:1/32";
    double shared, apart;
    measure(one);
    apart = predicted(one, "", (const int[]){0, 0});
    measure(list);
    shared = predicted(list, "", (const int[]){1, 1});
    GPU_CHECK(is_about(apart, ELEMENTS / 2 * 9.0), "%g ms", apart);
    GPU_CHECK(is_about(shared, ELEMENTS / 2 * 17.0), "%g ms", shared);
}

static int begin(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    nvml = file;
    if (library)
        *(void **)&set_nvml = dlsym(library, "vnvml_setup");
    snprintf(path, sizeof path, "links-%d.json", (int)getpid());
    return set_nvml != NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3 || !gpu_begin(2, argv) || !begin(argv[2]))
        return 2;
    switches();
    parts();
    lab_remove(path);
    return gpu_end();
}
