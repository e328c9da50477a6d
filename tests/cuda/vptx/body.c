/* Functions: parameters, the statements of a body, scopes and labels. */
#include "parser.h"

#include <string.h>

/* ---- heads ---- */

static uint32_t align_up(uint32_t x, uint32_t align)
{
    return (x + align - 1) & ~(align - 1);
}

/* One parameter of a kernel (an offset in the launch's buffer) or of a function (one in its frame).
 */
static void parameter(parser *p, vptx_parameter *out)
{
    declared d;
    symbol *s;
    vptx_expect(p, ".param");
    vptx_declare(p, &d);
    if (!d.count || d.is_pred || d.registers)
        vptx_refuse(p, d.name, "parameter of unknown size");
    out->size = d.count * d.element;
    out->align = d.align;
    s = vptx_add_symbol(p, d.name, p->f->is_entry ? SYM_PARAM : SYM_LOCAL);
    if (p->f->is_entry) {
        out->offset = align_up(p->f->parameter_bytes, d.align);
        p->f->parameter_bytes = out->offset + out->size;
    } else {
        out->offset = vptx_reserve_local(p, &d);
    }
    s->at = out->offset;
    s->size = out->size;
    s->index = p->function_index;
}

static void parameter_list(parser *p)
{
    growth list = {0};
    if (!vptx_accept(p, "("))
        return;
    while (!vptx_accept(p, ")")) {
        parameter(p, vptx_grow(p, &list, sizeof(vptx_parameter)));
        if (!vptx_is(p->at, ")"))
            vptx_expect(p, ",");
    }
    p->f->parameters = list.items;
    p->f->parameter_count = list.count;
}

static void directives(parser *p)
{
    p->f->max_threads = 1024;
    while (p->at->kind == 'w' && p->at->text[0] == '.') {
        const bool threads = vptx_is(p->at, ".maxntid") || vptx_is(p->at, ".reqntid");
        uint32_t product = 1;
        if (!threads && !vptx_is(p->at, ".minnctapersm") && !vptx_is(p->at, ".maxnreg") &&
            !vptx_is(p->at, ".noreturn"))
            vptx_refuse(p, p->at, "unknown directive %.*s", (int)p->at->length, p->at->text);
        p->at++;
        while (p->at->kind == 'n') {
            product *= vptx_small(p);
            vptx_accept(p, ",");
        }
        if (threads)
            p->f->max_threads = product;
    }
}

/* Takes the name; the function may have been declared before. */
static void enter_function(parser *p, const token *name, bool is_entry)
{
    symbol *s = vptx_lookup(p, name);
    if (name->kind != 'w' || (s && (s->kind != SYM_FUNCTION || FUNCTION(p, s->index)->has_body)))
        vptx_refuse(p, name, "%.*s is no new name", (int)name->length, name->text);
    if (!s) {
        s = vptx_add_symbol(p, name, SYM_FUNCTION);
        s->index = p->functions.count;
        vptx_grow(p, &p->functions, sizeof(function));
    }
    p->function_index = s->index;
    p->f = FUNCTION(p, s->index);
    memset(p->f, 0, sizeof *p->f);
    p->f->name = s->name;
    p->f->is_entry = is_entry;
    p->f->row_bytes = SR_BYTES;
    p->f->registers = REG_FIRST;
}

/* ---- bodies ---- */

static void location(parser *p)
{
    const uint32_t line = p->at->line;
    p->place.file = vptx_small(p);
    p->place.line = vptx_small(p);
    while (p->at->kind && p->at->line == line)
        p->at++;
}

/* Turns the label just before into the name of a table. */
static void branch_targets(parser *p)
{
    const token *first = p->at;
    symbol *name;
    branch_table *table;
    uint32_t count = 0;
    if (!p->labels.count)
        vptx_refuse(p, p->at, ".branchtargets without a label");
    do {
        p->at++;
        count++;
    } while (vptx_accept(p, ","));
    name = AT(p, labels, symbol, p->labels.count - 1);
    name->is_table = true;
    name->index = p->tables.count;
    table = vptx_grow(p, &p->tables, sizeof *table);
    table->count = count;
    table->targets = vptx_allocate(p, count * sizeof *table->targets);
    for (uint32_t i = 0; i < count; i++) {
        fixup *fix = vptx_grow(p, &p->fixups, sizeof *fix);
        fix->target = &table->targets[i];
        fix->label = first + 2 * i;
    }
    vptx_expect(p, ";");
}

