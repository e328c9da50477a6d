/* How a slab is cut for threads: nothing is left out, nothing is done twice, and all have as much
 * to do as the workload lets them. */
#include "device/cut.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Sizes on either side of what a thread, a tile and a block are worth. */
static const int64_t sizes[] = {1,     4095,  4096,   4097,   32768, 33000,
                                40000, 65537, 100000, 262144, 900000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static syi_slab slab_of(int64_t rows, int64_t first, int64_t columns)
{
    const int64_t tiles = (columns + SYI_TILE - 1) / SYI_TILE;
    return (syi_slab){.rows = rows, .first = first, .columns = columns, .tiles = rows * tiles};
}

/* `longer`: than usual are its periods. */
static syi_job job_of(const syi_workload *workload, double *params, const syi_slab *slab,
                      double longer)
{
    for (int k = 0; k < workload->n_params; k++)
        params[k] = workload->params[k].fallback * (workload->params[k].fallback > 2 ? longer : 1);
    return (syi_job){.workload = workload,
                     .params = params,
                     .rows = slab->rows,
                     .columns = slab->first + slab->columns};
}

static int64_t unit_of(const syi_job *job)
{
    if (job->workload->user || job->workload->pattern == SY_PATTERN_REDUCE)
        return SYI_TILE;
    return syi_job_block(job) > 0 ? syi_job_block(job) : 512;
}

/* The borders go up from the slab's beginning to its end, and lie where they may. */
static void check_borders(const syi_job *job, const syi_slab *slab, const syi_cut *cut)
{
    const int64_t tiles = (slab->columns + SYI_TILE - 1) / SYI_TILE;
    const int64_t unit = unit_of(job), halo = syi_job_halo(job);
    int64_t shortest = INT64_MAX, longest = 0;
    int64_t before = 0, end = syi_cut_column(cut, cut->pieces_per_row);
    cr_assert_eq(syi_cut_column(cut, 0), 0);
    cr_assert(end >= slab->columns && end <= tiles * SYI_TILE);
    cr_assert_eq(cut->pieces, slab->rows * cut->pieces_per_row);
    if (job->workload->user)
        cr_assert_eq(cut->pieces_per_row, tiles);
    for (int64_t k = 1; k <= cut->pieces_per_row; k++) {
        const int64_t at = syi_cut_column(cut, k);
        cr_assert(at > before, "%s: piece %lld of %lld columns is empty", job->workload->name,
                  (long long)k - 1, (long long)slab->columns);
        if (k < cut->pieces_per_row)
            cr_assert_eq((slab->first + at) % unit, 0);
        shortest = at - before < shortest ? at - before : shortest;
        longest = at - before > longest ? at - before : longest;
        before = at;
    }
    if (cut->pieces_per_row > 1)
        cr_assert_leq(longest - shortest, 2 * unit + halo);
}

/* Floats are run by parts that a core's cache holds, unless what a part begins with asks for more,
 * and all threads' have their limit, unless it is a window that asks for it; doubles are not, nor
 * what takes floats. */
static void check_part(const syi_job *job, const syi_cut *cut)
{
    const int64_t arrays = job->workload->n_inputs + job->workload->n_outputs;
    const int64_t halo = syi_job_halo(job);
    int64_t desk;
    if (job->dtype == SY_F64 || job->workload->takes_floats) {
        cr_assert_eq(cut->part_columns, INT64_MAX);
        cr_assert_eq(cut->left, halo);
        return;
    }
    desk = (cut->left * job->workload->n_inputs + cut->part_columns * arrays) * cut->threads;
    cr_assert(cut->part_columns >= cut->unit && cut->part_columns >= cut->left / 4);
    cr_assert(cut->left == halo || job->workload->pattern == SY_PATTERN_RECURRENCE);
    if (cut->left * cut->threads < 1 << 20)
        cr_assert_leq(desk * (int64_t)sizeof(double), 32 << 20);
    if (8 * halo <= SYI_TILE)
        cr_assert_leq(cut->part_columns * arrays * (int64_t)sizeof(double), 1 << 20);
    if (cut->rows_at_once > 1 && cut->rows_at_once * job->columns > cut->part_columns)
        cr_assert_leq(cut->rows_at_once * job->columns * arrays * cut->threads *
                          (int64_t)sizeof(double),
                      16 << 20);
}

static void check(const syi_workload *workload, const syi_slab *slab, int threads, double longer)
{
    double params[SYI_MAX_PARAMS];
    for (int dtype = SY_F64; dtype <= SY_F32; dtype++) {
        syi_job job = job_of(workload, params, slab, longer);
        syi_cut cut;
        job.dtype = (sy_dtype)dtype;
        cut = syi_cut_of(&job, slab, threads);
        cr_assert(cut.threads >= 1 && cut.threads <= threads);
        check_borders(&job, slab, &cut);
        check_part(&job, &cut);
    }
}

static void check_sizes(const syi_workload *workload, int64_t rows, int64_t first, int threads,
                        double longer)
{
    for (int s = 0; s < SIZES; s++) {
        const syi_slab slab = slab_of(rows, first, sizes[s]);
        check(workload, &slab, threads, longer);
    }
}

static void check_all(int64_t rows, int64_t first, int threads)
{
    static const sy_workload_def def;
    const syi_workload *workload;
    syi_workload user = *syi_builtin(0);
    user.user = &def;
    check_sizes(&user, rows, first, threads, 1);
    for (int w = 0; (workload = syi_builtin(w)); w++)
        for (double longer = 1; longer <= 256; longer *= 16) {
            check_sizes(workload, rows, first, threads, longer);
            if (workload->fast)
                check_sizes(workload->fast, rows, first, threads, longer);
        }
}

Test(cut, whole_rows)
{
    for (int threads = 1; threads <= 70; threads += threads < 4 ? 1 : 11)
        for (int rows = 1; rows <= 5; rows += 2)
            check_all(rows, 0, threads);
}

Test(cut, part_of_a_row)
{
    for (int threads = 1; threads <= 70; threads += threads < 4 ? 1 : 11)
        check_all(1, 3 * SYI_TILE, threads);
}

/* Of so many pieces that a column lost in each would be tiles in the last one. */
Test(cut, long_row)
{
    const syi_slab slab = slab_of(1, 0, INT64_C(10000000000));
    for (int w = 0; syi_builtin(w); w++)
        check(syi_builtin(w), &slab, 2, 1);
}

Test(cut, no_columns)
{
    check_all(0, 0, 2);
    for (int w = 0; syi_builtin(w); w++) {
        double params[SYI_MAX_PARAMS];
        const syi_slab slab = slab_of(3, 0, 0);
        const syi_job job = job_of(syi_builtin(w), params, &slab, 1);
        cr_assert_eq(syi_cut_of(&job, &slab, 2).pieces, 0);
    }
}

static const syi_workload *workload_named(const char *name)
{
    int w = 0;
    while (strcmp(syi_builtin(w)->name, name) != 0)
        w++;
    return syi_builtin(w);
}

/* What the first of two threads gets of a row. */
static int64_t first_half(const syi_workload *workload, int64_t columns)
{
    double params[SYI_MAX_PARAMS];
    const syi_slab slab = slab_of(1, 0, columns);
    const syi_job job = job_of(workload, params, &slab, 1);
    const syi_cut cut = syi_cut_of(&job, &slab, 2);
    cr_assert_eq(cut.pieces, 2);
    return syi_cut_column(&cut, 1);
}

/* 36,000 columns are nearly nine tiles: by tiles one thread would have a fifth more than the
 * other. */
Test(cut, halves_are_even)
{
    const int64_t windows = first_half(workload_named("sma"), 36000);
    const int64_t macd = first_half(workload_named("macd"), 100000);
    cr_assert_leq(llabs(2 * windows - 36000), 512);
    cr_assert(macd > 50256 && macd < 52000, "%lld", (long long)macd); /* it needs no run-in */
}

static int64_t rows_at_once(const char *name, sy_dtype dtype, int64_t rows, int64_t columns)
{
    double params[SYI_MAX_PARAMS];
    const syi_slab slab = slab_of(rows, 0, columns);
    syi_job job = job_of(workload_named(name), params, &slab, 1);
    job.dtype = dtype;
    return syi_cut_of(&job, &slab, 2).rows_at_once;
}

/* Eight rows of a recurrence are run side by side as long as that is faster, and there are enough
 * of them for both threads. */
Test(cut, rows_side_by_side)
{
    cr_assert_eq(rows_at_once("macd", SY_F64, 1000, 10000) % 8, 0);
    cr_assert_eq(rows_at_once("rsi", SY_F64, 1000, 65536), 8);
    cr_assert_eq(rows_at_once("rsi", SY_F64, 1000, 65537), 1);
    cr_assert_eq(rows_at_once("rsi", SY_F64, 100, 20000), 3);
    cr_assert_eq(rows_at_once("atr", SY_F64, 8, 8000), 8);
    cr_assert_eq(rows_at_once("atr", SY_F64, 1000, 8000), 2);
    cr_assert_eq(rows_at_once("macd", SY_F32, 1000, 8000), 8);
    cr_assert_eq(rows_at_once("macd", SY_F32, 1000, 10000), 1);
}

/* Fast macd begins anew every 16,384 columns. */
Test(cut, blocks_stay_whole)
{
    const syi_workload *macd = workload_named("macd")->fast;
    cr_assert_eq(first_half(macd, 33000), 16384);
    cr_assert_eq(first_half(macd, 60000), 32768);
    cr_assert_eq(first_half(macd, 100000), 49152);
}

/* Slabs of part of a row, of so many tiles at most: one behind the other, and each ends where a
 * block does, unless the next one is farther away. */
static void check_slabs(const syi_job *job, syi_tiles span, int64_t most)
{
    const int64_t block = syi_job_block(job), last = span.first + span.count;
    int64_t next = span.first;
    while (span.count) {
        const syi_slab slab = syi_slab_take(job, &span, most);
        const int64_t end = slab.first + slab.columns;
        cr_assert(slab.tile == next && slab.tiles >= 1 && slab.tiles <= most);
        cr_assert_eq(slab.first, slab.tile * SYI_TILE);
        next = slab.tile + slab.tiles;
        if (slab.tiles < most && next < last)
            cr_assert_eq(end % block, 0);
        if (most * SYI_TILE >= 2 * block && next < last)
            cr_assert_eq(end % block, 0, "%s: a slab from %lld to %lld", job->workload->name,
                         (long long)slab.first, (long long)end);
    }
    cr_assert_eq(next, last);
}

Test(cut, slabs_end_with_blocks)
{
    int found = 0;
    for (int w = 0; syi_builtin(w); w++) {
        double params[SYI_MAX_PARAMS];
        const syi_slab row = slab_of(1, 0, 1000000);
        const syi_workload *fast = syi_builtin(w)->fast;
        const syi_job job = job_of(fast ? fast : syi_builtin(w), params, &row, 1);
        if (syi_job_block(&job) <= SYI_TILE)
            continue;
        found++;
        for (int64_t first = 0; first < 6; first++)
            for (int64_t most = 1; most <= 40; most += most < 10 ? 1 : 10)
                check_slabs(&job, (syi_tiles){first, row.tiles - first}, most);
    }
    cr_assert_geq(found, 4);
}
