/* Races and uninitialised reads in shared memory. Each granule remembers its last write and its
 * reads; two accesses, one of them a write, race unless a barrier of the block lies between, or
 * within a warp a bar.warp.sync of both lanes. */
#include "internal.h"

static bool synced(const warp *w, uint32_t a, uint32_t b, uint32_t tick)
{
    return w->full_sync > tick || (w->has_pairs && w->pair_sync[a][b] > tick);
}

static void report(launch *l, warp *w, uint32_t lane, uint32_t offset, bool reads, uint32_t other,
                   bool other_read, uint32_t pc)
{
    vptx_fail(l, w, lane, VPTX_RACE,
              "shared-memory race at byte %u: %s, and thread %u %s on line %u, no barrier between",
              offset, reads ? "read" : "written", other, other_read ? "reads" : "writes",
              l->module->code[pc].line);
}

static bool against_write(const launch *l, const warp *w, const cell *c, uint32_t thread,
                          access how, bool changed)
{
    if (c->write_epoch != l->epoch || c->write_thread == thread ||
        (how == ACCESS_ATOMIC && c->write_atomic))
        return false;
    if (c->write_thread / LANES != w->index)
        return true;
    if (c->write_tick == w->tick) /* two lanes, one instruction: harmless if they agree */
        return changed;
    return !synced(w, thread % LANES, c->write_thread % LANES, c->write_tick);
}

static bool against_reads(const launch *l, const warp *w, const cell *c, uint32_t thread)
{
    if (c->read_epoch != l->epoch)
        return false;
    if (c->many_warps || c->read_thread / LANES != w->index)
        return true;
    if (c->many_lanes) /* which lanes is not known: only a sync of all is certain to be missing */
        return w->full_sync <= c->read_tick && !w->has_pairs;
    return c->read_thread != thread &&
           !synced(w, thread % LANES, c->read_thread % LANES, c->read_tick);
}

static void remember_read(const launch *l, const warp *w, cell *c, uint32_t thread)
{
    if (c->read_epoch != l->epoch) {
        c->read_epoch = l->epoch;
        c->read_thread = (uint16_t)thread;
        c->many_lanes = c->many_warps = false;
    } else if (c->read_thread != thread) {
        c->many_lanes = true;
        c->many_warps |= c->read_thread / LANES != thread / LANES;
    }
    c->read_tick = w->tick;
    c->read_pc = w->pc;
}

static void remember_write(const launch *l, const warp *w, cell *c, uint32_t thread, access how)
{
    c->write_epoch = l->epoch;
    c->write_thread = (uint16_t)thread;
    c->write_tick = w->tick;
    c->write_pc = w->pc;
    c->write_atomic = how == ACCESS_ATOMIC;
}

void vptx_race_access(launch *l, warp *w, uint32_t lane, uint32_t offset, uint32_t bytes,
                      access how, bool changed)
{
    const uint32_t granule = l->module->granule, thread = w->index * LANES + lane;
    for (uint32_t g = offset / granule; g <= (offset + bytes - 1) / granule; g++) {
        cell *c = &l->cells[g];
        if (how != ACCESS_WRITE && c->write_epoch < l->block_epoch &&
            !l->config->allow_uninitialised) {
            vptx_fail(l, w, lane, VPTX_UNINITIALISED,
                      "shared memory at byte %u read before it was written", g * granule);
            return;
        }
        if (against_write(l, w, c, thread, how, changed))
            report(l, w, lane, g * granule, how == ACCESS_READ, c->write_thread, false,
                   c->write_pc);
        else if (how != ACCESS_READ && against_reads(l, w, c, thread))
            report(l, w, lane, g * granule, false, c->read_thread, true, c->read_pc);
        if (how == ACCESS_READ)
            remember_read(l, w, c, thread);
        else
            remember_write(l, w, c, thread, how);
    }
}

void vptx_race_warp_sync(warp *w, uint32_t mask)
{
    if (mask == w->alive) {
        w->full_sync = w->tick;
        return;
    }
    w->has_pairs = true;
    FOR_LANES(a, mask)
    for (uint32_t b = 0; b < LANES; b++)
        if (mask >> b & 1)
            w->pair_sync[a][b] = w->tick;
}