static void label(parser *p)
{
    symbol *s;
    for (uint32_t i = 0; i < p->labels.count; i++)
        if (vptx_is(p->at, AT(p, labels, symbol, i)->name))
            vptx_refuse(p, p->at, "label defined twice");
    s = vptx_grow(p, &p->labels, sizeof *s);
    s->name = vptx_name(p, p->at);
    s->kind = SYM_LABEL;
    s->index = p->code.count;
    p->at += 2;
}

static void scope(parser *p);

static void body_statement(parser *p)
{
    if (vptx_is(p->at, "{"))
        scope(p);
    else if (p->at->kind == 'w' && p->at[1].kind == ':')
        label(p);
    else if (vptx_accept(p, ".reg"))
        vptx_registers_statement(p);
    else if (vptx_accept(p, ".loc"))
        location(p);
    else if (vptx_accept(p, ".pragma"))
        p->at += 2;
    else if (vptx_accept(p, ".branchtargets"))
        branch_targets(p);
    else if (p->at->kind == 'w' && p->at->text[0] == '.')
        vptx_variable_statement(p, false, true);
    else if (!vptx_accept(p, ";"))
        vptx_decode(p);
}

static void scope(parser *p)
{
    const uint32_t outer = p->symbols.count;
    vptx_expect(p, "{");
    while (!vptx_is(p->at, "}")) {
        if (!p->at->kind)
            vptx_refuse(p, p->at, "end of file in a function");
        body_statement(p);
    }
    p->at++;
    p->symbols.count = outer;
}

static void resolve_labels(parser *p)
{
    for (uint32_t i = 0; i < p->fixups.count; i++) {
        const fixup *fix = AT(p, fixups, fixup, i);
        const symbol *found = NULL;
        for (uint32_t j = 0; j < p->labels.count && !found; j++)
            if (vptx_is(fix->label, AT(p, labels, symbol, j)->name))
                found = AT(p, labels, symbol, j);
        if (!found || found->is_table != fix->wants_table)
            vptx_refuse(p, fix->label, "unknown label %.*s", (int)fix->label->length,
                        fix->label->text);
        if (fix->target)
            *fix->target = found->index;
        else
            AT(p, code, instr, fix->at)->target = found->index;
    }
}

static void body(parser *p)
{
    memset(&p->constants, 0, sizeof p->constants);
    memset(&p->labels, 0, sizeof p->labels);
    memset(&p->fixups, 0, sizeof p->fixups);
    memset(&p->place, 0, sizeof p->place);
    p->f->has_body = true;
    p->f->begin = p->code.count;
    scope(p);
    p->op = p->at - 1;
    vptx_emit(p, OP_TRAP); /* for control that falls off the end */
    p->f->end = p->code.count;
    p->f->constants = p->constants.items;
    p->f->constant_count = p->constants.count;
    resolve_labels(p);
}

/* The result is written before the name, but is a variable of the function. */
static void result_parameter(parser *p, const token *result)
{
    const token *back = p->at;
    vptx_parameter out;
    p->at = result;
    parameter(p, &out);
    vptx_expect(p, ")");
    p->at = back;
    p->f->has_result = true;
    p->f->result = (piece){out.offset, out.size};
}

void vptx_function_statement(parser *p, bool is_entry)
{
    const token *result = NULL;
    uint32_t outer;
    if (!is_entry && vptx_accept(p, "(")) {
        result = p->at;
        while (p->at->kind && !vptx_accept(p, ")"))
            p->at++;
    }
    enter_function(p, p->at++, is_entry);
    outer = p->symbols.count;
    if (result)
        result_parameter(p, result);
    parameter_list(p);
    directives(p);
    if (!vptx_accept(p, ";"))
        body(p);
    p->symbols.count = outer;
    p->f = NULL;
}
