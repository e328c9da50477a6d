/* Begin and end of a bench, timing, scratch files, arrays, contexts. */
#define _GNU_SOURCE
#include "harness.h"
#include "options.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_OPTIONS = 16, COMMON_OPTIONS = 3 };

static const char *bench_name = "bench";
static int passes = 7, on_terminal;
static double floor_ns = 5e6, clock_ns;

/* ---- messages ---- */

static void clear_progress(void)
{
    if (on_terminal)
        fputs("\r\033[K", stderr);
}

void bench_progress(const char *format, ...)
{
    va_list arguments;
    if (!on_terminal)
        return;
    clear_progress();
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
}

static void complain(const char *format, va_list arguments)
{
    clear_progress();
    fflush(stdout);
    fprintf(stderr, "%s: ", bench_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    bench_end();
}

void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    exit(1);
}

void bench_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    exit(2);
}

void bench_check(sy_status status)
{
    if (status != SY_OK)
        bench_fail("%s", sy_last_error()->text);
}

/* ---- scratch files ---- */

static char folder[256], multigpu[300], thresholds[300];

/* Only calls that a signal handler may make. */
static void remove_scratch(void)
{
    pid_t child;
    if (!folder[0] || (child = vfork()) < 0)
        return;
    if (child == 0) {
        execl("/bin/rm", "rm", "-rf", folder, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

/* At once, whatever is being measured; the exit status says which signal it was. */
static void on_signal(int number)
{
    remove_scratch();
    signal(number, SIG_DFL);
    raise(number);
}

static void make_scratch(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/steelyard-bench-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        char tried[sizeof folder];
        memcpy(tried, folder, sizeof tried);
        folder[0] = '\0';
        bench_fail("cannot make the folder %s; set TMPDIR", tried);
    }
    snprintf(multigpu, sizeof multigpu, "%s/multigpu.json", folder);
    snprintf(thresholds, sizeof thresholds, "%s/thresholds.json", folder);
}

const char *bench_scratch(void)
{
    return folder;
}

void bench_forget(void)
{
    unlink(multigpu);
    unlink(thresholds);
}

static sy_status try_open(const char *devices, const char *driver, sy_context **context)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = devices,
                        .multigpu_path = multigpu,
                        .thresholds_path = thresholds,
                        .cuda_driver = driver};
    return sy_context_create(&config, context);
}

sy_context *bench_open(const char *devices, const char *driver)
{
    sy_context *context;
    bench_check(try_open(devices, driver, &context));
    return context;
}

int bench_light(const sy_segment *segment)
{
    for (int64_t i = 0; i < segment->count; i++)
        segment->out[0][i] = 1.5 * segment->in[0][i] + 2.5;
    return 0;
}

void bench_register_light(sy_context *context)
{
    static const char *const x[] = {"x"}, *const y[] = {"y"};
    const sy_workload_def def = {.struct_size = sizeof def,
                                 .name = "light",
                                 .summary = "1.5 x + 2.5",
                                 .version = 1,
                                 .pattern = SY_PATTERN_MAP,
                                 .n_inputs = 1,
                                 .n_outputs = 1,
                                 .input_names = x,
                                 .output_names = y,
                                 .compute = bench_light};
    bench_check(sy_workload_register(context, &def));
}

/* ---- begin and end ---- */

/* The shortest step that the clock is seen to make. */
static double clock_step_ns(void)
{
    double step = 1e9;
    for (int i = 0; i < 1000; i++) {
        double from = bench_now_ns(), to;
        while ((to = bench_now_ns()) <= from)
            ;
        step = fmin(step, to - from);
    }
    return step;
}

void bench_begin(const char *name, const char *purpose, bench_option *options, int count, int argc,
                 char **argv)
{
    static bench_option all[MOST_OPTIONS] = {
        {.name = "json", .help = "JSON, one object a line, instead of tables"},
        {.name = "passes",
         .value = "N",
         .help = "times each side is timed, in turn with the others",
         .fallback = "7",
         .least = 1,
         .most = BENCH_MOST_PASSES},
        {.name = "floor-ms",
         .value = "X",
         .help = "repeat until it takes so long",
         .fallback = "5",
         .least = 1e-3,
         .most = 1e4},
    };
    bench_name = name;
    if (count > MOST_OPTIONS - COMMON_OPTIONS)
        bench_fail("too many options");
    for (int i = 0; i < count; i++)
        all[COMMON_OPTIONS + i] = options[i];
    bench_options_read(name, purpose, all, COMMON_OPTIONS + count, argc, argv);
    for (int i = 0; i < count; i++)
        options[i] = all[COMMON_OPTIONS + i];
#ifndef __OPTIMIZE__
    bench_fail("this build is not optimised, its times say nothing; "
               "configure with --buildtype=release");
#endif
    on_terminal = isatty(2);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (signal(ending[i], on_signal) == SIG_IGN && ending[i] == SIGHUP)
            signal(SIGHUP, SIG_IGN); /* as nohup wants it */
    make_scratch();
    clock_ns = clock_step_ns();
    passes = (int)all[1].number[0];
    floor_ns = fmax(all[2].number[0] * 1e6, 1000 * clock_ns);
    bench_output(all[0].count);
}

