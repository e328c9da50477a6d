/*
 * A slab is cut into pieces, the pieces are shared out to threads. The user's workloads run tile by
 * tile, since their bits may depend on the cut; the built-in reductions go through whole tiles by
 * themselves; the other built-in workloads give the same bits for any cut, so they are cut as the
 * threads need it and the halo allows.
 */
#include "device/cut.h"

#include "device/desk.h"
#include "device/element.h"

/* Bytes of which a core's share of a common cache does not keep much: somewhat less is a matter of
 * who else uses it. Where the results of several threads would wait for each other on their way
 * past it, it is to keep all that it can. What is only read may come from all of it. */
#define PAST_CACHE      12582912.0
#define PAST_COMMON     (2 * PAST_CACHE)
#define PAST_ALL_CACHES (4 * PAST_CACHE)

/* Whole tiles that are worth a thread's start, some microseconds, but see worth_of(). */
#define WORTH_A_THREAD ((int64_t)4)
/* What a row costs beside its columns, in columns. */
#define ROW_ITSELF 256

/* Pieces that may begin anywhere do so at multiples of so many columns: at lines of all arrays. */
#define CUT_COLUMNS ((int64_t)512)

/* Tiles that a thread takes at once where nothing speaks for more: enough that a processor, which
 * looks ahead in its memory only along what it reads, reads on for long. */
#define TILES_AT_ONCE 64

/* Columns of short rows that are run at once: a core's caches hold them. */
#define ROWS_COLUMNS (16 * SYI_TILE)
/* Rows that some kernels run side by side. */
#define ROWS_BESIDE ((int64_t)8)
/* Columns of rows of several inputs that a memory has: so many streams side by side are more than
 * what a processor looks ahead along. */
#define FEW_STREAMS ((int64_t)2048)

/* Whether the work's arrays are larger than what caches keep. */
static int is_past_cache(const syi_job *job, int threads)
{
    const syi_workload *workload = job->workload;
    const int only_reads = workload->pattern == SY_PATTERN_REDUCE;
    const int64_t arrays = workload->n_inputs + (only_reads ? 0 : workload->n_outputs);
    const double size = (double)job->rows * (double)job->columns * (double)arrays *
                        (double)syi_element_size(job->dtype);
    const double most = only_reads                                ? PAST_ALL_CACHES
                        : workload->is_write_bound && threads > 1 ? PAST_COMMON
                                                                  : PAST_CACHE;
    return size > most;
}

/* Of a workload of ours. A reduction takes half as long for a tile as others do; what may leave
 * doubts (whatever is exact but comparisons, and fast windows, of which long ones are) longer. */
static int64_t worth_of(const syi_workload *workload)
{
    if (workload->pattern == SY_PATTERN_REDUCE)
        return 2 * WORTH_A_THREAD;
    return workload->repair ? WORTH_A_THREAD / 2 : WORTH_A_THREAD;
}

/* Threads that are worth their start. What the user's workloads take nobody knows. */
static int choose_threads(const syi_workload *workload, const syi_slab *slab, int threads)
{
    const int64_t worth = worth_of(workload);
    const int64_t columns = slab->rows * (slab->columns + ROW_ITSELF);
    const int64_t most = workload->user ? slab->tiles : columns / (worth * SYI_TILE);
    return most >= threads ? threads : most > 1 ? (int)most : 1;
}

/* What a thread of several takes of `count` at once, at most `most`: little enough that none waits
 * long for the last one. */
static int64_t choose_share(int64_t count, int threads, int64_t most)
{
    int64_t share = threads > 1 ? count / (8 * threads) : most;
    share = share > most ? most : share;
    return share > 1 ? share : 1;
}

/* Pieces of a row that is cut: four for each thread, so that none waits long for the last one, as
 * long as they have `enough` tiles for what a piece begins with not to matter; else one for each
 * thread that gets as many as are `worth` it. Fewer than `least` in each of two, and the row is not
 * cut; more threads than two gain less each, but gain. */
static int64_t choose_pieces(int64_t tiles, int64_t least, int64_t worth, int64_t enough,
                             int threads)
{
    const int64_t pieces = tiles / enough;
    if (pieces >= (int64_t)threads * 4)
        return (int64_t)threads * 4;
    if (pieces > threads)
        return pieces - pieces % threads;
    if (tiles < 2 * least)
        return 1;
    return tiles / worth < threads ? tiles / worth : threads;
}

/* Tiles of a reduction's piece, at most a row's. A cut costs it nothing, but taking a piece does:
 * of few tiles that is as much as adding them up. */
static int64_t choose_reduced(int64_t tiles, int64_t row_tiles, int threads)
{
    const int64_t half = tiles / (2 * threads);
    int64_t piece = choose_share(tiles, threads, TILES_AT_ONCE);
    if (piece < WORTH_A_THREAD)
        piece = half < WORTH_A_THREAD ? half : WORTH_A_THREAD;
    piece = piece < row_tiles ? piece : row_tiles;
    return piece > 1 ? piece : 1;
}

