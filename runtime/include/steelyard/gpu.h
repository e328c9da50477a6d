/*
 * steelyard: what the GPU form of a user's own workload gets (sy_workload_def). For the host's C
 * and C++ and for CUDA C alike: a kernel's source includes this header alone.
 * Conventions: steelyard.h.
 */
#ifndef STEELYARD_GPU_H
#define STEELYARD_GPU_H

#include <steelyard/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A slab: some whole rows of the work, or a stretch of one row, in a GPU's memory. It consists of
 * canonical tiles (4,096 columns by global index, the last one of a row shorter), numbered row by
 * row: tile t of the slab is columns t % tiles_per_row * tile_columns and following of its row
 * t / tiles_per_row. Which tiles make a slab depends on the devices and on the memory they have,
 * so results must not depend on it: only on the tile and, in a window, on `halo` columns before.
 * Pointers are the device's, all arrays f64 whatever the work's dtype is.
 */
typedef struct sy_gpu_slab {
    /* in[k][r * in_stride + left + i]: input k of row `row` + r at column `first` + i, -left <= i <
     * columns. These and `out` are aligned as doubles are, no more: arrays that live on this GPU
     * are used where they are. `partials` is aligned to 256 bytes. */
    const double *in[8];
    double *out[8];               /* out[k][r * columns + i], to be written; a reduction has none */
    int64_t rows, columns;        /* of the slab */
    int64_t left, in_stride;      /* left: min(halo, first); in_stride: left + columns */
    int64_t row, first;           /* where its row 0 and column 0 are in the whole work */
    int64_t row_columns;          /* of a whole row */
    int64_t tile_columns;         /* 4,096 */
    int64_t tiles, tiles_per_row; /* of the slab */
    double params[16];            /* as in sy_segment */
    unsigned char *partials;      /* REDUCE: partial_size bytes a tile, in order, zeroed before */
} sy_gpu_slab;

/* Where the kernels of a launcher have to run. */
typedef struct sy_gpu_place {
    void *stream; /* a CUstream, which is a cudaStream_t; everything goes there, in order */
    int ordinal;  /* of the GPU: cuda:N */
    int units;    /* multiprocessors */
} sy_gpu_place;

#ifdef __cplusplus
}
#endif

#endif
