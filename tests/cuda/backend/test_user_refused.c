/*
 * A user's own GPU image that not every GPU can use: who cannot is left out, with the reason, and
 * the others give the same bits.
 *
 *     test_user_refused DRIVER PTX
 */
#include "user_lab.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a plan says of the device that is left out, and the log, once, in two runs. */
static void left_out(sy_context *context, int device, const lab_log *log, const char *words)
{
    const sy_work work = {
        .struct_size = sizeof work, .workload = "user_map", .rows = 3, .columns = USER_COLUMNS};
    sy_plan_info plan = {.struct_size = sizeof plan};
    GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK, "%s", sy_last_error()->text);
    GPU_CHECK(plan.n_devices > device && strstr(plan.devices[device].left_out, words),
              "not '%s': '%s'", words, plan.devices[device].left_out);
    GPU_CHECK(log->warnings == 1 && strstr(log->last, words), "%d warnings, '%s'", log->warnings,
              log->last);
    sy_plan_info_clear(&plan);
}

/* An image for a newer GPU than the first, or for none: that is left out, the others do its part
 * with the same bits, and only where there are none the call fails. */
static void refused_image(const char *image, const char *list, const char *alone, int others,
                          const char *words)
{
    const sy_options on_first = {
        .struct_size = sizeof on_first, .ratios = &(sy_ratio){"cuda:0", 1}, .n_ratios = 1};
    sy_workload_def def = user_def("user_map", SY_PATTERN_MAP);
    lab_case built_in = gpu_case("sma", 5000);
    lab_log log = {0};
    vcuda_counts counts;
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    def.gpu_image = image;
    gpu_world("gpus=2;0:cc=8.0;1:cc=9.0", NULL, 0);
    context = gpu_open(list, 0, 0, &log);
    user_add(context, &def);
    for (int i = 0; i < 2; i++) {
        user_same_as_cpu(context, "user_map", 3, 3, USER_COLUMNS, list);
        left_out(context, 0, &log, words);
    }
    GPU_CHECK(user_compute(context, "user_map", 3, 3, USER_COLUMNS, &user_found, &report) ==
                      SY_OK &&
                  report.n_devices == 1 + others && !strcmp(report.devices[0].state, "left out") &&
                  !strcmp(report.devices[others].state, "ok") && report.devices[others].tiles > 0,
              "%s: state '%s'", list, report.n_devices ? report.devices[0].state : "none");
    vcuda_counters(0, &counts);
    GPU_CHECK(!counts.launches, "it ran where it could not");
    gpu_compare(context, &built_in, &on_first, NULL, list);
    vcuda_counters(0, &counts);
    GPU_CHECK(counts.launches > 0, "the GPU is lost to other workloads");
    sy_report_clear(&report);
    gpu_close(&context, list);
    context = gpu_open(alone, 0, 0, NULL);
    user_add(context, &def);
    for (int i = 0; i < 2; i++)
        GPU_CHECK(user_compute(context, "user_map", 3, 3, USER_COLUMNS, &user_found, NULL) ==
                          SY_ERR_NO_DEVICE &&
                      lab_told(SY_ERR_NO_DEVICE) && strstr(sy_last_error()->text, words),
                  "%s alone: '%s'", alone, sy_last_error()->text);
    gpu_close(&context, alone);
}

