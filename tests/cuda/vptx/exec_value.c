/* Instructions that only compute: rows of values, masks of predicates, and the switch that also
 * reaches memory. */
#include "internal.h"

#include <string.h>

#define ROW(w, o) ((void *)((w)->rows + (o).at))

/* ---- rows and masks ---- */

void vptx_put_row(warp *w, operand d, const void *from, uint32_t exec, uint32_t width)
{
    vptx_blend(ROW(w, d), from, exec, width);
    w->defined[d.reg] |= exec;
}

void vptx_put_mask(warp *w, operand d, uint32_t value, uint32_t exec)
{
    if (d.reg < REG_FIRST) /* none wanted */
        return;
    w->predicates[d.reg] = (w->predicates[d.reg] & ~exec) | (value & exec);
    w->defined[d.reg] |= exec;
}

/* Which NaN an operation gives is the hardware's choice: give one that nobody expects. */
static void poison_lane(launch *l, warp *w, const instr *in, uint32_t lane)
{
    if (l->config->keep_nans)
        return;
    if (in->width == 8) {
        uint64_t __attribute__((may_alias)) *x = ROW(w, in->d[0]);
        x[lane] = vptx_random(&l->random) | (uint64_t)0x7ff8 << 48;
    } else {
        uint32_t __attribute__((may_alias)) *x = ROW(w, in->d[0]);
        x[lane] = (uint32_t)vptx_random(&l->random) | 0x7fc00000u;
    }
}

static void poison(launch *l, warp *w, const instr *in, uint32_t exec)
{
    const double __attribute__((may_alias)) *f64 = ROW(w, in->d[0]);
    const float __attribute__((may_alias)) *f32 = ROW(w, in->d[0]);
    if (!vptx_has_nan(f64, in->width))
        return;
    FOR_LANES(i, exec)
    if (in->width == 8 ? f64[i] != f64[i] : f32[i] != f32[i])
        poison_lane(l, w, in, i);
}

/* ---- values ---- */

/* Operands that an instruction does not have are always defined. */
static bool sources_defined(launch *l, const warp *w, const instr *in, uint32_t exec)
{
    const uint32_t *defined = w->defined;
    if (!(exec & ~(defined[in->s[0].reg] & defined[in->s[1].reg] & defined[in->s[2].reg] &
                   defined[in->s[3].reg])))
        return true;
    for (uint32_t i = 0; i < 4; i++)
        if (!vptx_check_defined(l, w, exec, &in->s[i]))
            return false;
    return true;
}

typedef union row_buffer {
    uint64_t u64[LANES];
    uint32_t u32[LANES];
    uint16_t u16[LANES];
} row_buffer;

static void row_instruction(launch *l, warp *w, const instr *in, uint32_t exec)
{
    const void *a = ROW(w, in->s[0]), *b = ROW(w, in->s[1]);
    const void *c = ROW(w, in->s[2]), *e = ROW(w, in->s[3]);
    void *d = ROW(w, in->d[0]);
    if (!sources_defined(l, w, in, exec))
        return;
    w->defined[in->d[0].reg] |= exec;
    if (vptx_are_few(exec)) {
        FOR_LANES(lane, exec)
        if (in->fn.row(d, a, b, c, e, lane))
            poison_lane(l, w, in, lane);
        return;
    }
    if ((exec | ~w->born) == ALL) {
        in->fn.row(d, a, b, c, e, LANES);
    } else {
        row_buffer buffer;
        in->fn.row(&buffer, a, b, c, e, LANES);
        vptx_blend(d, &buffer, exec, in->width);
    }
    if (in->is_float)
        poison(l, w, in, exec);
}

static void carry_instruction(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    uint32_t carry;
    if (!sources_defined(l, w, in, exec))
        return;
    carry = in->fn.carry(&buffer, ROW(w, in->s[0]), ROW(w, in->s[1]), ROW(w, in->s[2]), w->carry);
    vptx_put_row(w, in->d[0], &buffer, exec, in->width);
    if (in->carry_out)
        w->carry = (w->carry & ~exec) | (carry & exec);
}

static void move(warp *w, const instr *in, uint32_t exec)
{
    const uint32_t was = w->defined[in->d[0].reg];
    const uint32_t defined = w->defined[in->s[0].reg];
    vptx_put_row(w, in->d[0], ROW(w, in->s[0]), exec, in->width);
    w->defined[in->d[0].reg] = (was & ~exec) | (defined & exec);
}

static uint32_t combine(uint8_t how, uint32_t a, uint32_t b)
{
    return how == '&' ? a & b : how == '|' ? a | b : how == '^' ? a ^ b : a;
}

static uint32_t compare(const warp *w, const instr *in, uint32_t exec)
{
    const void *a = ROW(w, in->s[0]), *b = ROW(w, in->s[1]);
    uint32_t result = 0;
    if (!vptx_are_few(exec))
        return in->fn.test(a, b, LANES);
    FOR_LANES(lane, exec)
    result |= in->fn.test(a, b, lane);
    return result;
}

