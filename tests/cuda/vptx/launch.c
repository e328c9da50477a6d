/* A launch: checks, memory of a block, the order of blocks and warps, barriers of the block. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t __attribute__((may_alias)) u32;

/* ---- checks ---- */

static const char *refuse(const vptx_kernel *k, const vptx_launch_config *c, uint64_t shared)
{
    const vptx_module *m = k->module;
    const uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    for (int i = 0; i < 3; i++)
        if (!c->grid[i] || !c->block[i] || c->grid[i] > (i ? 65535u : 0x7fffffffu))
            return "grid or block of a size that no device takes";
    if ((uint64_t)c->grid[0] * c->grid[1] > 0x7fffffffu / c->grid[2])
        return "grid of more than 2^31 blocks";
    if (c->block[2] > 64 || c->block[0] > 1024 || c->block[1] > 1024 || threads > 1024)
        return "more than 1024 threads in a block";
    if (threads > m->functions[k->function].max_threads)
        return "more threads than .maxntid of the kernel";
    if (shared > (c->shared_limit ? c->shared_limit : 232448))
        return "more shared memory than the limit";
    if (m->functions[k->function].parameter_bytes && !c->parameters)
        return "no parameters";
    for (uint32_t i = 0; i < m->variable_count; i++)
        if (!m->variables[i].address)
            return "module variables not placed";
    return NULL;
}

/* ---- memory ---- */

#define FILL(type)                                                                                 \
    for (uint32_t lane = 0; lane < LANES; lane++)                                                  \
    ((type __attribute__((may_alias)) *)(void *)row)[lane] = (type)value

static void fill(unsigned char *row, uint32_t width, uint64_t value)
{
    if (width == 8)
        FILL(uint64_t);
    else if (width == 4)
        FILL(uint32_t);
    else
        FILL(uint16_t);
}

static uint64_t constant_value(const launch *l, const constant *c)
{
    switch ((constant_kind)c->kind) {
    case CONST_GLOBAL:
        return c->value + l->module->variables[c->index].address;
    case CONST_SHARED:
        return c->value + l->kernel->shared_offset[c->index];
    case CONST_LOCAL:
        return c->value + l->kernel->frame_base[c->index];
    default:
        return c->value;
    }
}

static void fill_constants(const launch *l, warp *w)
{
    for (uint32_t f = 0; f < l->module->function_count; f++) {
        const function *owner = &l->module->functions[f];
        for (uint32_t i = 0; l->kernel->reached[f] && i < owner->constant_count; i++) {
            const constant *c = &owner->constants[i];
            fill(w->rows + c->at, c->width, constant_value(l, c));
        }
    }
}

static void set_special(warp *w, uint32_t which, uint32_t value)
{
    fill(w->rows + which * 4 * LANES, 4, value);
}

static void fill_launch_registers(const launch *l, warp *w)
{
    const vptx_launch_config *c = l->config;
    u32 *rows = (u32 *)(void *)w->rows;
    for (uint32_t i = 0; i < 3; i++) {
        set_special(w, SR_NTID_X + i, c->block[i]);
        set_special(w, SR_NCTAID_X + i, c->grid[i]);
    }
    set_special(w, SR_WARPID, w->index);
    set_special(w, SR_NWARPID, l->warp_count);
    set_special(w, SR_NSMID, c->sm_count ? c->sm_count : 1);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t t = w->index * LANES + lane, own = 1u << lane;
        rows[SR_TID_X * LANES + lane] = t % c->block[0];
        rows[SR_TID_Y * LANES + lane] = t / c->block[0] % c->block[1];
        rows[SR_TID_Z * LANES + lane] = t / c->block[0] / c->block[1];
        rows[SR_LANEID * LANES + lane] = lane;
        rows[SR_MASK_EQ * LANES + lane] = own;
        rows[SR_MASK_LT * LANES + lane] = own - 1;
        rows[SR_MASK_LE * LANES + lane] = own - 1 + own;
        rows[SR_MASK_GT * LANES + lane] = ~(own - 1 + own);
        rows[SR_MASK_GE * LANES + lane] = ~(own - 1);
    }
}

static bool make_warp(launch *l, warp *w, uint32_t index)
{
    const function *f = l->entry;
    const uint32_t left = l->threads - index * LANES;
    const uint32_t registers = f->register_base + f->registers;
    const size_t local = (size_t)l->local_bytes * LANES;
    w->index = index;
    w->born = left >= LANES ? ALL : (1u << left) - 1;
    w->rows = calloc(1, f->row_base + f->row_bytes);
    w->predicates = calloc(registers, sizeof *w->predicates);
    w->defined = calloc(registers, sizeof *w->defined);
    w->local = calloc(1, local ? 2 * local : 1);
    w->pair_sync = calloc(LANES, sizeof *w->pair_sync);
    if (!w->rows || !w->predicates || !w->defined || !w->local || !w->pair_sync)
        return false;
    w->local_shadow = w->local + local;
    w->predicates[REG_TRUE] = ALL;
    fill_launch_registers(l, w);
    fill_constants(l, w);
    return true;
}

