/* What the files of the interpreter share: the decoded module, the state of a launch, and who
 * provides what.
 *
 * Registers live in rows of 32 lanes: a register of w bytes is w * 32 consecutive bytes of the
 * warp's register file, so that an instruction is one loop over arrays that the compiler
 * vectorises. Predicates are 32-bit masks. Immediates and the addresses of variables are rows too,
 * filled when a launch begins; the executor knows only rows. */
#ifndef VPTX_INTERNAL_H
#define VPTX_INTERNAL_H

#include "vptx.h"

#include <pthread.h>
#include <stdbool.h>

/* Of the library that this becomes part of, nobody else's: so calls need no table. */
#pragma GCC visibility push(hidden)

#define LANES     32u
#define ALL       0xffffffffu
#define MAX_DEPTH 32u /* of calls */

/* Generic addresses: windows far above every device address. */
#define WINDOW_SHIFT  56
#define SHARED_WINDOW ((uint64_t)1 << WINDOW_SHIFT)
#define LOCAL_WINDOW  ((uint64_t)2 << WINDOW_SHIFT)
#define PARAM_WINDOW  ((uint64_t)3 << WINDOW_SHIFT)

/* Special registers that are plain 32-bit rows at the beginning of the register file. */
enum {
    SR_TID_X,
    SR_TID_Y,
    SR_TID_Z,
    SR_NTID_X,
    SR_NTID_Y,
    SR_NTID_Z,
    SR_CTAID_X,
    SR_CTAID_Y,
    SR_CTAID_Z,
    SR_NCTAID_X,
    SR_NCTAID_Y,
    SR_NCTAID_Z,
    SR_LANEID,
    SR_WARPID,
    SR_NWARPID,
    SR_SMID,
    SR_NSMID,
    SR_MASK_EQ,
    SR_MASK_LT,
    SR_MASK_LE,
    SR_MASK_GT,
    SR_MASK_GE,
    SR_COUNT
};
#define SR_BYTES (SR_COUNT * 4u * LANES)

/* Predicate 0 is true and 1 false for all lanes; register number 0 is "always defined". */
#define REG_TRUE  0u
#define REG_FALSE 1u
#define REG_FIRST 2u

typedef enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM } space;

typedef enum opcode {
    OP_ROW,   /* fn.row: the result is a row */
    OP_MOV,   /* a row copy that carries "undefined" along */
    OP_TEST,  /* fn.test: the result is a mask */
    OP_SET,   /* fn.test, the result is a row of 0 or `imm` */
    OP_CARRY, /* fn.carry: a row, and the carry flag in and out */
    OP_SELP,
    OP_PRED,   /* and, or, xor, not, mov on predicates, by `sub` */
    OP_PACK,   /* mov of a vector into a scalar */
    OP_UNPACK, /* and back */
    OP_CLOCK,
    OP_LOAD,
    OP_STORE,
    OP_ATOM,
    OP_BRANCH,
    OP_BRX,
    OP_CALL,
    OP_RESULT, /* after a call: copies what it returned */
    OP_RET,
    OP_EXIT,
    OP_TRAP,
    OP_BAR, /* bar.sync, bar.red */
    OP_WARPSYNC,
    OP_SHFL,
    OP_VOTE,
    OP_MATCH,
    OP_REDUX,
    OP_ACTIVEMASK,
    OP_NOP
} opcode;

typedef struct operand {
    uint32_t at;  /* byte offset of the row in the register file; nothing for predicates */
    uint32_t reg; /* register number, for definedness and predicates */
} operand;

/* `lane`: the only one to compute, or LANES: all of them. True: the one is not a number. */
typedef bool row_fn(void *d, const void *a, const void *b, const void *c, const void *e,
                    uint32_t lane);
typedef uint32_t test_fn(const void *a, const void *b, uint32_t lane);
typedef uint32_t carry_fn(void *d, const void *a, const void *b, const void *c, uint32_t carry);

typedef struct instr {
    uint8_t op, sub;
    uint8_t width;   /* of the destination row, in bytes per lane */
    uint8_t sources; /* how many of s[] are rows to check; vector elements for loads and stores */
    uint8_t space;
    uint8_t size; /* of an element in memory */
    uint8_t address_width;
    bool is_signed, is_float, negate, combine_negated, carry_out;
    uint32_t guard;  /* predicate */
    operand d[4], q; /* q: second predicate result */
    operand s[5];
    union {
        row_fn *row;
        test_fn *test;
        carry_fn *carry;
    } fn;
    int64_t imm;
    uint32_t target; /* instruction, branch table or call */
    uint32_t line, function;
} instr;

