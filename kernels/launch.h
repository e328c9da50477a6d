/*
 * What a GPU kernel gets: one slab of a work, in the device's memory. The same struct is filled by
 * the host (C) and read by the kernels (CUDA C), so it holds plain types only.
 *
 * A slab is cut into units of a fixed number of columns, numbered row by row; a block computes one
 * or several. What a kernel cannot certify it reports as one stretch of columns a unit.
 */
#ifndef SYI_KERNELS_LAUNCH_H
#define SYI_KERNELS_LAUNCH_H

#define SYI_LAUNCH_ARRAYS 8
#define SYI_LAUNCH_PARAMS 16

typedef struct syi_launch {
    /* in[k] at (row 0, the first of the `left` columns), out[k] at (row 0, column 0) of the slab;
     * rows lie in_stride and `columns` elements apart. `left` is 0 unless the slab is one row. */
    const double *in[SYI_LAUNCH_ARRAYS];
    double *out[SYI_LAUNCH_ARRAYS];
    long long rows, columns, left, in_stride;
    long long first;       /* column of the whole row that is column 0 here */
    long long row_columns; /* of a whole row */
    long long unit_columns, units_per_row;
    double params[SYI_LAUNCH_PARAMS];
    /* Two a unit, which the kernel must write, for they are not cleared before: the stretch [first,
     * last) of columns in doubt, counted in the slab; 0, 0: none. */
    long long *doubts;
    unsigned char *partials; /* REDUCE: one a unit, as the workload's CPU kernel makes it */
    struct syi_carry *links; /* RECURRENCE: two a unit, `assumed` and `end` */
} syi_launch;

/* A workload's GPU form. A reduction's units are tiles; a recurrence's its blocks, where it has
 * such, else an eighth of its halo when that is longer than what is said here: short enough to be
 * many, long enough that not all goes into what they run through before their own columns. */
typedef struct syi_gpu_form {
    const char *entry;            /* the kernel's name in the image */
    long long unit_columns;       /* 0: of blocks */
    int units_per_block, threads; /* of a block */
} syi_gpu_form;

#endif
