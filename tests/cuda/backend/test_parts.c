/*
 * One GPU opened as several unequal devices: they are what was asked for as nearly as the hardware
 * divides, compute the bits of the CPU, share the GPU's link, and as fast as their
 * multiprocessors say. What cannot be divided is refused in words.
 */
#include "resident.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char big[] = "gpus=2;*:name=NVIDIA GeForce RTX 5090,sms=132,cc=9.0";

typedef struct wish {
    const char *machine, *item;
    int units[3];
    const char *names[3];
} wish;

static const wish wishes[] = {
    {big, "cuda:0/96+36", {96, 36}, {"RTX5090/96", "RTX5090/36"}}, /* 12 groups, 4 and the rest */
    {big, "cuda:1/36+96", {36, 96}, {"RTX5090/36", "RTX5090/96"}}, /* the rest goes to the first */
    {big, "cuda:0/64+64", {64, 64}, {"RTX5090/64", "RTX5090/64#2"}},
    {big, "cuda:0/100+29", {100, 32}, {"RTX5090/100", "RTX5090/32"}},
    {big, "cuda:0/101+3", {104, 8}, {"RTX5090/104", "RTX5090/8"}},
    {big, "cuda:0/4", {4}, {"RTX5090/4"}}, /* the rest alone */
    {big, "cuda:0/1+2+3", {8, 8, 8}, {"RTX5090/8", "RTX5090/8#2", "RTX5090/8#3"}},
    {"gpus=1;*:sms=18,cc=8.6", "cuda:0/12+6", {12, 6}, {"Virtual/12", "Virtual/6"}},
    {"gpus=1;*:sms=17,cc=7.5", "cuda:0/9+8", {9, 8}, {"Virtual/9", "Virtual/8"}},
};

static void check_part(sy_context *context, const wish *w, int i)
{
    sy_device_info info, first;
    char id[16];
    snprintf(id, sizeof id, "cuda:%c.%d", w->item[5], i);
    GPU_CHECK(sy_device_query(context, i, &info) == SY_OK && info.usable, "%s: %s", w->item,
              info.reason);
    GPU_CHECK(info.units == w->units[i] && !strcmp(info.name, w->names[i]) && !strcmp(info.id, id),
              "%s: part %d is %s, %s, with %d units", w->item, i, info.id, info.name, info.units);
    sy_device_query(context, 0, &first);
    GPU_CHECK(i == 0 || (info.link == first.link && info.link > 0), "%s: links %d and %d", w->item,
              first.link, info.link);
    GPU_CHECK(i == 0 || strcmp(info.uuid, first.uuid) != 0, "%s: one uuid", w->item);
}

static void asked_for(void)
{
    for (size_t k = 0; k < sizeof wishes / sizeof *wishes; k++) {
        const wish *w = &wishes[k];
        int count = 1 + !!w->units[1] + !!w->units[2];
        lab_case c = gpu_case(k % 2 ? "bollinger" : "sum", GPU_MOST / 2);
        vcuda_counts counts;
        sy_context *context;
        gpu_world(w->machine, NULL, 0);
        context = gpu_open(w->item, 0, 0, NULL);
        GPU_CHECK(context && sy_device_count(context) == count, "%s: %s", w->item,
                  sy_last_error()->text);
        for (int i = 0; context && i < count; i++)
            check_part(context, w, i);
        if (context)
            GPU_CHECK(gpu_compare(context, &c, NULL, NULL, w->item) == SY_OK, "%s: %s", w->item,
                      sy_last_error()->text);
        vcuda_counters(w->item[5] - '0', &counts);
        GPU_CHECK(counts.launches > 0, "%s: nothing ran there", w->item);
        gpu_close(&context, w->item);
    }
}

