/* Loads, stores and atomics: every lane's address is checked and translated before anything moves.
 */
#include "internal.h"

#include <string.h>

#define ROW(w, o) ((void *)((w)->rows + (o).at))
typedef uint32_t __attribute__((may_alias)) u32;
typedef uint64_t __attribute__((may_alias)) u64;

typedef struct place {
    unsigned char *host;
    unsigned char *shadow; /* a byte per byte, or NULL */
    uint32_t offset;       /* in shared memory */
    uint8_t space;
} place;

static const char *const names[] = {"generic", "global", "shared", "local", "parameter"};

/* ---- addresses ---- */

static void addresses(const warp *w, const instr *in, uint64_t *address)
{
    if (in->address_width == 8) {
        const u64 *base = ROW(w, in->s[0]);
        for (uint32_t i = 0; i < LANES; i++)
            address[i] = base[i] + (uint64_t)in->imm;
    } else {
        const u32 *base = ROW(w, in->s[0]);
        for (uint32_t i = 0; i < LANES; i++)
            address[i] = base[i] + (uint32_t)in->imm;
        for (uint32_t i = 0; i < LANES; i++)
            address[i] &= ALL;
    }
}

static bool global_place(launch *l, const warp *w, uint32_t lane, uint64_t address, uint32_t bytes,
                         bool is_write, place *out)
{
    const char *why = "no such allocation";
    const vptx_window *found = NULL;
    for (uint32_t i = 0; i < CACHED_WINDOWS && !found; i++) {
        const vptx_window *v = l->cache[i];
        if (v && address - v->base < v->size && bytes <= v->size - (address - v->base))
            found = v;
    }
    if (!found) {
        const vptx_memory *m = &l->config->memory;
        if (m->resolve)
            found = m->resolve(m->user, address, bytes, is_write, &why);
        if (!found) {
            vptx_fail(l, w, lane, VPTX_BAD_ADDRESS, "illegal global %s at 0x%llx, %u bytes: %.60s",
                      is_write ? "write" : "read", (unsigned long long)address, bytes, why);
            return false;
        }
        l->cache[l->cache_next++ % CACHED_WINDOWS] = found;
    }
    if (is_write && found->read_only) {
        vptx_fail(l, w, lane, VPTX_BAD_ADDRESS, "write to read-only memory at 0x%llx",
                  (unsigned long long)address);
        return false;
    }
    out->host = found->host + (address - found->base);
    out->shadow = found->shadow ? found->shadow + (address - found->base) : NULL;
    return true;
}

/* Local, shared and parameter memory: an offset below a size. */
static bool offset_place(launch *l, warp *w, uint32_t lane, uint64_t offset, uint32_t bytes,
                         bool is_write, place *out)
{
    const uint64_t sizes[] = {0, 0, l->shared_bytes, l->local_bytes, l->entry->parameter_bytes};
    const uint64_t size = sizes[out->space];
    if (offset > size || bytes > size - offset || (is_write && out->space == SPACE_PARAM)) {
        vptx_fail(l, w, lane, VPTX_BAD_ADDRESS, "illegal %s %s at %llu, %u bytes, of %llu bytes",
                  names[out->space], is_write ? "write" : "read", (unsigned long long)offset, bytes,
                  (unsigned long long)size);
        return false;
    }
    out->offset = (uint32_t)offset;
    out->shadow = NULL;
    if (out->space == SPACE_SHARED) {
        out->host = l->shared + offset;
    } else if (out->space == SPACE_PARAM) {
        out->host = (unsigned char *)l->config->parameters + offset;
    } else {
        out->host = w->local + (size_t)lane * l->local_bytes + offset;
        out->shadow = w->local_shadow + (size_t)lane * l->local_bytes + offset;
    }
    return true;
}

static bool translate(launch *l, warp *w, const instr *in, uint32_t exec, uint32_t bytes,
                      bool is_write, place *places)
{
    uint64_t address[LANES];
    if (!vptx_check_defined(l, w, exec, &in->s[0]))
        return false;
    addresses(w, in, address);
    FOR_LANES(lane, exec)
    {
        place *out = &places[lane];
        uint64_t at = address[lane];
        out->space = in->space;
        if (in->space == SPACE_GENERIC) {
            const uint64_t window = at >> WINDOW_SHIFT;
            out->space = window == 0 || window > 3 ? SPACE_GLOBAL : (uint8_t)(window + 1);
            if (out->space != SPACE_GLOBAL)
                at &= ((uint64_t)1 << WINDOW_SHIFT) - 1;
        }
        if (at & (bytes - 1)) {
            vptx_fail(l, w, lane, VPTX_MISALIGNED, "misaligned %s access at 0x%llx, %u bytes",
                      names[out->space], (unsigned long long)at, bytes);
            return false;
        }
        if (out->space == SPACE_GLOBAL ? !global_place(l, w, lane, at, bytes, is_write, out)
                                       : !offset_place(l, w, lane, at, bytes, is_write, out))
            return false;
    }
    return true;
}

