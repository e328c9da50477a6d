/* A reduction's piece, tile by tile. The loop is compiled into each kernel: between two tiles of a
 * microsecond a processor that does much else loads nothing. */
#ifndef SYI_KERNELS_TILES_H
#define SYI_KERNELS_TILES_H

#include "traffic.h"

/* Fills the partial of the tile that begins `at` columns into the segment; `asking` is a constant.
 */
typedef void (*syi_tile_fn)(const sy_segment *segment, int64_t at, int64_t count, syi_asking asking,
                            void *partial);

/* What is good for the piece's processor. */
SYI_INLINE syi_asking syi_asking_of(const syi_piece *piece)
{
    if (piece->asks == SYI_GAINS)
        return piece->past_cache ? SYI_ASKS_FAR : SYI_ASKS;
    return piece->asks == SYI_GAINS_NEAR && piece->past_cache ? SYI_ASKS_NEAR : SYI_ASKS_NOT;
}

/* The same of plain sums of what is in no cache, which wait for nothing but the memory: there a Zen
 * 3 is faster by itself. */
SYI_INLINE syi_asking syi_asking_of_plain(const syi_piece *piece)
{
    return piece->asks == SYI_GAINS_NEAR ? SYI_ASKS_NOT : SYI_ASKS_FAR;
}

/* Columns from tile to tile: of rows one behind the other each is one. */
SYI_INLINE int64_t syi_tile_step(const sy_segment *segment)
{
    return segment->columns < SYI_TILE ? segment->columns : SYI_TILE;
}

/* The column that is `at` columns into the segment and begins a tile. */
SYI_INLINE int64_t syi_tile_column(const sy_segment *segment, int64_t at)
{
    return at < segment->columns ? segment->first + at : 0;
}

SYI_INLINE sy_status syi_each_tile(const syi_piece *piece, size_t partial_size, syi_tile_fn tile,
                                   syi_asking asking)
{
    const sy_segment *segment = &piece->segment;
    const int64_t known = syi_known(piece), step = syi_tile_step(segment);
    unsigned char *partial = piece->partials;
    for (int64_t at = 0; at < segment->count; at += step, partial += partial_size) {
        const int64_t rest = segment->count - at, count = rest < step ? rest : step;
        switch (at + SYI_TILE < known ? asking : SYI_ASKS_NOT) {
        case SYI_ASKS:
            tile(segment, at, count, SYI_ASKS, partial);
            break;
        case SYI_ASKS_FAR:
            tile(segment, at, count, SYI_ASKS_FAR, partial);
            break;
        case SYI_ASKS_NEAR:
            tile(segment, at, count, SYI_ASKS_NEAR, partial);
            break;
        default:
            tile(segment, at, count, SYI_ASKS_NOT, partial);
        }
    }
    return SY_OK;
}

#endif
