/* The instruction under decoding: its modifiers and operands. An operand becomes a row: a
 * register's own, or one that the function's list of constants fills at the launch. */
#include "parser.h"

#include <string.h>

/* ---- modifiers ---- */

bool vptx_take(parser *p, const char *modifier)
{
    for (uint32_t i = 0; i < p->part_count; i++) {
        if (!p->used[i] && strcmp(p->parts[i], modifier) == 0) {
            p->used[i] = true;
            return true;
        }
    }
    return false;
}

const char *vptx_take_type(parser *p)
{
    for (uint32_t i = 1; i < p->part_count; i++) {
        const char *part = p->parts[i];
        if (!p->used[i] && (vptx_type_width(part, strlen(part)) || strcmp(part, "pred") == 0)) {
            p->used[i] = true;
            return part;
        }
    }
    return NULL;
}

void vptx_all_used(parser *p)
{
    for (uint32_t i = 0; i < p->part_count; i++)
        if (!p->used[i])
            vptx_refuse(p, p->op, "%.*s: .%s is not supported", (int)p->op->length, p->op->text,
                        p->parts[i]);
}

kind vptx_kind_of(parser *p, const char *type)
{
    static const kind kinds[2][4] = {{K_U16, K_U32, K_U64}, {K_S16, K_S32, K_S64}};
    const uint32_t width = vptx_type_width(type, strlen(type));
    if (width < 2)
        vptx_refuse(p, p->op, "%.*s: a type of 16 to 64 bits expected", (int)p->op->length,
                    p->op->text);
    if (type[0] == 'f')
        return width == 4 ? K_F32 : K_F64;
    return kinds[type[0] == 's'][width / 4];
}

/* ---- rows ---- */

uint32_t vptx_new_row(parser *p, uint32_t width, uint32_t *reg)
{
    const uint32_t at = p->f->row_bytes;
    p->f->row_bytes += width * LANES;
    if (reg)
        *reg = p->f->registers++;
    return at;
}

operand vptx_constant(parser *p, constant_kind how, uint32_t width, uint32_t index, uint64_t value)
{
    constant *c;
    for (uint32_t i = 0; i < p->constants.count; i++) {
        c = AT(p, constants, constant, i);
        if (c->kind == how && c->width == width && c->index == index && c->value == value)
            return (operand){c->at, REG_TRUE};
    }
    c = vptx_grow(p, &p->constants, sizeof *c);
    c->kind = (uint8_t)how;
    c->width = (uint8_t)width;
    c->index = index;
    c->value = value;
    c->at = vptx_new_row(p, width, NULL);
    return (operand){c->at, REG_TRUE};
}

