/* After parsing: where the registers, frames and shared variables of each kernel lie. Functions
 * that are called have registers and frames of their own, apart from their callers' (there is no
 * recursion), and all kernels overlay each other behind them. */
#include "parser.h"

static void shift(operand *o, const function *f)
{
    if (o->at >= SR_BYTES)
        o->at += f->row_base;
    if (o->reg >= REG_FIRST)
        o->reg += f->register_base;
}

static void relocate(vptx_module *m, const function *f)
{
    for (uint32_t i = 0; i < f->constant_count; i++)
        f->constants[i].at += f->row_base;
    for (uint32_t i = f->begin; i < f->end; i++) {
        instr *in = &m->code[i];
        if (in->guard >= REG_FIRST)
            in->guard += f->register_base;
        for (int j = 0; j < 4; j++)
            shift(&in->d[j], f);
        for (int j = 0; j < 5; j++)
            shift(&in->s[j], f);
        shift(&in->q, f);
    }
}

static void place_registers(vptx_module *m)
{
    uint32_t rows = 0, registers = 0;
    for (int entries = 0; entries < 2; entries++) {
        for (uint32_t i = 0; i < m->function_count; i++) {
            function *f = &m->functions[i];
            if (f->is_entry != entries || !f->has_body)
                continue;
            f->row_base = rows;
            f->register_base = registers;
            relocate(m, f);
            if (!f->is_entry) {
                rows += f->row_bytes - SR_BYTES;
                registers += f->registers - REG_FIRST;
            }
        }
    }
}

/* Marks what the function calls, frames included; the depth of its call tree. */
static uint32_t reach(parser *p, vptx_kernel *k, uint32_t index, uint32_t depth)
{
    vptx_module *m = p->m;
    const function *f = &m->functions[index];
    uint32_t deepest = depth;
    if (depth == MAX_DEPTH)
        vptx_refuse(p, p->at, "calls of %s too deep or recursive", m->functions[k->function].name);
    if (!k->reached[index]) {
        k->reached[index] = true;
        k->frame_base[index] = k->local_bytes;
        k->local_bytes = (k->local_bytes + f->local_bytes + 15) & ~15u;
    }
    for (uint32_t i = f->begin; i < f->end; i++) {
        if (m->code[i].op == OP_CALL) {
            const uint32_t callee = m->calls[m->code[i].target].callee;
            uint32_t below;
            if (!m->functions[callee].has_body)
                vptx_refuse(p, p->at, "%s, called on line %u, is not in the module",
                            m->functions[callee].name, m->code[i].line);
            below = reach(p, k, callee, depth + 1);
            deepest = below > deepest ? below : deepest;
        }
    }
    return deepest;
}

#define UNPLACED 0xffffffffu

static void place_shared(parser *p, vptx_kernel *k)
{
    const vptx_module *m = p->m;
    for (uint32_t i = 0; i < m->shared_count; i++)
        k->shared_offset[i] = UNPLACED;
    for (uint32_t f = 0; f < m->function_count; f++) {
        for (uint32_t i = 0; k->reached[f] && i < m->functions[f].constant_count; i++) {
            const constant *c = &m->functions[f].constants[i];
            const shared_variable *v = &m->shared[c->index];
            if (c->kind != CONST_SHARED || v->dynamic || k->shared_offset[c->index] != UNPLACED)
                continue;
            k->shared_offset[c->index] = (k->static_shared + v->align - 1) & ~(v->align - 1);
            k->static_shared = k->shared_offset[c->index] + v->size;
        }
    }
    for (uint32_t i = 0; i < m->shared_count; i++) /* dynamic memory begins behind the variables */
        if (m->shared[i].dynamic)
            k->shared_offset[i] = (k->static_shared + 15) & ~15u;
}

static void make_kernel(parser *p, uint32_t index)
{
    vptx_module *m = p->m;
    vptx_kernel *k = &m->kernels[m->kernel_count++];
    k->module = m;
    k->function = index;
    k->reached = vptx_allocate(p, m->function_count * sizeof *k->reached);
    k->frame_base = vptx_allocate(p, m->function_count * sizeof *k->frame_base);
    k->shared_offset = vptx_allocate(p, m->shared_count * sizeof *k->shared_offset);
    k->depth = reach(p, k, index, 0);
    place_shared(p, k);
}

/* Cells of four bytes are enough unless some access to shared memory is smaller. */
static uint32_t granule(const vptx_module *m)
{
    for (uint32_t i = 0; i < m->code_count; i++) {
        const instr *in = &m->code[i];
        if ((in->op == OP_LOAD || in->op == OP_STORE) && in->size < 4 &&
            (in->space == SPACE_SHARED || in->space == SPACE_GENERIC))
            return 1;
    }
    return 4;
}

void vptx_layout(parser *p)
{
    vptx_module *m = p->m;
    m->kernels = vptx_allocate(p, m->function_count * sizeof *m->kernels);
    vptx_pack_rows(p);
    place_registers(m);
    for (uint32_t i = 0; i < m->function_count; i++)
        if (m->functions[i].is_entry && m->functions[i].has_body)
            make_kernel(p, i);
    m->granule = granule(m);
    m->tallies = vptx_allocate(p, m->code_count * sizeof *m->tallies);
}