/* What the hardware has divided is called as nvidia-smi does. */
static void uuids(void)
{
    static const char *const expected[] = {"GPU-10111213-1415-1617-1819-1a1b1c1d1e1f",
                                           "MIG-20212223-2425-2627-2829-2a2b2c2d2e2f"};
    sy_context *context;
    gpu_world("gpus=2;1:name=NVIDIA A100-SXM4-40GB MIG 1g.5gb", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    for (int i = 0; i < 2; i++) {
        sy_device_info info;
        GPU_CHECK(sy_device_query(context, i, &info) == SY_OK && !strcmp(info.uuid, expected[i]),
                  "'%s'", info.uuid);
    }
    gpu_close(&context, "uuids");
}

typedef struct refusal {
    const char *machine, *item;
    sy_status status;
    const char *words;
} refusal;

static void refused(void)
{
    static const refusal refusals[] = {
        {"gpus=1;driver=12030", "cuda:0/8", SY_ERR_NO_DEVICE, "this one is for CUDA 12.3"},
        {big, "cuda:0/104+32", SY_ERR_NO_DEVICE,
         "take 17 groups of 8 multiprocessors, the GPU has 16"},
        {big, "cuda:0/", SY_ERR_ARGUMENT, "as in cuda:0/96+36"},
        {big, "cuda:0/96+", SY_ERR_ARGUMENT, "as in cuda:0/96+36"},
        {big, "cuda:0/+96", SY_ERR_ARGUMENT, "as in cuda:0/96+36"},
        {big, "cuda:0/0", SY_ERR_ARGUMENT, "as in cuda:0/96+36"},
        {big, "cuda:0/-8", SY_ERR_ARGUMENT, "as in cuda:0/96+36"},
        {big, "cuda:0/8x", SY_ERR_ARGUMENT, "as in cuda:0/96+36"},
        {big, "cuda:0/1+1+1+1+1+1+1+1+1", SY_ERR_ARGUMENT, "1 to 8 numbers"},
        {big, "cuda:2/8", SY_ERR_NO_DEVICE, "cuda:0 to cuda:1"},
        {big, "cuda:/8", SY_ERR_NO_DEVICE, "cuda:0 to cuda:1"},
    };
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        const refusal *r = &refusals[k];
        sy_context *context;
        gpu_world(r->machine, NULL, 0);
        context = gpu_open(r->item, 0, 0, NULL);
        GPU_CHECK(!context && lab_told(r->status) && strstr(sy_last_error()->text, r->words),
                  "%s: '%s'", r->item, sy_last_error()->text);
        gpu_close(&context, r->item);
    }
}

/* Three quarters of the multiprocessors take a third of a quarter's virtual time. */
static void speeds(void)
{
    double ms[2];
    for (int i = 0; i < 2; i++) {
        lab_case c = gpu_case("ema", GPU_MOST);
        sy_report report = {.struct_size = sizeof report};
        sy_context *context;
        gpu_world("gpus=1;*:sms=128,cc=9.0,latency=0us", NULL, 0);
        context = gpu_open(i ? "cuda:0/32" : "cuda:0/96", 0, 0, NULL);
        GPU_CHECK(context && gpu_compare(context, &c, NULL, &report, "speeds") == SY_OK, "%s",
                  sy_last_error()->text);
        ms[i] = report.n_devices ? report.devices[0].compute_ms : 0;
        sy_report_clear(&report);
        gpu_close(&context, "speeds");
    }
    GPU_CHECK(ms[0] > 0 && ms[1] > 2.99 * ms[0] && ms[1] < 3.01 * ms[0], "%g and %g ms", ms[0],
              ms[1]);
}

