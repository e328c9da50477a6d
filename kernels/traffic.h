/*
 * What kernels do about memory. What is read from left to right is asked for a little ahead: what
 * the processor itself looks ahead ends with each page. (A reduction does nothing but read. In the
 * caches of a Zen 3 or 4 it takes up to 1.7 times as long by asking, for what is in none .5 to 1
 * and, of plain sums, 1.2 and .95; on a Zen 1 .6 to 1, on a Zen 5 .85 to .95, on an Intel processor
 * .65 to 1.) A kernel that goes over a tile in several loops spreads its requests for the next one:
 * those that come all at once are waited for. What is written to large arrays goes past the cache:
 * a plain store first fetches the line that it overwrites, which costs twice the bytes, and pushes
 * out what the cache holds. Where a piece says that its results will not be near anyway
 * (`past_cache`), a kernel stores whole lines past it, spread evenly among its computing: then they
 * take no time beside it. Of a burst of them, or of many lines half written, the processor has to
 * wait for each, and for the memory where it reads soon what it has written so. Where outputs lie
 * so that what is read meets what is still to be written (syi_meet), reads of AMD's processors wait
 * (`waits`); a kernel that would wait long keeps its results until they are some KiB, which takes
 * less time, or writes them through the cache. On Intel's nothing waits.
 */
#ifndef SYI_KERNELS_TRAFFIC_H
#define SYI_KERNELS_TRAFFIC_H

#include "kernel.h"
#if !defined(__CUDACC__) && !defined(__CUDA__)
#include "pch/intrinsics.h"
#endif

#include <string.h>

/* Elements of a line of the cache. */
enum { SYI_LINE = 8 };

/* The next column whose output begins a line, if the first of the outputs is at y: from there on
 * whole lines can be written, and as a rule read. */
SYI_INLINE int64_t syi_line_after(const double *y, int64_t i, int64_t to)
{
    int64_t past = y ? (int64_t)((uintptr_t)(y + i) / sizeof *y) % SYI_LINE : 0;
    int64_t next = past == 0 ? i : i + SYI_LINE - past;
    return next < to ? next : to;
}

/* Whether the lines of all outputs begin at the same columns. */
SYI_INLINE int syi_in_line(double *const *out, int outputs)
{
    int same = 1;
    for (int k = 1; k < outputs; k++)
        same &= ((uintptr_t)out[k] - (uintptr_t)out[0]) % (SYI_LINE * sizeof(double)) == 0;
    return same;
}

/* Whether lanes that are `stride` columns from each other are at least `apart` columns from each
 * other within a page, so at different places of a near cache, which holds few lines a page apart.
 */
SYI_INLINE int syi_is_spread(int64_t stride, int lanes, int64_t apart)
{
    const int64_t page = 512;
    for (int64_t l = 1; l < lanes; l++)
        if (l * stride % page < apart || l * stride % page > page - apart)
            return 0;
    return 1;
}

/* Whether an output at y keeps an input at x waiting that is read along with it. A processor knows
 * what it is still to write by the last twelve bits of the address first, and what it reads waits
 * where they agree; kernels read so many lines ahead of what they write. */
SYI_INLINE int syi_meet(const double *y, const double *x)
{
    uintptr_t ahead = ((uintptr_t)y - (uintptr_t)x) % 4096 / sizeof(double) / SYI_LINE;
    return ahead >= 2 && ahead < 7;
}

/* By how many columns outputs are written one behind the other past the cache: `lag`, multiples of
 * `unit`; gives whether any is. A Zen 3 that has a line under way lets another wait that lies at
 * the same place of a page, as those of large arrays do that malloc gives: three such outputs, line
 * by line, take up to five times as long. So where something `waits` no two are written within
 * `unit` of the same place: four multiples are enough for three outputs, two if these are in line
 * and the unit is a line. Where a line is one store they are written at once: not measured. */
SYI_INLINE int syi_lags(int waits, double *const *out, int outputs, int64_t unit, int64_t *lag)
{
    const uintptr_t page = 4096, apart = (uintptr_t)unit * sizeof **out;
    int any = 0;
#ifdef __AVX512F__
    waits = 0;
#endif
    for (int k = 0; k < outputs; k++) {
        lag[k] = 0;
        for (int j = 0; j < k && waits;) {
            const uintptr_t here = (uintptr_t)(out[k] - lag[k]);
            const uintptr_t there = (uintptr_t)(out[j] - lag[j]);
            const int meets = (here - there) % page < apart || (there - here) % page < apart;
            lag[k] += meets ? unit : 0;
            j = meets ? 0 : j + 1;
        }
        any |= lag[k] > 0;
    }
    return any;
}

/* Asks for doubles that are read soon; they may be nobody's. */
SYI_INLINE void syi_ask_for(uintptr_t from, int count)
{
#if defined(__CUDACC__) || defined(__CUDA__)
    (void)from, (void)count;
#else
    for (int i = 0; i < count; i += SYI_LINE)
        __builtin_prefetch((const void *)(from + (uintptr_t)i * sizeof(double)));
#endif
}

/* So many columns ahead something is asked for where nothing else speaks for more or less: nearer
 * it would come too late from a memory that others use, too, farther away it would be another page
 * too soon. */
enum { SYI_AHEAD = 256 };

