/* Declarations: registers, variables of all state spaces, their sizes and initial values. */
#include "parser.h"

#include <string.h>

uint32_t vptx_type_width(const char *type, size_t length)
{
    static const struct {
        const char *name;
        uint32_t width;
    } types[] = {{"b8", 1},  {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2},
                 {"s16", 2}, {"b32", 4}, {"u32", 4}, {"s32", 4}, {"b64", 8},
                 {"u64", 8}, {"s64", 8}, {"f32", 4}, {"f64", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, type, length) == 0)
            return types[i].width;
    return 0;
}

static void attribute(parser *p, declared *d)
{
    const token *t = p->at;
    const uint32_t width = vptx_type_width(t->text + 1, t->length - 1);
    if (vptx_accept(p, ".align")) {
        d->align = vptx_small(p);
    } else if (vptx_accept(p, ".ptr")) { /* about what the pointer points to */
        while (vptx_is(p->at, ".global") || vptx_is(p->at, ".const") || vptx_is(p->at, ".shared") ||
               vptx_is(p->at, ".local"))
            p->at++;
        if (vptx_accept(p, ".align"))
            vptx_small(p);
    } else if (vptx_accept(p, ".v2")) {
        d->count *= 2;
    } else if (vptx_accept(p, ".v4")) {
        d->count *= 4;
    } else if (vptx_accept(p, ".pred")) {
        d->is_pred = true;
    } else if (width) {
        d->element = width;
        d->is_float = t->text[1] == 'f';
        p->at++;
    } else {
        vptx_refuse(p, t, "unknown attribute or type %.*s", (int)t->length, t->text);
    }
}

void vptx_declare(parser *p, declared *d)
{
    uint64_t count;
    memset(d, 0, sizeof *d);
    d->count = 1;
    while (p->at->kind == 'w' && p->at->text[0] == '.')
        attribute(p, d);
    d->name = p->at;
    if (p->at++->kind != 'w' || (!d->element && !d->is_pred))
        vptx_refuse(p, d->name, "declaration without a type or a name");
    if (d->align < d->element)
        d->align = d->element;
    if (d->align & (d->align - 1))
        vptx_refuse(p, d->name, "alignment %u is no power of two", d->align);
    count = d->count;
    if (vptx_accept(p, "<")) {
        d->registers = vptx_small(p);
        vptx_expect(p, ">");
    }
    while (vptx_accept(p, "[")) {
        d->is_array = true;
        count = vptx_is(p->at, "]") ? 0 : count * vptx_small(p);
        if (count * d->element > 0x7fffffff)
            vptx_refuse(p, d->name, "variable too large");
        vptx_expect(p, "]");
    }
    d->count = (uint32_t)count;
}

void vptx_registers_statement(parser *p)
{
    declared d;
    vptx_declare(p, &d);
    for (;;) {
        symbol *s = vptx_add_symbol(p, d.name, d.is_pred ? SYM_PREDICATE : SYM_ROW);
        const uint32_t many = d.registers ? d.registers : 1;
        if (!d.is_pred && (d.element < 2 || d.count != 1))
            vptx_refuse(p, d.name,
                        "registers of 8 bits and vectors of registers are not supported");
        s->count = d.registers;
        s->width = d.element;
        s->at = p->f->row_bytes;
        s->reg = p->f->registers;
        p->f->row_bytes += many * d.element * LANES;
        p->f->registers += many;
        p->f->declared_words += many * (d.element == 8 ? 2 : d.element ? 1 : 0);
        if (!vptx_accept(p, ","))
            break;
        d.name = p->at++;
        d.registers = 0;
        if (vptx_accept(p, "<")) {
            d.registers = vptx_small(p);
            vptx_expect(p, ">");
        }
    }
    vptx_expect(p, ";");
}

uint32_t vptx_reserve_local(parser *p, const declared *d)
{
    const uint32_t offset = (p->f->local_bytes + d->align - 1) & ~(d->align - 1);
    const uint64_t end = (uint64_t)offset + (uint64_t)d->count * d->element;
    if (end > 512 * 1024)
        vptx_refuse(p, d->name, "more than 512 KiB of local memory");
    p->f->local_bytes = (uint32_t)end;
    return offset;
}

static void *initial_value(parser *p, const declared *d)
{
    unsigned char *image = vptx_allocate(p, (size_t)d->count * d->element);
    const kind k = !d->is_float ? K_U64 : d->element == 4 ? K_F32 : K_F64;
    const bool braces = vptx_accept(p, "{");
    uint32_t i = 0;
    do {
        uint64_t bits;
        if (!vptx_literal_follows(p))
            vptx_refuse(p, p->at, "only a flat list of numbers can be an initial value");
        if (i == d->count)
            vptx_refuse(p, p->at, "more initial values than elements");
        bits = vptx_literal(p, k);
        memcpy(image + (size_t)i++ * d->element, &bits, d->element);
    } while (braces && vptx_accept(p, ","));
    if (braces)
        vptx_expect(p, "}");
    return image;
}

static void module_variable(parser *p, const declared *d, bool is_const)
{
    vptx_variable *v;
    symbol *s = vptx_add_symbol(p, d->name, SYM_GLOBAL);
    s->index = p->variables.count;
    v = vptx_grow(p, &p->variables, sizeof *v);
    v->name = vptx_name(p, d->name);
    v->size = (uint64_t)d->count * d->element;
    v->align = d->align;
    v->is_const = is_const;
    if (vptx_accept(p, "="))
        v->image = initial_value(p, d);
}

static void shared_declaration(parser *p, const declared *d)
{
    shared_variable *v;
    symbol *s = vptx_add_symbol(p, d->name, SYM_SHARED);
    s->index = p->shared.count;
    v = vptx_grow(p, &p->shared, sizeof *v);
    v->size = d->count * d->element;
    v->align = d->align;
    v->dynamic = d->count == 0;
}

static void local_declaration(parser *p, const declared *d)
{
    const uint32_t offset = vptx_reserve_local(p, d);
    symbol *s = vptx_add_symbol(p, d->name, SYM_LOCAL);
    s->at = offset;
    s->size = d->count * d->element;
    s->index = p->function_index;
}

void vptx_variable_statement(parser *p, bool is_extern, bool in_function)
{
    const token *space = p->at++;
    declared d;
    if (!vptx_is(space, ".global") && !vptx_is(space, ".const") && !vptx_is(space, ".shared") &&
        !(in_function && (vptx_is(space, ".local") || vptx_is(space, ".param"))))
        vptx_refuse(p, space, "unknown statement %.*s", (int)space->length, space->text);
    vptx_declare(p, &d);
    if (d.is_pred || d.registers)
        vptx_refuse(p, d.name, "not the declaration of a variable");
    if (vptx_is(space, ".shared"))
        shared_declaration(p, &d);
    else if (is_extern || !d.count)
        vptx_refuse(p, d.name, "variable of another module, or without a size");
    else if (vptx_is(space, ".global") || vptx_is(space, ".const"))
        module_variable(p, &d, vptx_is(space, ".const"));
    else
        local_declaration(p, &d);
    vptx_expect(p, ";");
}
