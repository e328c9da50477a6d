/* Decoding of control flow and of what lanes do together: branches, calls, barriers, shuffles,
 * votes. */
#include "parser.h"

#include <string.h>

static void emit(parser *p, const instr *in)
{
    *vptx_emit(p, in->op) = *in;
}

static void mask_operand(parser *p, instr *in)
{
    vptx_expect(p, ",");
    in->s[3] = vptx_row_operand(p, K_U32);
}

/* ---- branches and calls ---- */

static void branch(parser *p, instr *in, bool indexed)
{
    fixup *fix;
    in->op = indexed ? OP_BRX : OP_BRANCH;
    if (indexed) {
        in->s[0] = vptx_row_operand(p, K_U32);
        in->sources = 1;
        vptx_expect(p, ",");
    }
    fix = vptx_grow(p, &p->fixups, sizeof *fix);
    fix->label = p->at++;
    fix->at = p->code.count;
    fix->wants_table = indexed;
    emit(p, in);
}

static piece call_parameter(parser *p)
{
    const token *t = p->at++;
    const symbol *s = vptx_lookup(p, t);
    if (!s || s->kind != SYM_LOCAL || s->index != p->function_index)
        vptx_refuse(p, t, "a variable of .param expected, not '%.*s'", (int)t->length, t->text);
    return (piece){s->at, s->size};
}

static void arguments(parser *p, call *c)
{
    growth list = {0};
    if (!vptx_accept(p, ","))
        return;
    vptx_expect(p, "(");
    while (!vptx_accept(p, ")")) {
        const piece argument = call_parameter(p);
        *(piece *)vptx_grow(p, &list, sizeof(piece)) = argument;
        if (!vptx_is(p->at, ")"))
            vptx_expect(p, ",");
    }
    c->arguments = list.items;
    c->count = list.count;
}

static void check_call(parser *p, const token *name, const call *c)
{
    const function *f = FUNCTION(p, c->callee);
    bool fits = c->count == f->parameter_count && c->has_result == f->has_result &&
                (!c->has_result || c->result.size == f->result.size);
    for (uint32_t i = 0; fits && i < c->count; i++)
        fits = c->arguments[i].size == f->parameters[i].size;
    if (!fits)
        vptx_refuse(p, name, "call does not fit %s", f->name);
}

static void call_function(parser *p, instr *in)
{
    call c = {0};
    const token *name;
    const symbol *s;
    if (vptx_accept(p, "(")) {
        c.has_result = true;
        c.result = call_parameter(p);
        vptx_expect(p, ")");
        vptx_expect(p, ",");
    }
    name = p->at++;
    s = name->kind == 'w' ? vptx_lookup(p, name) : NULL;
    if (!s || s->kind != SYM_FUNCTION || FUNCTION(p, s->index)->is_entry)
        vptx_refuse(p, name, "call of '%.*s', no known function", (int)name->length, name->text);
    c.callee = s->index;
    arguments(p, &c);
    check_call(p, name, &c);
    in->target = p->calls.count;
    *(call *)vptx_grow(p, &p->calls, sizeof c) = c;
    in->op = strcmp(s->name, "__assertfail") == 0 ? OP_TRAP : OP_CALL;
    in->sub = 1;
    emit(p, in);
    if (in->op == OP_CALL) {
        in->op = OP_RESULT;
        emit(p, in);
    }
}

/* ---- barriers ---- */

static void take_barrier_words(parser *p)
{
    static const char *const words[] = {"cta", "aligned", "sync"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        vptx_take(p, words[i]);
}

/* sub: 0 for sync, else the reduction. s[1] is the number of threads, sources tells whether it is
 * there. */
static void barrier(parser *p, instr *in)
{
    const bool reduces = vptx_take(p, "red");
    in->op = OP_BAR;
    take_barrier_words(p);
    if (reduces) {
        in->sub = vptx_take(p, "popc")  ? 'p'
                  : vptx_take(p, "and") ? '&'
                  : vptx_take(p, "or")  ? '|'
                                        : 0;
        vptx_take_type(p);
        in->width = in->sub == 'p' ? 4 : 0;
        if (in->width)
            in->d[0] = vptx_destination(p, 4);
        else
            in->d[0] = vptx_predicate(p, NULL);
        vptx_expect(p, ",");
    }
    vptx_all_used(p);
    in->s[0] = vptx_row_operand(p, K_U32);
    in->sources = 1;
    if (reduces || vptx_is(p->at, ",")) {
        bool another;
        vptx_expect(p, ",");
        another = !reduces || p->at[1].kind == ',';
        if (another) {
            in->s[1] = vptx_row_operand(p, K_U32);
            in->sources = 2;
        }
        if (reduces && another)
            vptx_expect(p, ",");
    }
    if (reduces)
        in->s[2] = vptx_predicate(p, &in->combine_negated);
    emit(p, in);
}

static void warp_barrier(parser *p, instr *in)
{
    vptx_take(p, "warp");
    vptx_take(p, "sync");
    vptx_all_used(p);
    in->op = OP_WARPSYNC;
    in->s[3] = vptx_row_operand(p, K_U32);
    emit(p, in);
}

/* ---- exchanges within a warp ---- */

static void shuffle(parser *p, instr *in)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    vptx_take(p, "sync");
    vptx_take(p, "b32");
    for (uint32_t i = 0; i < 4; i++)
        if (vptx_take(p, modes[i]))
            in->sub = (uint8_t) "udbi"[i];
    vptx_all_used(p);
    in->op = OP_SHFL;
    in->width = 4;
    in->d[0] = vptx_destination(p, 4);
    if (vptx_accept(p, "|"))
        in->q = vptx_predicate(p, NULL);
    for (in->sources = 0; in->sources < 3; in->sources++) {
        vptx_expect(p, ",");
        in->s[in->sources] = vptx_row_operand(p, K_U32);
    }
    mask_operand(p, in);
    emit(p, in);
}

