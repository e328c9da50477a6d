/* A PTX interpreter for tests: it executes the PTX that the CUDA compilers emit, warp by warp, on
 * the host, and diagnoses what hardware would let pass.
 *
 * Use: vptx_load, vptx_place (when the module has variables), vptx_find, vptx_launch, vptx_unload.
 *
 * Device addresses are numbers below 2^48; the caller owns what is behind them and hands it over,
 * allocation by allocation, through vptx_memory. The interpreter never sees another pointer. One
 * module may be launched from several threads at once; loading, placing, unloading and resetting
 * the coverage need it to themselves. */
#ifndef VPTX_H
#define VPTX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vptx_module vptx_module;
typedef struct vptx_kernel vptx_kernel;

/* ---- modules ---- */

/* Parses and decodes a whole module. 0, or -1 with one line in `error` that begins with "ptx line
 * N:". Everything the interpreter does not know, and all arithmetic whose bits the hardware may
 * choose (no .rn, .approx, .ftz), is refused here and not at the launch. `text` need not end in a
 * zero byte and is copied. */
int vptx_load(const char *text, size_t length, vptx_module **out, char *error, size_t error_size);
void vptx_unload(vptx_module *module);

/* The number of `.target sm_NN`, and `.version M.N` as 10 * M + N. */
int vptx_target(const vptx_module *module);
int vptx_version(const vptx_module *module);

/* A `.global` or `.const` variable of the module. */
typedef struct vptx_variable {
    const char *name;
    uint64_t size;
    uint32_t align;
    int is_const;
    const void *image; /* `size` bytes to begin with; NULL: zeroes */
    uint64_t address;  /* 0 until placed */
} vptx_variable;

size_t vptx_variable_count(const vptx_module *module);
const vptx_variable *vptx_variable_at(const vptx_module *module, size_t index);

/* Calls `place` once for each variable: it puts the image (or zeroes) into device memory and says
 * where. Returns 0, or the first value of `place` that is not 0. A module with variables must be
 * placed before its first launch. */
int vptx_place(vptx_module *module,
               int (*place)(void *user, const vptx_variable *variable, uint64_t *address),
               void *user);

/* ---- kernels ---- */

typedef struct vptx_kernel_info {
    const char *name;
    uint32_t parameter_count;
    uint32_t parameter_bytes; /* size of the buffer that vptx_launch reads */
    uint32_t static_shared_bytes;
    uint32_t local_bytes;    /* per thread */
    uint32_t register_count; /* declared 32-bit registers and halves of 64-bit ones; virtual, may be
                                many */
    uint32_t max_threads;    /* .maxntid, 1024 when absent */
} vptx_kernel_info;

typedef struct vptx_parameter {
    uint32_t offset, size, align;
} vptx_parameter;

const vptx_kernel *vptx_find(const vptx_module *module,
                             const char *name); /* NULL: no such .entry */
void vptx_query(const vptx_kernel *kernel, vptx_kernel_info *out);
int vptx_query_parameter(const vptx_kernel *kernel, uint32_t index,
                         vptx_parameter *out); /* -1: no such */

/* ---- memory ---- */

/* One allocation. `shadow`, when there is one, has a byte per byte: 0 = never written (a kernel
 * that reads it is at fault); the interpreter sets it to 1 on stores. Copies and fills of the host
 * side keep it up to date themselves. */
typedef struct vptx_window {
    uint64_t base, size;
    unsigned char *host;
    unsigned char *shadow; /* NULL: do not check */
    int read_only;
} vptx_window;

/* `resolve` returns the allocation that holds all of [address, address + size), or NULL with the
 * reason in *why_not (a text that lives until the launch returns). The window must stay as it is
 * until the launch returns: it is kept in a cache, so that `resolve` is called rarely. The launch
 * may call it from its own thread only. */
typedef struct vptx_memory {
    const vptx_window *(*resolve)(void *user, uint64_t address, uint32_t size, int is_write,
                                  const char **why_not);
    void *user;
} vptx_memory;

