/* The executor: one warp, instruction by instruction. Lanes that follow different ways run as
 * groups, the group at the deepest call and the lowest instruction first, so that they meet again
 * where the ways join. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROW(w, o) ((void *)((w)->rows + (o).at))

#define PATIENCE 1024u /* instructions of one group of lanes before another has its turn */

/* ---- faults ---- */

static void place_text(const launch *l, const instr *in, char *out, size_t size)
{
    const vptx_module *m = l->module;
    const source_place *place = &m->places[in - m->code];
    out[0] = 0;
    for (uint32_t i = 0; i < m->file_count && place->line; i++)
        if (m->files[i].number == place->file)
            snprintf(out, size, " (%s:%u)", m->files[i].name, place->line);
}

static void thread_index(const launch *l, uint32_t linear, uint32_t out[3])
{
    const uint32_t *size = l->config->block;
    out[0] = linear % size[0];
    out[1] = linear / size[0] % size[1];
    out[2] = linear / size[0] / size[1];
}

void vptx_fail(launch *l, const warp *w, uint32_t lane, vptx_fault_kind kind, const char *format,
               ...)
{
    vptx_fault *f = &l->report->fault;
    const instr *in = &l->module->code[w->pc];
    char what[160], place[160];
    va_list arguments;
    if (kind == VPTX_RACE)
        l->report->races++;
    else
        l->failed = true;
    if (f->kind)
        return;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    place_text(l, in, place, sizeof place);
    f->kind = kind;
    f->ptx_line = in->line;
    memcpy(f->block, l->block, sizeof f->block);
    thread_index(l, w->index * LANES + lane, f->thread);
    snprintf(f->text, sizeof f->text,
             "%.60s: ptx line %u%.70s block (%u,%u,%u) thread (%u,%u,%u): %s",
             l->module->functions[in->function].name, in->line, place, f->block[0], f->block[1],
             f->block[2], f->thread[0], f->thread[1], f->thread[2], what);
}

bool vptx_check_defined(launch *l, const warp *w, uint32_t exec, const operand *o)
{
    const uint32_t bad = exec & ~w->defined[o->reg];
    if (bad)
        vptx_fail(l, w, vptx_first_lane(bad), VPTX_UNINITIALISED,
                  "register read before it was written");
    return !bad;
}

/* ---- groups of lanes ---- */

static uint64_t key(uint32_t pc, uint32_t depth)
{
    return (uint64_t)(MAX_DEPTH - depth) << 32 | pc;
}

void vptx_save_group(warp *w)
{
    FOR_LANES(lane, w->active)
    {
        w->lane_pc[lane] = w->pc;
        w->lane_depth[lane] = w->depth;
    }
}

static void stalled(launch *l, warp *w)
{
    const uint32_t lane = vptx_first_lane(w->waiting);
    const bool at_bar = l->module->code[w->lane_pc[lane]].op == OP_BAR;
    w->pc = w->lane_pc[lane];
    vptx_fail(l, w, lane, at_bar ? VPTX_DIVERGENT_BARRIER : VPTX_BAD_MASK,
              "lanes 0x%08x wait here for lanes of their warp that never come", w->waiting);
}

/* Chooses the next group from what vptx_save_group and the branches left in lane_pc: the first by
 * key, or if `rotate` the one of some other lane, so that nobody starves behind a loop that waits
 * for him. */
static void regroup(launch *l, warp *w, bool rotate)
{
    const uint32_t runnable = w->alive & ~w->waiting;
    uint64_t first = UINT64_MAX, next = UINT64_MAX;
    if (!runnable) {
        if (w->alive)
            stalled(l, w);
        w->state = WARP_DONE;
        return;
    }
    if (rotate) {
        const uint32_t others = runnable & ~w->active ? runnable & ~w->active : runnable;
        const uint32_t turn = (uint32_t)vptx_random(&l->random) % LANES;
        const uint32_t later = others & (ALL << turn);
        const uint32_t lane = vptx_first_lane(later ? later : others);
        first = key(w->lane_pc[lane], w->lane_depth[lane]);
    } else {
        FOR_LANES(lane, runnable)
        {
            const uint64_t k = key(w->lane_pc[lane], w->lane_depth[lane]);
            first = k < first ? k : first;
        }
    }
    w->active = 0;
    FOR_LANES(lane, runnable)
    {
        const uint64_t k = key(w->lane_pc[lane], w->lane_depth[lane]);
        if (k == first)
            w->active |= 1u << lane;
        else
            next = k < next ? k : next;
    }
    w->pc = (uint32_t)first;
    w->depth = MAX_DEPTH - (uint32_t)(first >> 32);
    w->next_key = rotate ? UINT64_MAX : next;
}

/* ---- control flow ---- */

static void branch(launch *l, warp *w, const instr *in, uint32_t exec)
{
    l->tallies[w->pc - l->first].taken += (uint64_t)__builtin_popcount(exec);
    if (exec == w->active) {
        w->pc = in->target;
    } else if (!exec) {
        w->pc++;
    } else {
        w->pc++;
        vptx_save_group(w);
        FOR_LANES(lane, exec)
        w->lane_pc[lane] = in->target;
        regroup(l, w, false);
    }
}

static void indexed_branch(launch *l, warp *w, const instr *in, uint32_t exec)
{
    const branch_table *table = &l->module->tables[in->target];
    const uint32_t __attribute__((may_alias)) *index = ROW(w, in->s[0]);
    if (!vptx_check_defined(l, w, exec, &in->s[0]))
        return;
    FOR_LANES(lane, exec)
    {
        if (index[lane] >= table->count) {
            vptx_fail(l, w, lane, VPTX_TRAP, "branch index %u of %u", index[lane], table->count);
            return;
        }
    }
    w->pc++;
    vptx_save_group(w);
    FOR_LANES(lane, exec)
    w->lane_pc[lane] = table->targets[index[lane]];
    regroup(l, w, false);
}