/* How many columns of a piece's inputs are there from its first one on. */
SYI_INLINE int64_t syi_known(const syi_piece *piece)
{
    return piece->segment.count + piece->behind;
}

/* How many columns ahead may be asked for in those before column `end`, where `known` are there; at
 * most `most`. Behind the arrays, where there may be no memory, a processor would look up the page
 * in vain for every line: for 16 KiB that takes as long as a mean of 5,000 columns. */
SYI_INLINE int64_t syi_ahead(int64_t known, int64_t end, int64_t most)
{
    return known - end < most ? known - end : most;
}

/* Asks for a line as far as the second cache. */
SYI_INLINE void syi_ask_far(uintptr_t line)
{
#if defined(__CUDACC__) || defined(__CUDA__)
    (void)line;
#else
    __builtin_prefetch((const void *)line, 0, 2);
#endif
}

/* Asks for `count` columns `ahead` of x[0]. */
SYI_INLINE void syi_ask_ahead(const double *x, int64_t ahead, int count)
{
    syi_ask_for((uintptr_t)x + (uintptr_t)ahead * sizeof *x, count);
}

/* How many columns ahead inputs are asked for: into the nearest cache and, unless 0, before that as
 * far as the second one. */
typedef struct syi_distance {
    int64_t near, far;
} syi_distance;

/* Whether a piece's inputs are asked for as far as the second cache. An Intel processor has few
 * lines at a time on their way to the nearest one, and what is stored past it takes the same
 * places. With more arrays than one that is read and one that is written that gains nothing. */
SYI_INLINE int syi_asks_far(const syi_piece *piece, int arrays)
{
    return piece->past_cache && !piece->waits && arrays == 2;
}

/* In the columns before column `end`, where `known` are there. */
SYI_INLINE syi_distance syi_distance_of(int far, int64_t known, int64_t end)
{
    enum { NEAR = 64, FAR = 512 };
    return (syi_distance){syi_ahead(known, end, far ? NEAR : SYI_AHEAD),
                          far ? syi_ahead(known, end, FAR) : 0};
}

/* Asks for `count` columns at these distances from x[0]. */
SYI_INLINE void syi_ask_at(const double *x, syi_distance distance, int count)
{
    syi_ask_ahead(x, distance.near, count);
    for (int i = 0; i < count && distance.far; i += SYI_LINE)
        syi_ask_far((uintptr_t)(x + i) + (uintptr_t)distance.far * sizeof *x);
}

/* Asks for a line, with `far` as far as the second cache. */
SYI_INLINE void syi_ask_line(const double *line, int far)
{
    if (far)
        syi_ask_far((uintptr_t)line);
    else
        syi_ask_for((uintptr_t)line, 1);
}

/* Asks for lines that are written soon through the cache, which fetches them first. */
SYI_INLINE void syi_ask_to_write(uintptr_t from, int count)
{
#if defined(__CUDACC__) || defined(__CUDA__)
    (void)from, (void)count;
#else
    for (int i = 0; i < count; i += SYI_LINE)
        __builtin_prefetch((const void *)(from + (uintptr_t)i * sizeof(double)), 1);
#endif
}

/* Whether a reduction asks for the line 4 KiB behind each one that it reads: for all of them; or 3
 * KiB behind, as far as the second cache, which is better for what is in no cache: of what is asked
 * for a page ahead, an Intel processor has too much under way. A Zen 3 has it in time from 1 KiB
 * behind. */
typedef enum syi_asking { SYI_ASKS_NOT, SYI_ASKS, SYI_ASKS_FAR, SYI_ASKS_NEAR } syi_asking;

SYI_INLINE void syi_ask_behind(const void *from, syi_asking asking)
{
#if defined(__CUDACC__) || defined(__CUDA__)
    (void)from, (void)asking;
#else
    if (asking == SYI_ASKS)
        __builtin_prefetch((const void *)((uintptr_t)from + 4096));
    else if (asking == SYI_ASKS_FAR)
        syi_ask_far((uintptr_t)from + 3072);
    else if (asking == SYI_ASKS_NEAR)
        __builtin_prefetch((const void *)((uintptr_t)from + 1024));
#endif
}

#if !defined(__CUDACC__) && !defined(__CUDA__)

SYI_INLINE void syi_put_line_past(double *to, const double *from)
{
#if defined(__AVX512F__)
    _mm512_stream_pd(to, _mm512_loadu_pd(from));
#elif defined(__AVX__)
    _mm256_stream_pd(to, _mm256_loadu_pd(from));
    _mm256_stream_pd(to + 4, _mm256_loadu_pd(from + 4));
#elif defined(__SSE2__)
    for (int i = 0; i < SYI_LINE; i += 2)
        _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#else
    memcpy(to, from, SYI_LINE * sizeof *to);
#endif
}

/* Whole lines go past the cache, the ends through it. */
SYI_INLINE void syi_put_past(double *to, const double *from, int64_t count)
{
    int64_t i = syi_line_after(to, 0, count);
    memcpy(to, from, (size_t)i * sizeof *to);
    for (; i + SYI_LINE <= count; i += SYI_LINE)
        syi_put_line_past(to + i, from + i);
    memcpy(to + i, from + i, (size_t)(count - i) * sizeof *to);
}

/* What has been put past the cache is there before what is written next: for a thread's last piece,
 * before others are told. A row's end that waits so takes as long as 300 columns. */
SYI_INLINE void syi_past_done(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
#endif
