/* Every arithmetic instruction of the PTX interpreter against an oracle. A module with one kernel
 * per instruction is written here and run on edge and random values; comparisons and carry chains,
 * which have more than one result, come after. */
#include "vptx_host.h"

#include "vptx_ops.h"

#include <stdarg.h>

enum { COUNT = 2048 };

typedef struct text {
    char *at;
    size_t used, room;
} text;

static void put(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    t->used += (size_t)vsnprintf(t->at + t->used, t->room - t->used, format, arguments);
    va_end(arguments);
    if (t->used >= t->room)
        abort();
}

static int width_of(char letter)
{
    return letter == 'h' ? 2 : letter == 'l' || letter == 'd' ? 8 : 4;
}

static const char *type_of(char letter)
{
    return letter == 'h'   ? "u16"
           : letter == 'l' ? "u64"
           : letter == 'd' ? "f64"
           : letter == 'f' ? "f32"
                           : "u32";
}

/* Loads the sources of one element into %s0.. and leaves room for %d; all arrays have elements of 8
 * bytes. */
static void head(text *t, const char *name, const char *signature)
{
    const char *sources = signature + 2;
    put(t, ".visible .entry %s(.param .u64 base)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%t<4>;\n",
        name);
    put(t, ".reg .b64 %%x<4>;\n.reg .%s %%d;\n", type_of(signature[0]));
    put(t, "mov.u32 %%t0, %%ctaid.x;\nmov.u32 %%t1, %%ntid.x;\nmov.u32 %%t2, %%tid.x;\n");
    put(t, "mad.lo.u32 %%t0, %%t0, %%t1, %%t2;\nmul.wide.u32 %%x0, %%t0, 40;\n");
    put(t, "ld.param.u64 %%x1, [base];\nadd.u64 %%x0, %%x0, %%x1;\n");
    for (int i = 0; sources[i]; i++) {
        put(t, ".reg .%s %%s%d;\n", type_of(sources[i]), i);
        put(t, "ld.global.%s %%s%d, [%%x0+%d];\n", type_of(sources[i]), i, 8 * (i + 1));
    }
}

static void tail(text *t, char letter)
{
    put(t, "st.global.%s [%%x0], %%d;\nret;\n}\n", type_of(letter));
}

static void write_op(text *t, int op)
{
    const char *signature = ops[op].signature, *hash = strchr(ops[op].text, '#');
    const int length = hash ? (int)(hash - ops[op].text) : (int)strlen(ops[op].text);
    char name[16];
    snprintf(name, sizeof name, "op%d", op);
    head(t, name, signature);
    put(t, "%.*s %%d", length, ops[op].text);
    for (int i = 0; signature[2 + i]; i++)
        put(t, ", %%s%d", i);
    if (hash)
        put(t, ", %s", hash + 1);
    put(t, ";\n");
    tail(t, signature[0]);
}

static u64 input(char letter, u64 *seed)
{
    static const u64 words[] = {0,
                                1,
                                2,
                                31,
                                32,
                                33,
                                63,
                                64,
                                0x7fff,
                                0x8000,
                                0xffff,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                0x100000000,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                ~(u64)0};
    static const double floats[] = {0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.5,
                                    1.5,
                                    2.5,
                                    -2.5,
                                    1e300,
                                    -1e300,
                                    5e-324,
                                    1e-310,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    65535.5,
                                    2147483647.5,
                                    4294967295.5,
                                    9223372036854775807.0,
                                    3.4028236e38,
                                    1e-45};
    const u64 random = host_random(seed), choice = host_random(seed) % 4;
    const double edge = floats[random % (sizeof floats / sizeof *floats)];
    const double middle = (double)(i64)random / (double)((u64)1 << (host_random(seed) & 63));
    if (letter == 's')
        return random % 80;
    if (letter == 'd')
        return choice == 0 ? f64(edge) : choice == 1 ? random : f64(middle);
    if (letter == 'f')
        return choice == 0 ? f32((float)edge) : choice == 1 ? random : f32((float)middle);
    return choice == 0   ? words[random % (sizeof words / sizeof *words)]
           : choice == 1 ? random >> (host_random(seed) & 63)
                         : random;
}

static u64 cut(u64 x, char letter)
{
    const int width = width_of(letter);
    return width == 8 ? x : x & (((u64)1 << 8 * width) - 1);
}

static bool same(char letter, u64 x, u64 y)
{
    if (letter == 'd' && isnan(D(x)))
        return isnan(D(y));
    if (letter == 'f' && isnan(F(x)))
        return isnan(F(y));
    return cut(x, letter) == cut(y, letter);
}

typedef u64 element[5];
static element data[COUNT];

static int run(const vptx_module *m, const char *name, vptx_report *report)
{
    host_memory memory = {0};
    const u64 base = host_add(&memory, data, sizeof data, NULL);
    const vptx_launch_config config = {.grid = {COUNT / 128, 1, 1},
                                       .block = {128, 1, 1},
                                       .parameters = &base,
                                       .memory = {host_resolve, &memory},
                                       .seed = 7};
    if (vptx_launch(vptx_find(m, name), &config, report) == VPTX_OK)
        return 0;
    fprintf(stderr, "%s\n", report->fault.text);
    return 1;
}

