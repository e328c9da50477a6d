/* Planted bugs: each small kernel below has one, and the interpreter must name it, on the right
 * line; beside it stands the same kernel without the bug, which must pass. Then texts that must be
 * refused when they are loaded. */
#include "vptx_host.h"

typedef struct planted {
    const char *name;
    vptx_fault_kind kind;
    const char *body; /* the line of the fault is marked by a comment at its end */
} planted;

#define MARK "//!"

/* %t is the thread, %a the address of an array of 64 words (the second half never written), %s that
 * of shared memory. */
static const char before[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".func (.param .b32 back) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
    "ld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [back], %r2;\nret;\n}\n"
    ".visible .entry k(.param .u64 base)\n{\n.shared .align 8 .b8 block[1024];\n"
    ".local .align 8 .b8 frame[16];\n"
    ".reg .pred %p<8>;\n.reg .b32 %r<20>, %t, %s, %w;\n.reg .b64 %x<20>, %a;\n.reg .f64 %d<8>;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %s, block;\nshl.b32 %w, %t, 2;\nadd.u32 %s, %s, %w;\n"
    "ld.param.u64 %a, [base];\ncvta.to.global.u64 %a, %a;\nsetp.lt.u32 %p1, %t, 16;\n"
    "setp.eq.u32 %p2, %t, 0;\nsetp.lt.u32 %p3, %t, 32;\n";

static const planted bugs[] = {
    {"neighbour through shared memory", VPTX_OK,
     "st.shared.u32 [%s], %t;\nbar.sync 0;\n@%p3 ld.shared.u32 %r1, [%s+128];\nret;\n"},
    {"missing barrier", VPTX_RACE,
     "st.shared.u32 [%s], 0;\nbar.sync 0;\nst.shared.u32 [%s], %t;\n@%p3 ld.shared.u32 %r1, "
     "[%s+128];\nret;\n"},
    {"write after read without a barrier", VPTX_RACE,
     "st.shared.u32 [%s], %t;\nbar.sync 0;\nld.shared.u32 %r1, [block];\nst.shared.u32 [%s], "
     "%r1;//!\nret;\n"},
    {"lanes with a warp barrier", VPTX_OK,
     "st.shared.u32 [%s], %t;\nbar.warp.sync -1;\n@%p1 ld.shared.u32 %r1, [%s+4];\nret;\n"},
    {"lanes without a warp barrier", VPTX_RACE,
     "st.shared.u32 [%s], %t;\n@%p1 ld.shared.u32 %r1, [%s+4];//!\nret;\n"},
    {"warp barrier of half a warp", VPTX_OK,
     "@!%p1 bra L;\nst.shared.u32 [%s], %t;\nbar.warp.sync 65535;\nxor.b32 %r1, %s, 4;\n"
     "ld.shared.u32 %r2, [%r1];\nL:\nret;\n"},
    {"warp barrier without the lane that wrote", VPTX_RACE,
     "st.shared.u32 [%s], %t;\n@!%p1 bra L;\nbar.warp.sync 65535;\nld.shared.u32 %r2, [%s+64];//!\n"
     "L:\nret;\n"},
    {"one word, many values", VPTX_RACE, "st.shared.u32 [block], %t;//!\nret;\n"},
    {"one word, one value", VPTX_OK, "mov.u32 %r1, 5;\n@%p3 st.shared.u32 [block], %r1;\nret;\n"},
    {"atomics do not race", VPTX_OK,
     "@%p2 st.shared.u32 [block], 0;\nbar.sync 0;\natom.shared.add.u32 %r1, [block], "
     "1;\nred.shared.max.u32 [block], 3;\nret;\n"},
    {"atomic and load", VPTX_RACE,
     "@%p2 st.shared.u32 [block], 0;\nbar.sync 0;\nred.shared.add.u32 [block], 1;\n@%p2 "
     "ld.shared.u32 %r1, [block];//!\nret;\n"},
    {"read past the array", VPTX_BAD_ADDRESS, "ld.global.u32 %r1, [%a+256];//!\nret;\n"},
    {"read inside the array, then past it", VPTX_BAD_ADDRESS,
     "ld.global.u32 %r1, [%a+4];\nld.global.u32 %r1, [%a+256];//!\nret;\n"},
    {"write past the array", VPTX_BAD_ADDRESS, "st.global.u32 [%a+256], %t;//!\nret;\n"},
    {"null pointer", VPTX_BAD_ADDRESS, "mov.u64 %x1, 0;\nld.u32 %r1, [%x1];//!\nret;\n"},
    {"shared memory past its end", VPTX_BAD_ADDRESS, "st.shared.u32 [%s+1000], %t;//!\nret;\n"},
    {"local memory past its end", VPTX_BAD_ADDRESS, "st.local.u32 [frame+16], %t;//!\nret;\n"},
    {"parameter past its end", VPTX_BAD_ADDRESS, "ld.param.u64 %x1, [base+8];//!\nret;\n"},
    {"misaligned", VPTX_MISALIGNED, "ld.global.u64 %x1, [%a+4];//!\nret;\n"},
    {"misaligned vector", VPTX_MISALIGNED, "ld.global.v2.u32 {%r1, %r2}, [%a+4];//!\nret;\n"},
    {"uninitialised register", VPTX_UNINITIALISED,
     "@%p1 mov.u32 %r1, 1;\nmov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 1;//!\nret;\n"},
    {"register moved but not used", VPTX_OK,
     "mov.u32 %r2, %r1;\nselp.u32 %r3, %t, %r2, %p1;\n@%p1 add.u32 %r4, %r3, 1;\nret;\n"},
    {"uninitialised predicate", VPTX_UNINITIALISED, "@%p7 add.u32 %r1, %t, 1;//!\nret;\n"},
    {"uninitialised shared memory", VPTX_UNINITIALISED,
     "@%p3 st.shared.u32 [%s], %t;\nbar.sync 0;\nld.shared.u32 %r1, [%s];//!\nret;\n"},
    {"uninitialised local memory", VPTX_UNINITIALISED,
     "st.local.u32 [frame], %t;\nld.local.u32 %r1, [frame+4];\nadd.u32 %r2, %r1, 1;//!\nret;\n"},
    {"local memory through a generic pointer", VPTX_OK,
     "mov.u64 %x1, frame;\ncvta.local.u64 %x2, %x1;\nst.u32 [%x2+8], %t;\nld.local.u32 %r1, "
     "[frame+8];\nadd.u32 %r2, %r1, 1;\nret;\n"},
    {"uninitialised global memory", VPTX_UNINITIALISED, "ld.global.u32 %r1, [%a+128];//!\nret;\n"},
    {"global memory written first", VPTX_OK,
     "st.global.u32 [%a+128], 7;\nld.global.u32 %r1, [%a+128];\nret;\n"},
    {"barrier in a branch of lanes", VPTX_DIVERGENT_BARRIER,
     "@!%p1 bra L;\nbar.sync 0;//!\nL:\nret;\n"},
    {"barrier in a branch of warps", VPTX_DIVERGENT_BARRIER,
     "@!%p3 bra L;\nbar.sync 0;//!\nL:\nret;\n"},
    {"two different barriers", VPTX_DIVERGENT_BARRIER,
     "@%p3 bra L;\nbar.sync 0;//!\nret;\nL:\nbar.sync 0;\nret;\n"},
    {"barrier after an exit", VPTX_DIVERGENT_BARRIER, "@%p2 exit;\nbar.sync 0;//!\nret;\n"},
    {"shuffle", VPTX_OK, "shfl.sync.bfly.b32 %r1|%p4, %t, 16, 31, -1;\nret;\n"},
    {"shuffle in a branch with the mask of all", VPTX_BAD_MASK,
     "@!%p1 bra L;\nshfl.sync.down.b32 %r1, %t, 1, 31, -1;//!\nL:\nret;\n"},
    {"shuffle whose mask leaves the caller out", VPTX_BAD_MASK,
     "shfl.sync.idx.b32 %r1, %t, 0, 31, 65535;//!\nret;\n"},
    {"shuffle from a lane outside of the mask", VPTX_BAD_MASK,
     "@!%p1 bra L;\nand.b32 %r2, %t, 31;\nshfl.sync.idx.b32 %r1, %t, 16, 31, "
     "65535;//!\nL:\nret;\n"},
    {"shuffle of half a warp with its own mask", VPTX_OK,
     "@!%p1 bra L;\nshfl.sync.idx.b32 %r1, %t, 3, 31, 65535;\nL:\nret;\n"},
    {"vote naming lanes that have exited", VPTX_BAD_MASK,
     "@%p2 exit;\nvote.sync.ballot.b32 %r1, %p1, -1;//!\nret;\n"},
    {"trap", VPTX_TRAP, "@%p2 trap;//!\nret;\n"},
    {"endless loop", VPTX_LIMIT, "L:\nbra.uni L;//!\n"},
    {"falling off the end", VPTX_TRAP, "add.u32 %r1, %t, 1;\n"},
    {"part of a block", VPTX_UNSUPPORTED, "bar.sync 1, 32;//!\nret;\n"},
    {"call", VPTX_OK,
     "{\n.param .b32 p0;\n.param .b32 r0;\nst.param.b32 [p0], %t;\ncall.uni (r0), twice, "
     "(p0);\nld.param.b32 %r1, [r0];\n}\nadd.u32 %r2, %r1, 1;\nret;\n"},
    {"call with an argument that was never set", VPTX_UNINITIALISED,
     "{\n.param .b32 p0;\n.param .b32 r0;\ncall.uni (r0), twice, (p0);\nld.param.b32 %r1, "
     "[r0];\n}\nret;\n"},
    {"lock between lanes of a warp", VPTX_OK,
     "L:\natom.global.cas.b32 %r1, [%a], 0, 1;\nsetp.ne.u32 %p4, %r1, 0;\n@%p4 bra "
     "L;\nld.global.u32 %r2, [%a+4];\n"
     "add.u32 %r2, %r2, 1;\nst.global.u32 [%a+4], %r2;\natom.global.exch.b32 %r1, [%a], "
     "0;\nret;\n"},
};

static const struct {
    const char *name, *line, *says;
} refused[] = {
    {"mul without .rn", "mul.f64 %d1, %d2, %d3;", "without .rn"},
    {"add without .rn", "add.f64 %d1, %d2, %d3;", "without .rn"},
    {"sub without .rn", "sub.f32 %r1, %r2, %r3;", "without .rn"},
    {"approximate", "sqrt.approx.f32 %r1, %r2;", "depends on the hardware"},
    {"flush to zero", "add.rn.ftz.f32 %r1, %r2, %r3;", "depends on the hardware"},
    {"full-range division", "div.full.f32 %r1, %r2, %r3;", "depends on the hardware"},
    {"another rounding", "add.rz.f64 %d1, %d2, %d3;", "without .rn"},
    {"fma without a rounding", "fma.f64 %d1, %d2, %d3, %d1;", "unknown instruction"},
    {"unknown instruction", "frobnicate.u32 %r1, %r2;", "unknown instruction"},
    {"unknown modifier", "ld.global.hot.u32 %r1, [%a];", ".hot"},
    {"float atomic", "atom.global.add.f32 %r1, [%a], %r2;", "refused"},
    {"register of another width", "add.u32 %r1, %x1, %r2;", "has 64 bits"},
    {"unknown register", "add.u32 %r1, %q7, %r2;", "expected"},
    {"unknown label", "bra NOWHERE;", "unknown label"},
    {"half precision", "add.rn.f16 %r1, %r2, %r3;", "unknown instruction"},
    {"unknown function", "call.uni nothing;", "no known function"},
    {"writing a special register", "mov.u32 %tid.x, 1;", "destination"},
};

static char text[8192];

static uint32_t marked_line(void)
{
    const char *mark = strstr(text, MARK);
    uint32_t line = 1;
    for (const char *at = text; mark && at < mark; at++)
        line += *at == '\n';
    return mark ? line : 0;
}

static int try_bug(const planted *bug, vptx_order order)
{
    static uint32_t array[64];
    static unsigned char shadow[sizeof array];
    host_memory memory = {0};
    const uint64_t base = host_add(&memory, array, sizeof array, shadow);
    const vptx_launch_config config = {.grid = {2, 1, 1},
                                       .block = {64, 1, 1},
                                       .parameters = &base,
                                       .memory = {host_resolve, &memory},
                                       .order = order,
                                       .seed = 3,
                                       .instruction_limit = 4000000};
    vptx_report report;
    vptx_module *m;
    int wrong;
    memset(array, 0, sizeof array);
    memset(shadow, 0, sizeof shadow);
    memset(shadow, 1, sizeof shadow / 2);
    snprintf(text, sizeof text, "%s%s}\n", before, bug->body);
    m = host_load(text, strlen(text));
    if (!m)
        return 1;
    vptx_launch(vptx_find(m, "k"), &config, &report);
    wrong = report.fault.kind != bug->kind ||
            (bug->kind && marked_line() && report.fault.ptx_line != marked_line()) ||
            (bug->kind == VPTX_RACE) != (report.races > 0);
    if (wrong)
        fprintf(stderr, "%s, order %d: found %s (%s), line %u expected\n", bug->name, order,
                vptx_fault_name(report.fault.kind), report.fault.text, marked_line());
    vptx_unload(m);
    return wrong;
}

static int try_refused(size_t i)
{
    char error[300] = "", line[40];
    vptx_module *m = NULL;
    uint32_t expected_line = 1;
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", before, refused[i].line);
    for (const char *at = before; *at; at++)
        expected_line += *at == '\n';
    snprintf(line, sizeof line, "ptx line %u:", expected_line);
    if (vptx_load(text, strlen(text), &m, error, sizeof error) == 0) {
        fprintf(stderr, "%s: not refused\n", refused[i].name);
        vptx_unload(m);
        return 1;
    }
    if (strstr(error, refused[i].says) && strstr(error, line) == error)
        return 0;
    fprintf(stderr, "%s: refused with '%s'\n", refused[i].name, error);
    return 1;
}

/* A good text cut anywhere must be refused, not crash. */
static int try_cuts(void)
{
    char error[300];
    vptx_module *m;
    const size_t length = (size_t)snprintf(text, sizeof text, "%s%s}\n", before, bugs[0].body);
    for (size_t cut = 0; cut + 2 < length; cut++) {
        char *piece = malloc(cut ? cut : 1); /* exactly as long, for the sanitizer's sake */
        memcpy(piece, text, cut);
        m = NULL;
        if (vptx_load(piece, cut, &m, error, sizeof error) == 0)
            vptx_unload(m);
        free(piece);
    }
    return 0;
}

/* Launches that no device takes. */
static int try_launches(void)
{
    const uint64_t base = 4096;
    const vptx_launch_config good = {
        .grid = {1, 1, 1}, .block = {64, 1, 1}, .parameters = &base, .instruction_limit = 1};
    vptx_launch_config bad[7];
    vptx_report report;
    vptx_module *m;
    int wrong = 0;
    for (int i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].grid[1] = 0;
    bad[1].block[0] = 0;
    bad[2].block[0] = 1025;
    bad[3].block[1] = 33;
    bad[4].grid[2] = 65536;
    bad[5].dynamic_shared_bytes = 232448;
    bad[6].parameters = NULL;
    snprintf(text, sizeof text, "%s%s}\n", before, bugs[0].body);
    m = host_load(text, strlen(text));
    if (!m)
        return 1;
    for (int i = 0; i < 7; i++)
        wrong += vptx_launch(vptx_find(m, "k"), &bad[i], &report) != VPTX_BAD_LAUNCH;
    wrong += vptx_launch(vptx_find(m, "k"), &good, &report) != VPTX_LIMIT;
    wrong += vptx_find(m, "twice") != NULL;
    vptx_unload(m);
    if (wrong)
        fprintf(stderr, "%d launches taken or refused wrongly\n", wrong);
    return wrong;
}

int test_vptx_faults(void)
{
    int failures = 0, checks = 0;
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
        for (int order = VPTX_FORWARD; order <= VPTX_SHUFFLE; order++, checks++)
            failures += try_bug(&bugs[i], (vptx_order)order);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++, checks++)
        failures += try_refused(i);
    failures += try_launches() + try_cuts();
    printf("faults: %d checks, %d failed\n", checks, failures);
    return failures;
}