/* ---- loads ---- */

static bool all_written(const unsigned char *shadow, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (!shadow[i])
            return false;
    return true;
}

static bool check_global_shadow(launch *l, const warp *w, uint32_t lane, const place *at,
                                uint32_t bytes)
{
    if (!at->shadow || l->config->allow_uninitialised || all_written(at->shadow, bytes))
        return true;
    vptx_fail(l, w, lane, VPTX_UNINITIALISED, "global memory read before it was written");
    return false;
}

#define GATHER(to_type, from_type)                                                                 \
    FOR_LANES(lane, exec)                                                                          \
    {                                                                                              \
        from_type value;                                                                           \
        memcpy(&value, places[lane].host + skip, sizeof value);                                    \
        ((to_type __attribute__((may_alias)) *)row)[lane] = (to_type)value;                        \
    }
#define GATHER_INTO(to_type)                                                                       \
    do {                                                                                           \
        if (in->is_signed && in->size == 1)                                                        \
            GATHER(to_type, int8_t)                                                                \
        else if (in->is_signed && in->size == 2)                                                   \
            GATHER(to_type, int16_t)                                                               \
        else if (in->is_signed && in->size == 4)                                                   \
            GATHER(to_type, int32_t)                                                               \
        else if (in->size == 1)                                                                    \
            GATHER(to_type, uint8_t)                                                               \
        else if (in->size == 2)                                                                    \
            GATHER(to_type, uint16_t)                                                              \
        else if (in->size == 4)                                                                    \
            GATHER(to_type, uint32_t)                                                              \
        else                                                                                       \
            GATHER(to_type, uint64_t)                                                              \
    } while (0)

static void gather(const instr *in, void *row, const place *places, uint32_t exec, uint32_t skip)
{
    if (in->width == 8)
        GATHER_INTO(uint64_t);
    else if (in->width == 4)
        GATHER_INTO(uint32_t);
    else
        GATHER_INTO(uint16_t);
}

/* Local memory keeps "undefined" like a register: padding may be copied, but not used. */
static uint32_t defined_lanes(const place *places, uint32_t exec, uint32_t skip, uint32_t bytes)
{
    uint32_t defined = exec;
    FOR_LANES(lane, exec)
    if (places[lane].space == SPACE_LOCAL && !all_written(places[lane].shadow + skip, bytes))
        defined &= ~(1u << lane);
    return defined;
}

void vptx_exec_load(launch *l, warp *w, const instr *in, uint32_t exec)
{
    place places[LANES];
    const uint32_t bytes = (uint32_t)in->size * in->sources;
    const bool may_be_local = in->space == SPACE_LOCAL || in->space == SPACE_GENERIC;
    if (!translate(l, w, in, exec, bytes, false, places))
        return;
    FOR_LANES(lane, exec)
    {
        if (places[lane].space == SPACE_SHARED)
            vptx_race_access(l, w, lane, places[lane].offset, bytes, ACCESS_READ, false);
        else if (places[lane].space == SPACE_GLOBAL)
            check_global_shadow(l, w, lane, &places[lane], bytes);
    }
    for (uint32_t i = 0; i < in->sources && !l->failed; i++) {
        const uint32_t skip = i * in->size;
        const uint32_t was = w->defined[in->d[i].reg];
        gather(in, ROW(w, in->d[i]), places, exec, skip);
        w->defined[in->d[i].reg] = was | exec;
        if (may_be_local)
            w->defined[in->d[i].reg] = (was & ~exec) | defined_lanes(places, exec, skip, in->size);
    }
}

/* ---- stores ---- */

/* Undefined values may be put into local memory, as they may be moved between registers, but
 * nowhere else. */
static bool values_defined(launch *l, const warp *w, const instr *in, uint32_t exec,
                           const place *places)
{
    for (uint32_t i = 0; i < in->sources; i++) {
        const operand *o = &in->s[1 + i];
        FOR_LANES(lane, exec & ~w->defined[o->reg])
        if (places[lane].space != SPACE_LOCAL)
            return vptx_check_defined(l, w, 1u << lane, o);
    }
    return true;
}

static void store_lane(launch *l, warp *w, const instr *in, uint32_t lane, const place *to)
{
    const uint32_t bytes = (uint32_t)in->size * in->sources;
    unsigned char value[32];
    for (uint32_t i = 0; i < in->sources; i++) { /* little-endian: the low bytes of the register */
        memcpy(value + i * in->size, (char *)ROW(w, in->s[1 + i]) + lane * in->width, in->size);
        if (to->shadow)
            memset(to->shadow + i * in->size, w->defined[in->s[1 + i].reg] >> lane & 1, in->size);
    }
    if (to->space == SPACE_SHARED)
        vptx_race_access(l, w, lane, to->offset, bytes, ACCESS_WRITE,
                         memcmp(to->host, value, bytes) != 0);
    memcpy(to->host, value, bytes);
}

