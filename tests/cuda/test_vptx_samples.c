/* The kernels of kernels/samples.cu, as a compiler translated them, against plain C: all blocks in
 * all three orders, every check of the interpreter on, results equal bit for bit. */
#include "vptx_host.h"

#include <math.h>
#include <time.h>

enum { N = 5003, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS };

typedef uint64_t u64;
__extension__ typedef unsigned __int128 u128;

static const int weights[8] = {3, -1, 4, 1, -5, 9, 2, -6};
static const double scale[3] = {0.5, 1.25, -3.0};

typedef struct run {
    vptx_module *m;
    host_memory memory;
    vptx_order order;
    uint64_t seed;
} run;

static unsigned char shadows[8][8 * N + 64];

/* Arrays that the kernel must write whole, or finds written. */
static uint64_t output(run *r, void *array, size_t size)
{
    unsigned char *shadow = shadows[r->memory.count];
    memset(shadow, 0, size);
    return host_add(&r->memory, array, size, shadow);
}

static uint64_t input(run *r, void *array, size_t size)
{
    unsigned char *shadow = shadows[r->memory.count];
    memset(shadow, 1, size);
    return host_add(&r->memory, array, size, shadow);
}

static int start(run *r, const char *name, uint32_t blocks, uint32_t dynamic,
                 const uint64_t *parameters, vptx_report *report)
{
    const vptx_launch_config config = {.grid = {blocks, 1, 1},
                                       .block = {THREADS, 1, 1},
                                       .dynamic_shared_bytes = dynamic,
                                       .parameters = parameters,
                                       .memory = {host_resolve, &r->memory},
                                       .order = r->order,
                                       .seed = r->seed};
    const vptx_kernel *k = vptx_find(r->m, name);
    if (!k) {
        fprintf(stderr, "%s: no such kernel\n", name);
        return 1;
    }
    if (vptx_launch(k, &config, report) == VPTX_OK)
        return 0;
    fprintf(stderr, "%s\n", report->fault.text);
    return 1;
}

static int differ(const char *name, const void *got, const void *want, size_t size)
{
    if (memcmp(got, want, size) == 0)
        return 0;
    fprintf(stderr, "%s: results differ\n", name);
    return 1;
}

static double number(uint64_t *seed)
{
    return (double)((int64_t)host_random(seed) >> 20) / 1048576.0;
}

static int check_reduce(run *r)
{
    static int x[N];
    int64_t sums[4] = {0}, want[4] = {0};
    vptx_report report;
    for (int i = 0; i < N; i++) {
        x[i] = (int)(host_random(&r->seed) % 2000) - 1000;
        want[i / THREADS % 4] += x[i];
    }
    const uint64_t parameters[] = {input(r, x, sizeof x), N, output(r, sums, sizeof sums)};
    return start(r, "sample_reduce", 4, 0, parameters, &report) ||
           differ("reduce", sums, want, sizeof want);
}

static int check_scan(run *r)
{
    static double x[N], y[N], row[THREADS], next[THREADS], want[BLOCKS * THREADS];
    vptx_report report;
    for (int i = 0; i < N; i++)
        x[i] = number(&r->seed);
    for (int block = 0; block < BLOCKS; block++) {
        for (int t = 0; t < THREADS; t++)
            row[t] = block * THREADS + t < N ? x[block * THREADS + t] : 0.0;
        for (int by = 1; by < THREADS; by *= 2) {
            for (int t = 0; t < THREADS; t++)
                next[t] = (t >= by ? row[t - by] : 0.0) + row[t];
            memcpy(row, next, sizeof row);
        }
        memcpy(want + block * THREADS, row, sizeof row);
    }
    const uint64_t parameters[] = {input(r, x, sizeof x), N, output(r, y, sizeof y)};
    return start(r, "sample_scan", BLOCKS, THREADS * sizeof *x, parameters, &report) ||
           differ("scan", y, want, sizeof y);
}

static double step_of_flow(double r, int i)
{
    switch (i % 9) {
    case 0:
        return r + 1.0;
    case 1:
        return r * scale[i % 3];
    case 2:
        return sqrt(r * r + 1.0);
    case 3:
        return r / 3.0;
    case 4:
        return fabs(r);
    case 5:
        return (double)(int)r;
    case 6:
        return (double)(float)r;
    default:
        return r - (double)(weights[3] * i);
    }
}