static void test(launch *l, warp *w, const instr *in, uint32_t exec)
{
    uint32_t result, opposite, other;
    if (!sources_defined(l, w, in, exec))
        return;
    result = compare(w, in, exec);
    other = w->predicates[in->s[2].reg] ^ (in->combine_negated ? ALL : 0);
    opposite = combine(in->sub, ~result, other);
    result = combine(in->sub, result, other);
    if (in->op == OP_SET) {
        row_buffer buffer;
        for (uint32_t i = 0; i < LANES; i++)
            buffer.u32[i] = result >> i & 1 ? (uint32_t)in->imm : 0;
        vptx_put_row(w, in->d[0], &buffer, exec, 4);
    } else {
        vptx_put_mask(w, in->d[0], result, exec);
        vptx_put_mask(w, in->q, opposite, exec);
    }
}

/* An undefined value that is not chosen does no harm. */
static void select_value(launch *l, warp *w, const instr *in, uint32_t exec)
{
    uint32_t p, defined, was;
    if (!vptx_check_defined(l, w, exec, &in->s[2]))
        return;
    p = w->predicates[in->s[2].reg] ^ (in->combine_negated ? ALL : 0);
    was = w->defined[in->d[0].reg];
    defined = (w->defined[in->s[0].reg] & p) | (w->defined[in->s[1].reg] & ~p);
    vptx_blend(ROW(w, in->d[0]), ROW(w, in->s[0]), exec & p, in->width);
    vptx_blend(ROW(w, in->d[0]), ROW(w, in->s[1]), exec & ~p, in->width);
    w->defined[in->d[0].reg] = (was & ~exec) | (defined & exec);
}

static void predicate_logic(launch *l, warp *w, const instr *in, uint32_t exec)
{
    uint32_t a, b;
    if (!vptx_check_defined(l, w, exec, &in->s[0]) || !vptx_check_defined(l, w, exec, &in->s[1]))
        return;
    a = w->predicates[in->s[0].reg] ^ (in->combine_negated ? ALL : 0);
    b = w->predicates[in->s[1].reg];
    vptx_put_mask(w, in->d[0], in->sub == '!' ? ~a : combine(in->sub, a, b), exec);
}

static void pack(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    if (!sources_defined(l, w, in, exec))
        return;
    for (uint32_t i = 0; i < in->sources; i++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            memcpy((char *)&buffer + lane * in->width + i * in->size,
                   (char *)ROW(w, in->s[i]) + lane * in->size, in->size);
    vptx_put_row(w, in->d[0], &buffer, exec, in->width);
}

static void unpack(launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer from, buffer;
    if (!sources_defined(l, w, in, exec))
        return;
    memcpy(&from, ROW(w, in->s[0]), in->size * LANES);
    for (uint32_t i = 0; i < in->size / in->width; i++) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            memcpy((char *)&buffer + lane * in->width,
                   (char *)&from + lane * in->size + i * in->width, in->width);
        vptx_put_row(w, in->d[i], &buffer, exec, in->width);
    }
}

static void read_clock(const launch *l, warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    for (uint32_t i = 0; i < LANES; i++)
        if (in->width == 8)
            buffer.u64[i] = l->limit - l->budget;
        else
            buffer.u32[i] = (uint32_t)(l->limit - l->budget);
    vptx_put_row(w, in->d[0], &buffer, exec, in->width);
}

static void active_mask(warp *w, const instr *in, uint32_t exec)
{
    row_buffer buffer;
    for (uint32_t i = 0; i < LANES; i++)
        buffer.u32[i] = exec;
    vptx_put_row(w, in->d[0], &buffer, exec, 4);
}

/* ---- all that do not decide where to go on ---- */

void vptx_exec_value(launch *l, warp *w, const instr *in, uint32_t exec)
{
    switch ((opcode)in->op) {
    case OP_ROW:
        row_instruction(l, w, in, exec);
        break;
    case OP_MOV:
        move(w, in, exec);
        break;
    case OP_TEST:
    case OP_SET:
        test(l, w, in, exec);
        break;
    case OP_CARRY:
        carry_instruction(l, w, in, exec);
        break;
    case OP_SELP:
        select_value(l, w, in, exec);
        break;
    case OP_PRED:
        predicate_logic(l, w, in, exec);
        break;
    case OP_PACK:
        pack(l, w, in, exec);
        break;
    case OP_UNPACK:
        unpack(l, w, in, exec);
        break;
    case OP_CLOCK:
        read_clock(l, w, in, exec);
        break;
    case OP_LOAD:
        vptx_exec_load(l, w, in, exec);
        break;
    case OP_STORE:
        vptx_exec_store(l, w, in, exec);
        break;
    case OP_ATOM:
        vptx_exec_atom(l, w, in, exec);
        break;
    case OP_ACTIVEMASK:
        active_mask(w, in, exec);
        break;
    default:
        break;
    }
}
