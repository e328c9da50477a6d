/* What the host gives is C's conversion, which rounds to nearest, ties to even. */
#include "elements.h"
#include "support/series.h"

#include "cuda/forms.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 60000, MOST_TOLD = 5 };

static uint32_t floats[COUNT], narrowed[COUNT];
static double doubles[COUNT], widened[COUNT];

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static double double_of(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Random bits, and doubles that lie on a float, between two, or a step beside that; of floats below
 * the normal ones and at the end of their range as well. */
static void fill(void)
{
    uint64_t random = 3;
    for (int i = 0; i < COUNT; i++) {
        uint64_t bits = series_bits(&random);
        uint32_t near = (uint32_t)(bits >> 32), tiny = near & 0x80ffffffu;
        floats[i] = i % 3 ? near : tiny;
        if (i % 4 == 0) { /* a NaN or an infinity */
            floats[i] |= 0x7f800000u;
            floats[i] &= i % 8 ? 0xffffffffu : 0xff800000u;
            bits |= UINT64_C(0x7ff) << 52;
        } else if (i % 4 < 3) {
            double wide = float_of(i % 5 ? near : i % 2 ? tiny : near | 0x7f000000u);
            double next = float_of((i % 5 ? near : i % 2 ? tiny : near | 0x7f000000u) + 1);
            double middle = wide + (next - wide) / 2;
            memcpy(&bits, &middle, sizeof bits);
            bits += (uint64_t)(i / 4 % 3) - 1;
        }
        doubles[i] = double_of(bits);
    }
}

static int convert(const words_gpu *gpu, CUmodule module, const char *name, const void *from,
                   size_t from_bytes, void *to, size_t to_bytes)
{
    CUdeviceptr in = 0, out = 0;
    CUfunction kernel;
    long long count = COUNT;
    void *arguments[] = {&in, &out, &count};
    const unsigned blocks = (COUNT + SYI_ELEMENT_THREADS - 1) / SYI_ELEMENT_THREADS;
    int failed = WORDS_FAILED(gpu, cuModuleGetFunction(&kernel, module, name)) ||
                 WORDS_FAILED(gpu, cuMemAlloc(&in, from_bytes)) ||
                 WORDS_FAILED(gpu, cuMemAlloc(&out, to_bytes)) ||
                 WORDS_FAILED(gpu, cuMemcpyHtoD(in, from, from_bytes)) ||
                 WORDS_FAILED(gpu, cuLaunchKernel(kernel, blocks, 1, 1, SYI_ELEMENT_THREADS, 1, 1,
                                                  0, NULL, arguments, NULL)) ||
                 WORDS_FAILED(gpu, cuCtxSynchronize()) ||
                 WORDS_FAILED(gpu, cuMemcpyDtoH(to, out, to_bytes));
    gpu->driver->api.cuMemFree(in);
    gpu->driver->api.cuMemFree(out);
    return failed;
}

static void tell(const char *what, uint64_t of, uint64_t got, uint64_t want, uint64_t *failures)
{
    if ((*failures)++ < MOST_TOLD)
        fprintf(stderr, "%016llx %s is %016llx, not %016llx\n", (unsigned long long)of, what,
                (unsigned long long)got, (unsigned long long)want);
}

int words_elements(const words_gpu *gpu, CUmodule module, uint64_t *words, uint64_t *failures)
{
    fill();
    if (convert(gpu, module, "syi_gpu_widen", floats, sizeof floats, widened, sizeof widened) ||
        convert(gpu, module, "syi_gpu_narrow", doubles, sizeof doubles, narrowed, sizeof narrowed))
        return 1;
    for (int i = 0; i < COUNT; i++, *words += 2) {
        const double wide = float_of(floats[i]);
        const float narrow = (float)doubles[i] + 0.0f; /* no zero has a sign */
        uint64_t got, want, all;
        uint32_t low;
        memcpy(&got, &widened[i], sizeof got);
        memcpy(&want, &wide, sizeof want);
        memcpy(&all, &doubles[i], sizeof all);
        memcpy(&low, &narrow, sizeof low);
        if (got != want)
            tell("as a double", floats[i], got, want, failures);
        if (narrowed[i] != low)
            tell("as a float", all, narrowed[i], low, failures);
    }
    return 0;
}