static int check_flow(run *r)
{
    static double x[N], y[N], want[N];
    vptx_report report;
    for (int i = 0; i < N; i++) {
        const double value = x[i] = fmod(number(&r->seed), 1e6), left = step_of_flow(value, i);
        const double high = left * value, low = fma(left, value, -high);
        int steps = 0;
        for (unsigned n = (unsigned)i; n > 1 && steps < 100; steps++)
            n = n % 2 ? 3 * n + 1 : n / 2;
        want[i] =
            high + (low + (double)(i + 1)) + (double)steps + (double)(weights[(steps - i) & 7] * i);
    }
    const uint64_t parameters[] = {input(r, x, sizeof x), N, output(r, y, sizeof y)};
    return start(r, "sample_flow", BLOCKS, 0, parameters, &report) ||
           differ("flow", y, want, sizeof y);
}

static int check_histogram(run *r)
{
    static unsigned char x[N];
    static unsigned odd[BLOCKS * THREADS / 32], want_odd[BLOCKS * THREADS / 32];
    int bins[16] = {0}, want[16] = {0}, most = 0, want_most = 0, count[16] = {0};
    vptx_report report;
    memset(want_odd, 0, sizeof want_odd);
    for (int i = 0; i < N; i++) {
        x[i] = (unsigned char)host_random(&r->seed);
        want[x[i] & 15]++;
        want_odd[i / 32] |= (unsigned)(x[i] & 1) << i % 32;
        if (i % THREADS == 0)
            memset(count, 0, sizeof count);
        if (++count[x[i] & 15] > want_most)
            want_most = count[x[i] & 15];
    }
    const uint64_t parameters[] = {input(r, x, sizeof x), N, input(r, bins, sizeof bins),
                                   input(r, &most, sizeof most), output(r, odd, sizeof odd)};
    return start(r, "sample_histogram", BLOCKS, 0, parameters, &report) ||
           differ("histogram", bins, want, sizeof bins) ||
           differ("votes", odd, want_odd, sizeof odd) ||
           differ("maximum", &most, &want_most, sizeof most);
}

static u64 wide(u64 a, u64 b)
{
    const u128 product = (u128)a * b + ((u128)b << 64);
    u64 r = (u64)(product >> 64) ^ (u64)product;
    r += a / (b | 1) + b % (a | 1) + (u64)((int64_t)a / ((int64_t)b | 1));
    r ^= (a << (b & 63)) | (a >> (63 - (b & 63)));
    r += (u64)__builtin_popcount((unsigned)a) + (u64)((short)a * (signed char)b);
    return r * ((unsigned)b / ((unsigned)a | 1)) + r % 10;
}

static int check_wide(run *r)
{
    static u64 x[N], y[N], want[N];
    vptx_report report;
    for (int i = 0; i < N; i++)
        x[i] = host_random(&r->seed) >> (host_random(&r->seed) & 63);
    for (int i = 0; i < N; i++)
        want[i] = wide(x[i], x[(i + 1) % N]);
    const uint64_t parameters[] = {input(r, x, sizeof x), N, output(r, y, sizeof y)};
    return start(r, "sample_wide", BLOCKS, 0, parameters, &report) ||
           differ("wide", y, want, sizeof y);
}

static int check_vector(run *r)
{
    _Alignas(16) static double x[N], y[N - 1];
    static float z[N / 2];
    vptx_report report;
    uint64_t payload = 0, another = 0;
    for (int i = 0; i < N; i++)
        x[i] = i % 7 ? fabs(number(&r->seed)) : -1.0;
    const uint64_t parameters[] = {input(r, x, sizeof x), N, output(r, y, sizeof y),
                                   output(r, z, sizeof z)};
    if (start(r, "sample_vector", BLOCKS / 2 + 1, 0, parameters, &report))
        return 1;
    for (int i = 0; 2 * i + 1 < N; i++) {
        const double a = x[2 * i] / x[2 * i + 1], b = sqrt(x[2 * i + 1]);
        const float c = (float)x[2 * i] * 2.0f + (float)(unsigned)i;
        if (memcmp(&y[2 * i], &a, 8) || memcmp(&z[i], &c, 4) ||
            (isnan(b) ? !isnan(y[2 * i + 1]) : memcmp(&y[2 * i + 1], &b, 8) != 0))
            return differ("vector", "x", "y", 1);
        if (isnan(b)) {
            another = payload;
            memcpy(&payload, &y[2 * i + 1], 8);
        }
    }
    if (payload != another)
        return 0;
    fprintf(stderr, "vector: NaN results are all alike\n");
    return 1;
}

