/* What the files that read PTX share: the token cursor, the symbols in scope and the instruction
 * under decoding. Whatever is wrong ends in vptx_refuse, which jumps back to vptx_load; all memory
 * is the module's arena, so nothing has to be undone on the way. */
#ifndef VPTX_PARSER_H
#define VPTX_PARSER_H

#include "internal.h"

#include <setjmp.h>

typedef enum symbol_kind {
    SYM_ROW, /* a register, or `count` numbered ones */
    SYM_PREDICATE,
    SYM_GLOBAL, /* index of a variable */
    SYM_SHARED, /* index of a shared variable */
    SYM_LOCAL,  /* offset in the frame of `index`, a function */
    SYM_PARAM,  /* offset in the parameters of the kernel */
    SYM_FUNCTION,
    SYM_LABEL, /* index: instruction or, when is_table, branch table */
} symbol_kind;

typedef struct symbol {
    const char *name;
    symbol_kind kind;
    uint32_t count, width; /* of registers; count 0: one, without a number in its name */
    uint32_t at, reg, index, size;
    bool is_table;
} symbol;

typedef struct growth { /* an arena array that grows */
    void *items;
    uint32_t count, room;
} growth;

/* A branch to a label that may come later. */
typedef struct fixup {
    const token *label;
    uint32_t *target; /* in a table, or NULL: of instruction `at` */
    uint32_t at;
    bool wants_table;
} fixup;

#define MAX_PARTS 12
typedef struct parser {
    vptx_module *m;
    const token *at;
    jmp_buf refused;
    char *error;
    size_t error_size;

    growth symbols, code, functions, variables, shared, tables, calls, places, files;
    growth constants, labels, fixups; /* of the function under way */
    function *f;
    uint32_t function_index;
    source_place place;

    /* The instruction under way: its mnemonic split at the dots. */
    const token *op;
    char parts[MAX_PARTS][24];
    bool used[MAX_PARTS];
    uint32_t part_count;
} parser;

#define AT(p, array, type, i) (&((type *)(p)->array.items)[i])
#define FUNCTION(p, i)        AT(p, functions, function, i)

/* load.c */
_Noreturn void vptx_refuse(parser *p, const token *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *vptx_allocate(parser *p, size_t size);
void *vptx_grow(parser *p, growth *g, size_t item); /* a zeroed new item */
const char *vptx_name(parser *p, const token *t);   /* a copy of its text */
bool vptx_is(const token *t, const char *text);
bool vptx_accept(parser *p, const char *text);
void vptx_expect(parser *p, const char *text);
symbol *vptx_lookup(parser *p, const token *t);
symbol *vptx_add_symbol(parser *p, const token *name, symbol_kind kind);

/* literal.c */
bool vptx_literal_follows(const parser *p);
uint64_t vptx_literal(parser *p, kind k); /* bits of the width of k */
uint32_t vptx_small(parser *p);           /* a non-negative decimal or hexadecimal integer */

/* declare.c */
typedef struct declared { /* what .reg, .param, .global and so on have in common */
    const token *name;
    uint32_t element, count, align; /* count 0: `[]` */
    bool is_float, is_pred, is_array;
    uint32_t registers; /* of `%r<registers>`, 0: none */
} declared;
uint32_t vptx_type_width(const char *type, size_t length); /* 0: no type */
void vptx_declare(parser *p, declared *d);
void vptx_variable_statement(parser *p, bool is_extern, bool in_function);
void vptx_registers_statement(parser *p);
uint32_t vptx_reserve_local(parser *p, const declared *d);

/* body.c */
void vptx_function_statement(parser *p, bool is_entry);

/* operand.c */
bool vptx_take(parser *p, const char *modifier); /* uses up a modifier */
const char *vptx_take_type(parser *p);           /* the next type among the modifiers, NULL: none */
void vptx_all_used(parser *p);
operand vptx_row_operand(parser *p, kind k); /* a register of that width, or an immediate */
operand vptx_wide_operand(parser *p, kind k, uint32_t *width); /* a register at least that wide */
operand vptx_destination(parser *p, uint32_t width);           /* `_`: a row nobody reads */
operand vptx_predicate(parser *p, bool *negated);              /* negated NULL: `!` is refused */
operand vptx_constant(parser *p, constant_kind how, uint32_t width, uint32_t index, uint64_t value);
kind vptx_kind_of(parser *p, const char *type);
symbol *vptx_symbol_follows(parser *p); /* a variable's name, not a register */
operand vptx_symbol_operand(parser *p, symbol *s, uint32_t width);
uint32_t vptx_new_row(parser *p, uint32_t width, uint32_t *reg);
instr *vptx_emit(parser *p, opcode op); /* guard, line and place filled in */

/* decode*.c */
void vptx_decode(parser *p);
bool vptx_lists(const char *types, const char *type); /* a word of a list */
void vptx_decode_predicate(parser *p, instr *in, char how);
bool vptx_decode_test(parser *p, instr *in);
bool vptx_decode_alu(parser *p, instr *in);
bool vptx_decode_memory(parser *p, instr *in);
bool vptx_decode_flow(parser *p, instr *in);

/* pack.c */
void vptx_pack_rows(parser *p); /* before rows have a place in the kernels */

/* layout.c */
void vptx_layout(parser *p);

#endif
