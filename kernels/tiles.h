/* A reduction's piece, tile by tile. The loop is compiled into each kernel: between two tiles of a
 * microsecond a processor that does much else loads nothing. */
#ifndef SYI_KERNELS_TILES_H
#define SYI_KERNELS_TILES_H

#include "kernel.h"

/* Fills the partial of the tile that begins `at` columns into the segment. */
typedef void (*syi_tile_fn)(const sy_segment *segment, int64_t at, int64_t count, void *partial);

SYI_INLINE sy_status syi_each_tile(const syi_piece *piece, size_t partial_size, syi_tile_fn tile)
{
    unsigned char *partial = piece->partials;
    for (int64_t at = 0; at < piece->segment.count; at += SYI_TILE, partial += partial_size) {
        const int64_t rest = piece->segment.count - at;
        tile(&piece->segment, at, rest < SYI_TILE ? rest : SYI_TILE, partial);
    }
    return SY_OK;
}

#endif