/* Every driver call of opening two parts and computing on them fails in turn. */
static void faults(void)
{
    int fired = 0;
    for (int k = 0;; k++) {
        char fault[80];
        vcuda_counts counts;
        lab_case c = gpu_case("sma", 5000);
        sy_context *context;
        snprintf(fault, sizeof fault, "device=any,call=any,after=%d,error=CUDA_ERROR_UNKNOWN", k);
        gpu_world("gpus=1;*:sms=32,cc=9.0", NULL, 0);
        GPU_CHECK(vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
        context = gpu_open("cuda:0/24+8,cpu", 0, 0, NULL);
        if (context)
            gpu_compare(context, &c, NULL, NULL, fault);
        vcuda_counters(-1, &counts);
        gpu_close(&context, fault);
        if (!counts.faults)
            break;
        fired++;
    }
    GPU_CHECK(fired > 40, "only %d faults fired", fired);
    printf("%d faults\n", fired);
}

/* A part that hangs is its GPU that hangs: nothing waits for the other part's memory either. */
static void hang(void)
{
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_device_info info;
    vcuda_counts counts;
    sy_context *context;
    gpu_world("gpus=1;*:sms=32,cc=9.0", NULL, 0);
    context = gpu_open("cuda:0/16+16,cpu:threads=1", 300000, 100, NULL);
    vcuda_fault("device=0,call=cuLaunchKernel,hang=0");
    for (int i = 0; i < 2; i++)
        GPU_CHECK(gpu_compare(context, &c, NULL, NULL, "hang") == SY_OK, "%s",
                  sy_last_error()->text);
    sy_trim(context);
    for (int i = 0; i < 2; i++)
        GPU_CHECK(sy_device_query(context, i, &info) == SY_OK && !info.usable, "part %d goes on",
                  i);
    gpu_close_beside_hung(&context, 1, "hang");
    vcuda_counters(-1, &counts);
    GPU_CHECK(!counts.hang_waits, "waited for what never ends");
}

/* Both parts, half each. */
static const sy_ratio halves[] = {{"cuda:0.0", 1}, {"cuda:0.1", 1}};
static const sy_options on_parts = {
    .struct_size = sizeof on_parts, .ratios = halves, .n_ratios = 2};

/* With a GPU that fails go all its parts, and nothing of them is left behind. */
static void losses(void)
{
    static const char *const ends[] = {"error=CUDA_ERROR_ILLEGAL_ADDRESS,sticky",
                                       "error=CUDA_ERROR_ILLEGAL_ADDRESS,async", "lost"};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        char fault[80];
        lab_case c = gpu_case("sma", GPU_MOST);
        sy_device_info info;
        sy_context *context;
        snprintf(fault, sizeof fault, "device=0,call=cuLaunchKernel,after=0,%s", ends[k]);
        gpu_world("gpus=1;*:sms=16,cc=9.0", NULL, 0);
        context = gpu_open("cuda:0/8+8,cpu", 0, 0, NULL);
        GPU_CHECK(vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
        GPU_CHECK(gpu_compare(context, &c, &on_parts, NULL, fault) == SY_OK, "%s: %s", fault,
                  sy_last_error()->text);
        GPU_CHECK(sy_device_query(context, 0, &info) == SY_OK && !info.usable, "%s: it goes on",
                  fault);
        gpu_close(&context, fault);
    }
}

/* What a program allows of a GPU's memory is for all its parts together. */
static void budget(void)
{
    const uint64_t budget = 1000000;
    lab_case c = gpu_case("sma", GPU_MOST);
    vcuda_counts counts;
    sy_context *context;
    gpu_world("gpus=1;*:sms=16,cc=9.0", NULL, 0);
    context = gpu_open("cuda:0/8+8", budget, 0, NULL);
    GPU_CHECK(gpu_compare(context, &c, &on_parts, NULL, "budget") == SY_OK, "%s",
              sy_last_error()->text);
    vcuda_counters(0, &counts);
    GPU_CHECK(counts.peak_bytes <= budget && counts.peak_bytes > budget / 4, "peak %llu",
              (unsigned long long)counts.peak_bytes);
    gpu_close(&context, "budget");
}

/* ---- beside a worker that has its part's context current ---- */

enum { BESIDE = 1000 };

/* All that other threads may ask of a GPU meanwhile. */
static void use_memory(sy_context *context)
{
    static double from[BESIDE], back[BESIDE];
    const sy_work work = {
        .struct_size = sizeof work, .workload = "sma", .rows = 1, .columns = GPU_MOST};
    void *arrays[3] = {NULL, NULL, NULL};
    sy_device_info info;
    sy_plan_info plan = {.struct_size = sizeof plan};
    series_fill(SERIES_WALK, 3, from, BESIDE);
    for (int i = 0; i < 3; i++)
        GPU_CHECK(sy_memory_alloc(context, i < 2 ? i : SY_MEMORY_PINNED, sizeof from, &arrays[i]) ==
                      SY_OK,
                  "array %d: %s", i, sy_last_error()->text);
    GPU_CHECK(sy_memory_spread(context, arrays, 3, from, sizeof from) == SY_OK, "%s",
              sy_last_error()->text);
    for (int i = 0; i < 3; i++) {
        GPU_CHECK(sy_memory_copy(context, back, arrays[i], sizeof back) == SY_OK &&
                      !memcmp(back, from, sizeof back),
                  "array %d: %s", i, sy_last_error()->text);
        sy_memory_free(context, &arrays[i]);
    }
    for (int i = 0; i < 2; i++)
        GPU_CHECK(sy_device_query(context, i, &info) == SY_OK && info.memory_free > 0, "device %d",
                  i);
    GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK, "%s", sy_last_error()->text);
    sy_plan_info_clear(&plan);
    sy_trim(context);
}