/* What the processor is called, and of the instruction sets, up to `most`, the best that the
 * library does not refuse: what it chooses when none is named. */
static const char *look_at_processor(const char *most, sy_device_info *processor)
{
    static const char *const sets[] = {"v4", "v3", "base"};
    char devices[16];
    sy_context *context;
    int first = 0;
    while (most && first < 2 && strcmp(sets[first], most))
        first++;
    for (int i = first; i < 3; i++) {
        snprintf(devices, sizeof devices, "cpu:isa=%s", sets[i]);
        if (try_open(devices, NULL, &context) != SY_OK)
            continue;
        bench_check(sy_device_query(context, 0, processor));
        sy_context_destroy(&context);
        return sets[i];
    }
    bench_fail("%s", sy_last_error()->text);
}

void bench_start(const char *most)
{
    sy_device_info processor;
    const char *isa = look_at_processor(most, &processor);
    bench_machine(bench_name, processor.description, isa, clock_ns);
}

int bench_end(void)
{
    clear_progress();
    remove_scratch();
    return fflush(stdout) != 0;
}

/* ---- timing ---- */

double bench_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int bench_passes(void)
{
    return passes;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double repeat_ns(const bench_side *side)
{
    double began = bench_now_ns();
    for (int64_t i = 0; i < side->repeats; i++)
        side->work(side->user);
    return bench_now_ns() - began;
}

/* Long enough for the clock, and not only because something else took the processor meanwhile:
 * three times in a row, or by far. The first time is not counted: pages, caches and what a context
 * learns at its first call. */
static void find_repeats(bench_side *side)
{
    side->repeats = 1;
    repeat_ns(side);
    for (int enough = 0; enough < 3;) {
        double took = repeat_ns(side);
        side->is_long = took > 100 * floor_ns;
        enough = took < floor_ns ? 0 : side->is_long ? 3 : enough + 1;
        if (took < floor_ns)
            side->repeats *= 2;
    }
}

void bench_time(bench_side *sides, int count)
{
    double sorted[BENCH_MOST_PASSES];
    for (int i = 0; i < count; i++)
        find_repeats(&sides[i]);
    /* Each pass begins with another side, so that none always follows the same one. What the one
     * before has left in the caches, or put past them, is not this one's: once is not counted. */
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < count; i++) {
            bench_side *side = &sides[(pass + i) % count];
            if (!side->is_long) /* which is past all caches */
                side->work(side->user);
            side->ns[pass] = repeat_ns(side) / (double)side->repeats;
        }
    for (int i = 0; i < count; i++) {
        memcpy(sorted, sides[i].ns, sizeof sorted);
        sides[i].median = bench_median(sorted, passes);
        sides[i].least = sorted[0];
    }
}

double bench_ratio(const bench_side *side, const bench_side *reference)
{
    double ratios[BENCH_MOST_PASSES];
    for (int pass = 0; pass < passes; pass++)
        ratios[pass] = side->ns[pass] / reference->ns[pass];
    return bench_median(ratios, passes);
}

/* ---- arrays ---- */

/* No array lies some lines behind another one, whole pages aside: what is read there would wait for
 * what is written, ours and a peer's (kernels/traffic.h). */
enum { HUGE_PAGE = 1 << 21, PAGE = 4096, APART = 576 };

/* Bytes that may be taken without anybody having to give up theirs; NaN: the system does not say.
 */
static double available_bytes(void)
{
    double kib = NAN;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lf", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return 1024 * kib;
}

void bench_check_memory(const bench_option *sizes, double bytes)
{
    const double available = available_bytes();
    for (int i = 0; i < sizes->count; i++)
        if (sizes->number[i] * bytes > available)
            bench_usage("--%s %s: takes %.2f GB of memory, and %.2f GB are free; choose less",
                        sizes->name, sizes->text[i], sizes->number[i] * bytes / 1e9,
                        available / 1e9);
}

static size_t apart = APART;

void bench_arrays_alike(void)
{
    apart = PAGE;
}

/* What was allocated stands in the word before the array. */
double *bench_array(int64_t elements, int which)
{
    size_t offset = (size_t)(which % 8 + 1) * apart, bytes = (size_t)elements * sizeof(double);
    size_t whole = (offset + bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *start = aligned_alloc(HUGE_PAGE, whole);
    double *array;
    if (!start)
        bench_fail("no memory for %lld elements; choose a smaller size", (long long)elements);
    madvise(start, whole, MADV_HUGEPAGE);
    memset(start, 0, whole);
    array = (double *)(void *)(start + offset);
    memcpy((char *)array - sizeof start, &start, sizeof start);
    return array;
}

void bench_array_free(double *array)
{
    char *start;
    if (!array)
        return;
    memcpy(&start, (char *)array - sizeof start, sizeof start);
    free(start);
}
