/* The table of built-in workloads, and which instruction set this processor runs best. */
#include "isa.h"

#define SYI_WORKLOAD(name) extern const syi_workload syi_workload_##name;
#include "workloads.def"
#undef SYI_WORKLOAD

const syi_workload *syi_builtin(int index)
{
    static const syi_workload *const table[] = {
#define SYI_WORKLOAD(name) &syi_workload_##name,
#include "workloads.def"
#undef SYI_WORKLOAD
    };
    if (index < 0 || index >= (int)(sizeof table / sizeof table[0]))
        return NULL;
    return table[index];
}

syi_isa syi_isa_detect(void)
{
    syi_isa best = SYI_ISA_BASE;
#ifdef SYI_HAVE_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        best = SYI_ISA_V3;
#endif
#ifdef SYI_HAVE_V4
    if (best == SYI_ISA_V3 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        best = SYI_ISA_V4;
#endif
    return best;
}

syi_gain syi_gains_by_asking(void)
{
#ifdef SYI_HAVE_V3
    /* Intel's, and AMD's first Zen and those later than a Zen 4. */
    const int always = (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx2")) ||
                       __builtin_cpu_is("znver1") ||
                       (__builtin_cpu_is("amd") && __builtin_cpu_supports("avx512vl") &&
                        !__builtin_cpu_is("amdfam19h"));
    return always ? SYI_GAINS : __builtin_cpu_is("znver3") ? SYI_GAINS_NEAR : SYI_GAINS_NOT;
#else
    return SYI_GAINS_NOT;
#endif
}

/* Where it is not known, as if they did. */
int syi_waits_for_writes(void)
{
#ifdef SYI_HAVE_V3
    return !__builtin_cpu_is("intel");
#else
    return 1;
#endif
}

int syi_divides_slowly(void)
{
#ifdef SYI_HAVE_V4
    return __builtin_cpu_is("intel");
#else
    return 0;
#endif
}

const char *syi_isa_name(syi_isa isa)
{
    static const char *const names[SYI_ISA_COUNT] = {"base", "v3", "v4"};
    return (unsigned)isa < SYI_ISA_COUNT ? names[isa] : "unknown";
}