/* Which of the PTX lines with code ran; branches must have gone both ways somewhere. */
static int check_coverage(const vptx_module *m)
{
    int code = 0, reached = 0, both = 0;
    for (uint32_t i = 1; i <= vptx_line_count(m); i++) {
        vptx_line line;
        if (!vptx_coverage(m, i, &line) || strcmp(line.function, "sample_speed") == 0)
            continue;
        code++;
        reached += line.executed > 0;
        both += line.taken > 0 && line.not_taken > 0;
    }
    printf("samples: %d of %d PTX lines executed, %d branches both ways\n", reached, code, both);
    return both == 0 || reached * 10 < code * 8 || reached > code;
}

static vptx_module *load_file(const char *path)
{
    static char text[1 << 20];
    FILE *f = fopen(path, "rb");
    const size_t length = f ? fread(text, 1, sizeof text, f) : 0;
    if (f)
        fclose(f);
    return length ? host_load(text, length) : NULL;
}

static int run_order(vptx_module *m, vptx_order order)
{
    static int (*const checks[])(run *) = {check_reduce,    check_scan, check_flow,
                                           check_histogram, check_wide, check_vector};
    run r = {.m = m, .order = order, .seed = 11 + (uint64_t)order};
    int failures = 0;
    if (vptx_place(m, host_place, &r.memory))
        return 1;
    const int variables = r.memory.count;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        r.memory.count = variables;
        failures += checks[i](&r);
    }
    host_free(&r.memory);
    return failures;
}

int test_vptx_samples(const char *path)
{
    vptx_module *m = load_file(path);
    int failures = 0;
    if (!m) {
        fprintf(stderr, "%s: cannot be loaded\n", path);
        return 1;
    }
    for (int order = VPTX_FORWARD; order <= VPTX_SHUFFLE; order++)
        failures += run_order(m, (vptx_order)order);
    failures += check_coverage(m);
    vptx_unload(m);
    printf("samples of %s: %d failed\n", path, failures);
    return failures;
}

static void time_kernel(run *r, const char *name, uint32_t blocks, uint32_t dynamic,
                        const uint64_t *parameters)
{
    struct timespec from, to;
    vptx_report report;
    double seconds;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    if (start(r, name, blocks, dynamic, parameters, &report))
        return;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    printf("%-16s %7.1f million lane instructions per second, %6.2f Melem/s, %.1f ms\n", name,
           (double)report.lane_instructions / seconds / 1e6, blocks * THREADS / seconds / 1e6,
           1e3 * seconds);
}

/* Not a test: prints how fast the interpreter is. */
int test_vptx_speed(const char *path)
{
    static double x[1 << 20], y[1 << 20];
    run r = {.m = load_file(path), .seed = 5};
    if (!r.m || vptx_place(r.m, host_place, &r.memory))
        return 1;
    for (int i = 0; i < 1 << 20; i++)
        x[i] = 1.0 + number(&r.seed) / 1e13;
    const uint64_t base = host_add(&r.memory, x, sizeof x, NULL),
                   to = host_add(&r.memory, y, sizeof y, NULL);
    const uint64_t parameters[] = {base, 1 << 20, to, to};
    time_kernel(&r, "sample_speed", 128, 0, parameters);
    time_kernel(&r, "sample_scan", 8192, THREADS * 8, parameters);
    time_kernel(&r, "sample_flow", 8192, 0, parameters);
    time_kernel(&r, "sample_wide", 8192, 0, parameters);
    time_kernel(&r, "sample_reduce", 512, 0, parameters);
    host_free(&r.memory);
    vptx_unload(r.m);
    return 0;
}