/* The code that the kernel can come to lies in [l->first, l->first + result). */
static uint32_t find_code(launch *l)
{
    uint32_t end = l->entry->end;
    l->first = l->entry->begin;
    for (uint32_t f = 0; f < l->module->function_count; f++) {
        const function *reached = &l->module->functions[f];
        if (!l->kernel->reached[f])
            continue;
        l->first = reached->begin < l->first ? reached->begin : l->first;
        end = reached->end > end ? reached->end : end;
    }
    return end - l->first;
}

static bool make(launch *l)
{
    l->count = find_code(l);
    l->warps = calloc(l->warp_count, sizeof *l->warps);
    l->shared = calloc(1, l->shared_bytes ? l->shared_bytes : 1);
    l->cells = calloc(l->shared_bytes / l->module->granule + 1, sizeof *l->cells);
    l->tallies = calloc(l->count, sizeof *l->tallies);
    if (!l->warps || !l->shared || !l->cells || !l->tallies)
        return false;
    for (uint32_t i = 0; i < l->warp_count; i++)
        if (!make_warp(l, &l->warps[i], i))
            return false;
    return true;
}

static void unmake(launch *l)
{
    for (uint32_t i = 0; l->warps && i < l->warp_count; i++) {
        free(l->warps[i].rows);
        free(l->warps[i].predicates);
        free(l->warps[i].defined);
        free(l->warps[i].local);
        free(l->warps[i].pair_sync);
    }
    free(l->warps);
    free(l->shared);
    free(l->cells);
    free(l->tallies);
}

/* ---- blocks ---- */

static void reset_warp(launch *l, warp *w, uint32_t number)
{
    const function *f = l->entry;
    const size_t local = (size_t)l->local_bytes * LANES;
    memset(w->defined, 0, (f->register_base + f->registers) * sizeof *w->defined);
    w->defined[REG_TRUE] = w->defined[REG_FALSE] = ALL;
    if (local) {
        memset(w->local, (int)(vptx_random(&l->random) & 255), local);
        memset(w->local_shadow, 0, local);
    }
    w->state = WARP_READY;
    w->alive = w->active = w->born;
    w->waiting = w->carry = w->tick = w->full_sync = 0;
    if (w->has_pairs)
        memset(w->pair_sync, 0, LANES * sizeof *w->pair_sync);
    w->has_pairs = false;
    w->pc = f->begin;
    w->depth = 0;
    w->next_key = UINT64_MAX;
    for (uint32_t i = 0; i < 3; i++)
        set_special(w, SR_CTAID_X + i, l->block[i]);
    set_special(w, SR_SMID, number % (l->config->sm_count ? l->config->sm_count : 1));
}

static void begin_block(launch *l, uint32_t number)
{
    const uint32_t *grid = l->config->grid;
    l->block[0] = number % grid[0];
    l->block[1] = number / grid[0] % grid[1];
    l->block[2] = number / grid[0] / grid[1];
    l->block_epoch = ++l->epoch;
    memset(l->shared, (int)(vptx_random(&l->random) & 255), l->shared_bytes);
    for (uint32_t i = 0; i < l->warp_count; i++)
        reset_warp(l, &l->warps[i], number);
}

/* All that still run have come: they must have come to the same place, and nobody may be gone. */
static bool check_barrier(launch *l)
{
    const warp *first = NULL;
    for (uint32_t i = 0; i < l->warp_count; i++)
        if (l->warps[i].state == WARP_AT_BARRIER && !first)
            first = &l->warps[i];
    for (uint32_t i = 0; i < l->warp_count; i++) {
        const warp *w = &l->warps[i];
        if (w->alive != w->born) {
            vptx_fail(l, first, vptx_first_lane(first->alive), VPTX_DIVERGENT_BARRIER,
                      "barrier after threads of warp %u have exited", i);
            return false;
        }
        if (w->pc != first->pc) {
            vptx_fail(l, w, vptx_first_lane(w->alive), VPTX_DIVERGENT_BARRIER,
                      "warp %u waits at another barrier than warp %u, on line %u", i, first->index,
                      l->module->code[first->pc].line);
            return false;
        }
    }
    return true;
}

static void put_reduction(const launch *l, warp *w, const instr *in, uint32_t votes)
{
    if (in->sub == 'p') {
        fill(w->rows + in->d[0].at, 4, votes);
    } else if (in->sub) {
        const bool result = in->sub == '|' ? votes > 0 : votes == l->threads;
        w->predicates[in->d[0].reg] = result ? ALL : 0;
    }
    if (in->sub)
        w->defined[in->d[0].reg] = ALL;
}

