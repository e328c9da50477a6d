/*
 * What the workloads are compared with: for each the textbook loop, the formula as one would write
 * it, without care for accuracy or for the split; and plain copies of every shape, so many arrays
 * read and so many written, which is what memory allows. Both are compiled for every instruction
 * set and run with the best that this processor has, as the kernels are.
 */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <stdint.h>

typedef void (*bench_textbook_fn)(const double *const *in, double *const *out, int64_t n,
                                  int64_t period);

typedef struct bench_textbook {
    const char *workload;
    int64_t period; /* when none is asked for; 0: it has no such parameter */
    bench_textbook_fn loop;
} bench_textbook;

/* Elements first to last of every array; both are multiples of 8, or the end. */
typedef void (*bench_stream_fn)(const double *const *in, double *const *out, int64_t first,
                                int64_t last);

typedef struct bench_stream {
    const char *shape; /* "1:3": one array read, three written */
    int reads, writes;
    bench_stream_fn plain, past; /* with stores through the cache; past it (NULL: not here), */
    bench_stream_fn parts;       /* of several arrays half a KiB of each at a time */
} bench_stream;

/* NULL: there is none for this workload. */
const bench_textbook *bench_textbook_of(const char *workload);
const bench_stream *bench_stream_of(int reads, int writes);
/* NULL past the end. */
const bench_stream *bench_stream_at(int index);

/* On so many threads, each with its part of the arrays; a single one does without OpenMP. */
void bench_stream_run(bench_stream_fn stream, const double *const *in, double *const *out,
                      int64_t n, int threads);

#endif