static void fill_inputs(const char *sources, u64 *seed)
{
    memset(data, 0, sizeof data);
    for (int i = 0; i < COUNT; i++)
        for (int s = 0; sources[s]; s++)
            data[i][s + 1] = cut(input(sources[s], seed), sources[s]);
}

static int check_op(const vptx_module *m, int op, u64 *seed)
{
    char name[16];
    vptx_report report;
    const char result = ops[op].signature[0];
    fill_inputs(ops[op].signature + 2, seed);
    snprintf(name, sizeof name, "op%d", op);
    if (run(m, name, &report))
        return 1;
    for (int i = 0; i < COUNT; i++) {
        const u64 *x = data[i], want = expected(op, x[1], x[2], x[3], x[4]);
        if (!same(result, x[0], want)) {
            fprintf(stderr, "%s(%llx, %llx, %llx, %llx) = %llx, expected %llx\n", ops[op].text,
                    (unsigned long long)x[1], (unsigned long long)x[2], (unsigned long long)x[3],
                    (unsigned long long)x[4], (unsigned long long)x[0], (unsigned long long)want);
            return 1;
        }
    }
    return 0;
}

/* ---- setp: every comparison of every type, with the combinations ---- */

static const char *const compares[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                       "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                       "ltu", "leu", "gtu", "geu", "num", "nan"};
static const char *const combinations[] = {"", ".and", ".or", ".xor"};

static bool allowed(int compare, const char *type)
{
    if (compare < 2)
        return true;
    if (type[0] == 'b')
        return false;
    if (compare < 6)
        return true;
    return type[0] == (compare < 10 ? 'u' : 'f');
}

/* order: -1, 0, 1, or 2 when unordered */
static bool holds(int compare, int order)
{
    static const char *const ordered[] = {"0",  "-+", "-",  "-0", "+",  "+0", "-",  "-0",  "+",
                                          "+0", "0",  "-+", "-",  "-0", "+",  "+0", "-0+", ""};
    if (order == 2)
        return (compare >= 10 && compare < 16) || compare == 17;
    return strchr(ordered[compare], "-0+"[order + 1]) != NULL;
}

static int order_of(const char *type, u64 a, u64 b)
{
    const int bits = atoi(type + 1);
    if (type[0] == 'f') {
        const double x = bits == 64 ? D(a) : F(a), y = bits == 64 ? D(b) : F(b);
        return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
    }
    if (type[0] == 's')
        return (sx(a, bits) > sx(b, bits)) - (sx(a, bits) < sx(b, bits));
    return (a > b) - (a < b);
}

static const char *const setp_types[] = {"b16", "u16", "s16", "b32", "u32", "s32",
                                         "b64", "u64", "s64", "f32", "f64"};
static const char setp_letters[] = "hhhwwwlllfd";

static void write_setp(text *t, int compare, int type, int how)
{
    char name[32], signature[] = {'w', ':', setp_letters[type], setp_letters[type], 'w', 0};
    snprintf(name, sizeof name, "setp_%d_%d_%d", compare, type, how);
    head(t, name, signature);
    put(t, "setp.ne.u32 %%p0, %%s2, 0;\n");
    if (how)
        put(t, "setp.%s%s.%s %%p1|%%p2, %%s0, %%s1, !%%p0;\n", compares[compare], combinations[how],
            setp_types[type]);
    else
        put(t, "setp.%s.%s %%p1|%%p2, %%s0, %%s1;\n", compares[compare], setp_types[type]);
    put(t, "selp.u32 %%d, 1, 0, %%p1;\n@%%p2 add.u32 %%d, %%d, 2;\n");
    tail(t, 'w');
}

static bool combined(int how, bool x, bool p)
{
    return how == 0 ? x : how == 1 ? x && p : how == 2 ? x || p : x != p;
}

static int check_setp(const vptx_module *m, int compare, int type, int how, u64 *seed)
{
    char name[32], sources[] = {setp_letters[type], setp_letters[type], 'w', 0};
    vptx_report report;
    fill_inputs(sources, seed);
    for (int i = 0; i < COUNT; i++) {
        data[i][3] &= 1;
        if (i % 5 == 0)
            data[i][2] = data[i][1];
    }
    snprintf(name, sizeof name, "setp_%d_%d_%d", compare, type, how);
    if (run(m, name, &report))
        return 1;
    for (int i = 0; i < COUNT; i++) {
        const bool x = holds(compare, order_of(setp_types[type], data[i][1], data[i][2])),
                   p = !data[i][3];
        const u64 want = combined(how, x, p) + 2u * combined(how, !x, p);
        if (data[i][0] != want) {
            fprintf(stderr, "setp.%s%s.%s(%llx, %llx, %d) = %llx\n", compares[compare],
                    combinations[how], setp_types[type], (unsigned long long)data[i][1],
                    (unsigned long long)data[i][2], p, (unsigned long long)data[i][0]);
            return 1;
        }
    }
    return 0;
}

/* ---- carry chains: 128-bit sums, differences and products ---- */

__extension__ typedef unsigned __int128 u128;
static const struct {
    const char *name, *code;
} chains[] = {
    {"sum", "add.cc.u32 %r0, %a0, %b0;\naddc.cc.u32 %r1, %a1, %b1;\naddc.cc.u32 %r2, %a2, "
            "%b2;\naddc.u32 %r3, %a3, %b3;\n"},
    {"difference", "sub.cc.u32 %r0, %a0, %b0;\nsubc.cc.u32 %r1, %a1, %b1;\nsubc.cc.u32 %r2, %a2, "
                   "%b2;\nsubc.u32 %r3, %a3, %b3;\n"},
    {"product",
     "mul.lo.u32 %r0, %a0, %b0;\nmul.hi.u32 %r1, %a0, %b0;\n"
     "mad.lo.cc.u32 %r1, %a0, %b1, %r1;\nmadc.hi.u32 %r2, %a0, %b1, 0;\n"
     "mad.lo.cc.u32 %r1, %a1, %b0, %r1;\nmadc.hi.cc.u32 %r2, %a1, %b0, %r2;\naddc.u32 %r3, 0, 0;\n"
     "mad.lo.cc.u32 %r2, %a1, %b1, %r2;\nmadc.hi.u32 %r3, %a1, %b1, %r3;\n"},
    {"sum64", "add.cc.u64 %x2, %s0, %s2;\naddc.u64 %x3, %s1, %s3;\nmov.b64 {%r0, %r1}, "
              "%x2;\nmov.b64 {%r2, %r3}, %x3;\n"},
};

static void write_chain(text *t, int chain)
{
    head(t, chains[chain].name, "l:llll");
    put(t, ".reg .b32 %%a<4>;\n.reg .b32 %%b<4>;\n.reg .b32 %%r<4>;\n");
    put(t, "mov.b64 {%%a0, %%a1}, %%s0;\nmov.b64 {%%a2, %%a3}, %%s1;\n");
    put(t, "mov.b64 {%%b0, %%b1}, %%s2;\nmov.b64 {%%b2, %%b3}, %%s3;\n%s", chains[chain].code);
    put(t,
        "mov.b64 %%d, {%%r0, %%r1};\nmov.b64 %%x2, {%%r2, %%r3};\nst.global.u64 [%%x0+8], %%x2;\n");
    tail(t, 'l');
}

static int check_chain(const vptx_module *m, int chain, u64 *seed)
{
    static element before[COUNT];
    vptx_report report;
    fill_inputs("llll", seed);
    memcpy(before, data, sizeof data);
    if (run(m, chains[chain].name, &report))
        return 1;
    for (int i = 0; i < COUNT; i++) {
        const u64 *x = before[i];
        const u128 a = (u128)x[2] << 64 | x[1], b = (u128)x[4] << 64 | x[3];
        const u128 want = chain == 1 ? a - b : chain == 2 ? (u128)x[1] * x[3] : a + b;
        if (data[i][0] != (u64)want || data[i][1] != (u64)(want >> 64)) {
            fprintf(stderr, "128-bit %s differs\n", chains[chain].name);
            return 1;
        }
    }
    return 0;
}

/* ---- all ---- */

static void write_module(text *t)
{
    put(t, ".version 7.0\n.target sm_75\n.address_size 64\n");
    for (size_t op = 0; op < sizeof ops / sizeof *ops; op++)
        write_op(t, (int)op);
    for (int compare = 0; compare < 18; compare++)
        for (int type = 0; type < 11; type++)
            for (int how = 0; how < 4 && allowed(compare, setp_types[type]); how++)
                write_setp(t, compare, type, how);
    for (int chain = 0; chain < 4; chain++)
        write_chain(t, chain);
}

int test_vptx_ops(void)
{
    text t = {malloc(1 << 22), 0, 1 << 22};
    vptx_module *m;
    u64 seed = 0x9e3779b97f4a7c15u;
    int failures = 0, checks = 0;
    write_module(&t);
    m = host_load(t.at, t.used);
    free(t.at);
    if (!m)
        return 1;
    for (size_t op = 0; op < sizeof ops / sizeof *ops; op++, checks++)
        failures += check_op(m, (int)op, &seed);
    for (int compare = 0; compare < 18; compare++)
        for (int type = 0; type < 11; type++)
            for (int how = 0; how < 4 && allowed(compare, setp_types[type]); how++, checks++)
                failures += check_setp(m, compare, type, how, &seed);
    for (int chain = 0; chain < 4; chain++, checks++)
        failures += check_chain(m, chain, &seed);
    vptx_unload(m);
    printf("ops: %d instructions on %d values each, %d failed\n", checks, COUNT, failures);
    return failures;
}