/* Rows that hold one value in all lanes. */
typedef enum constant_kind { CONST_VALUE, CONST_GLOBAL, CONST_SHARED, CONST_LOCAL } constant_kind;
typedef struct constant {
    uint32_t at;
    uint8_t width;
    uint8_t kind;
    uint32_t index; /* variable, shared variable or function */
    uint64_t value;
} constant;

typedef struct shared_variable {
    uint32_t size, align;
    bool dynamic;
} shared_variable;

typedef struct branch_table {
    uint32_t count;
    uint32_t *targets;
} branch_table;

typedef struct piece { /* of a local frame */
    uint32_t offset, size;
} piece;

typedef struct call {
    uint32_t callee;
    uint32_t count;   /* of arguments */
    piece *arguments; /* in the caller's frame */
    bool has_result;
    piece result;
} call;

typedef struct function {
    const char *name;
    bool is_entry, has_body, has_result;
    uint32_t begin, end;           /* code */
    uint32_t row_bytes, registers; /* own need; REG_FIRST and SR_BYTES not included */
    uint32_t row_base, register_base;
    uint32_t local_bytes;
    uint32_t declared_words;
    uint32_t max_threads;
    uint32_t parameter_bytes, parameter_count;
    vptx_parameter *parameters; /* of a .func: offsets in its own frame */
    piece result;               /* of a .func, in its own frame */
    uint32_t constant_count;
    constant *constants;
    uint32_t call_count;
    call *calls;
} function;

struct vptx_kernel {
    vptx_module *module;
    uint32_t function;
    uint32_t depth;          /* of its call tree */
    bool *reached;           /* by function */
    uint32_t *frame_base;    /* by function */
    uint32_t *shared_offset; /* by shared variable */
    uint32_t local_bytes, static_shared;
};

typedef struct source_place {
    uint32_t file, line;
} source_place;

typedef struct file_name {
    uint32_t number;
    const char *name;
} file_name;

typedef struct tally {               /* of an instruction */
    uint64_t executed, lanes, taken; /* lanes: of a branch those that come to it */
} tally;

struct vptx_module {
    struct arena_block *arena;
    int target, version;
    uint32_t lines;
    instr *code;
    uint32_t code_count;
    function *functions;
    uint32_t function_count;
    vptx_kernel *kernels;
    uint32_t kernel_count;
    vptx_variable *variables;
    uint32_t variable_count;
    shared_variable *shared;
    uint32_t shared_count;
    branch_table *tables;
    uint32_t table_count;
    call *calls; /* of all functions */
    uint32_t call_count;
    source_place *places; /* by instruction */
    file_name *files;
    uint32_t file_count;
    uint32_t row_bytes, registers; /* of a warp */
    uint32_t granule;              /* bytes of a cell of the race detector */
    pthread_mutex_t lock;          /* of the tallies */
    tally *tallies;
};

/* ---- lex.c ---- */
typedef struct token {
    char kind; /* 'w' word, 'n' number, 's' string, 0 end, or the punctuation itself */
    const char *text;
    uint32_t length, line;
} token;
/* Ends in a token of kind 0; what is no token is of kind '?'. NULL: out of memory. */
token *vptx_lex(const char *text, size_t length, uint32_t *lines);

/* ---- rows*.c: tables of what the arithmetic instructions do ---- */
typedef enum kind { K_NONE, K_U16, K_S16, K_U32, K_S32, K_U64, K_S64, K_F32, K_F64 } kind;
typedef struct row_entry {
    const char *op;    /* mnemonic and modifiers joined by '_' */
    const char *types; /* PTX types it is for, separated by blanks */
    kind d, s[4];
    row_fn *fn;
} row_entry;
typedef struct test_entry {
    const char *compare, *types;
    kind s;
    test_fn *fn;
} test_entry;
typedef struct carry_entry {
    const char *op, *types;
    kind s;
    uint32_t sources;
    carry_fn *fn;
} carry_entry;
extern const row_entry vptx_rows_int[], vptx_rows_bits[], vptx_rows_float[], vptx_rows_cvt[];
extern const test_entry vptx_tests[];
extern const carry_entry vptx_carries[];
row_fn *vptx_add_row(void);        /* of 64 bits */
row_fn *vptx_fma_row(bool is_f64); /* the hardware's when the host has it */
/* cvt between integers when a register is wider than its type: shifts b, then c, both arithmetic if
 * signed. */
row_fn *vptx_resize_row(uint32_t to_width, uint32_t from_width);
uint32_t vptx_pack_mask(const uint8_t *bytes);
static inline uint32_t vptx_kind_width(kind k)
{
    static const uint8_t width[] = {0, 2, 2, 4, 4, 8, 8, 4, 8};
    return width[k];
}
static inline bool vptx_kind_float(kind k)
{
    return k == K_F32 || k == K_F64;
}

