/* A reduction's piece, tile by tile. The loop is compiled into each kernel: between two tiles of a
 * microsecond a processor that does much else loads nothing. */
#ifndef SYI_KERNELS_TILES_H
#define SYI_KERNELS_TILES_H

#include "element/convert.h"

/* Columns of a tile that are read at once, at most: floats are widened where they stay in the
 * nearest cache. */
#define SYI_TILE_BLOCK ((int64_t)512)

typedef struct syi_tile {
    const double *const *in;    /* the segment's, */
    const float *const *floats; /* or the same as floats */
    int64_t at, first;          /* where it begins in these, and in the row */
    int64_t count;              /* its columns */
    syi_asking asking;          /* for each line that is read */
} syi_tile;

/* Fills a tile's partial; `is_floats` and the asking are constants. */
typedef void (*syi_tile_fn)(syi_tile tile, int is_floats, void *partial);

/* How many floats ahead are asked for. */
SYI_INLINE int64_t syi_floats_ahead(syi_asking asking)
{
    return asking == SYI_ASKS_NOT ? 0 : asking == SYI_ASKS_NEAR ? 256 : 768;
}

/* A block of the tile's input k, from its column `from` on; floats go to `room`. */
SYI_INLINE const double *syi_tile_block(const syi_tile *tile, int k, int64_t from, int64_t count,
                                        int is_floats, double *room)
{
    if (!is_floats)
        return tile->in[k] + tile->at + from;
    syi_floats_widen(room, tile->floats[k] + tile->at + from, count,
                     syi_floats_ahead(tile->asking));
    return room;
}

/* Input k from the tile's column `from` on; `is_floats` is a constant. */
typedef struct syi_reader {
    const double *x;
    const float *floats;
    syi_asking asking;
    int is_floats;
} syi_reader;

SYI_INLINE syi_reader syi_reader_of(const syi_tile *tile, int k, int64_t from, int is_floats)
{
    const int64_t at = tile->at + from;
    return (syi_reader){.x = is_floats ? NULL : tile->in[k] + at,
                        .floats = is_floats ? tile->floats[k] + at : NULL,
                        .asking = tile->asking,
                        .is_floats = is_floats};
}

/* SYI_WIDTH columns from column i on, which come `place` columns behind the beginning of a line: of
 * each line one vector asks. */
SYI_INLINE syi_vector syi_reader_at(syi_reader r, int64_t i, int place)
{
    if (r.is_floats) {
        if (place % SYI_FLOATS_LINE == 0)
            syi_ask_behind(r.floats + i, r.asking);
        return syi_widened(r.floats + i);
    }
    return syi_read(r.x + i - place, place, r.asking);
}

/* The `count` > 0 columns from column i on, or the first of them, as syi_load_some(). */
SYI_INLINE syi_vector syi_reader_some(syi_reader r, int64_t i, int64_t count)
{
    const int64_t some = count < SYI_WIDTH ? count : SYI_WIDTH;
    double room[SYI_WIDTH];
    if (!r.is_floats)
        return syi_load_some(r.x + i, some);
    syi_floats_widen(room, r.floats + i, some, 0);
    return syi_load_some(room, some);
}

/* Beside what is read of a block something is asked for. */
SYI_INLINE syi_asking syi_tile_asking(const syi_tile *tile, int is_floats)
{
    return is_floats ? SYI_ASKS_NOT : tile->asking;
}

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

SYI_INLINE void syi_tile_fill(syi_tile_fn fill, syi_tile tile, syi_asking asking, void *partial)
{
    tile.asking = asking;
    if (tile.floats)
        fill(tile, 1, partial);
    else
        fill(tile, 0, partial);
}

SYI_INLINE sy_status syi_each_tile(const syi_piece *piece, size_t partial_size, syi_tile_fn fill,
                                   syi_asking asking)
{
    const sy_segment *segment = &piece->segment;
    const int64_t known = syi_known(piece), step = syi_tile_step(segment);
    unsigned char *partial = piece->partials;
    for (int64_t at = 0; at < segment->count; at += step, partial += partial_size) {
        const int64_t rest = segment->count - at, count = rest < step ? rest : step;
        const syi_tile tile = {.in = segment->in,
                               .floats = piece->in_floats,
                               .at = at,
                               .count = count,
                               .first = syi_tile_column(segment, at)};
        switch (at + SYI_TILE < known ? asking : SYI_ASKS_NOT) {
        case SYI_ASKS:
            syi_tile_fill(fill, tile, SYI_ASKS, partial);
            break;
        case SYI_ASKS_FAR:
            syi_tile_fill(fill, tile, SYI_ASKS_FAR, partial);
            break;
        case SYI_ASKS_NEAR:
            syi_tile_fill(fill, tile, SYI_ASKS_NEAR, partial);
            break;
        default:
            syi_tile_fill(fill, tile, SYI_ASKS_NOT, partial);
        }
    }
    return SY_OK;
}

#endif
