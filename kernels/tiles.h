/* A reduction's piece, tile by tile. The loop is compiled into each kernel: between two tiles of a
 * microsecond a processor that does much else loads nothing. */
#ifndef SYI_KERNELS_TILES_H
#define SYI_KERNELS_TILES_H

#include "traffic.h"

/* Fills the partial of the tile that begins `at` columns into the segment; `asking` is a constant.
 */
typedef void (*syi_tile_fn)(const sy_segment *segment, int64_t at, int64_t count, syi_asking asking,
                            void *partial);

SYI_INLINE sy_status syi_tiles_asking(const syi_piece *piece, size_t partial_size, syi_tile_fn tile,
                                      syi_asking asking)
{
    unsigned char *partial = piece->partials;
    for (int64_t at = 0; at < piece->segment.count; at += SYI_TILE, partial += partial_size) {
        const int64_t rest = piece->segment.count - at;
        tile(&piece->segment, at, rest < SYI_TILE ? rest : SYI_TILE, asking, partial);
    }
    return SY_OK;
}

/* What is good for the piece's processor. */
SYI_INLINE syi_asking syi_asking_of(const syi_piece *piece)
{
    return !piece->asks ? SYI_ASKS_NOT : piece->past_cache ? SYI_ASKS_FAR : SYI_ASKS;
}

SYI_INLINE sy_status syi_each_tile(const syi_piece *piece, size_t partial_size, syi_tile_fn tile,
                                   syi_asking asking)
{
    switch (asking) {
    case SYI_ASKS:
        return syi_tiles_asking(piece, partial_size, tile, SYI_ASKS);
    case SYI_ASKS_FAR:
        return syi_tiles_asking(piece, partial_size, tile, SYI_ASKS_FAR);
    default:
        return syi_tiles_asking(piece, partial_size, tile, SYI_ASKS_NOT);
    }
}

#endif
