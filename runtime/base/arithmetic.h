/*
 * The floating-point environment that all arithmetic runs in: bits must not depend on the rounding
 * mode or the flush-to-zero flags of whoever calls, and what is raised in here must not trap out
 * there. The standard's functions take a tenth of a microsecond each on x86, which a small call
 * feels: there it is two control words, and the flags of the x87 only if they have changed.
 */
#ifndef SYI_BASE_ARITHMETIC_H
#define SYI_BASE_ARITHMETIC_H

#if defined(__x86_64__) && defined(__GNUC__)

#include <stdint.h>

/* To nearest, nothing flushed, no traps. */
#define SYI_MXCSR 0x1f80
#define SYI_X87   0x37f

typedef struct syi_arithmetic {
    uint32_t mxcsr;
    uint16_t x87, x87_flags;
} syi_arithmetic;

static inline uint16_t syi_x87_flags(void)
{
    uint16_t status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    return status & 0x7f;
}

static inline void syi_x87_set_flags(uint16_t flags)
{
    struct {
        uint32_t control, status, others[5];
    } x87;
    __asm__ volatile("fnstenv %0" : "=m"(x87));
    x87.status = (x87.status & ~0x80ffu) | flags;
    __asm__ volatile("fldenv %0" : : "m"(x87));
}

/* What is computed goes through memory, which keeps it between enter and leave. */
static inline syi_arithmetic syi_arithmetic_enter(void)
{
    const uint32_t mxcsr = SYI_MXCSR;
    const uint16_t x87 = SYI_X87;
    syi_arithmetic saved = {.x87_flags = syi_x87_flags()};
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(saved.mxcsr), "=m"(saved.x87));
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87) : "memory");
    return saved;
}

static inline void syi_arithmetic_leave(syi_arithmetic saved)
{
    if (syi_x87_flags() != saved.x87_flags)
        syi_x87_set_flags(saved.x87_flags);
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(saved.mxcsr), "m"(saved.x87) : "memory");
}

/* After a function of the user's, between enter and leave. */
static inline void syi_arithmetic_renew(void)
{
    const uint32_t mxcsr = SYI_MXCSR;
    const uint16_t x87 = SYI_X87;
    uint32_t now;
    uint16_t x87_now;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(now), "=m"(x87_now));
    if ((now & ~0x3fu) != mxcsr || x87_now != x87)
        __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87) : "memory");
}

#elif defined(__aarch64__) && defined(__GNUC__)

#include <stdint.h>

/* With everything at 0; fesetenv() keeps how NaNs go on, which is for others to choose. */
typedef struct syi_arithmetic {
    uint64_t control, flags;
} syi_arithmetic;

static inline void syi_arithmetic_renew(void)
{
    __asm__ volatile("msr fpcr, xzr" : : : "memory");
}

static inline syi_arithmetic syi_arithmetic_enter(void)
{
    syi_arithmetic saved;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(saved.control), "=r"(saved.flags));
    syi_arithmetic_renew();
    return saved;
}

static inline void syi_arithmetic_leave(syi_arithmetic saved)
{
    __asm__ volatile("msr fpsr, %1\n\tmsr fpcr, %0"
                     :
                     : "r"(saved.control), "r"(saved.flags)
                     : "memory");
}

#else

#include <fenv.h>

typedef fenv_t syi_arithmetic;

static inline syi_arithmetic syi_arithmetic_enter(void)
{
    fenv_t saved;
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
    return saved;
}

static inline void syi_arithmetic_leave(syi_arithmetic saved)
{
    fesetenv(&saved);
}

static inline void syi_arithmetic_renew(void)
{
    fesetenv(FE_DFL_ENV);
}

#endif

#endif