/* Of a row of the slab. Others' rows are not cut when there are enough of them for every thread. */
static int64_t choose_pieces_per_row(const syi_job *job, const syi_slab *slab, int threads)
{
    const syi_workload *workload = job->workload;
    const int64_t halo_tiles = syi_job_halo(job) / SYI_TILE + 1, block = syi_job_block(job);
    const int64_t tiles = (slab->columns + SYI_TILE - 1) / SYI_TILE;
    /* What a recurrence does before its first column takes as long as some tiles. */
    const int64_t some = workload->pattern == SY_PATTERN_RECURRENCE ? 64 : 16;
    const int64_t enough = 8 * halo_tiles > some ? 8 * halo_tiles : some;
    if (workload->user || tiles == 0)
        return tiles;
    if (workload->pattern == SY_PATTERN_REDUCE) {
        const int64_t piece = choose_reduced(slab->tiles, tiles, threads);
        return (tiles + piece - 1) / piece;
    }
    if (threads == 1 || slab->rows >= (int64_t)threads * 4)
        return 1;
    return choose_pieces(tiles, block > 0 ? block / SYI_TILE : 2 * halo_tiles, worth_of(workload),
                         enough, threads);
}

static int has_desk(const syi_job *job)
{
    return job->dtype == SY_F32 && !job->workload->takes_floats;
}

/* Columns of rows that are run side by side at most: longer ones run as fast by themselves. Where
 * there are not many groups of them some thread would wait for the last one. */
static int64_t longest_beside(const syi_job *job, const syi_slab *slab, const syi_cut *cut)
{
    const syi_workload *workload = job->workload;
    const int is_recurrence = workload->pattern == SY_PATTERN_RECURRENCE;
    if (is_recurrence && workload->n_inputs > 1 && cut->past_cache && job->columns > FEW_STREAMS)
        return FEW_STREAMS;
    if (job->columns <= workload->beside_to && slab->rows >= 8 * ROWS_BESIDE * cut->threads)
        return workload->beside_to;
    return ROWS_COLUMNS / ROWS_BESIDE;
}

/* Rows that lie one behind the other, of a slab whose rows are not cut. What a kernel does before a
 * row's first value takes as long as some dozens of columns. */
static int64_t choose_rows(const syi_job *job, const syi_slab *slab, const syi_cut *cut)
{
    const syi_workload *workload = job->workload;
    const int is_reduce = workload->pattern == SY_PATTERN_REDUCE && !workload->user;
    const int64_t together = ROWS_BESIDE * longest_beside(job, slab, cut);
    const int64_t most = cut->part_columns < together ? cut->part_columns : together;
    const int64_t group = ROWS_BESIDE * job->columns;
    int64_t rows;
    if (slab->columns < job->columns ||
        (is_reduce ? job->columns > SYI_TILE
                   : !workload->joined_from || job->columns < workload->joined_from(job->params)))
        return 1;
    rows = most / job->columns;
    if (has_desk(job) && workload->pattern == SY_PATTERN_RECURRENCE && rows < ROWS_BESIDE &&
        group <= together && group <= syi_desk_rows(job, cut->threads))
        rows = ROWS_BESIDE;
    return rows >= ROWS_BESIDE ? rows / ROWS_BESIDE * ROWS_BESIDE : rows > 1 ? rows : 1;
}

/* Where a row is cut into so many pieces, if it has as many. */
static void cut_row(const syi_job *job, const syi_slab *slab, int64_t pieces, syi_cut *cut)
{
    const syi_workload *workload = job->workload;
    const int is_tiled = workload->user || workload->pattern == SY_PATTERN_REDUCE;
    const int64_t tiles = (slab->columns + SYI_TILE - 1) / SYI_TILE, block = syi_job_block(job);
    int64_t most;
    cut->first = slab->first;
    cut->columns = is_tiled ? tiles * SYI_TILE : slab->columns;
    cut->unit = is_tiled ? SYI_TILE : block > 0 ? block : CUT_COLUMNS;
    most = cut->columns / cut->unit;
    if (slab->rows == 1 && pieces > 1) /* as many for each thread */
        pieces += (cut->threads - pieces % cut->threads) % cut->threads;
    pieces = pieces < most ? pieces : most;
    cut->pieces_per_row = pieces > 1 || tiles == 0 ? pieces : 1;
    if (!is_tiled && block == 0 && slab->first == 0) /* else all have as much of that */
        cut->before = syi_job_halo(job);
    if (cut->pieces_per_row > 0) {
        const int64_t all = cut->columns + (cut->pieces_per_row - 1) * cut->before;
        cut->share = all / cut->pieces_per_row;
        cut->rest = all % cut->pieces_per_row;
    }
}

int64_t syi_part_columns(const syi_job *job, int threads, int past_cache)
{
    return has_desk(job) ? syi_desk_columns(job, threads, past_cache) : INT64_MAX;
}

syi_cut syi_cut_of(const syi_job *job, const syi_slab *slab, int threads)
{
    syi_cut cut = {.threads = choose_threads(job->workload, slab, threads)};
    cut.left = has_desk(job) ? syi_desk_left(job, cut.threads) : syi_job_halo(job);
    cut_row(job, slab, choose_pieces_per_row(job, slab, cut.threads), &cut);
    cut.pieces = slab->rows * cut.pieces_per_row;
    if (cut.threads > cut.pieces)
        cut.threads = cut.pieces ? (int)cut.pieces : 1;
    cut.past_cache = is_past_cache(job, cut.threads);
    cut.part_columns = syi_part_columns(job, cut.threads, cut.past_cache);
    cut.at_once = cut.threads > 1
                      ? choose_share(cut.pieces, cut.threads,
                                     TILES_AT_ONCE * SYI_TILE * cut.pieces_per_row / cut.columns)
                      : cut.pieces;
    cut.rows_at_once = cut.pieces_per_row == 1 ? choose_rows(job, slab, &cut) : 1;
    cut.beside = cut.rows_at_once > 1 ? ROWS_BESIDE : 1;
    cut.at_once = (cut.at_once + cut.beside - 1) / cut.beside * cut.beside;
    return cut;
}
