/* What lanes do together: barriers of the warp and of the block, shuffles, votes, matches. Lanes
 * that come to such an instruction wait until all that their mask names are there. */
#include "internal.h"

#include <string.h>

#define ROW(w, o) ((void *)((w)->rows + (o).at))
typedef uint32_t __attribute__((may_alias)) u32;

static void put_same(warp *w, operand d, uint32_t value, uint32_t lanes)
{
    uint32_t row[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        row[i] = value;
    vptx_put_row(w, d, row, lanes, 4);
}

/* ---- shuffles ---- */

/* The lane that each reads from; a mask of those for which it lies in the segment. */
static uint32_t source_lanes(uint8_t mode, const u32 *b, const u32 *c, uint32_t *source)
{
    uint8_t inside[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t segment = c[i] >> 8 & 31, first = i & segment, by = b[i] & 31;
        const int last = (int)(first | (c[i] & 31 & ~segment));
        const int j = mode == 'u'   ? (int)i - (int)by
                      : mode == 'd' ? (int)(i + by)
                      : mode == 'b' ? (int)(i ^ by)
                                    : (int)(first | (by & ~segment));
        inside[i] = mode == 'u' ? j >= last : j <= last;
        source[i] = inside[i] ? (uint32_t)j : i;
    }
    return vptx_pack_mask(inside);
}

static void shuffle(launch *l, warp *w, const instr *in, uint32_t members)
{
    const u32 *a = ROW(w, in->s[0]);
    const uint32_t known = w->defined[in->s[0].reg];
    uint32_t source[LANES], value[LANES], inside, defined = 0;
    if (!vptx_check_defined(l, w, members, &in->s[1]) ||
        !vptx_check_defined(l, w, members, &in->s[2]))
        return;
    inside = source_lanes(in->sub, ROW(w, in->s[1]), ROW(w, in->s[2]), source);
    FOR_LANES(lane, members)
    {
        if (!(members >> source[lane] & 1)) {
            vptx_fail(l, w, lane, VPTX_BAD_MASK,
                      "shuffle reads lane %u, which takes no part (0x%08x do)", source[lane],
                      members);
            return;
        }
        value[lane] = a[source[lane]];
        defined |= (known >> source[lane] & 1) << lane;
    }
    vptx_blend(ROW(w, in->d[0]), value, members, 4);
    w->defined[in->d[0].reg] = (w->defined[in->d[0].reg] & ~members) | defined;
    vptx_put_mask(w, in->q, inside, members);
}

/* ---- votes, matches, reductions ---- */

static void vote(launch *l, warp *w, const instr *in, uint32_t members)
{
    uint32_t yes;
    bool result;
    if (!vptx_check_defined(l, w, members, &in->s[0]))
        return;
    yes = (w->predicates[in->s[0].reg] ^ (in->combine_negated ? ALL : 0)) & members;
    if (in->sub == 'b') {
        put_same(w, in->d[0], yes, members);
        return;
    }
    result = in->sub == '&'   ? yes == members
             : in->sub == '|' ? yes != 0
                              : yes == members || yes == 0;
    vptx_put_mask(w, in->d[0], result ? ALL : 0, members);
}

static void match(launch *l, warp *w, const instr *in, uint32_t members)
{
    const char *a = ROW(w, in->s[0]);
    uint32_t equal[LANES] = {0}, all = ALL;
    if (!vptx_check_defined(l, w, members, &in->s[0]))
        return;
    FOR_LANES(lane, members)
    {
        FOR_LANES(other, members)
        if (memcmp(a + lane * in->size, a + other * in->size, in->size) == 0)
            equal[lane] |= 1u << other;
        if (equal[lane] != members)
            all = 0;
    }
    if (in->sub == '&')
        for (uint32_t i = 0; i < LANES; i++)
            equal[i] = members & all;
    vptx_put_row(w, in->d[0], equal, members, 4);
    vptx_put_mask(w, in->q, all, members);
}

static uint32_t reduce_two(const instr *in, uint32_t x, uint32_t y)
{
    const bool less = in->is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (in->sub) {
    case '+':
        return x + y;
    case 'm':
        return less ? x : y;
    case 'M':
        return less ? y : x;
    case '&':
        return x & y;
    case '|':
        return x | y;
    default:
        return x ^ y;
    }
}

static void reduction(launch *l, warp *w, const instr *in, uint32_t members)
{
    const u32 *a = ROW(w, in->s[0]);
    const uint32_t first = vptx_first_lane(members);
    uint32_t result = a[first];
    if (!vptx_check_defined(l, w, members, &in->s[0]))
        return;
    FOR_LANES(lane, members & ~(1u << first))
    result = reduce_two(in, result, a[lane]);
    put_same(w, in->d[0], result, members);
}

static void perform(launch *l, warp *w, const instr *in, uint32_t members)
{
    switch ((opcode)in->op) {
    case OP_SHFL:
        shuffle(l, w, in, members);
        break;
    case OP_VOTE:
        vote(l, w, in, members);
        break;
    case OP_MATCH:
        match(l, w, in, members);
        break;
    case OP_REDUX:
        reduction(l, w, in, members);
        break;
    default:
        vptx_race_warp_sync(w, members);
    }
}

/* ---- waiting ---- */

/* Lanes that already wait at this instruction join those that come now. */
static uint32_t gather_waiting(warp *w, const instr *in)
{
    uint32_t exec;
    FOR_LANES(lane, w->waiting)
    {
        if (w->lane_pc[lane] == w->pc && w->lane_depth[lane] == w->depth) {
            w->active |= 1u << lane;
            w->waiting &= ~(1u << lane);
        }
    }
    exec = w->active;
    if (in->guard)
        exec &= w->predicates[in->guard] ^ (in->negate ? ALL : 0);
    return exec;
}

static uint32_t equal_lanes(const u32 *row, uint32_t value)
{
    uint8_t equal[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        equal[i] = row[i] == value;
    return vptx_pack_mask(equal);
}

/* The lanes of `exec` whose mask is complete have done it; returns the others. */
static uint32_t masked(launch *l, warp *w, const instr *in, uint32_t exec)
{
    const u32 *masks = ROW(w, in->s[3]);
    uint32_t blocked = 0;
    if (!vptx_check_defined(l, w, exec, &in->s[3]))
        return 0;
    for (uint32_t pending = exec; pending && !l->failed;) {
        const uint32_t first = vptx_first_lane(pending), mask = masks[first];
        const uint32_t same = pending & equal_lanes(masks, mask);
        if (same & ~mask)
            vptx_fail(l, w, vptx_first_lane(same & ~mask), VPTX_BAD_MASK,
                      "mask 0x%08x does not name the lane itself", mask);
        else if (mask & w->born & ~w->alive)
            vptx_fail(l, w, first, VPTX_BAD_MASK,
                      "mask 0x%08x names lanes that have exited (0x%08x left)", mask, w->alive);
        else if (same == (mask & w->born))
            perform(l, w, in, same);
        else
            blocked |= same;
        pending &= ~same;
    }
    return blocked;
}

static void arrive(launch *l, warp *w, const instr *in, uint32_t exec)
{
    const u32 *count = ROW(w, in->s[1]);
    if (!vptx_check_defined(l, w, exec, &in->s[0]) || !vptx_check_defined(l, w, exec, &in->s[1]) ||
        !vptx_check_defined(l, w, exec, &in->s[2]))
        return;
    if (in->sources > 1 && count[vptx_first_lane(exec)] != l->threads) {
        vptx_fail(l, w, vptx_first_lane(exec), VPTX_UNSUPPORTED, "barrier of %u of %u threads",
                  count[vptx_first_lane(exec)], l->threads);
        return;
    }
    w->barrier_votes = (w->predicates[in->s[2].reg] ^ (in->combine_negated ? ALL : 0)) & exec;
    w->state = WARP_AT_BARRIER;
}

bool vptx_exec_sync(launch *l, warp *w, const instr *in)
{
    const uint32_t exec = gather_waiting(w, in);
    uint32_t blocked = 0;
    if (in->op != OP_BAR) {
        blocked = masked(l, w, in, exec);
    } else if (exec == w->alive) {
        arrive(l, w, in, exec);
        return false;
    } else {
        blocked = exec;
    }
    if (l->failed)
        return false;
    w->pc++;
    if (!blocked && w->active == w->alive)
        return false;
    vptx_save_group(w);
    FOR_LANES(lane, blocked)
    w->lane_pc[lane] = w->pc - 1;
    w->waiting |= blocked;
    return true;
}
