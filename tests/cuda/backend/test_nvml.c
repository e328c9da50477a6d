/*
 * What the devices say of their state: through a simulated NVML that is there, is not there, lacks
 * each of its functions in turn, or in which each fails in turn. The device's fields are then
 * unknown, and nothing else changes.
 *
 *     test_nvml DRIVER NVML [FUNCTION NVML_WITHOUT_IT]...
 */
#include "gpu_lab.h"

#include <dlfcn.h>
#include <string.h>

static const char setup[] = "*:util=37,temp=64,power=215000,limit=450000,clock=2100,memclock=10501,"
                            "gen=5,lanes=16;1:util=0,temp=31,switch=3;2:switch=3,limit=300000";

typedef struct simulation {
    const char *path;
    int (*setup)(const char *);
    void (*fail)(const char *, int);
    int (*live)(void);
} simulation;

static simulation load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    simulation result = {.path = path};
    GPU_CHECK(library, "%s: %s", path, dlerror());
    if (library) {
        *(void **)&result.setup = dlsym(library, "vnvml_setup");
        *(void **)&result.fail = dlsym(library, "vnvml_fail");
        *(void **)&result.live = dlsym(library, "vnvml_live");
        GPU_CHECK(result.setup(setup) == 0, "the setup of %s", path);
    }
    return result;
}

/* The fields that NVML alone knows, in a fixed order, and which functions they come from. */
typedef struct fact {
    const char *function, *field;
    size_t offset;
    int unknown, of_gpu_0, of_gpu_1;
} fact;

#define FACT(function, field, unknown, first, second)                                              \
    {                                                                                              \
        function, #field, offsetof(sy_device_info, field), unknown, first, second                  \
    }

static const fact facts[] = {
    FACT("nvmlDeviceGetUtilizationRates", utilization_percent, -1, 37, 0),
    FACT("nvmlDeviceGetTemperature", temperature_c, -1, 64, 31),
    FACT("nvmlDeviceGetPowerUsage", power_mw, 0, 215000, 215000),
    FACT("nvmlDeviceGetEnforcedPowerLimit", power_limit_mw, 0, 450000, 450000),
    FACT("nvmlDeviceGetClockInfo", clock_mhz, 0, 2100, 2100),
    FACT("nvmlDeviceGetClockInfo", memory_clock_mhz, 0, 10501, 10501),
    FACT("nvmlDeviceGetMaxPcieLinkGeneration", pcie_generation, 0, 5, 5),
    FACT("nvmlDeviceGetMaxPcieLinkWidth", pcie_lanes, 0, 16, 16),
    FACT("nvmlDeviceGetTopologyCommonAncestor", link, 0, 0, 2),
};

static int value_of(const sy_device_info *info, const fact *f)
{
    int value;
    memcpy(&value, (const char *)info + f->offset, sizeof value);
    return value;
}

/* Without these there is no NVML at all. */
static int is_essential(const char *function)
{
    return !strcmp(function, "nvmlInit_v2") ||
           !strcmp(function, "nvmlDeviceGetHandleByPciBusId_v2");
}

static sy_context *open_with(const char *nvml)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = "cuda,cpu",
                        .multigpu_path = "no-such/multigpu.json",
                        .thresholds_path = "no-such/thresholds.json",
                        .cuda_driver = gpu_driver,
                        .frozen = 1,
                        .nvml = nvml};
    sy_context *context = NULL;
    gpu_world("gpus=3", NULL, 0);
    GPU_CHECK(sy_context_create(&config, &context) == SY_OK, "%s", sy_last_error()->text);
    return context;
}

/* `broken`: the function whose facts must be unknown; NULL: none; "": all. */
static void check_devices(sy_context *context, const char *broken, const char *what)
{
    int all = broken && (!*broken || is_essential(broken));
    for (int i = 0; i < 2; i++) {
        sy_device_info info;
        GPU_CHECK(sy_device_query(context, i, &info) == SY_OK && info.usable, "%s: %s", what,
                  sy_last_error()->text);
        for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
            const fact *f = &facts[k];
            int known = !all && !(broken && !strcmp(broken, f->function));
            int expected = !known ? f->unknown : i ? f->of_gpu_1 : f->of_gpu_0;
            GPU_CHECK(value_of(&info, f) == expected, "%s: %s of GPU %d is %d, not %d", what,
                      f->field, i, value_of(&info, f), expected);
        }
        GPU_CHECK(
            !strcmp(info.driver, all || (broken && !strcmp(broken, "nvmlSystemGetDriverVersion"))
                                     ? "CUDA 13.0"
                                     : "580.65.06"),
            "%s: the driver is '%s'", what, info.driver);
        GPU_CHECK(!strcmp(info.pci, i ? "0000:20:00.0" : "0000:10:00.0"), "pci '%s'", info.pci);
        GPU_CHECK(info.clock_max_mhz == 125, "%d MHz", info.clock_max_mhz);
    }
}

/* Opens, looks, computes and closes. */
static void try(const simulation *nvml, const char *path, const char *broken, const char *what)
{
    sy_context *context = open_with(path);
    lab_case c = gpu_case("sma", GPU_MOST / 20);
    if (!context)
        return;
    check_devices(context, broken, what);
    GPU_CHECK(gpu_compare(context, &c, NULL, NULL, what) == SY_OK, "%s: %s", what,
              sy_last_error()->text);
    gpu_close(&context, what);
    if (nvml)
        GPU_CHECK(nvml->live() == 0, "%s: %d initialisations are left", what, nvml->live());
}

/* What nobody measures: the CPU's fields, and those of GPUs whose library is not NVML's. */
static void without(void)
{
    sy_device_info info;
    sy_context *context = open_with(NULL);
    GPU_CHECK(sy_device_query(context, 3, &info) == SY_OK, "%s", sy_last_error()->text);
    GPU_CHECK(info.type == SY_DEVICE_CPU && info.utilization_percent == -1 &&
                  info.temperature_c == -1 && !*info.driver && !info.link,
              "the CPU's fields");
    gpu_close(&context, "the CPU's fields");
    try(NULL, NULL, "", "a driver of one's own");
    try(NULL, "no-such-nvml.so", "", "no library");
    try(NULL, "libc.so.6", "", "a library that is not NVML");
}

int main(int argc, char **argv)
{
    simulation whole;
    if (argc < 3 || !gpu_begin(2, argv))
        return 2;
    whole = load(argv[2]);
    try(&whole, whole.path, NULL, "whole");
    without();
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        whole.fail(facts[k].function, 3);
        try(&whole, whole.path, facts[k].function, facts[k].function);
    }
    whole.fail("nvmlDeviceGetHandleByPciBusId_v2", 6);
    try(&whole, whole.path, "", "no such device");
    whole.fail("nvmlInit_v2", 9);
    try(&whole, whole.path, "", "does not start");
    whole.fail(NULL, 0);
    whole.setup("gpus=0");
    try(&whole, whole.path, "", "other devices");
    for (int i = 3; i + 1 < argc; i += 2) {
        simulation lacking = load(argv[i + 1]);
        int dead = is_essential(argv[i]) || !strcmp(argv[i], "nvmlShutdown");
        try(&lacking, lacking.path, dead ? "" : argv[i], argv[i]);
    }
    return gpu_end();
}