/* ---- launches ---- */

typedef enum vptx_order {
    VPTX_FORWARD, /* blocks and warps by index, each warp as far as it can */
    VPTX_REVERSE, /* the same from the end */
    VPTX_SHUFFLE  /* blocks permuted, warps interleaved in random slices, by `seed` */
} vptx_order;

/* All zero (but for grid, block, parameters and memory) is the strict default. */
typedef struct vptx_launch_config {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *parameters; /* parameter_bytes of the kernel */
    vptx_memory memory;
    vptx_order order;
    uint64_t seed; /* of the order, of the NaN payloads and of what uninitialised memory holds */
    int keep_nans; /* 1: leave NaN results as the host makes them; 0: random sign and payload */
    int allow_uninitialised;    /* 1: reads of uninitialised shared or global memory are no fault */
    uint64_t instruction_limit; /* warp instructions of the whole launch; 0: 2^40. Turns a hang into
                                   a fault */
    uint32_t shared_limit;      /* static + dynamic bytes that a block may have; 0: 232448 */
    uint32_t sm_count;          /* of %nsmid; 0: 1. Block b runs on b modulo sm_count */
} vptx_launch_config;

typedef enum vptx_fault_kind {
    VPTX_OK = 0,
    VPTX_BAD_LAUNCH,  /* grid, block or shared size refused, or a variable not placed */
    VPTX_BAD_ADDRESS, /* outside of every allocation, of shared or of local memory, or a write to
                         constants */
    VPTX_MISALIGNED,
    VPTX_UNINITIALISED, /* register, shared, local or (with a shadow) global memory read before it
                           was written */
    VPTX_RACE,          /* shared memory: two accesses, one a write, no barrier between */
    VPTX_DIVERGENT_BARRIER,
    VPTX_BAD_MASK, /* a .sync mask that names absent lanes or not the caller, a source lane outside
                      of it */
    VPTX_TRAP,     /* trap, a failed assertion, or control fell off the end */
    VPTX_LIMIT,    /* instruction_limit reached */
    VPTX_UNSUPPORTED, /* known only at run time: a barrier of part of a block, calls too deep */
    VPTX_NO_MEMORY    /* the host's */
} vptx_fault_kind;

typedef struct vptx_fault {
    vptx_fault_kind kind;
    uint32_t ptx_line;
    uint32_t block[3], thread[3];
    char text[400]; /* one line: kernel, PTX line, block, thread, what */
} vptx_fault;

typedef struct vptx_report {
    uint64_t warp_instructions;
    uint64_t lane_instructions;
    uint64_t max_block_instructions; /* warp instructions of the busiest block, for models of
                                        imbalance */
    uint64_t races;   /* how many; execution goes on after a race, and stops at every other fault */
    vptx_fault fault; /* the first one */
} vptx_report;

/* Runs the whole grid in the calling thread. Returns report->fault.kind, so 0 when all was well. */
int vptx_launch(const vptx_kernel *kernel, const vptx_launch_config *config, vptx_report *report);

const char *vptx_fault_name(vptx_fault_kind kind);

/* ---- coverage: summed over all launches of the module ---- */

typedef struct vptx_line {
    const char *function;    /* .entry or .func that the line belongs to */
    const char *source_file; /* of the last .loc, NULL without -lineinfo */
    uint32_t source_line;
    uint64_t executed;         /* warp instructions */
    uint64_t lanes;            /* lane instructions */
    int is_branch;             /* a conditional branch: */
    uint64_t taken, not_taken; /* lanes */
} vptx_line;

uint32_t vptx_line_count(const vptx_module *module); /* lines are numbered from 1 */
/* 1 and *out, or 0 when the line holds no instruction. */
int vptx_coverage(const vptx_module *module, uint32_t ptx_line, vptx_line *out);

#ifdef __cplusplus
}
#endif

#endif
