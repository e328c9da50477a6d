/* Loading a module: the arena, the token cursor, symbols, and the statements at module level. */
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the arena ---- */

typedef struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
} arena_block;

void *vptx_arena(struct arena_block **arena, size_t size)
{
    arena_block *block = *arena;
    size = (size + 15) & ~(size_t)15;
    if (!block || block->size - block->used < size) {
        const size_t room = size > 65536 ? size : 65536;
        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        block->size = room;
        block->next = *arena;
        *arena = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

void vptx_arena_free(struct arena_block *arena)
{
    while (arena) {
        arena_block *next = arena->next;
        free(arena);
        arena = next;
    }
}

void *vptx_allocate(parser *p, size_t size)
{
    void *memory = vptx_arena(&p->m->arena, size ? size : 1);
    if (!memory)
        vptx_refuse(p, p->at, "out of memory");
    return memory;
}

void *vptx_grow(parser *p, growth *g, size_t item)
{
    if (g->count == g->room) {
        const uint32_t room = g->room ? 2 * g->room : 16;
        void *more = vptx_allocate(p, room * item);
        if (g->count)
            memcpy(more, g->items, g->count * item);
        g->items = more;
        g->room = room;
    }
    return memset((char *)g->items + item * g->count++, 0, item);
}

/* ---- tokens ---- */

_Noreturn void vptx_refuse(parser *p, const token *where, const char *format, ...)
{
    int used = snprintf(p->error, p->error_size, "ptx line %u: ", where->line);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && (size_t)used < p->error_size)
        vsnprintf(p->error + used, p->error_size - (size_t)used, format, arguments);
    va_end(arguments);
    longjmp(p->refused, 1);
}

bool vptx_is(const token *t, const char *text)
{
    return t->kind && t->text[0] == text[0] && strlen(text) == t->length &&
           memcmp(t->text, text, t->length) == 0;
}

bool vptx_accept(parser *p, const char *text)
{
    if (!vptx_is(p->at, text))
        return false;
    p->at++;
    return true;
}

void vptx_expect(parser *p, const char *text)
{
    if (!vptx_accept(p, text))
        vptx_refuse(p, p->at, "'%s' expected before '%.*s'", text, (int)p->at->length, p->at->text);
}

const char *vptx_name(parser *p, const token *t)
{
    char *copy = vptx_allocate(p, t->length + 1);
    memcpy(copy, t->text, t->length);
    return copy;
}

/* ---- symbols: the latest of a name wins; scopes end by cutting the list ---- */

static bool in_range(const symbol *s, const token *t)
{
    const size_t prefix = strlen(s->name);
    uint32_t number = 0;
    if (!s->count || t->length <= prefix || memcmp(t->text, s->name, prefix) != 0)
        return false;
    for (size_t i = prefix; i < t->length; i++) {
        if (t->text[i] < '0' || t->text[i] > '9' || number > 99999999)
            return false;
        number = 10 * number + (uint32_t)(t->text[i] - '0');
    }
    return number < s->count;
}

symbol *vptx_lookup(parser *p, const token *t)
{
    for (uint32_t i = p->symbols.count; i-- > 0;) {
        symbol *s = AT(p, symbols, symbol, i);
        if (s->count ? in_range(s, t) : vptx_is(t, s->name))
            return s;
    }
    return NULL;
}

symbol *vptx_add_symbol(parser *p, const token *name, symbol_kind kind)
{
    symbol *s = vptx_grow(p, &p->symbols, sizeof *s);
    s->name = vptx_name(p, name);
    s->kind = kind;
    return s;
}

/* ---- statements ---- */

static void skip_line(parser *p)
{
    const uint32_t line = p->at->line;
    while (p->at->kind && p->at->line == line)
        p->at++;
}

static void skip_section(parser *p)
{
    while (p->at->kind && p->at->kind != '{')
        p->at++;
    while (p->at->kind && p->at->kind != '}')
        p->at++;
    vptx_expect(p, "}");
}

/* M.N, which the lexer takes for one number. */
static void version_statement(parser *p)
{
    const token *t = p->at++;
    const char *text = vptx_name(p, t), *dot = strchr(text, '.');
    if (t->kind != 'n' || !dot)
        vptx_refuse(p, t, "version expected");
    p->m->version = 10 * atoi(text) + atoi(dot + 1);
}

static void target_statement(parser *p)
{
    const token *t = p->at++;
    const char *text = vptx_name(p, t);
    if (strncmp(text, "sm_", 3) != 0)
        vptx_refuse(p, t, "target sm_NN expected");
    p->m->target = atoi(text + 3);
    while (vptx_accept(p, ","))
        p->at++;
}

static void file_statement(parser *p)
{
    file_name *f = vptx_grow(p, &p->files, sizeof *f);
    const token *name;
    f->number = vptx_small(p);
    name = p->at;
    if (name->kind != 's')
        vptx_refuse(p, name, "file name expected");
    f->name = vptx_name(p, name) + 1;
    ((char *)f->name)[name->length - 2] = 0;
    skip_line(p);
}

static void statement(parser *p)
{
    bool is_extern = false;
    while (vptx_is(p->at, ".visible") || vptx_is(p->at, ".extern") || vptx_is(p->at, ".weak") ||
           vptx_is(p->at, ".common")) {
        is_extern |= vptx_is(p->at, ".extern");
        p->at++;
    }
    if (vptx_accept(p, ".version"))
        version_statement(p);
    else if (vptx_accept(p, ".target"))
        target_statement(p);
    else if (vptx_accept(p, ".address_size"))
        vptx_expect(p, "64");
    else if (vptx_accept(p, ".file"))
        file_statement(p);
    else if (vptx_accept(p, ".section"))
        skip_section(p);
    else if (vptx_accept(p, ".pragma"))
        p->at += 2;
    else if (vptx_accept(p, ".entry"))
        vptx_function_statement(p, true);
    else if (vptx_accept(p, ".func"))
        vptx_function_statement(p, false);
    else
        vptx_variable_statement(p, is_extern, false);
}

static void take_results(parser *p)
{
    vptx_module *m = p->m;
    m->code = p->code.items;
    m->code_count = p->code.count;
    m->functions = p->functions.items;
    m->function_count = p->functions.count;
    m->variables = p->variables.items;
    m->variable_count = p->variables.count;
    m->shared = p->shared.items;
    m->shared_count = p->shared.count;
    m->tables = p->tables.items;
    m->table_count = p->tables.count;
    m->calls = p->calls.items;
    m->call_count = p->calls.count;
    m->places = p->places.items;
    m->files = p->files.items;
    m->file_count = p->files.count;
}

static void parse_module(parser *p)
{
    while (p->at->kind)
        statement(p);
    if (!p->m->target || !p->m->version)
        vptx_refuse(p, p->at, "no .version and .target");
    take_results(p);
    vptx_layout(p);
}

static int parse(parser *p, const char *text, size_t length)
{
    token *tokens = vptx_lex(text, length, &p->m->lines);
    if (!tokens) {
        snprintf(p->error, p->error_size, "ptx line 0: out of memory");
        return -1;
    }
    p->at = tokens;
    if (setjmp(p->refused)) {
        free(tokens);
        return -1;
    }
    parse_module(p);
    free(tokens);
    return 0;
}

int vptx_load(const char *text, size_t length, vptx_module **out, char *error, size_t error_size)
{
    parser *p = calloc(1, sizeof *p);
    vptx_module *m = calloc(1, sizeof *m);
    int status = -1;
    if (p && m) {
        pthread_mutex_init(&m->lock, NULL);
        p->m = m;
        p->error = error;
        p->error_size = error_size;
        status = parse(p, text, length);
        if (status)
            vptx_unload(m);
        else
            *out = m;
    } else {
        snprintf(error, error_size, "ptx line 0: out of memory");
        free(m);
    }
    free(p);
    return status;
}

void vptx_unload(vptx_module *m)
{
    if (!m)
        return;
    pthread_mutex_destroy(&m->lock);
    vptx_arena_free(m->arena);
    free(m);
}
