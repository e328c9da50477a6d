/* How the workloads cut their work on a GPU; the host and the kernels agree on it here. */
#ifndef SYI_KERNELS_CUDA_FORMS_H
#define SYI_KERNELS_CUDA_FORMS_H

#include "launch.h"

/* The rolling kernels: a block a unit. */
#define SYI_WINDOW_UNIT_COLUMNS 2048
#define SYI_WINDOW_UNIT_THREADS 256
#define SYI_WINDOW_FORM(entry)                                                                     \
    {                                                                                              \
        entry, SYI_WINDOW_UNIT_COLUMNS, 1, SYI_WINDOW_UNIT_THREADS                                 \
    }

/* The reductions: a warp a tile. */
#define SYI_TILE_UNITS_PER_BLOCK 8
#define SYI_TILE_UNIT_THREADS    (32 * SYI_TILE_UNITS_PER_BLOCK)
#define SYI_TILE_FORM(entry)                                                                       \
    {                                                                                              \
        entry, 4096, SYI_TILE_UNITS_PER_BLOCK, SYI_TILE_UNIT_THREADS                               \
    }

/* Floats to doubles and back: a thread an element. */
#define SYI_ELEMENT_THREADS 256

/* The recurrences: a thread a unit. */
#define SYI_STRETCH_COLUMNS 1024
#define SYI_STRETCH_THREADS 64
#define SYI_STRETCH_FORM(entry)                                                                    \
    {                                                                                              \
        entry, SYI_STRETCH_COLUMNS, SYI_STRETCH_THREADS, SYI_STRETCH_THREADS                       \
    }

/* The recurrences of fast accuracy: eight threads a unit, which is a block of the row. */
#define SYI_WALK_UNITS_PER_BLOCK 8
#define SYI_WALK_THREADS         (8 * SYI_WALK_UNITS_PER_BLOCK)
#define SYI_WALK_FORM(entry)                                                                       \
    {                                                                                              \
        entry, 0, SYI_WALK_UNITS_PER_BLOCK, SYI_WALK_THREADS                                       \
    }

#endif
