/* Decoding of one instruction: guard, mnemonic, and everything whose result is a row or a mask:
 * arithmetic by table, mov, setp, selp, predicates. */
#include "parser.h"

#include <stdio.h>
#include <string.h>

/* ---- the frame of an instruction ---- */

static void split(parser *p)
{
    const token *t = p->op;
    uint32_t length = 0;
    memset(p->used, 0, sizeof p->used);
    p->part_count = 0;
    for (uint32_t i = 0; i <= t->length; i++) {
        if (i < t->length && t->text[i] != '.') {
            if (length + 1 == sizeof p->parts[0])
                vptx_refuse(p, t, "unknown instruction %.*s", (int)t->length, t->text);
            p->parts[p->part_count][length++] = t->text[i];
            continue;
        }
        p->parts[p->part_count++][length] = 0;
        length = 0;
        if (i < t->length && p->part_count == MAX_PARTS)
            vptx_refuse(p, t, "unknown instruction %.*s", (int)t->length, t->text);
    }
}

instr *vptx_emit(parser *p, opcode op)
{
    instr *in = vptx_grow(p, &p->code, sizeof *in);
    source_place *place = vptx_grow(p, &p->places, sizeof *place);
    *place = p->place;
    in->op = (uint8_t)op;
    in->line = p->op->line;
    in->function = p->function_index;
    return in;
}

/* The bits of float arithmetic must be IEEE's: say why the usual suspects are refused. */
static void refuse_inexact(parser *p)
{
    static const char *const open[] = {"add", "sub", "mul"};
    const char *why = NULL;
    bool rounded = false, is_float = false, suspect = false;
    for (uint32_t i = 1; i < p->part_count; i++) {
        if (strcmp(p->parts[i], "approx") == 0 || strcmp(p->parts[i], "ftz") == 0 ||
            strcmp(p->parts[i], "full") == 0)
            why = "the result depends on the hardware";
        rounded |= strcmp(p->parts[i], "rn") == 0;
        is_float |= strcmp(p->parts[i], "f32") == 0 || strcmp(p->parts[i], "f64") == 0;
    }
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        suspect |= strcmp(p->parts[0], open[i]) == 0;
    if (suspect && is_float && !rounded)
        why = "without .rn the assembler may fuse it";
    if (why)
        vptx_refuse(p, p->op, "%.*s refused: %s", (int)p->op->length, p->op->text, why);
}

void vptx_decode(parser *p)
{
    instr in;
    memset(&in, 0, sizeof in);
    p->op = p->at;
    if (vptx_accept(p, "@")) {
        in.negate = vptx_accept(p, "!");
        in.guard = vptx_predicate(p, NULL).reg;
    }
    p->op = p->at++;
    if (p->op->kind != 'w')
        vptx_refuse(p, p->op, "instruction expected, not '%.*s'", (int)p->op->length, p->op->text);
    split(p);
    refuse_inexact(p);
    p->used[0] = true;
    in.line = p->op->line;
    in.function = p->function_index;
    if (!vptx_decode_flow(p, &in) && !vptx_decode_memory(p, &in) && !vptx_decode_test(p, &in) &&
        !vptx_decode_alu(p, &in))
        vptx_refuse(p, p->op, "unknown instruction %.*s", (int)p->op->length, p->op->text);
    vptx_expect(p, ";");
}

/* ---- tables ---- */

