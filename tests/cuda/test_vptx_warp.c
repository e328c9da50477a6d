/* What is not arithmetic of one lane: shuffles, votes, matches, reductions, special registers,
 * atomics, widths of loads and stores, indexed branches, and every form of the carry. Each check is
 * a few lines of PTX between a common beginning (inputs into %a0-2, their low halves into %r0-2)
 * and end (%o0-3 stored), and an oracle for one thread that sees all inputs. */
#include "vptx_warp_oracles.h"

typedef struct check {
    const char *name, *body;
    void (*oracle)(inputs in, int t, u64 *out);
} check;

static const char before[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 "
    "out)\n{\n"
    ".shared .align 8 .b8 block[512];\n.local .align 8 .b8 frame[16];\n"
    ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<30>, %t, %s;\n.reg .b64 %a<4>, %x<20>, "
    "%o<4>;\n"
    "mov.u32 %t, %tid.x;\nld.param.u64 %x0, [in];\nmul.wide.u32 %x1, %t, 24;\nadd.u64 %x0, %x0, "
    "%x1;\n"
    "ld.global.u64 %a0, [%x0];\nld.global.u64 %a1, [%x0+8];\nld.global.u64 %a2, [%x0+16];\n"
    "cvt.u32.u64 %r0, %a0;\ncvt.u32.u64 %r1, %a1;\ncvt.u32.u64 %r2, %a2;\n"
    "ld.param.u64 %x0, [out];\nmul.wide.u32 %x1, %t, 32;\nadd.u64 %x0, %x0, %x1;\n"
    "mov.u32 %s, block;\nshl.b32 %r3, %t, 3;\nadd.u32 %s, %s, %r3;\n"
    "mov.u64 %o0, 0;\nmov.u64 %o1, 0;\nmov.u64 %o2, 0;\nmov.u64 %o3, 0;\n";
static const char after[] = "st.global.u64 [%x0], %o0;\nst.global.v2.u64 [%x0+16], {%o2, %o3};\n"
                            "st.global.u64 [%x0+8], %o1;\nret;\n}\n";

#define WORDS(out, low, high) "mov.b64 " out ", {" low ", " high "};\n"
static const check checks[] = {
    {"shfl.up", SHUFFLE("up", "0"), up},
    {"shfl.down", SHUFFLE("down", "31"), down},
    {"shfl.bfly", SHUFFLE("bfly", "31"), butterfly},
    {"shfl.idx", SHUFFLE("idx", "31"), indexed},
    {"vote",
     "and.b32 %r4, %r0, 1;\nsetp.eq.u32 %p1, %r4, 1;\nvote.sync.ballot.b32 %r5, %p1, "
     "-1;\ncvt.u64.u32 %o0, %r5;\n"
     "vote.sync.all.pred %p2, %p1, -1;\nvote.sync.any.pred %p3, %p1, "
     "-1;\nvote.sync.uni.pred %p4, %p1, -1;\n"
     "selp.u64 %o1, 1, 0, %p2;\nselp.u64 %o2, 1, 0, %p3;\nselp.u64 %o3, 1, 0, %p4;\n",
     votes},
    {"vote of the opposite",
     "and.b32 %r4, %r0, 1;\nsetp.eq.u32 %p1, %r4, 1;\nvote.sync.all.pred %p2, !%p1, -1;\n"
     "vote.sync.any.pred %p3, !%p1, -1;\nselp.u64 %o0, 1, 0, %p2;\nselp.u64 %o1, 1, 0, "
     "%p3;\n",
     not_votes},
    {"match",
     "and.b32 %r4, %r0, 3;\nmatch.any.sync.b32 %r5, %r4, -1;\ncvt.u64.u32 %o0, %r5;\n"
     "shr.u64 %x4, %a0, 62;\nmatch.any.sync.b64 %r6, %x4, -1;\ncvt.u64.u32 %o1, %r6;\n"
     "and.b32 %r4, %r0, 1;\nmatch.all.sync.b32 %r7|%p1, %r4, -1;\ncvt.u64.u32 %o2, "
     "%r7;\nselp.u64 %o3, 1, 0, %p1;\n"
     "@%p1 or.b64 %o0, %o0, 0x10000000000;\n",
     matches},
    {"redux",
     "redux.sync.add.u32 %r4, %r1, -1;\nredux.sync.min.u32 %r5, %r1, -1;\n" WORDS(
         "%o0", "%r4",
         "%r5") "or.b32 %r6, %r1, 0xf0;\nand.b32 %r7, %r1, 0xff00;\nredux.sync.and.b32 "
                "%r6, %r6, -1;\n"
                "redux.sync.or.b32 %r7, %r7, -1;\n" WORDS(
                    "%o1", "%r6",
                    "%r7") "redux.sync.xor.b32 %r8, %r1, -1;\nredux.sync.max.u32 %r9, %r1, "
                           "-1;\n" WORDS("%o2", "%r8", "%r9") "redux.sync.min.s32 %r10, %r1, "
                                                              "-1;\nredux.sync.max.s32 %r11, %r1, "
                                                              "-1;\n" WORDS("%o3", "%r10", "%r11"),
     reductions},
    {"bar.red",
     "and.b32 %r4, %r0, 1;\nsetp.eq.u32 %p1, %r4, 1;\nbar.red.popc.u32 %r5, 0, "
     "%p1;\ncvt.u64.u32 %o0, %r5;\n"
     "bar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 0, %p1;\nselp.u64 %o1, 1, 0, "
     "%p2;\nselp.u64 %o2, 1, 0, %p3;\n",
     block_votes},
    {"special registers",
     "mov.u32 %r4, %lanemask_lt;\nmov.u32 %r5, %lanemask_eq;\n" WORDS(
         "%o0", "%r4", "%r5") "mov.u32 %r6, %lanemask_le;\nmov.u32 %r7, "
                              "%lanemask_ge;\n" WORDS(
                                  "%o1", "%r6", "%r7") "mov.u32 %r8, "
                                                       "%laneid;\nmov.u32 %r9, "
                                                       "%warpid;\nshl.b32 %r9, %r9, "
                                                       "8;\nor.b32 %r8, %r8, %r9;\n"
                                                       "mov.u32 %r9, "
                                                       "%nwarpid;\nshl.b32 %r9, %r9, "
                                                       "16;\nor.b32 %r8, %r8, "
                                                       "%r9;\nmov.u32 %r9, %ntid.x;\n"
                                                       "shl.b32 %r9, %r9, "
                                                       "20;\nor.b32 %r8, %r8, "
                                                       "%r9;\nmov.u32 %r10, "
                                                       "%lanemask_gt;\n" WORDS(
                                                           "%o2", "%r8", "%r10") "activemask.b32 "
                                                                                 "%r11;\ncvt.u64."
                                                                                 "u32 %o3, %r11;\n",
     special},
    {"brx.idx",
     "and.b32 %r4, %r1, 3;\ntable: .branchtargets L0, L1, L2, L3;\nbrx.idx %r4, table;\n"
     "L3:\nmov.u64 %o0, 30;\nbra.uni END;\nL1:\nmov.u64 %o0, 10;\nbra.uni "
     "END;\nL2:\nmov.u64 %o0, 20;\nbra.uni END;\n"
     "L0:\nmov.u64 %o0, 0;\nEND:\nbar.sync 0;\n",
     branches},
    {"widths",
     "st.shared.u64 [%s], %a0;\nld.shared.s8 %o0, [%s];\nld.shared.s16 %r4, "
     "[%s+2];\ncvt.u64.u32 %o1, %r4;\n"
     "ld.shared.s32 %o2, [%s+4];\nld.shared.u8 %o3, [%s+1];\nshl.b64 %o3, %o3, "
     "48;\nld.shared.v4.u16 {%h1, %h2, %h3, %h4}, [%s];\n"
     "cvt.u64.u16 %x4, %h4;\nshl.b64 %x4, %x4, 16;\nor.b64 %o3, %o3, %x4;\nld.shared.s8 "
     "%h5, [%s+7];\n"
     "cvt.u64.u16 %x4, %h5;\nor.b64 %o3, %o3, %x4;\n",
     widths},
    {"local and generic memory",
     "st.local.v2.u64 [frame], {%a0, %a1};\nld.local.u64 %o0, [frame];\nmov.u64 %x4, "
     "frame;\ncvta.local.u64 %x5, %x4;\n"
     "ld.u64 %o1, [%x5+8];\nld.u32 %r4, [%x5+4];\ncvt.u64.u32 %o2, %r4;\ncvt.u64.u32 %x6, "
     "%s;\ncvta.shared.u64 %x6, %x6;\n"
     "st.u64 [%x6], %a1;\ncvta.to.shared.u64 %x7, %x6;\nld.shared.u64 %o3, [%x7];\n",
     local_and_generic},
    {"atom.add.u64", ATOM("u64", "add", ""), add_64},
    {"atom.min.u64", ATOM("u64", "min", ""), min_u64},
    {"atom.max.u64", ATOM("u64", "max", ""), max_u64},
    {"atom.min.s64", ATOM("s64", "min", ""), min_s64},
    {"atom.max.s64", ATOM("s64", "max", ""), max_s64},
    {"atom.and.b64", ATOM("b64", "and", ""), and_64},
    {"atom.or.b64", ATOM("b64", "or", ""), or_64},
    {"atom.xor.b64", ATOM("b64", "xor", ""), xor_64},
    {"atom.exch.b64", ATOM("b64", "exch", ""), exchange_64},
    {"atom.cas.b64", ATOM("b64", "cas", ", %a2"), swap_64},
    {"atom.min.s32", ATOM_32("s32", "min"), min_s32},
    {"atom.max.u32", ATOM_32("u32", "max"), max_u32},
    {"atom.inc.u32", ATOM_32("u32", "inc"), up_32},
    {"atom.dec.u32", ATOM_32("u32", "dec"), down_32},
    {"addc.cc.u32", CARRY_32("addc.cc.u32", "%r0, %r2"), addc_32},
    {"addc.cc.u64", CARRY_64("addc.cc.u64", "%a0, %a2"), addc_64},
    {"subc.cc.u32", CARRY_32("subc.cc.u32", "%r0, %r2"), subc_32},
    {"subc.cc.u64", CARRY_64("subc.cc.u64", "%a0, %a2"), subc_64},
    {"sub.cc.u64", CARRY_64("sub.cc.u64", "%a0, %a2"), sub_64},
    {"mad.lo.cc.u32", CARRY_32("mad.lo.cc.u32", "%r0, %r1, %r2"), mad_lo_32},
    {"mad.lo.cc.u64", CARRY_64("mad.lo.cc.u64", "%a0, %a1, %a2"), mad_lo_64},
    {"mad.hi.cc.u32", CARRY_32("mad.hi.cc.u32", "%r0, %r1, %r2"), mad_hi_32},
    {"mad.hi.cc.u64", CARRY_64("mad.hi.cc.u64", "%a0, %a1, %a2"), mad_hi_64},
    {"madc.lo.cc.u32", CARRY_32("madc.lo.cc.u32", "%r0, %r1, %r2"), madc_lo_32},
    {"madc.lo.cc.u64", CARRY_64("madc.lo.cc.u64", "%a0, %a1, %a2"), madc_lo_64},
    {"madc.hi.cc.u32", CARRY_32("madc.hi.cc.u32", "%r0, %r1, %r2"), madc_hi_32},
    {"madc.hi.cc.u64", CARRY_64("madc.hi.cc.u64", "%a0, %a1, %a2"), madc_hi_64},
};

/* Random, with edges; in the first rounds the first warp agrees in the lowest and highest bits, all
 * odd or all even. */
static void make_inputs(inputs in, int round, u64 *seed)
{
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < INPUTS; i++) {
            const u64 x = host_random(seed), kind = host_random(seed) % 8;
            in[t][i] = kind == 0 ? 0 : kind == 1 ? ~(u64)0 : kind == 2 ? x >> (x & 63) : x;
        }
        if (host_random(seed) % 4 == 0)
            in[t][1] = in[t][0];
        if (round < 2 && t < 32)
            in[t][0] = (in[t][0] & ~(u64)1 & ~((u64)3 << 62)) | (u64)round;
        if (round == 2)
            in[t][0] |= 1;
        if (round == 3)
            in[t][0] &= ~(u64)1;
        in[t][2] =
            (in[t][2] & ~(u64)3) | (u64)(round + t / 32) % 4; /* one segment width per warp */
    }
}