static void copy_local(const launch *l, warp *w, uint32_t lane, uint32_t to, uint32_t from,
                       uint32_t size)
{
    const size_t base = (size_t)lane * l->local_bytes;
    memcpy(w->local + base + to, w->local + base + from, size);
    memcpy(w->local_shadow + base + to, w->local_shadow + base + from, size);
}

static void call_function(launch *l, warp *w, const instr *in, uint32_t exec)
{
    const call *c = &l->module->calls[in->target];
    const function *callee = &l->module->functions[c->callee];
    const uint32_t *frame = l->kernel->frame_base;
    const uint32_t back = w->pc + 1;
    w->pc = back + 1; /* lanes that do not call skip the result, too */
    vptx_save_group(w);
    FOR_LANES(lane, exec)
    {
        for (uint32_t i = 0; i < c->count; i++)
            copy_local(l, w, lane, frame[c->callee] + callee->parameters[i].offset,
                       frame[in->function] + c->arguments[i].offset, c->arguments[i].size);
        w->return_pc[w->depth][lane] = back;
        w->lane_pc[lane] = callee->begin;
        w->lane_depth[lane] = w->depth + 1;
    }
    regroup(l, w, false);
}

static void take_result(launch *l, warp *w, const instr *in, uint32_t exec)
{
    const call *c = &l->module->calls[in->target];
    const function *callee = &l->module->functions[c->callee];
    const uint32_t *frame = l->kernel->frame_base;
    if (c->has_result)
        FOR_LANES(lane, exec)
    copy_local(l, w, lane, frame[in->function] + c->result.offset,
               frame[c->callee] + callee->result.offset, c->result.size);
    w->pc++;
}

static void leave_function(launch *l, warp *w, uint32_t exec)
{
    w->pc++;
    vptx_save_group(w);
    FOR_LANES(lane, exec)
    {
        w->lane_depth[lane] = w->depth - 1;
        w->lane_pc[lane] = w->return_pc[w->depth - 1][lane];
    }
    regroup(l, w, false);
}

static void leave_kernel(launch *l, warp *w, uint32_t exec)
{
    w->alive &= ~exec;
    w->active &= ~exec;
    w->pc++;
    if (!w->active)
        regroup(l, w, false);
}

static void trap(launch *l, warp *w, const instr *in, uint32_t exec)
{
    static const char *const why[] = {"control falls off the end of the function",
                                      "assertion failed", "trap"};
    vptx_fail(l, w, vptx_first_lane(exec), VPTX_TRAP, "%s", why[in->sub]);
}

/* ---- the loop ---- */

static void step(launch *l, warp *w, const instr *in, uint32_t exec)
{
    switch ((opcode)in->op) {
    case OP_BRANCH:
        branch(l, w, in, exec);
        break;
    case OP_BRX:
        indexed_branch(l, w, in, exec);
        break;
    case OP_CALL:
        call_function(l, w, in, exec);
        break;
    case OP_RESULT:
        take_result(l, w, in, exec);
        break;
    case OP_RET:
        leave_function(l, w, exec);
        break;
    case OP_EXIT:
        leave_kernel(l, w, exec);
        break;
    case OP_TRAP:
        trap(l, w, in, exec);
        break;
    case OP_BAR:
    case OP_WARPSYNC:
    case OP_SHFL:
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
        if (vptx_exec_sync(l, w, in))
            regroup(l, w, false);
        break;
    default:
        vptx_exec_value(l, w, in, exec);
        w->pc += !l->failed;
    }
}

/* Gives another group its turn after a while, so that a loop may wait for a lane that is somewhere
 * else. */
static void be_fair(launch *l, warp *w)
{
    if (w->active == w->alive) {
        w->patience = PATIENCE;
    } else if (!w->patience--) {
        w->patience = PATIENCE;
        vptx_save_group(w);
        regroup(l, w, true);
    }
}

/* Counts the instruction; false when the launch has had its share. */
static bool count(launch *l, warp *w, const instr *in, uint32_t exec)
{
    tally *t = &l->tallies[w->pc - l->first];
    if (!l->budget) {
        vptx_fail(l, w, vptx_first_lane(w->active), VPTX_LIMIT, "instruction limit reached");
        return false;
    }
    l->budget--;
    w->tick++;
    t->executed++;
    t->lanes += (uint64_t)__builtin_popcount(in->op == OP_BRANCH ? w->active : exec);
    return true;
}

void vptx_run_warp(launch *l, warp *w, uint64_t slice)
{
    while (w->state == WARP_READY && !l->failed && slice--) {
        const instr *in = &l->module->code[w->pc];
        uint32_t exec = w->active;
        if (in->guard) {
            const operand guard = {0, in->guard};
            if (!vptx_check_defined(l, w, exec, &guard))
                return;
            exec &= w->predicates[in->guard] ^ (in->negate ? ALL : 0);
        }
        if (!count(l, w, in, exec))
            return;
        if (exec || in->op == OP_BRANCH)
            step(l, w, in, exec);
        else
            w->pc++;
        if (w->state != WARP_READY || l->failed)
            return;
        if (key(w->pc, w->depth) >= w->next_key) {
            vptx_save_group(w);
            regroup(l, w, false);
        }
        be_fair(l, w);
    }
}
