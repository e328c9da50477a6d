/* Which form of the loops this processor runs, and copies on several threads. */
#include "loops.h"

#include <stddef.h>
#include <string.h>

extern const bench_textbook bench_textbook_base[], bench_textbook_v3[], bench_textbook_v4[];
extern const bench_stream bench_stream_base[], bench_stream_v3[], bench_stream_v4[];

/* The best of the forms that are there. */
#if defined(SYI_HAVE_V4)
#define BEST_OF(name) (level() == 4 ? name##_v4 : level() == 3 ? name##_v3 : name##_base)
#elif defined(SYI_HAVE_V3)
#define BEST_OF(name) (level() >= 3 ? name##_v3 : name##_base)
#else
#define BEST_OF(name) name##_base
#endif

#ifdef SYI_HAVE_V3
static int level(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd"))
        return 4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        return 3;
    return 0;
}
#endif

const bench_textbook *bench_textbook_of(const char *workload)
{
    for (const bench_textbook *t = BEST_OF(bench_textbook); t->workload; t++)
        if (!strcmp(t->workload, workload))
            return t;
    return NULL;
}

const bench_stream *bench_stream_at(int index)
{
    const bench_stream *s = BEST_OF(bench_stream);
    for (; s->shape && index > 0; index--)
        s++;
    return s->shape ? s : NULL;
}

const bench_stream *bench_stream_of(int reads, int writes)
{
    for (const bench_stream *s = BEST_OF(bench_stream); s->shape; s++)
        if (s->reads == reads && s->writes == writes)
            return s;
    return NULL;
}

void bench_stream_run(bench_stream_fn stream, const double *const *in, double *const *out,
                      int64_t n, int threads)
{
    int64_t part = (n / threads + 8) / 8 * 8;
    if (threads == 1) {
        stream(in, out, 0, n);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
    for (int k = 0; k < threads; k++) {
        int64_t first = k * part < n ? k * part : n, last = first + part < n ? first + part : n;
        stream(in, out, first, last);
    }
}