bool vptx_lists(const char *types, const char *type)
{
    const size_t length = strlen(type);
    for (const char *at = length ? strstr(types, type) : NULL; at; at = strstr(at + 1, type))
        if ((at == types || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* The mnemonic with its modifiers, and the types, as the tables spell them. */
static void spell(const parser *p, const char *without, char op[64], char types[24])
{
    op[0] = types[0] = 0;
    for (uint32_t i = 0; i < p->part_count; i++) {
        const char *part = p->parts[i];
        const bool is_type = i && vptx_type_width(part, strlen(part));
        char *to = is_type ? types : op;
        const size_t room = is_type ? 24 : 64, used = strlen(to);
        if (strcmp(part, without) != 0)
            snprintf(to + used, room - used, "%s%s", used ? is_type ? "." : "_" : "", part);
    }
}

static const row_entry *find_row(const char *op, const char *types)
{
    static const row_entry *const tables[] = {vptx_rows_int, vptx_rows_bits, vptx_rows_float,
                                              vptx_rows_cvt};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const row_entry *e = tables[t]; e->op; e++)
            if (e->op[0] == op[0] && strcmp(e->op, op) == 0 && vptx_lists(e->types, types))
                return e;
    return NULL;
}

static const carry_entry *find_carry(const char *op, const char *types)
{
    for (const carry_entry *e = vptx_carries; e->op; e++)
        if (strcmp(e->op, op) == 0 && vptx_lists(e->types, types))
            return e;
    return NULL;
}

static void finish(parser *p, const instr *in)
{
    *vptx_emit(p, in->op) = *in;
}

static void row_instruction(parser *p, instr *in, const row_entry *e)
{
    in->op = OP_ROW;
    in->fn.row = e->fn;
    if (strcmp(e->op, "fma_rn") == 0)
        in->fn.row = vptx_fma_row(e->d == K_F64);
    in->width = (uint8_t)vptx_kind_width(e->d);
    in->is_float = vptx_kind_float(e->d);
    in->d[0] = vptx_destination(p, in->width);
    for (in->sources = 0; in->sources < 4 && e->s[in->sources]; in->sources++) {
        vptx_expect(p, ",");
        in->s[in->sources] = vptx_row_operand(p, e->s[in->sources]);
    }
    finish(p, in);
}

static void carry_instruction(parser *p, instr *in, const carry_entry *e, bool writes)
{
    in->op = OP_CARRY;
    in->fn.carry = e->fn;
    in->carry_out = writes;
    in->width = (uint8_t)vptx_kind_width(e->s);
    in->d[0] = vptx_destination(p, in->width);
    for (in->sources = 0; in->sources < e->sources; in->sources++) {
        vptx_expect(p, ",");
        in->s[in->sources] = vptx_row_operand(p, e->s);
    }
    finish(p, in);
}

/* ---- cvt between integers with registers of other widths ---- */

static bool resize_instruction(parser *p, instr *in)
{
    const char *to = vptx_take_type(p), *from = vptx_take_type(p);
    uint32_t from_bits, to_bits, from_register, to_register;
    const token *t;
    if (!to || !from || to[0] == 'f' || from[0] == 'f')
        return false;
    vptx_all_used(p);
    to_bits = 8 * vptx_type_width(to, strlen(to));
    from_bits = 8 * vptx_type_width(from, strlen(from));
    t = p->at++; /* the width of the destination is its register's */
    vptx_expect(p, ",");
    in->op = OP_ROW;
    in->s[0] = vptx_wide_operand(p, K_U64, &from_register);
    const token *end = p->at;
    p->at = t;
    vptx_wide_operand(p, K_U64, &to_register);
    p->at = t;
    in->width = (uint8_t)to_register;
    in->d[0] = vptx_destination(p, to_register);
    p->at = end;
    if (8 * to_register < to_bits || 8 * from_register < from_bits)
        vptx_refuse(p, t, "cvt: register too narrow");
    if (8 * to_register > to_bits && from_bits < to_bits && from[0] == 's')
        vptx_refuse(p, t, "cvt: two extensions at once");
    /* Truncated to the narrower type, then extended: from the source when it grows, else into the
     * register. */
    const bool grows = from_bits < to_bits;
    in->s[1] = vptx_constant(p, CONST_VALUE, 4, 0, 64 - (grows ? from_bits : to_bits));
    in->s[2] = vptx_constant(p, CONST_VALUE, 4, 0, (grows ? from : to)[0] == 's');
    in->sources = 3;
    in->fn.row = vptx_resize_row(to_register, from_register);
    finish(p, in);
    return true;
}

static bool natural_widths(parser *p, const row_entry *e)
{
    const token *start = p->at;
    uint32_t to, from;
    if (vptx_accept(p, "_"))
        to = vptx_kind_width(e->d);
    else
        vptx_wide_operand(p, e->d, &to);
    vptx_expect(p, ",");
    vptx_wide_operand(p, e->s[0], &from);
    p->at = start;
    return to == vptx_kind_width(e->d) && from == vptx_kind_width(e->s[0]);
}

/* ---- mov ---- */

static uint32_t vector(parser *p, operand *out, kind k, bool writes)
{
    uint32_t count = 0;
    vptx_expect(p, "{");
    do {
        if (count == 4)
            vptx_refuse(p, p->op, "vector too long");
        out[count++] = writes ? vptx_destination(p, vptx_kind_width(k)) : vptx_row_operand(p, k);
    } while (vptx_accept(p, ","));
    vptx_expect(p, "}");
    return count;
}

static kind part_kind(parser *p, uint32_t width, const token *brace)
{
    uint32_t commas = 0;
    for (const token *t = brace; t->kind && t->kind != '}'; t++)
        commas += t->kind == ',';
    width /= commas + 1;
    if (width != 2 && width != 4)
        vptx_refuse(p, p->op, "vector elements of %u bits are not supported", 8 * width);
    return width == 2 ? K_U16 : K_U32;
}

static void unpack(parser *p, instr *in, kind whole)
{
    const kind part = part_kind(p, vptx_kind_width(whole), p->at);
    in->op = OP_UNPACK;
    in->size = (uint8_t)vptx_kind_width(whole);
    in->width = (uint8_t)vptx_kind_width(part);
    vector(p, in->d, part, true);
    vptx_expect(p, ",");
    in->s[0] = vptx_row_operand(p, whole);
    in->sources = 1;
    finish(p, in);
}

static void move(parser *p, instr *in)
{
    const char *type = vptx_take_type(p);
    kind k;
    symbol *s;
    vptx_all_used(p);
    if (type && strcmp(type, "pred") == 0) {
        vptx_decode_predicate(p, in, '=');
        return;
    }
    k = vptx_kind_of(p, type ? type : "");
    if (vptx_is(p->at, "{")) {
        unpack(p, in, k);
        return;
    }
    in->op = OP_MOV;
    in->width = (uint8_t)vptx_kind_width(k);
    in->d[0] = vptx_destination(p, in->width);
    vptx_expect(p, ",");
    if (vptx_is(p->at, "{")) {
        const kind part = part_kind(p, in->width, p->at);
        in->op = OP_PACK;
        in->size = (uint8_t)vptx_kind_width(part);
        in->sources = (uint8_t)vector(p, in->s, part, false);
    } else if (vptx_accept(p, "%clock") || vptx_accept(p, "%clock64") ||
               vptx_accept(p, "%globaltimer")) {
        in->op = OP_CLOCK;
    } else if ((s = vptx_symbol_follows(p)) != NULL) {
        in->s[0] = vptx_symbol_operand(p, s, in->width);
        if (vptx_accept(p, "+"))
            vptx_refuse(p, p->op, "mov of an address with an offset is not supported");
    } else {
        in->s[0] = vptx_row_operand(p, k);
    }
    finish(p, in);
}

/* ---- all of them ---- */

bool vptx_decode_alu(parser *p, instr *in)
{
    const char *name = p->parts[0];
    char op[64], types[24];
    const row_entry *row;
    const carry_entry *carry;
    if (strcmp(name, "mov") == 0) {
        move(p, in);
    } else {
        const bool writes = vptx_take(p, "cc");
        spell(p, "cc", op, types);
        if (writes || strcmp(name, "addc") == 0 || strcmp(name, "subc") == 0 ||
            strcmp(name, "madc") == 0) {
            carry = find_carry(op, types);
            return carry ? carry_instruction(p, in, carry, writes), true : false;
        }
        row = find_row(op, types);
        if (strcmp(op, "cvt") == 0 && (!row || !natural_widths(p, row)))
            return resize_instruction(p, in);
        if (!row)
            return false;
        row_instruction(p, in, row);
    }
    return true;
}
