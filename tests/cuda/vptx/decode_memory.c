/* Decoding of what touches memory: ld, st, atom, red, cvta, fences. */
#include "parser.h"

#include <string.h>

/* How strong an access is does not matter: a launch executes one instruction at a time. */
static void take_ordering(parser *p)
{
    static const char *const ignored[] = {"volatile", "weak", "relaxed", "acquire", "release",
                                          "acq_rel",  "cta",  "cluster", "gpu",     "sys",
                                          "nc",       "ca",   "cg",      "cs",      "lu",
                                          "cv",       "wb",   "wt",      "uni"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        vptx_take(p, ignored[i]);
}

static space take_space(parser *p)
{
    if (vptx_take(p, "global") || vptx_take(p, "const"))
        return SPACE_GLOBAL;
    if (vptx_take(p, "shared"))
        return SPACE_SHARED;
    if (vptx_take(p, "local"))
        return SPACE_LOCAL;
    if (vptx_take(p, "param")) /* those of a .func live in its frame */
        return p->f->is_entry ? SPACE_PARAM : SPACE_LOCAL;
    return SPACE_GENERIC;
}

/* [register + number], [variable + number], [number] */
static void address(parser *p, instr *in)
{
    symbol *s;
    uint32_t width = 8;
    vptx_expect(p, "[");
    if ((s = vptx_symbol_follows(p)) != NULL) {
        in->s[0] = vptx_symbol_operand(p, s, 8);
        if (in->space == SPACE_PARAM && s->kind == SYM_LOCAL) /* an argument or result of a call */
            in->space = SPACE_LOCAL;
    } else if (vptx_literal_follows(p)) {
        in->s[0] = vptx_row_operand(p, K_U64);
    } else {
        in->s[0] = vptx_wide_operand(p, K_U64, &width);
    }
    if (width < 4)
        vptx_refuse(p, p->op, "address in a 16-bit register");
    in->address_width = (uint8_t)width;
    if (vptx_is(p->at, "+") || vptx_is(p->at, "-")) {
        p->at += vptx_is(p->at, "+");
        in->imm = (int64_t)vptx_literal(p, K_U64);
    }
    vptx_expect(p, "]");
}

static operand value(parser *p, instr *in, kind k, bool writes)
{
    const token *t = p->at;
    uint32_t width = vptx_kind_width(k);
    operand result;
    if (vptx_accept(p, "_") && writes) { /* not wanted: as wide as its neighbours, or as the type */
        width = in->width ? in->width : width;
        result.at = vptx_new_row(p, width, &result.reg);
    } else {
        result = vptx_wide_operand(p, k, &width);
    }
    if (width < vptx_kind_width(k) || (writes && result.reg < REG_FIRST))
        vptx_refuse(p, t, "%.*s: register does not fit", (int)p->op->length, p->op->text);
    if (in->width && width != in->width)
        vptx_refuse(p, t, "%.*s: registers of different widths", (int)p->op->length, p->op->text);
    in->width = (uint8_t)width;
    return result;
}

static void values(parser *p, instr *in, operand *out, kind k, bool writes)
{
    if (!vptx_accept(p, "{")) {
        out[0] = value(p, in, k, writes);
        in->sources = 1;
        return;
    }
    do {
        if (in->sources == 4)
            vptx_refuse(p, p->op, "vector too long");
        out[in->sources++] = value(p, in, k, writes);
    } while (vptx_accept(p, ","));
    vptx_expect(p, "}");
}

static void load_or_store(parser *p, instr *in, bool is_load)
{
    const char *type = vptx_take_type(p);
    const uint32_t vector = vptx_take(p, "v2") ? 2 : vptx_take(p, "v4") ? 4 : 1;
    kind k;
    if (!type || strcmp(type, "pred") == 0)
        vptx_refuse(p, p->op, "type expected");
    in->space = (uint8_t)take_space(p);
    take_ordering(p);
    vptx_all_used(p);
    in->op = is_load ? OP_LOAD : OP_STORE;
    in->size = (uint8_t)vptx_type_width(type, strlen(type));
    in->is_signed = type[0] == 's';
    /* Bytes: immediates become 16-bit rows; registers may be of any width. */
    k = in->size == 1 ? K_U16 : vptx_kind_of(p, type);
    if (is_load) {
        values(p, in, in->d, k, true);
        vptx_expect(p, ",");
        address(p, in);
    } else {
        address(p, in);
        vptx_expect(p, ",");
        values(p, in, in->s + 1, k, false);
    }
    if (in->sources != vector)
        vptx_refuse(p, p->op, "vector of another length than its suffix");
    if (type[0] == 'f' && in->width != in->size)
        vptx_refuse(p, p->op, "register wider than the float");
    *vptx_emit(p, in->op) = *in;
}

static void atomic(parser *p, instr *in, bool has_result)
{
    static const char *const names[] = {"add", "min",  "max", "and", "or",
                                        "xor", "exch", "cas", "inc", "dec"};
    const char *type = vptx_take_type(p);
    kind k;
    if (!type || type[0] == 'f')
        vptx_refuse(p, p->op, "%.*s refused: only integer atomics do not depend on the order",
                    (int)p->op->length, p->op->text);
    in->space = (uint8_t)take_space(p);
    take_ordering(p);
    for (uint32_t i = 0; i < sizeof names / sizeof *names && !in->sub; i++)
        if (vptx_take(p, names[i]))
            in->sub = (uint8_t) "+mM&|^=cid"[i];
    vptx_all_used(p);
    k = vptx_kind_of(p, type);
    in->op = OP_ATOM;
    in->size = (uint8_t)vptx_kind_width(k);
    in->is_signed = type[0] == 's';
    if (!in->sub || in->size < 4 || ((in->sub == 'i' || in->sub == 'd') && k != K_U32))
        vptx_refuse(p, p->op, "unknown instruction %.*s", (int)p->op->length, p->op->text);
    if (has_result) {
        in->width = in->size;
        in->d[0] = vptx_destination(p, in->width);
        vptx_expect(p, ",");
    }
    address(p, in);
    for (in->sources = 1; in->sources < (in->sub == 'c' ? 3 : 2); in->sources++) {
        vptx_expect(p, ",");
        in->s[in->sources] = vptx_row_operand(p, k);
    }
    *vptx_emit(p, in->op) = *in;
}

/* Global addresses are generic ones; the other spaces have a window each. */
static void convert_address(parser *p, instr *in)
{
    const bool to = vptx_take(p, "to");
    const space from = take_space(p);
    static const uint64_t windows[] = {0, 0, SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW};
    const uint64_t window = to ? 0 - windows[from] : windows[from];
    const char *type = vptx_take_type(p);
    symbol *s;
    if (!type || vptx_type_width(type, strlen(type)) != 8 || from == SPACE_GENERIC)
        vptx_refuse(p, p->op, "unknown instruction %.*s", (int)p->op->length, p->op->text);
    vptx_all_used(p);
    in->op = window ? OP_ROW : OP_MOV;
    in->width = 8;
    in->d[0] = vptx_destination(p, 8);
    vptx_expect(p, ",");
    if ((s = vptx_symbol_follows(p)) != NULL)
        in->s[0] = vptx_symbol_operand(p, s, 8);
    else
        in->s[0] = vptx_row_operand(p, K_U64);
    in->s[1] = vptx_constant(p, CONST_VALUE, 8, 0, window);
    in->sources = 2;
    in->fn.row = vptx_add_row();
    *vptx_emit(p, in->op) = *in;
}

bool vptx_decode_memory(parser *p, instr *in)
{
    const char *name = p->parts[0];
    if (strcmp(name, "ld") == 0 || strcmp(name, "ldu") == 0 || strcmp(name, "st") == 0)
        load_or_store(p, in, name[0] == 'l');
    else if (strcmp(name, "atom") == 0 || strcmp(name, "red") == 0)
        atomic(p, in, name[0] == 'a');
    else if (strcmp(name, "cvta") == 0)
        convert_address(p, in);
    else if (strcmp(name, "membar") == 0 || strcmp(name, "fence") == 0)
        vptx_emit(p, OP_NOP)->guard = in->guard;
    else
        return false;
    return true;
}
