/* steelyard: the workloads, built-in and the user's own. Conventions: steelyard.h. */
#ifndef STEELYARD_WORKLOAD_H
#define STEELYARD_WORKLOAD_H

#include <steelyard/context.h>
#include <steelyard/gpu.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sy_pattern {
    SY_PATTERN_MAP = 0,        /* out[i] depends on in[i] */
    SY_PATTERN_WINDOW = 1,     /* out[i] depends on in[i - halo .. i] */
    SY_PATTERN_RECURRENCE = 2, /* out[i] depends on in[0 .. i] (built-in workloads only) */
    SY_PATTERN_REDUCE = 3      /* one value a row */
} sy_pattern;

typedef struct sy_param_info {
    const char *name, *summary;
    double min, max, fallback;  /* the allowed range, and the value when it is not given */
    int is_integer;             /* only whole numbers are accepted */
    const char *const *choices; /* NULL-terminated words, or NULL; the value is the word's index */
} sy_param_info;

typedef struct sy_workload_info {
    const char *name, *summary;
    sy_pattern pattern;
    int n_inputs, n_outputs, n_params;
    const char *const *input_names, *const *output_names;
    const sy_param_info *params;
    int built_in;
    int has_fast; /* fast accuracy is another computation than exact, with a tag of its own */
} sy_workload_info;

SY_API int sy_workload_count(sy_context *context);

/* The workload of 0 <= index < sy_workload_count(); SY_ERR_ARGUMENT for another index. The strings
 * live as long as the context (those of a user's workload: see sy_workload_def). */
SY_API sy_status sy_workload_query(sy_context *context, int index, sy_workload_info *out);

struct sy_param;

/* The columns that a row needs for a result with these parameters (distribute.h): of a shorter one
 * everything is NaN. 1 for a user's workload. */
SY_API sy_status sy_workload_least_columns(sy_context *context, const char *workload,
                                           const struct sy_param *params, int n_params,
                                           int64_t *columns);

/* A stretch of one row, handed to the function of a user's workload. It is one canonical tile
 * (4,096 columns by global index, the last one shorter), whatever the devices and ratios are. */
typedef struct sy_segment {
    const double *const *in; /* in[k][i], -left <= i < count: input k at column first + i */
    double *const *out;      /* out[k][i], 0 <= i < count; a reduction must not touch it */
    int64_t first, count;    /* columns first .. first + count - 1 */
    int64_t left;            /* columns to be had before `first`: min(halo, first) */
    int64_t row, columns;    /* the row, and how long a whole row is */
    const double *params;    /* one value per declared parameter, in order */
} sy_segment;

/* A user's own workload. The struct is copied; the strings, arrays and functions it points to must
 * outlive the context. The functions are called from several threads at once; they return 0, or
 * anything else to fail the run. They see tiles, so results never depend on the split; a window
 * may read `halo` columns to its left. */
typedef struct sy_workload_def {
    size_t struct_size;
    const char *name; /* [a-z0-9_]+, up to 58 of them, not yet taken; not ending in _fast or _f32,
                         as the tags of other accuracies and types do */
    const char *summary;
    int version; /* change it with the arithmetic: profiles of another version are not believed */
    sy_pattern pattern;      /* MAP, WINDOW or REDUCE */
    int n_inputs, n_outputs; /* 1..8 each */
    const char *const *input_names, *const *output_names;
    const sy_param_info *params; /* each of another name, with a fallback that could be given */
    int n_params;                /* 0..16 */
    /* WINDOW: columns needed to the left, >= 0. */
    int64_t (*halo)(const double *params);
    /* MAP and WINDOW: writes out[k][0 .. count). */
    int (*compute)(const sy_segment *segment);
    /* REDUCE: the tile's partial; the partial's right neighbour folded into it, in one fixed tree;
     * the row's outputs. `partial_size` bytes are zeroed before `reduce`. Partials lie side by
     * side, the first one aligned as memory from malloc is. */
    size_t partial_size;
    int (*reduce)(const sy_segment *segment, void *partial);
    int (*combine)(void *into, const void *right, const double *params);
    int (*finish)(const void *partial, int64_t columns, const double *params, double *outputs);
    /* Its GPU form (gpu.h, docs/workloads.md); all zero: the GPUs are left out. That it computes
     * the CPU form's bits is its author's to see to. Either an image of kernels, a fatbin, a cubin
     * or PTX text that ends with a zero byte, and the name of the kernel, which gets a sy_gpu_slab
     * by value as its only parameter and is launched with one block a tile of the slab. A GPU whose
     * driver refuses the image is left out; */
    const void *gpu_image;
    const char *gpu_kernel;
    int gpu_threads;         /* of a block, up to 1,024; 0: 256 */
    size_t gpu_shared_bytes; /* of a block's dynamic shared memory, up to 48 KiB */
    /* or a launcher: enqueues what computes the slab on place->stream and returns without waiting;
     * 0, or anything else to fail the run. The GPU's context is current; from one thread at a time
     * for each GPU, from several for several. It must leave context and stream as they are. */
    int (*gpu_launch)(const sy_gpu_place *place, const sy_gpu_slab *slab);
} sy_workload_def;

SY_API sy_status sy_workload_register(sy_context *context, const sy_workload_def *def);

#ifdef __cplusplus
}
#endif

#endif
