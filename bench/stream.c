/* The copies of every shape; see loops.h. Compiled once for each instruction set: BENCH_ISA. */
#include "loops.h"

#include <stddef.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define JOIN(a, b)    a##b
#define TABLE_OF(isa) JOIN(bench_stream_, isa)
#define BENCH_STREAM  TABLE_OF(BENCH_ISA)

#if defined(__AVX512F__)
enum { WIDTH = 8 };
#elif defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
typedef double vector __attribute__((vector_size(WIDTH * sizeof(double)), aligned(8)));

/* What was read must be used for something. */
static volatile double sink;

static inline vector load(const double *from)
{
    return *(const vector *)(const void *)from;
}

static inline void store(double *to, vector value, int past)
{
#if defined(__AVX512F__)
    if (past) {
        _mm512_stream_pd(to, value);
        return;
    }
#elif defined(__AVX__)
    if (past) {
        _mm256_stream_pd(to, value);
        return;
    }
#elif defined(__SSE2__)
    if (past) {
        _mm_stream_pd(to, value);
        return;
    }
#else
    (void)past;
#endif
    *(vector *)(void *)to = value;
}

/* Nothing is written: four running sums for each array. */
static inline void read_only(const double *const *in, int64_t first, int64_t last, int reads)
{
    vector sum[4] = {{0}};
    double rest = 0;
    int64_t i = first;
    for (; i + 4 * WIDTH <= last; i += 4 * WIDTH)
        for (int part = 0; part < 4; part++)
            for (int k = 0; k < reads; k++)
                sum[part] += load(in[k] + i + part * WIDTH);
    for (; i < last; i++)
        for (int k = 0; k < reads; k++)
            rest += in[k][i];
    sum[0] += sum[1] + sum[2] + sum[3];
    for (int k = 0; k < WIDTH; k++)
        rest += sum[0][k];
    sink = rest;
}

/* `part` elements of each array that is written at a time. */
static inline void copy(const double *const *in, double *const *out, int64_t first, int64_t last,
                        int reads, int writes, int past, int part)
{
    int64_t i = first;
    for (; i + part <= last; i += part)
        for (int k = 0; k < writes; k++)
            for (int64_t j = i; j < i + part; j += WIDTH) {
                vector value = {0};
                for (int r = 0; r < reads; r++)
                    value = r ? value + load(in[r] + j) : load(in[r] + j);
                store(out[k] + j, value, past);
            }
    for (; i < last; i++)
        for (int k = 0; k < writes; k++)
            out[k][i] = reads ? in[0][i] : 0;
#if defined(__SSE2__)
    if (past)
        _mm_sfence();
#endif
}

#define READ(reads)                                                                                \
    static void read_##reads(const double *const *in, double *const *out, int64_t first,           \
                             int64_t last)                                                         \
    {                                                                                              \
        (void)out;                                                                                 \
        read_only(in, first, last, reads);                                                         \
    }
#define COPY_AS(name, reads, writes, past, part)                                                   \
    static void name##_##reads##_##writes(const double *const *in, double *const *out,             \
                                          int64_t first, int64_t last)                             \
    {                                                                                              \
        copy(in, out, first, last, reads, writes, past, part);                                     \
    }
#if defined(__SSE2__)
#define COPY(reads, writes)                                                                        \
    COPY_AS(plain, reads, writes, 0, WIDTH) COPY_AS(past, reads, writes, 1, WIDTH)
#define COPY_PARTS(reads, writes) COPY_AS(parts, reads, writes, 1, 64)
#define PAST(function)            function
#else
#define COPY(reads, writes) COPY_AS(plain, reads, writes, 0, WIDTH)
#define COPY_PARTS(reads, writes)
#define PAST(function) NULL
#endif

READ(1)
READ(2)
COPY(0, 1)
COPY(1, 1)
COPY(2, 1)
COPY(3, 1)
COPY(1, 3)
COPY_PARTS(1, 3)

const bench_stream BENCH_STREAM[] = {
    {"1:0", 1, 0, read_1, NULL, NULL},
    {"2:0", 2, 0, read_2, NULL, NULL},
    {"0:1", 0, 1, plain_0_1, PAST(past_0_1), NULL},
    {"1:1", 1, 1, plain_1_1, PAST(past_1_1), NULL},
    {"2:1", 2, 1, plain_2_1, PAST(past_2_1), NULL},
    {"3:1", 3, 1, plain_3_1, PAST(past_3_1), NULL},
    {"1:3", 1, 3, plain_1_3, PAST(past_1_3), PAST(parts_1_3)},
    {0},
};
