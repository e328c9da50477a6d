/* Decoding of what gives or takes predicates: setp, set, testp, selp, and their logic. */
#include "parser.h"

#include <string.h>

static const test_entry *find_test(parser *p, const char *compare, const char *type)
{
    for (const test_entry *e = vptx_tests; e->compare; e++)
        if (strcmp(e->compare, compare) == 0 && vptx_lists(e->types, type))
            return e;
    vptx_refuse(p, p->op, "unknown comparison %.*s", (int)p->op->length, p->op->text);
}

static const char *take_comparison(parser *p)
{
    for (uint32_t i = 1; i < p->part_count; i++) {
        for (const test_entry *e = vptx_tests; e->compare && !p->used[i]; e++) {
            if (strcmp(e->compare, p->parts[i]) == 0) {
                p->used[i] = true;
                return e->compare;
            }
        }
    }
    vptx_refuse(p, p->op, "unknown comparison %.*s", (int)p->op->length, p->op->text);
}

/* sub: 0, or '&', '|', '^' for the combination with the third source. */
static void comparison(parser *p, instr *in, bool to_row)
{
    const char *compare = take_comparison(p);
    const test_entry *e;
    kind result = K_NONE;
    in->sub = vptx_take(p, "and") ? '&' : vptx_take(p, "or") ? '|' : vptx_take(p, "xor") ? '^' : 0;
    if (to_row) {
        result = vptx_kind_of(p, vptx_take_type(p));
        in->width = (uint8_t)vptx_kind_width(result);
        in->imm = result == K_F32 ? 0x3f800000 : 0xffffffff;
        in->d[0] = vptx_destination(p, in->width);
        if (in->width != 4)
            vptx_refuse(p, p->op, "set gives 32 bits");
    } else {
        in->d[0] = vptx_predicate(p, NULL);
        if (vptx_accept(p, "|"))
            in->q = vptx_predicate(p, NULL);
    }
    const char *type = vptx_take_type(p);
    vptx_all_used(p);
    e = find_test(p, compare, type ? type : "");
    in->op = to_row ? OP_SET : OP_TEST;
    in->fn.test = e->fn;
    for (in->sources = 0; in->sources < 2; in->sources++) {
        vptx_expect(p, ",");
        in->s[in->sources] = vptx_row_operand(p, e->s);
    }
    if (in->sub) {
        vptx_expect(p, ",");
        in->s[2] = vptx_predicate(p, &in->combine_negated);
    }
    *vptx_emit(p, in->op) = *in;
}

static void property(parser *p, instr *in)
{
    const char *compare = take_comparison(p);
    const char *type = vptx_take_type(p);
    const test_entry *e = find_test(p, compare, type ? type : "");
    vptx_all_used(p);
    in->op = OP_TEST;
    in->fn.test = e->fn;
    in->d[0] = vptx_predicate(p, NULL);
    vptx_expect(p, ",");
    in->s[0] = in->s[1] = vptx_row_operand(p, e->s);
    in->sources = 1;
    *vptx_emit(p, in->op) = *in;
}

static void selection(parser *p, instr *in)
{
    const kind k = vptx_kind_of(p, vptx_take_type(p));
    vptx_all_used(p);
    in->op = OP_SELP;
    in->width = (uint8_t)vptx_kind_width(k);
    in->d[0] = vptx_destination(p, in->width);
    for (uint32_t i = 0; i < 2; i++) {
        vptx_expect(p, ",");
        in->s[i] = vptx_row_operand(p, k);
    }
    vptx_expect(p, ",");
    in->s[2] = vptx_predicate(p, &in->combine_negated);
    *vptx_emit(p, in->op) = *in;
}

void vptx_decode_predicate(parser *p, instr *in, char how)
{
    in->op = OP_PRED;
    in->sub = (uint8_t)how;
    in->d[0] = vptx_predicate(p, NULL);
    vptx_expect(p, ",");
    in->s[0] = vptx_predicate(p, &in->combine_negated);
    in->s[1] = in->s[0];
    if (how != '=' && how != '!') {
        vptx_expect(p, ",");
        in->s[1] = vptx_predicate(p, NULL);
    }
    *vptx_emit(p, in->op) = *in;
}

bool vptx_decode_test(parser *p, instr *in)
{
    static const char *const logic[] = {"and", "or", "xor", "not"};
    const char *name = p->parts[0];
    if (strcmp(name, "setp") == 0 || strcmp(name, "set") == 0) {
        comparison(p, in, name[3] == 0);
    } else if (strcmp(name, "testp") == 0) {
        property(p, in);
    } else if (strcmp(name, "selp") == 0) {
        selection(p, in);
    } else {
        for (uint32_t i = 0; i < 4 && p->part_count == 2 && strcmp(p->parts[1], "pred") == 0; i++)
            if (strcmp(name, logic[i]) == 0)
                return vptx_decode_predicate(p, in, "&|^!"[i]), true;
        return false;
    }
    return true;
}