#define SCATTER(type)                                                                              \
    do {                                                                                           \
        FOR_LANES(lane, exec)                                                                      \
        {                                                                                          \
            memcpy(places[lane].host, (const char *)row + lane * sizeof(type), sizeof(type));      \
            if (places[lane].shadow)                                                               \
                memset(places[lane].shadow, 1, sizeof(type));                                      \
        }                                                                                          \
    } while (0)

void vptx_exec_store(launch *l, warp *w, const instr *in, uint32_t exec)
{
    place places[LANES];
    const void *row = ROW(w, in->s[1]);
    if (!translate(l, w, in, exec, (uint32_t)in->size * in->sources, true, places) ||
        !values_defined(l, w, in, exec, places))
        return;
    if (in->space == SPACE_GLOBAL && in->sources == 1 && in->size == 8 && in->width == 8)
        SCATTER(uint64_t);
    else if (in->space == SPACE_GLOBAL && in->sources == 1 && in->size == 4 && in->width == 4)
        SCATTER(uint32_t);
    else
        FOR_LANES(lane, exec)
    store_lane(l, w, in, lane, &places[lane]);
}

/* ---- atomics ---- */

#define OPERATE(type, stype)                                                                       \
    static type operate_##type(uint8_t how, bool is_signed, type old, type b, type c)              \
    {                                                                                              \
        const bool less = is_signed ? (stype)b < (stype)old : b < old;                             \
        const bool more = is_signed ? (stype)b > (stype)old : b > old;                             \
        switch (how) {                                                                             \
        case '+':                                                                                  \
            return old + b;                                                                        \
        case 'm':                                                                                  \
            return less ? b : old;                                                                 \
        case 'M':                                                                                  \
            return more ? b : old;                                                                 \
        case '&':                                                                                  \
            return old & b;                                                                        \
        case '|':                                                                                  \
            return old | b;                                                                        \
        case '^':                                                                                  \
            return old ^ b;                                                                        \
        case 'c':                                                                                  \
            return old == b ? c : old;                                                             \
        case 'i':                                                                                  \
            return old >= b ? 0 : old + 1;                                                         \
        case 'd':                                                                                  \
            return old == 0 || old > b ? b : old - 1;                                              \
        default:                                                                                   \
            return b;                                                                              \
        }                                                                                          \
    }                                                                                              \
    static type atomic_##type(void *host, uint8_t how, bool is_signed, type b, type c)             \
    {                                                                                              \
        type __attribute__((may_alias)) *at = host;                                                \
        type old = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                          \
        while (!__atomic_compare_exchange_n(at, &old, operate_##type(how, is_signed, old, b, c),   \
                                            false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))            \
            ;                                                                                      \
        return old;                                                                                \
    }
OPERATE(uint32_t, int32_t)
OPERATE(uint64_t, int64_t)

static void atomic_lane(warp *w, const instr *in, uint32_t lane, const place *at)
{
    if (in->size == 8) {
        const u64 *b = ROW(w, in->s[1]), *c = ROW(w, in->s[2]);
        const uint64_t old = atomic_uint64_t(at->host, in->sub, in->is_signed, b[lane], c[lane]);
        if (in->width)
            ((u64 *)ROW(w, in->d[0]))[lane] = old;
    } else {
        const u32 *b = ROW(w, in->s[1]), *c = ROW(w, in->s[2]);
        const uint32_t old = atomic_uint32_t(at->host, in->sub, in->is_signed, b[lane], c[lane]);
        if (in->width)
            ((u32 *)ROW(w, in->d[0]))[lane] = old;
    }
}

void vptx_exec_atom(launch *l, warp *w, const instr *in, uint32_t exec)
{
    place places[LANES];
    if (!translate(l, w, in, exec, in->size, true, places) ||
        !vptx_check_defined(l, w, exec, &in->s[1]) || !vptx_check_defined(l, w, exec, &in->s[2]))
        return;
    FOR_LANES(lane, exec)
    {
        if (places[lane].space == SPACE_SHARED)
            vptx_race_access(l, w, lane, places[lane].offset, in->size, ACCESS_ATOMIC, true);
        else if (places[lane].space == SPACE_GLOBAL)
            check_global_shadow(l, w, lane, &places[lane], in->size);
        if (l->failed)
            return;
        atomic_lane(w, in, lane, &places[lane]);
    }
    if (in->width)
        w->defined[in->d[0].reg] |= exec;
}
