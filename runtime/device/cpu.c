/* The CPU as a device: all its threads on one span. `cpu[:threads=N][:isa=base|v3|v4]`; without
 * `threads` it uses the processors of the process's affinity mask, within the time that its control
 * group gives it. In a build without OpenMP, whose
 * threads they are, there is one. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/quota.h"
#include "device/registry.h"
#include "device/team.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct cpu_device {
    syi_device base;
    syi_host_options options;
} cpu_device;

#ifdef _OPENMP
static const bool has_threads = true;
#else
static const bool has_threads = false;
#endif

static sy_status parse_isa(const char *word, syi_isa *out)
{
    for (int isa = SYI_ISA_BASE; isa < SYI_ISA_COUNT; isa++)
        if (!strcmp(word, syi_isa_name(isa))) {
            if (isa > (int)syi_isa_detect())
                return syi_fail(SY_ERR_NO_DEVICE,
                                "cpu:isa=%s: this processor has only '%s'; choose that or less",
                                word, syi_isa_name(syi_isa_detect()));
            *out = isa;
            return SY_OK;
        }
    return syi_fail(SY_ERR_ARGUMENT, "cpu:isa=%s: use base, v3 or v4", word);
}

/* Which options have been given. */
typedef struct given {
    bool isa, threads;
} given;

static sy_status note(bool *given, const char *name)
{
    if (*given)
        return syi_fail(SY_ERR_ARGUMENT, "cpu: %s is given twice; give it once", name);
    *given = true;
    return SY_OK;
}

static sy_status parse_option(const char *option, given *given, syi_host_options *options)
{
    int64_t threads;
    if (!strncmp(option, "isa=", 4)) {
        SYI_TRY(note(&given->isa, "isa"));
        return parse_isa(option + 4, &options->isa);
    }
    if (strncmp(option, "threads=", 8))
        return syi_fail(SY_ERR_ARGUMENT,
                        "cpu: unknown option '%s'; use threads=N or isa=base|v3|v4", option);
    SYI_TRY(note(&given->threads, "threads"));
    if (!syi_parse_integer(option + 8, 1, 1024, &threads))
        return syi_fail(SY_ERR_ARGUMENT, "cpu:%s: use a whole number from 1 to 1024", option);
    if (threads > 1 && !has_threads)
        return syi_fail(SY_ERR_NO_DEVICE,
                        "cpu:%s: this build has no OpenMP, so it has one thread; use cpu, or build "
                        "it with -Dopenmp=enabled",
                        option);
    options->threads = (int)threads;
    return SY_OK;
}

static sy_status parse_options(const char *item, syi_host_options *options)
{
    char copy[256];
    char *option, *rest;
    given given = {false, false};
    syi_copy_text(copy, sizeof copy, item);
    strtok_r(copy, ":", &rest);
    while ((option = strtok_r(NULL, ":", &rest)))
        SYI_TRY(parse_option(option, &given, options));
    return SY_OK;
}

/* What a line of /proc/cpuinfo says of `key`; NULL: it is about something else. */
static const char *value_of(char *line, const char *key)
{
    char *colon = strncmp(line, key, strlen(key)) ? NULL : strchr(line, ':');
    line[strcspn(line, "\n")] = '\0';
    return colon && colon[1] == ' ' ? colon + 2 : NULL;
}

/* Of the first processor. Arm's have no name there, but numbers that stand for one. */
static void read_model_name(char *text, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256], maker[16] = "";
    const char *name = NULL, *part = NULL;
    syi_copy_text(text, size, "CPU");
    while (file && !name && !part && fgets(line, sizeof line, file)) {
        const char *implementer = value_of(line, "CPU implementer");
        if (implementer)
            syi_copy_text(maker, sizeof maker, implementer);
        name = value_of(line, "model name");
        part = value_of(line, "CPU part");
    }
    if (name)
        syi_copy_text(text, size, name);
    else if (part)
        snprintf(text, size, "Arm CPU %s:%.16s", maker, part);
    if (file)
        fclose(file);
}