static int run_check(const check *c, const vptx_module *m, int round, u64 *seed)
{
    static inputs in;
    static u64 out[THREADS][OUTPUTS];
    host_memory memory = {0};
    const u64 parameters[] = {host_add(&memory, in, sizeof in, NULL),
                              host_add(&memory, out, sizeof out, NULL)};
    const vptx_launch_config config = {.grid = {1, 1, 1},
                                       .block = {THREADS, 1, 1},
                                       .parameters = parameters,
                                       .memory = {host_resolve, &memory},
                                       .order = (vptx_order)(round % 3),
                                       .seed = (u64)round};
    vptx_report report;
    make_inputs(in, round, seed);
    if (vptx_launch(vptx_find(m, "k"), &config, &report)) {
        fprintf(stderr, "%s: %s\n", c->name, report.fault.text);
        return 1;
    }
    for (int t = 0; t < THREADS; t++) {
        u64 want[OUTPUTS] = {0};
        c->oracle(in, t, want);
        for (int i = 0; i < OUTPUTS; i++) {
            if (out[t][i] != want[i]) {
                fprintf(stderr, "%s, round %d, thread %d: result %d is %llx, expected %llx\n",
                        c->name, round, t, i, (unsigned long long)out[t][i],
                        (unsigned long long)want[i]);
                return 1;
            }
        }
    }
    return 0;
}

int test_vptx_warp(void)
{
    static char text[8192];
    u64 seed = 0x2545f4914f6cdd1du;
    int failures = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        vptx_module *m;
        int wrong = 0;
        snprintf(text, sizeof text, "%s%s%s", before, checks[i].body, after);
        m = host_load(text, strlen(text));
        for (int round = 0; m && round < ROUNDS && !wrong; round++)
            wrong = run_check(&checks[i], m, round, &seed);
        failures += !m || wrong;
        vptx_unload(m);
    }
    printf("warps: %zu checks, %d failed\n", sizeof checks / sizeof *checks, failures);
    return failures;
}