static void refused_images(void)
{
    const char target[] = ".target sm_75";
    size_t size = strlen(user_ptx) + 1;
    char *newer = malloc(size), *at = newer ? strstr(memcpy(newer, user_ptx, size), target) : NULL;
    GPU_CHECK(at, "no '%s'", target);
    if (at) {
        at[sizeof target - 3] = '9';
        at[sizeof target - 2] = '0';
        refused_image(newer, "cuda:0,cuda:1", "cuda:0", 1, "CUDA_ERROR_NO_BINARY_FOR_GPU");
        refused_image(newer, "cuda:0,cpu", "cuda:0", 1, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    }
    free(newer);
    refused_image("this is no PTX", "cuda:0,cpu", "cuda", 1, "CUDA_ERROR_INVALID_PTX");
}

/* Nor is a GPU lost to other workloads whose driver does not compile PTX. */
static void refused_compiler(void)
{
    static const char *const refusals[] = {"CUDA_ERROR_JIT_COMPILATION_DISABLED",
                                           "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"};
    const sy_workload_def def = user_def("user_map", SY_PATTERN_MAP);
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        char fault[96];
        lab_case built_in = gpu_case("sma", 5000);
        sy_device_info info;
        sy_context *context;
        snprintf(fault, sizeof fault, "device=0,call=cuModuleLoadData,after=0,error=%s",
                 refusals[k]);
        gpu_world("gpus=1", NULL, 0);
        context = gpu_open("cuda,cpu", 0, 0, NULL);
        user_add(context, &def);
        GPU_CHECK(vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
        user_same_as_cpu(context, "user_map", 3, 3, USER_COLUMNS, fault);
        GPU_CHECK(sy_device_query(context, 0, &info) == SY_OK && info.usable, "%s: '%s'", fault,
                  info.reason);
        gpu_compare(context, &built_in, NULL, NULL, fault);
        gpu_close(&context, fault);
    }
}

/* ---- planned by others beside a worker that has its part's context current ---- */

static void *plan(void *user)
{
    static const char *const words[] = {"", "CUDA_ERROR_INVALID_PTX"};
    static const char *const names[] = {"user_map", "user_none"};
    sy_context *context = user;
    for (int i = 0; i < 2; i++) {
        const sy_work work = {
            .struct_size = sizeof work, .workload = names[i], .rows = 3, .columns = USER_COLUMNS};
        sy_plan_info plan = {.struct_size = sizeof plan};
        GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK, "%s",
                  sy_last_error()->text);
        for (int k = 0; k < plan.n_devices && k < 2; k++)
            GPU_CHECK(!!*words[i] == !!*plan.devices[k].left_out &&
                          strstr(plan.devices[k].left_out, words[i]),
                      "%s: '%s'", names[i], plan.devices[k].left_out);
        sy_plan_info_clear(&plan);
    }
    return NULL;
}

static int plan_beside(void *context, uint64_t done, uint64_t tiles)
{
    pthread_t thread;
    (void)done, (void)tiles;
    GPU_CHECK(pthread_create(&thread, NULL, plan, context) == 0, "no thread");
    pthread_join(thread, NULL);
    return 0;
}

/* Whether a part can use an image is known without its context; what runs is loaded there. */
static void beside(void)
{
    sy_workload_def def = user_def("user_map", SY_PATTERN_MAP);
    lab_case built_in = gpu_case("sma", GPU_MOST);
    sy_context *context;
    gpu_world("gpus=1;0:sms=16,cc=9.0", NULL, 0);
    context = gpu_open("cuda:0/8+8,cpu:threads=1", 0, 0, NULL);
    user_add(context, &def);
    def.name = "user_none";
    def.gpu_image = "this is no PTX";
    user_add(context, &def);
    const sy_options options = {
        .struct_size = sizeof options, .progress = plan_beside, .progress_user = context};
    for (int i = 0; i < 2; i++) {
        GPU_CHECK(gpu_compare(context, &built_in, &options, NULL, "beside") == SY_OK, "%s",
                  sy_last_error()->text);
        user_same_as_cpu(context, "user_map", 3, 3, USER_COLUMNS, "beside");
    }
    gpu_close(&context, "beside");
}

int main(int argc, char **argv)
{
    sy_workload_def def;
    if (!user_begin(argc, argv))
        return 2;
    def = user_def("user_map", SY_PATTERN_MAP);
    user_add(gpu_cpu, &def);
    refused_images();
    refused_compiler();
    beside();
    return user_end();
}
