/* The control plane: describing the machine, reading counters, starting over. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *vci_alloc(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block)
        abort();
    return block;
}

void *vci_grow(void *block, size_t count, size_t size)
{
    block = realloc(block, count * size);
    if (!block)
        abort();
    return block;
}

bool vci_number(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1},     {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"KB", 1e3},
                 {"MB", 1e6}, {"GB", 1e9},   {"KB/s", 1e-6},   {"MB/s", 1e-3},      {"GB/s", 1},
                 {"ns", 1},   {"us", 1e3},   {"ms", 1e6},      {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || value < 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].unit)) {
            *out = value * units[i].factor;
            return true;
        }
    return false;
}

static bool set_gpu(vc_gpu *gpu, const char *key, const char *text)
{
    double value = 0;
    if (!strcmp(key, "name"))
        return snprintf(gpu->name, sizeof gpu->name, "%s", text) < (int)sizeof gpu->name;
    if (!strcmp(key, "cc"))
        return sscanf(text, "%d.%d", &gpu->major, &gpu->minor) == 2;
    if (!vci_number(text, &value))
        return false;
    if (!strcmp(key, "memory"))
        gpu->memory = (uint64_t)value;
    else if (!strcmp(key, "speed") && value > 0)
        gpu->speed = value;
    else if (!strcmp(key, "link") && value > 0)
        gpu->link = value;
    else if (!strcmp(key, "bandwidth") && value > 0)
        gpu->bandwidth = value;
    else if (!strcmp(key, "latency"))
        gpu->latency = (int64_t)value;
    else if (!strcmp(key, "sms") && value >= 1)
        gpu->sms = (unsigned int)value;
    else if (!strcmp(key, "peer"))
        gpu->peer = value > 0;
    else if (!strcmp(key, "managed"))
        gpu->managed = value > 0;
    else
        return false;
    return true;
}

/* `N:key=value,..` or `*:key=value,..` */
static bool set_gpus(char *item)
{
    char *rest = strchr(item, ':');
    int first = 0, last = VC_MAX_GPUS - 1;
    if (!rest)
        return false;
    *rest++ = 0;
    if (strcmp(item, "*"))
        first = last = atoi(item);
    if (first < 0 || last >= VC_MAX_GPUS)
        return false;
    for (char *pair; (pair = strtok_r(rest, ",", &rest));) {
        char *value = strchr(pair, '=');
        if (!value)
            return false;
        *value++ = 0;
        for (int i = first; i <= last; i++)
            if (!set_gpu(&vc.gpus[i], pair, value))
                return false;
    }
    return true;
}

static void default_gpus(void)
{
    vc.gpu_count = 1;
    vc.stall_ms = 5000;
    for (int i = 0; i < VC_MAX_GPUS; i++)
        vc.gpus[i] = (vc_gpu){.index = i,
                              .name = "Virtual GPU",
                              .memory = UINT64_C(1) << 30,
                              .speed = 4,
                              .link = 16,
                              .bandwidth = 200,
                              .latency = 8000,
                              .sms = 16,
                              .major = 8,
                              .peer = true,
                              .managed = true,
                              .slow = 1};
}

static int read_setup(const char *description)
{
    char *text = vci_alloc(strlen(description) + 1, 1), *rest = text;
    int result = 0, number;
    strcpy(text, description);
    default_gpus();
    for (char *item; !result && (item = strtok_r(rest, ";", &rest));) {
        char shown[128];
        snprintf(shown, sizeof shown, "%s", item);
        if (sscanf(item, "gpus=%d", &number) == 1 && number >= 0 && number <= VC_MAX_GPUS)
            vc.gpu_count = number;
        else if (sscanf(item, "driver=%d", &number) == 1)
            vc.driver = number;
        else if (sscanf(item, "stall=%d", &number) == 1)
            vc.stall_ms = number;
        else if (!set_gpus(item)) {
            vci_say("set-up: cannot read \"%s\"", shown);
            result = -1;
        }
    }
    free(text);
    vc.described = true;
    return result;
}

int vcuda_setup(const char *description)
{
    pthread_mutex_lock(&vc.lock);
    int result = vc.started ? -1 : read_setup(description);
    if (vc.started)
        vci_say("set-up: comes before cuInit");
    pthread_mutex_unlock(&vc.lock);
    return result;
}

static bool set_order(const char *mode, uint64_t seed)
{
    static const char *const names[] = {"time", "lifo", "random", "threads"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(names[i], mode)) {
            vc.mode = (enum vc_mode)i;
            vc.seed = seed;
            vc.random = 0;
            return true;
        }
    vci_say("order: no such mode \"%s\"", mode);
    return false;
}

int vcuda_order(const char *mode, uint64_t seed)
{
    pthread_mutex_lock(&vc.lock);
    int result = !vc.started && set_order(mode, seed) ? 0 : -1;
    pthread_mutex_unlock(&vc.lock);
    return result;
}

/* What the environment says, where no test has said anything. */
void vci_defaults(void)
{
    const char *setup = getenv("VCUDA_SETUP"), *order = getenv("VCUDA_ORDER");
    bool ok = true;
    if (!vc.described)
        ok = read_setup(setup ? setup : "") == 0;
    if (order) {
        const char *colon = strchr(order, ':');
        char mode[16];
        snprintf(mode, sizeof mode, "%.*s", colon ? (int)(colon - order) : 15, order);
        ok = set_order(mode, colon ? strtoull(colon + 1, NULL, 10) : 0) && ok;
    }
    ok = vci_faults_from(getenv("VCUDA_FAULT")) && ok;
    if (!ok)
        vc.gpu_count = -1;
}

int64_t vcuda_virtual_now(void)
{
    pthread_mutex_lock(&vc.lock);
    int64_t now = vci_thread()->now;
    pthread_mutex_unlock(&vc.lock);
    return now;
}

const char *vcuda_message(void)
{
    return vc.message;
}

/* All members are 64 bits wide, so a sum over them needs no names. */
static void add(vcuda_counts *sum, const vcuda_counts *one)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)one;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

void vcuda_counters(int device, vcuda_counts *out)
{
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&vc.lock);
    if (device < 0)
        add(out, &vc.loose);
    for (int i = 0; i < vc.gpu_count; i++)
        if (device < 0 || device == i)
            add(out, &vc.gpus[i].counts);
    pthread_mutex_unlock(&vc.lock);
}