static void cpu_refresh(syi_device *device, sy_device_info *info)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    (void)device;
    info->memory_total = page * (uint64_t)sysconf(_SC_PHYS_PAGES);
    info->memory_free = page * (uint64_t)sysconf(_SC_AVPHYS_PAGES);
}

static void cpu_close(syi_device *device)
{
    syi_free(device);
}

/* The processors of the process's affinity mask, or as many as its control group pays for. */
static int default_threads(void)
{
    const int processors = has_threads ? syi_processors() : 1;
    const int quota = syi_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    return quota && quota < processors ? quota : processors;
}

static sy_status cpu_open(const char *item, syi_devices *devices)
{
    cpu_device *cpu;
    sy_status status;
    if (syi_devices_of_type(devices, SY_DEVICE_CPU))
        return syi_fail(SY_ERR_ARGUMENT, "the device list names the cpu twice; name it once");
    cpu = syi_alloc(1, sizeof *cpu);
    if (!cpu)
        return syi_no_memory(sizeof *cpu);
    cpu->base.backend = &syi_backend_cpu;
    cpu->options = (syi_host_options){default_threads(), syi_isa_detect()};
    status = parse_options(item, &cpu->options);
    if (status != SY_OK) {
        cpu_close(&cpu->base);
        return status;
    }
    cpu->base.info =
        (sy_device_info){.id = "cpu", .name = "cpu", .type = SY_DEVICE_CPU, .usable = 1};
    cpu->base.info.units = cpu->options.threads;
    cpu->base.code = syi_isa_name(cpu->options.isa);
    cpu->base.nominal_rate = 1e8 * cpu->options.threads;
    read_model_name(cpu->base.info.description, sizeof cpu->base.info.description);
    cpu_refresh(&cpu->base, &cpu->base.info);
    return syi_devices_add(devices, &cpu->base);
}

static sy_status cpu_open_all(syi_devices *devices)
{
    return cpu_open("cpu", devices);
}

/* What lives on a GPU is fetched for the slab, and written back. */
static sy_status run_slab(const cpu_device *cpu, const syi_job *job, const syi_slab *slab,
                          syi_outcome *outcome)
{
    syi_outcome found = {0};
    syi_stage stage;
    sy_status status;
    SYI_TRY(syi_stage_open(job, slab, 0, &stage));
    status = syi_host_run(job, slab, &stage.view, &cpu->options, &found);
    if (status == SY_OK)
        status = syi_stage_write(job, slab, &stage);
    syi_stage_close(&stage);
    if (status == SY_OK)
        return syi_outcome_merge(outcome, &found);
    syi_outcome_clear(&found);
    return status;
}

static sy_status cpu_run(syi_device *device, const syi_job *job, syi_tiles span,
                         syi_outcome *outcome)
{
    /* Slabs bound how long a cancelled run goes on, and the memory for what is fetched; a long halo
     * must not dominate them. */
    const int64_t halo_tiles = syi_job_halo(job) / SYI_TILE;
    const int64_t least_tiles = syi_job_addressable(job) ? 2048 : 256;
    const int64_t slab_tiles = 8 * halo_tiles > least_tiles ? 8 * halo_tiles : least_tiles;
    const cpu_device *cpu = (const cpu_device *)device;
    int64_t began = syi_now_ns();
    sy_status status = SY_OK;
    while (span.count && status == SY_OK) {
        syi_slab slab = syi_slab_take(job, &span, slab_tiles);
        const double slab_began = syi_trace_now(job->trace);
        status = run_slab(cpu, job, &slab, outcome);
        syi_trace_tell(job->trace, device->index, 0, "compute", slab_began,
                       syi_trace_now(job->trace), (syi_tiles){slab.tile, slab.tiles});
        if (status == SY_OK) {
            outcome->tiles_done += slab.tiles;
            status = syi_gate_pass(job->gate, slab.tiles);
        }
    }
    outcome->compute_ms = outcome->busy_ms = (double)(syi_now_ns() - began) / 1e6;
    return status;
}

const syi_backend syi_backend_cpu = {
    .prefix = "cpu",
    .type = SY_DEVICE_CPU,
    .open = cpu_open,
    .open_all = cpu_open_all,
    .close = cpu_close,
    .refresh = cpu_refresh,
    .run = cpu_run,
};