static bool special_register(const token *t, operand *out)
{
    static const char *const names[SR_COUNT] = {
        "%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",     "%ntid.y",   "%ntid.z",
        "%ctaid.x",     "%ctaid.y",     "%ctaid.z",     "%nctaid.x",   "%nctaid.y", "%nctaid.z",
        "%laneid",      "%warpid",      "%nwarpid",     "%smid",       "%nsmid",    "%lanemask_eq",
        "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};
    for (uint32_t i = 0; i < SR_COUNT; i++) {
        if (vptx_is(t, names[i])) {
            *out = (operand){i * 4 * LANES, REG_TRUE};
            return true;
        }
    }
    return false;
}

static operand declared_register(const symbol *s, const token *t)
{
    uint32_t number = 0;
    for (size_t i = strlen(s->name); s->count && i < t->length; i++)
        number = 10 * number + (uint32_t)(t->text[i] - '0');
    return (operand){s->at + number * s->width * LANES, s->reg + number};
}

/* A register, declared or special, with its width; false: something else, nothing taken. */
static bool register_operand(parser *p, operand *out, uint32_t *width)
{
    const token *t = p->at;
    const symbol *s = t->kind == 'w' ? vptx_lookup(p, t) : NULL;
    *width = 4;
    if (s && s->kind == SYM_ROW) {
        *out = declared_register(s, t);
        *width = s->width;
    } else if (t->kind != 'w' || !special_register(t, out)) {
        return false;
    }
    p->at++;
    return true;
}

operand vptx_wide_operand(parser *p, kind k, uint32_t *width)
{
    const token *t = p->at;
    operand result;
    if (vptx_literal_follows(p)) {
        const uint64_t value = vptx_literal(p, k);
        const uint32_t bits = 8 * vptx_kind_width(k);
        *width = vptx_kind_width(k);
        return vptx_constant(p, CONST_VALUE, *width, 0,
                             bits < 64 ? value & ((1ull << bits) - 1) : value);
    }
    if (!register_operand(p, &result, width))
        vptx_refuse(p, t, "%.*s: register or number expected, not '%.*s'", (int)p->op->length,
                    p->op->text, (int)t->length, t->text);
    return result;
}

operand vptx_row_operand(parser *p, kind k)
{
    const token *t = p->at;
    uint32_t width;
    const operand result = vptx_wide_operand(p, k, &width);
    if (width != vptx_kind_width(k))
        vptx_refuse(p, t, "%.*s: %.*s has %u bits", (int)p->op->length, p->op->text, (int)t->length,
                    t->text, 8 * width);
    return result;
}

operand vptx_destination(parser *p, uint32_t width)
{
    const token *t = p->at;
    operand result = {0, 0};
    uint32_t found;
    if (vptx_accept(p, "_")) {
        result.at = vptx_new_row(p, width, &result.reg);
        return result;
    }
    if (!register_operand(p, &result, &found) || result.reg < REG_FIRST)
        vptx_refuse(p, t, "%.*s: destination register expected", (int)p->op->length, p->op->text);
    if (found != width)
        vptx_refuse(p, t, "%.*s: %.*s has %u bits", (int)p->op->length, p->op->text, (int)t->length,
                    t->text, 8 * found);
    return result;
}

operand vptx_predicate(parser *p, bool *negated)
{
    const token *t = p->at;
    const bool bang = vptx_accept(p, "!");
    const symbol *s;
    uint32_t number = 0;
    if (bang && !negated)
        vptx_refuse(p, t, "no negation here");
    if (negated)
        *negated = bang;
    if (vptx_literal_follows(p))
        return (operand){0, vptx_literal(p, K_U32) ? REG_TRUE : REG_FALSE};
    t = p->at++;
    s = vptx_lookup(p, t);
    if (!s || s->kind != SYM_PREDICATE)
        vptx_refuse(p, t, "%.*s: predicate expected, not '%.*s'", (int)p->op->length, p->op->text,
                    (int)t->length, t->text);
    for (size_t i = strlen(s->name); s->count && i < t->length; i++)
        number = 10 * number + (uint32_t)(t->text[i] - '0');
    return (operand){0, s->reg + number};
}

symbol *vptx_symbol_follows(parser *p)
{
    symbol *s = p->at->kind == 'w' ? vptx_lookup(p, p->at) : NULL;
    if (!s || (s->kind != SYM_GLOBAL && s->kind != SYM_SHARED && s->kind != SYM_LOCAL &&
               s->kind != SYM_PARAM))
        return NULL;
    p->at++;
    return s;
}

operand vptx_symbol_operand(parser *p, symbol *s, uint32_t width)
{
    if (width < 4 || (s->kind == SYM_GLOBAL && width != 8))
        vptx_refuse(p, p->op, "the address of %s needs a wider register", s->name);
    if (s->kind == SYM_PARAM)
        return vptx_constant(p, CONST_VALUE, width, 0, s->at);
    if (s->kind == SYM_LOCAL)
        return vptx_constant(p, CONST_LOCAL, width, s->index, s->at);
    return vptx_constant(p, s->kind == SYM_GLOBAL ? CONST_GLOBAL : CONST_SHARED, width, s->index,
                         0);
}
