/* What the wide numbers' own files share. */
#ifndef SYI_KERNELS_RECURRENCE_NUMBER_INSIDE_H
#define SYI_KERNELS_RECURRENCE_NUMBER_INSIDE_H

#include "recurrence/number.h"
#include "recurrence/residue.h"
#include "recurrence/rest.h"

/* multiply / odd * 2^-halvings; the residue is its own. */
syi_factor syi_factor_with(uint32_t multiply, uint32_t odd, int halvings, uint64_t residue);

/* out = the leading bits of sign * limb[0 .. count) * 2^exponent, and the rest as it is; returns
 * what the bits do not hold. */
syi_rest syi_number_take_leading(syi_number *out, int sign, const uint64_t *limb, int count,
                                 int64_t exponent);

/* Moves what of the rest reaches the bits over to them, where it is known that well. */
void syi_number_settle(syi_number *out);

static inline uint64_t syi_reciprocal_of(uint64_t divisor)
{
    return (uint64_t)(~(syi_u128)0 / divisor);
}

/* (*rest, low) / divisor, which has its top bit and is above *rest, by its reciprocal: Moller and
 * Granlund, Improved division by invariant integers, 2011. */
static inline uint64_t syi_divide_two(uint64_t *rest, uint64_t low, uint64_t divisor,
                                      uint64_t reciprocal)
{
    const syi_u128 guess = (syi_u128)reciprocal * *rest + ((syi_u128)*rest << 64 | low);
    uint64_t quotient = (uint64_t)(guess >> 64) + 1;
    *rest = low - quotient * divisor;
    if (*rest > (uint64_t)guess) {
        quotient--;
        *rest += divisor;
    }
    if (*rest >= divisor) {
        quotient++;
        *rest -= divisor;
    }
    return quotient;
}

#endif
