/* Where a thread is among the pieces that a slab is cut into. */
#ifndef SYI_DEVICE_CURSOR_H
#define SYI_DEVICE_CURSOR_H

#include "device/cut.h"

/* A piece: its number, its row in the slab, and which of the row's it is; or as many whole rows,
 * and so many numbers. Its first column, and the next one's. */
typedef struct syi_cursor {
    int64_t index, row, piece, rows, first, end;
} syi_cursor;

static inline syi_cursor syi_cursor_at(const syi_cut *cut, int64_t index)
{
    const int64_t piece = index % cut->pieces_per_row;
    return (syi_cursor){.index = index,
                        .row = index / cut->pieces_per_row,
                        .piece = piece,
                        .rows = 1,
                        .first = syi_cut_column(cut, piece),
                        .end = syi_cut_column(cut, piece + 1)};
}

/* To the next one. What a row is cut by is divided by once for each piece: for a tile of a
 * microsecond that is a part of its time. */
static inline void syi_cursor_step(const syi_cut *cut, syi_cursor *at)
{
    at->index += at->rows;
    at->piece++;
    at->first = at->end;
    if (at->piece == cut->pieces_per_row) {
        at->row += at->rows;
        at->piece = at->first = 0;
    }
    at->end = syi_cut_column(cut, at->piece + 1);
}

#endif
