/* The floating-point environment that all arithmetic runs in: bits must not depend on the rounding
 * mode or the flush-to-zero flags of whoever calls. */
#ifndef SYI_BASE_ARITHMETIC_H
#define SYI_BASE_ARITHMETIC_H

#include <fenv.h>

static inline fenv_t syi_arithmetic_enter(void)
{
    fenv_t saved;
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
    return saved;
}

static inline void syi_arithmetic_leave(fenv_t saved)
{
    fesetenv(&saved);
}

#endif
