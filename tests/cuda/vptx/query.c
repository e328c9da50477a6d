/* What a loaded module says about itself: kernels, parameters, variables, coverage. */
#include "internal.h"

#include <string.h>

int vptx_target(const vptx_module *m)
{
    return m->target;
}

int vptx_version(const vptx_module *m)
{
    return m->version;
}

size_t vptx_variable_count(const vptx_module *m)
{
    return m->variable_count;
}

const vptx_variable *vptx_variable_at(const vptx_module *m, size_t index)
{
    return index < m->variable_count ? &m->variables[index] : NULL;
}

int vptx_place(vptx_module *m,
               int (*place)(void *user, const vptx_variable *variable, uint64_t *address),
               void *user)
{
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const int status = place(user, &m->variables[i], &m->variables[i].address);
        if (status)
            return status;
    }
    return 0;
}

const vptx_kernel *vptx_find(const vptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->kernel_count; i++)
        if (strcmp(m->functions[m->kernels[i].function].name, name) == 0)
            return &m->kernels[i];
    return NULL;
}

void vptx_query(const vptx_kernel *k, vptx_kernel_info *out)
{
    const function *f = &k->module->functions[k->function];
    *out =
        (vptx_kernel_info){f->name,        f->parameter_count, f->parameter_bytes, k->static_shared,
                           k->local_bytes, f->declared_words,  f->max_threads};
}

int vptx_query_parameter(const vptx_kernel *k, uint32_t index, vptx_parameter *out)
{
    const function *f = &k->module->functions[k->function];
    if (index >= f->parameter_count)
        return -1;
    *out = f->parameters[index];
    return 0;
}

uint32_t vptx_line_count(const vptx_module *m)
{
    return m->lines;
}

/* Instructions come in the order of their lines, and a call is two of one line. */
int vptx_coverage(const vptx_module *m, uint32_t line, vptx_line *out)
{
    uint32_t low = 0, high = m->code_count;
    const instr *in;
    const tally *t;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->code[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == m->code_count || m->code[low].line != line)
        return 0;
    in = &m->code[low];
    memset(out, 0, sizeof *out);
    out->function = m->functions[in->function].name;
    out->source_line = m->places[low].line;
    for (uint32_t i = 0; i < m->file_count; i++)
        if (m->files[i].number == m->places[low].file)
            out->source_file = m->files[i].name;
    t = &m->tallies[low];
    out->executed = t->executed;
    out->lanes = t->lanes;
    out->is_branch = in->op == OP_BRANCH && in->guard;
    out->taken = t->taken;
    out->not_taken = in->op == OP_BRANCH ? t->lanes - t->taken : 0;
    return 1;
}

const char *vptx_fault_name(vptx_fault_kind kind)
{
    static const char *const names[] = {"none",
                                        "bad launch",
                                        "illegal address",
                                        "misaligned address",
                                        "uninitialised",
                                        "race",
                                        "divergent barrier",
                                        "bad mask",
                                        "trap",
                                        "instruction limit",
                                        "unsupported",
                                        "out of memory"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}
