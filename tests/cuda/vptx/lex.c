/* The lexer of the PTX interpreter: the whole text becomes one array of tokens. A word takes in its
 * dots
 * ("ld.global.f64", "%tid.x", ".reg"); comments and blanks vanish. */
#include "internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

typedef struct cursor {
    const char *at, *end;
    uint32_t line;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->at < c->end) {
        if (*c->at == '\n') {
            c->line++;
            c->at++;
        } else if (isspace((unsigned char)*c->at)) {
            c->at++;
        } else if (c->end - c->at > 1 && c->at[0] == '/' && c->at[1] == '/') {
            while (c->at < c->end && *c->at != '\n')
                c->at++;
        } else if (c->end - c->at > 1 && c->at[0] == '/' && c->at[1] == '*') {
            c->at += 2;
            while (c->at < c->end && !(c->at[0] == '*' && c->end - c->at > 1 && c->at[1] == '/'))
                c->line += *c->at++ == '\n';
            c->at = c->end - c->at > 1 ? c->at + 2 : c->end;
        } else {
            return;
        }
    }
}

static token next_token(cursor *c)
{
    token t = {0};
    skip_blanks(c);
    t.text = c->at;
    t.line = c->line;
    if (c->at == c->end)
        return t;
    if (starts_word(*c->at)) {
        t.kind = 'w';
        do
            c->at++;
        while (c->at < c->end && in_word(*c->at));
    } else if (isdigit((unsigned char)*c->at)) {
        t.kind = 'n';
        while (c->at < c->end && (isalnum((unsigned char)*c->at) || *c->at == '.'))
            c->at++;
    } else if (*c->at == '"') {
        t.kind = 's';
        do
            c->at++;
        while (c->at < c->end && *c->at != '"' && *c->at != '\n');
        if (c->at < c->end && *c->at == '"')
            c->at++;
        else
            t.kind = '?';
    } else {
        t.kind = strchr("{}()[]<>,;:=+-@!|", *c->at) && *c->at ? *c->at : '?';
        c->at++;
    }
    t.length = (uint32_t)(c->at - t.text);
    return t;
}

/* More than one, so that a parser may step over the end before it complains. */
#define END_TOKENS 8u

token *vptx_lex(const char *text, size_t length, uint32_t *lines)
{
    cursor c = {text, text + length, 1};
    size_t count = 0, room = 1024, ends = 0;
    token *tokens = malloc(room * sizeof *tokens);
    if (!tokens)
        return NULL;
    do {
        if (count == room) {
            token *more = realloc(tokens, 2 * room * sizeof *tokens);
            if (!more) {
                free(tokens);
                return NULL;
            }
            tokens = more;
            room *= 2;
        }
        tokens[count] = next_token(&c);
    } while (tokens[count++].kind || ++ends < END_TOKENS);
    *lines = c.line;
    return tokens;
}