/* ---- the state of a launch ---- */
typedef struct cell { /* last accesses to a granule of shared memory */
    uint32_t write_epoch, write_tick, write_pc;
    uint32_t read_epoch, read_tick, read_pc;
    uint16_t write_thread, read_thread;
    bool write_atomic, many_lanes, many_warps;
} cell;

typedef enum warp_state { WARP_READY, WARP_AT_BARRIER, WARP_DONE } warp_state;

typedef struct warp {
    uint32_t index;
    warp_state state;
    uint32_t born, alive, active, waiting;
    uint32_t pc, depth; /* of the active lanes */
    uint64_t next_key;  /* of the other runnable lanes: where the active ones must stop */
    uint32_t lane_pc[LANES], lane_depth[LANES];
    uint32_t return_pc[MAX_DEPTH][LANES];
    uint32_t carry;
    uint32_t patience;            /* instructions until another group has its turn */
    uint32_t tick;                /* instructions of this block */
    uint32_t full_sync;           /* tick of the last bar.warp.sync of all */
    uint32_t (*pair_sync)[LANES]; /* and of those of some lanes, by pair */
    bool has_pairs;
    uint32_t barrier_votes; /* predicates of bar.red */
    unsigned char *rows;
    uint32_t *predicates;
    uint32_t *defined;
    unsigned char *local, *local_shadow;
} warp;

#define CACHED_WINDOWS 4u
typedef struct launch {
    const vptx_module *module;
    const vptx_kernel *kernel;
    const function *entry;
    const vptx_launch_config *config;
    vptx_report *report;
    uint32_t threads, warp_count;
    uint32_t block[3];
    uint64_t random;
    uint64_t limit, budget; /* warp instructions, and how many are left */
    warp *warps;
    uint32_t shared_bytes, local_bytes;
    unsigned char *shared;
    cell *cells;
    uint32_t epoch, block_epoch;
    const vptx_window *cache[CACHED_WINDOWS];
    uint32_t cache_next;
    uint32_t first, count; /* instructions that it can come to */
    tally *tallies;        /* of them, from the first on */
    bool failed;
} launch;

static inline uint64_t vptx_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static inline uint32_t vptx_first_lane(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}
/* Of so few lanes each is computed by itself: that takes less than the whole row. */
static inline bool vptx_are_few(uint32_t lanes)
{
    return __builtin_popcount(lanes) <= 4;
}
/* Visits the lanes of a mask. */
#define FOR_LANES(lane, mask)                                                                      \
    for (uint32_t left_ = (mask), lane; left_ && (lane = vptx_first_lane(left_), true);            \
         left_ &= left_ - 1)

/* ---- exec.c ---- */
void vptx_save_group(warp *w); /* the place of the active lanes, lane by lane */
void vptx_run_warp(launch *l, warp *w, uint64_t slice);
/* Records the first fault; the launch stops unless it is a race. */
void vptx_fail(launch *l, const warp *w, uint32_t lane, vptx_fault_kind kind, const char *format,
               ...) __attribute__((format(printf, 5, 6)));
/* Lanes of `exec` where the operand was never written; faults if any. */
bool vptx_check_defined(launch *l, const warp *w, uint32_t exec, const operand *o);

/* ---- blend.c ---- */
/* Copies the lanes of `mask`. */
void vptx_blend(void *d, const void *s, uint32_t mask, uint32_t width);
bool vptx_has_nan(const void *row, uint32_t width); /* of floats, in any lane */

/* ---- exec_value.c: instructions that only compute ---- */
void vptx_exec_value(launch *l, warp *w, const instr *in, uint32_t exec);
void vptx_put_mask(warp *w, operand d, uint32_t value, uint32_t lanes);
void vptx_put_row(warp *w, operand d, const void *from, uint32_t lanes, uint32_t width);

/* ---- exec_memory.c ---- */
void vptx_exec_load(launch *l, warp *w, const instr *in, uint32_t exec);
void vptx_exec_store(launch *l, warp *w, const instr *in, uint32_t exec);
void vptx_exec_atom(launch *l, warp *w, const instr *in, uint32_t exec);

/* ---- race.c ---- */
typedef enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } access;
/* Lanes in increasing order; `changed`: the store alters bytes that another lane of this
 * instruction wrote. */
void vptx_race_access(launch *l, warp *w, uint32_t lane, uint32_t offset, uint32_t bytes,
                      access how, bool changed);
void vptx_race_warp_sync(warp *w, uint32_t mask);

/* ---- exec_sync.c: instructions with a member mask ---- */
/* True when the lanes have parted (saved by lane) and a group has to be chosen. */
bool vptx_exec_sync(launch *l, warp *w, const instr *in);

/* ---- load.c and decode*.c: see parser.h ---- */
void *vptx_arena(struct arena_block **arena, size_t size);
void vptx_arena_free(struct arena_block *arena);

#pragma GCC visibility pop

#endif
