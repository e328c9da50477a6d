/*
 * What the library says to a machine without a driver, or with one that does not do: one line, and
 * the CPU goes on alone.
 *
 * test_loader DRIVER --stub LIBRARY [--stub LIBRARY..] --older LIBRARY: stubs of which the first is
 * our own (vcuda/stub.c), and the simulated driver without what the library can do without.
 */
#define _POSIX_C_SOURCE 200809L
#include "gpu_lab.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_STUBS = 4, MOST_BYTES = 1 << 20 };

typedef struct needed {
    const char *symbol, *fallback;
    int required;
} needed;

enum { OPTIONAL, REQUIRED };
static const needed functions[] = {
#define SYI_CU(need, name, symbol, fallback, arguments) {#symbol, #fallback, need},
#include "device/cuda/api.def"
#undef SYI_CU
};

static const char *stubs[MOST_STUBS], *older;
static int n_stubs;

/* A driver that cannot be used: refused with `reason` in the text where it is asked for, and the
 * CPU alone, with a warning, where it is not. */
static void useless(const char *driver, const char *reason)
{
    const char *before = gpu_driver;
    lab_log log = {0};
    sy_context *context;
    gpu_driver = driver;
    context = gpu_open("auto", 0, 0, &log);
    GPU_CHECK(context && sy_device_count(context) == 1 && log.warnings == 1, "%s: %d warnings",
              driver, log.warnings);
    GPU_CHECK(strstr(log.last, reason), "%s: '%s' does not say '%s'", driver, log.last, reason);
    sy_context_destroy(&context);
    context = gpu_open("cuda", 0, 0, NULL);
    GPU_CHECK(!context && lab_told(SY_ERR_NO_DEVICE) && strstr(sy_last_error()->text, reason),
              "%s: '%s' does not say '%s'", driver, sy_last_error()->text, reason);
    sy_context_destroy(&context);
    gpu_driver = before;
}

/* A driver's own threads may outlive what we have of it: a GPU hangs, its context was left. */
static void stays(const char *driver)
{
    void *library = dlopen(driver, RTLD_LAZY | RTLD_NOLOAD);
    GPU_CHECK(library, "%s is unloaded", driver);
    if (library)
        dlclose(library);
}

/* ---- drivers that lack a function ---- */

static char image[MOST_BYTES];
static size_t image_size;

static int read_image(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file) {
        image_size = fread(image, 1, sizeof image, file);
        fclose(file);
    }
    return image_size > 0 && image_size < sizeof image;
}

/* Spoils the name wherever it is a whole word of a table of names. How often that was. */
static int spoil(char *bytes, const char *symbol)
{
    size_t length = strlen(symbol) + 1; /* with its end */
    int count = 0;
    for (size_t i = 1; i + length <= image_size; i++)
        if (!bytes[i - 1] && !memcmp(bytes + i, symbol, length)) {
            bytes[i] = 'x';
            count++;
        }
    return count;
}

/* Our stub without `symbol`, and without `fallback` if that is not NULL. */
static void lacking(const char *path, const char *symbol, const char *fallback, const char *reason)
{
    static char copy[MOST_BYTES];
    FILE *file = fopen(path, "wb");
    memcpy(copy, image, image_size);
    GPU_CHECK(spoil(copy, symbol) > 0 && (!fallback || spoil(copy, fallback) > 0),
              "%s is not in the stub", symbol);
    GPU_CHECK(file && fwrite(copy, 1, image_size, file) == image_size, "%s cannot be written",
              path);
    if (file)
        fclose(file);
    useless(path, reason);
    remove(path);
}

static void lacking_each(void)
{
    char folder[] = "./loader-XXXXXX", path[64];
    int count = (int)(sizeof functions / sizeof functions[0]);
    GPU_CHECK(n_stubs && read_image(stubs[0]) && mkdtemp(folder), "no stub to spoil");
    for (int i = 0; i < count && image_size; i++) {
        const needed *f = &functions[i];
        int has_fallback = strcmp(f->symbol, f->fallback) != 0;
        snprintf(path, sizeof path, "%s/%d.so", folder, i); /* a loaded name is not read again */
        if (has_fallback)
            lacking(path, f->symbol, NULL, "CUDA_ERROR_STUB_LIBRARY");
        snprintf(path, sizeof path, "%s/%d-both.so", folder, i);
        lacking(path, f->symbol, has_fallback ? f->fallback : NULL,
                f->required ? f->symbol : "CUDA_ERROR_STUB_LIBRARY");
    }
    rmdir(folder);
    printf("%d functions taken away\n", count);
}

/* ---- drivers that do ---- */

/* Without green contexts and the like everything else works. */
static void without_options(void)
{
    const char *before = gpu_driver;
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    gpu_driver = older;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    GPU_CHECK(context && gpu_compare(context, &c, NULL, &report, older) == SY_OK, "%s: %s", older,
              sy_last_error()->text);
    GPU_CHECK(report.n_devices == 1 && report.devices[0].tiles == report.tiles, "%d devices",
              report.n_devices);
    sy_report_clear(&report);
    sy_context_destroy(&context);
    gpu_driver = before;
}

int main(int argc, char **argv)
{
    char *base[] = {argv[0], argc > 1 ? argv[1] : NULL, NULL};
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--stub") && n_stubs < MOST_STUBS)
            stubs[n_stubs++] = argv[i + 1];
        else if (!strcmp(argv[i], "--older"))
            older = argv[i + 1];
    }
    if (!gpu_begin(argc > 1 ? 2 : 1, base))
        return 2;
    useless("no-such-driver.so", "no-such-driver.so");
    useless("libc.so.6", "has no cuInit"); /* a library that is no driver */
    for (int i = 0; i < n_stubs; i++) {
        useless(stubs[i], "CUDA_ERROR_STUB_LIBRARY");
        stays(stubs[i]);
    }
    lacking_each();
    if (older)
        without_options();
    gpu_world("gpus=0", NULL, 0);
    useless(gpu_driver, "CUDA_ERROR_NO_DEVICE");
    gpu_world("gpus=1;driver=10020", NULL, 0);
    useless(gpu_driver, "CUDA 10.2; 11.0 is needed");
    return gpu_end();
}
