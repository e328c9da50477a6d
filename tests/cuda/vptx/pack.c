/* Fewer rows than registers: compilers name a new register for every value, and what a kernel of
 * thousands of them touches would be in no cache. A register that is only used between two labels,
 * where its first use is to write it, gives its row to others when it has been used the last time.
 * Whether it was ever written is still known of each register. */
#include "parser.h"

#include <string.h>

#define WIDEST    (8u * LANES) /* bytes of a row */
#define NARROWEST (2u * LANES)

typedef struct life {     /* of a row before packing */
    uint32_t begin, last; /* instructions: of the stretch, and the last that uses it */
    uint32_t at;          /* 0: nowhere yet */
    uint8_t width;        /* of what is written to it first */
    bool seen, shares;
} life;

typedef struct stack {
    uint32_t *items, count;
} stack;

typedef struct packing {
    const function *f;
    life *lives;     /* by place in units of the narrowest row */
    bool *begins;    /* by instruction of the function: whether branches lead to it */
    stack unused[3]; /* places, by width: a lane is elsewhere in a row of another width */
    uint32_t bytes;
} packing;

static life *life_of(const packing *k, uint32_t at)
{
    return at < SR_BYTES ? NULL : &k->lives[(at - SR_BYTES) / NARROWEST];
}

static void find_stretches(const packing *k, const vptx_module *m)
{
    const function *f = k->f;
    memset(k->begins, 0, (f->end - f->begin) * sizeof *k->begins);
    for (uint32_t i = f->begin; i < f->end; i++) {
        const instr *in = &m->code[i];
        const branch_table *table = in->op == OP_BRX ? &m->tables[in->target] : NULL;
        if (in->op == OP_BRANCH)
            k->begins[in->target - f->begin] = true;
        for (uint32_t j = 0; table && j < table->count; j++)
            k->begins[table->targets[j] - f->begin] = true;
    }
}

/* width 0: it is read there, or not certainly written. */
static void see(const packing *k, uint32_t at, uint32_t i, uint32_t begin, uint8_t width)
{
    life *row = life_of(k, at);
    if (!row)
        return;
    if (!row->seen)
        *row = (life){.begin = begin, .width = width, .seen = true, .shares = width > 0};
    row->shares &= row->begin == begin;
    row->last = i;
}

static void find_lives(const packing *k, const vptx_module *m)
{
    uint32_t begin = k->f->begin;
    memset(k->lives, 0, (k->f->row_bytes - SR_BYTES) / NARROWEST * sizeof *k->lives);
    for (uint32_t i = k->f->begin; i < k->f->end; i++) {
        const instr *in = &m->code[i];
        begin = k->begins[i - k->f->begin] ? i : begin;
        for (int j = 0; j < 5; j++)
            see(k, in->s[j].at, i, begin, 0);
        for (int j = 0; j < 4; j++)
            see(k, in->d[j].at, i, begin, in->guard ? 0 : in->width);
    }
}

static uint32_t new_place(packing *k)
{
    const uint32_t at = k->bytes;
    k->bytes += WIDEST;
    return at;
}

static void move(packing *k, uint32_t *at)
{
    life *row = life_of(k, *at);
    stack *unused;
    if (!row)
        return;
    unused = &k->unused[row->width / 4];
    if (!row->at)
        row->at = row->shares && unused->count ? unused->items[--unused->count] : new_place(k);
    *at = row->at;
}

/* Not before the instruction has its destinations: they must not overlap its sources. */
static void end(packing *k, uint32_t at, uint32_t i)
{
    life *row = life_of(k, at);
    stack *unused;
    if (!row || !row->shares || row->last != i)
        return;
    unused = &k->unused[row->width / 4];
    unused->items[unused->count++] = row->at;
    row->shares = false;
}

static void move_rows(packing *k, vptx_module *m)
{
    for (uint32_t i = k->f->begin; i < k->f->end; i++) {
        instr *in = &m->code[i];
        const instr was = *in;
        for (int j = 0; j < 5; j++)
            move(k, &in->s[j].at);
        for (int j = 0; j < 4; j++)
            move(k, &in->d[j].at);
        for (int j = 0; j < 5; j++)
            end(k, was.s[j].at, i);
        for (int j = 0; j < 4; j++)
            end(k, was.d[j].at, i);
    }
    for (uint32_t i = 0; i < k->f->constant_count; i++)
        move(k, &k->f->constants[i].at);
}

static void pack_function(packing *k, vptx_module *m, function *f)
{
    k->f = f;
    k->bytes = SR_BYTES;
    for (int i = 0; i < 3; i++)
        k->unused[i].count = 0;
    find_stretches(k, m);
    find_lives(k, m);
    move_rows(k, m);
    f->row_bytes = k->bytes;
}

void vptx_pack_rows(parser *p)
{
    vptx_module *m = p->m;
    packing k = {0};
    uint32_t rows = 0, code = 0;
    for (uint32_t i = 0; i < m->function_count; i++) {
        const function *f = &m->functions[i];
        rows = f->row_bytes / NARROWEST > rows ? f->row_bytes / NARROWEST : rows;
        code = f->end - f->begin > code ? f->end - f->begin : code;
    }
    k.lives = vptx_allocate(p, rows * sizeof *k.lives);
    k.begins = vptx_allocate(p, code * sizeof *k.begins);
    for (int i = 0; i < 3; i++)
        k.unused[i].items = vptx_allocate(p, rows * sizeof *k.unused[i].items);
    for (uint32_t i = 0; i < m->function_count; i++)
        if (m->functions[i].has_body)
            pack_function(&k, m, &m->functions[i]);
}