static void *another_thread(void *user)
{
    use_memory(user);
    return NULL;
}

static int ask_beside(void *context, uint64_t done, uint64_t tiles)
{
    pthread_t thread;
    (void)done, (void)tiles;
    GPU_CHECK(pthread_create(&thread, NULL, another_thread, context) == 0, "no thread");
    pthread_join(thread, NULL);
    return 0;
}

/* A part's context is its worker's: what others want of the GPU goes by the one that they share. */
static void beside(void)
{
    static const char *const items[] = {"cuda:0/8+8", "cuda:0/8,cuda:1/8"};
    for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
        lab_case c = gpu_case("sma", GPU_MOST);
        sy_context *context;
        gpu_world("gpus=2;*:sms=16,cc=9.0", NULL, 0);
        context = gpu_open(items[k], 0, 0, NULL);
        const sy_options options = {
            .struct_size = sizeof options, .progress = ask_beside, .progress_user = context};
        GPU_CHECK(gpu_compare(context, &c, &options, NULL, items[k]) == SY_OK, "%s",
                  sy_last_error()->text);
        gpu_close(&context, items[k]);
    }
}

/* A part copies from and to another GPU as the whole GPU does. */
static void peers(void)
{
    static const char *const items[] = {"cuda:0,cuda:1", "cuda:0/8+8,cuda:1"};
    for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
        lab_case c = gpu_case("sma", GPU_MOST);
        vcuda_counts counts;
        sy_context *context;
        gpu_world("gpus=2;*:sms=16,cc=9.0", NULL, 0);
        context = gpu_open(items[k], 0, 0, NULL);
        GPU_CHECK(resident_compare(context, &c, ON_GPU + 1, ON_GPU + 1, NULL, NULL, items[k]) ==
                      SY_OK,
                  "%s: %s", items[k], sy_last_error()->text);
        vcuda_counters(0, &counts);
        GPU_CHECK(counts.peers == 1 && counts.bytes_peer > 0, "%s: %llu peers, %llu bytes",
                  items[k], (unsigned long long)counts.peers,
                  (unsigned long long)counts.bytes_peer);
        gpu_close(&context, items[k]);
    }
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    asked_for();
    uuids();
    refused();
    speeds();
    faults();
    hang();
    losses();
    budget();
    beside();
    peers();
    return gpu_end();
}