static void pass_barrier(launch *l)
{
    const instr *in;
    uint32_t votes = 0;
    if (!check_barrier(l))
        return;
    in = &l->module->code[l->warps[0].pc];
    l->epoch++;
    for (uint32_t i = 0; i < l->warp_count; i++)
        votes += (uint32_t)__builtin_popcount(l->warps[i].barrier_votes);
    for (uint32_t i = 0; i < l->warp_count; i++) {
        warp *w = &l->warps[i];
        put_reduction(l, w, in, votes);
        w->state = WARP_READY;
        w->pc++;
    }
}

/* Lets every ready warp run once, in the order of the launch; false when none was ready. */
static bool run_round(launch *l)
{
    const uint32_t n = l->warp_count;
    const bool random = l->config->order == VPTX_SHUFFLE;
    const uint32_t start = random ? (uint32_t)vptx_random(&l->random) % n : 0;
    bool any = false;
    for (uint32_t i = 0; i < n && !l->failed; i++) {
        const uint32_t turn = (start + i) % n;
        warp *w = &l->warps[l->config->order == VPTX_REVERSE ? n - 1 - turn : turn];
        if (w->state != WARP_READY)
            continue;
        any = true;
        vptx_run_warp(l, w, random ? 1 + vptx_random(&l->random) % 64 : 10000);
    }
    return any;
}

static void run_block(launch *l, uint32_t number)
{
    const uint64_t before = l->budget;
    uint64_t spent;
    bool at_barrier = true;
    begin_block(l, number);
    while (at_barrier && !l->failed) {
        while (!l->failed && run_round(l))
            ;
        at_barrier = false;
        for (uint32_t i = 0; i < l->warp_count; i++)
            at_barrier |= l->warps[i].state == WARP_AT_BARRIER;
        if (at_barrier && !l->failed)
            pass_barrier(l);
    }
    spent = before - l->budget;
    if (spent > l->report->max_block_instructions)
        l->report->max_block_instructions = spent;
}

/* Numbers 0 .. count-1 in some order that the seed decides: a walk in steps that have no divisor
 * with count. */
static uint32_t shuffled_step(launch *l, uint32_t count)
{
    for (;;) {
        uint32_t a = 1 + (uint32_t)(vptx_random(&l->random) % count), b = count;
        const uint32_t step = a;
        while (b) {
            const uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

static void run_grid(launch *l)
{
    const uint32_t *grid = l->config->grid;
    const uint32_t count = grid[0] * grid[1] * grid[2];
    const bool shuffle = l->config->order == VPTX_SHUFFLE;
    const uint64_t step = shuffle ? shuffled_step(l, count) : 1;
    uint64_t at = shuffle ? vptx_random(&l->random) % count : 0;
    for (uint32_t i = 0; i < count && !l->failed; i++, at = (at + step) % count)
        run_block(l, l->config->order == VPTX_REVERSE ? count - 1 - i : (uint32_t)at);
}

static void add_tallies(const launch *l)
{
    vptx_module *m = l->kernel->module;
    l->report->warp_instructions = l->limit - l->budget;
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < l->count; i++) {
        const tally *t = &l->tallies[i];
        tally *sum = &m->tallies[l->first + i];
        const bool is_branch = m->code[l->first + i].op == OP_BRANCH;
        l->report->lane_instructions += is_branch ? t->taken : t->lanes;
        sum->executed += t->executed;
        sum->lanes += t->lanes;
        sum->taken += t->taken;
    }
    pthread_mutex_unlock(&m->lock);
}

int vptx_launch(const vptx_kernel *k, const vptx_launch_config *c, vptx_report *report)
{
    launch l = {.module = k->module, .kernel = k, .config = c, .report = report};
    const uint64_t shared = ((k->static_shared + 15u) & ~15ull) + c->dynamic_shared_bytes;
    const char *why = refuse(k, c, c->dynamic_shared_bytes ? shared : k->static_shared);
    memset(report, 0, sizeof *report);
    l.entry = &k->module->functions[k->function];
    if (why) {
        report->fault.kind = VPTX_BAD_LAUNCH;
        snprintf(report->fault.text, sizeof report->fault.text, "%s: %s", l.entry->name, why);
        return VPTX_BAD_LAUNCH;
    }
    l.threads = c->block[0] * c->block[1] * c->block[2];
    l.warp_count = (l.threads + LANES - 1) / LANES;
    l.shared_bytes = c->dynamic_shared_bytes ? (uint32_t)shared : k->static_shared;
    l.local_bytes = k->local_bytes;
    l.random = c->seed;
    l.limit = l.budget = c->instruction_limit ? c->instruction_limit : (uint64_t)1 << 40;
    if (make(&l)) {
        run_grid(&l);
        add_tallies(&l);
    } else {
        report->fault.kind = VPTX_NO_MEMORY;
        snprintf(report->fault.text, sizeof report->fault.text, "%s: out of host memory",
                 l.entry->name);
    }
    unmake(&l);
    return report->fault.kind;
}