static void vote(parser *p, instr *in)
{
    in->op = OP_VOTE;
    in->sub = vptx_take(p, "ballot") ? 'b'
              : vptx_take(p, "all")  ? '&'
              : vptx_take(p, "any")  ? '|'
                                     : '=';
    vptx_take(p, "sync");
    vptx_take(p, in->sub == 'b' ? "b32" : "pred");
    if (in->sub == '=')
        vptx_take(p, "uni");
    vptx_all_used(p);
    in->width = in->sub == 'b' ? 4 : 0;
    if (in->width)
        in->d[0] = vptx_destination(p, 4);
    else
        in->d[0] = vptx_predicate(p, NULL);
    vptx_expect(p, ",");
    in->s[0] = vptx_predicate(p, &in->combine_negated);
    mask_operand(p, in);
    emit(p, in);
}

static void match(parser *p, instr *in)
{
    const bool wide = vptx_take(p, "b64");
    in->op = OP_MATCH;
    in->sub = vptx_take(p, "any") ? '|' : vptx_take(p, "all") ? '&' : 0;
    in->size = wide ? 8 : 4;
    in->width = 4;
    vptx_take(p, "b32");
    vptx_take(p, "sync");
    vptx_all_used(p);
    in->d[0] = vptx_destination(p, 4);
    if (vptx_accept(p, "|"))
        in->q = vptx_predicate(p, NULL);
    vptx_expect(p, ",");
    in->s[0] = vptx_row_operand(p, wide ? K_U64 : K_U32);
    in->sources = 1;
    mask_operand(p, in);
    emit(p, in);
}

static void reduction(parser *p, instr *in)
{
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    in->op = OP_REDUX;
    in->width = 4;
    vptx_take(p, "sync");
    in->is_signed = vptx_take(p, "s32");
    if (!in->is_signed && !vptx_take(p, "u32"))
        vptx_take(p, "b32");
    for (uint32_t i = 0; i < 6; i++)
        if (vptx_take(p, names[i]))
            in->sub = (uint8_t) "+mM&|^"[i];
    vptx_all_used(p);
    in->d[0] = vptx_destination(p, 4);
    vptx_expect(p, ",");
    in->s[0] = vptx_row_operand(p, K_U32);
    in->sources = 1;
    mask_operand(p, in);
    emit(p, in);
}

static void simple(parser *p, instr *in, opcode op)
{
    vptx_take(p, "uni");
    vptx_all_used(p);
    in->op = (uint8_t)op;
    emit(p, in);
}

bool vptx_decode_flow(parser *p, instr *in)
{
    const char *name = p->parts[0];
    const bool of_warp = p->part_count > 1 && strcmp(p->parts[1], "warp") == 0;
    if (strcmp(name, "bra") == 0 || strcmp(name, "brx") == 0) {
        vptx_take(p, "uni");
        branch(p, in, vptx_take(p, "idx"));
    } else if (strcmp(name, "call") == 0) {
        vptx_take(p, "uni");
        vptx_all_used(p);
        call_function(p, in);
    } else if (strcmp(name, "ret") == 0) {
        simple(p, in, p->f->is_entry ? OP_EXIT : OP_RET);
    } else if (strcmp(name, "exit") == 0) {
        simple(p, in, OP_EXIT);
    } else if (strcmp(name, "trap") == 0) {
        in->sub = 2;
        simple(p, in, OP_TRAP);
    } else if (of_warp && strcmp(name, "bar") == 0) {
        warp_barrier(p, in);
    } else if (strcmp(name, "bar") == 0 || strcmp(name, "barrier") == 0) {
        barrier(p, in);
    } else if (strcmp(name, "shfl") == 0) {
        shuffle(p, in);
    } else if (strcmp(name, "vote") == 0) {
        vote(p, in);
    } else if (strcmp(name, "match") == 0) {
        match(p, in);
    } else if (strcmp(name, "redux") == 0) {
        reduction(p, in);
    } else if (strcmp(name, "activemask") == 0) {
        in->width = 4;
        in->d[0] = vptx_destination(p, 4);
        in->op = OP_ACTIVEMASK;
        emit(p, in);
    } else {
        return false;
    }
    return true;
}
