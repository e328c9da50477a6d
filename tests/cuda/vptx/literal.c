/* Numbers in PTX: decimal, hexadecimal, octal and binary integers, floats as text or as their bits
 * (0f, 0d). */
#include "parser.h"

#include <stdlib.h>
#include <string.h>

bool vptx_literal_follows(const parser *p)
{
    const token *t = p->at;
    if (t->kind == '-' || t->kind == '+')
        t++;
    return t->kind == 'n' || vptx_is(t, "WARP_SZ");
}

static uint64_t float_bits(double value, kind k)
{
    uint64_t bits = 0;
    if (k == K_F32) {
        const float narrow = (float)value;
        memcpy(&bits, &narrow, sizeof narrow);
    } else {
        memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

/* The number as text, ended by a zero byte, in a buffer of the caller. */
static void spell(parser *p, const token *t, char text[64])
{
    if (t->length >= 64)
        vptx_refuse(p, t, "number too long");
    memcpy(text, t->text, t->length);
    text[t->length] = 0;
}

static uint64_t integer(parser *p, const token *t, const char *text)
{
    char *end;
    const bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    const uint64_t value = binary ? strtoull(text + 2, &end, 2) : strtoull(text, &end, 0);
    if (*end == 'U')
        end++;
    if (*end)
        vptx_refuse(p, t, "not a number: %s", text);
    return value;
}

static bool has_bits_prefix(const char *text, const char letters[2], size_t digits)
{
    return text[0] == '0' && (text[1] == letters[0] || text[1] == letters[1]) &&
           strlen(text) == digits + 2;
}

uint64_t vptx_literal(parser *p, kind k)
{
    const bool minus = p->at->kind == '-';
    const token *t = p->at->kind == '-' || p->at->kind == '+' ? ++p->at : p->at;
    char text[64];
    p->at++;
    if (vptx_is(t, "WARP_SZ"))
        return LANES;
    if (t->kind != 'n')
        vptx_refuse(p, t, "number expected");
    spell(p, t, text);
    if (has_bits_prefix(text, "fF", 8) || has_bits_prefix(text, "dD", 16)) {
        const kind spelled = strlen(text) == 10 ? K_F32 : K_F64;
        const uint64_t bits = strtoull(text + 2, NULL, 16);
        if (vptx_kind_float(k) ? spelled != k : vptx_kind_width(spelled) != vptx_kind_width(k))
            vptx_refuse(p, t, "float literal %s of another width than the instruction", text);
        return minus ? bits ^ (spelled == K_F32 ? (uint64_t)1 << 31 : (uint64_t)1 << 63) : bits;
    }
    if (vptx_kind_float(k)) {
        char *end;
        const double value = strtod(text, &end);
        if (*end)
            vptx_refuse(p, t, "not a number: %s", text);
        return float_bits(minus ? -value : value, k);
    }
    return minus ? 0 - integer(p, t, text) : integer(p, t, text);
}

uint32_t vptx_small(parser *p)
{
    const token *t = p->at;
    char text[64];
    uint64_t value;
    if (t->kind != 'n')
        vptx_refuse(p, t, "number expected");
    p->at++;
    spell(p, t, text);
    value = integer(p, t, text);
    if (value > 0x7fffffff)
        vptx_refuse(p, t, "number too large: %s", text);
    return (uint32_t)value;
}
