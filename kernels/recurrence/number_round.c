/* What a wide number rounds to. */
#include "exact/bits.h"
#include "exact/round.h"
#include "recurrence/number.h"
#include "recurrence/residue.h"
#include "recurrence/rest.h"

#include <string.h>

static double nearest(const syi_number *a)
{
    int sticky = 0;
    if (a->sign == 0)
        return 0.0;
    for (int i = 0; i < a->limbs - 1; i++)
        sticky |= a->limb[i] != 0;
    return syi_round_to_double(a->sign < 0, a->limb[a->limbs - 1],
                               a->exponent + 64 * (int64_t)(a->limbs - 1), sticky);
}

/* out = a + sign * 2^exponent, a multiple of a's last place. */
static void displace(syi_number *out, const syi_number *a, int sign, int64_t exponent)
{
    syi_number step = {
        .limbs = a->limbs, .sign = sign, .exponent = exponent - 64 * (int64_t)a->limbs + 1};
    step.limb[a->limbs - 1] = UINT64_C(1) << 63;
    syi_number_add(out, a, &step);
}

static int same_bits(const syi_number *a, const syi_number *b)
{
    return a->sign == b->sign && a->exponent == b->exponent &&
           memcmp(a->limb, b->limb, (size_t)a->limbs * sizeof *a->limb) == 0;
}

/* Whether the number but for its rest and a point, which all bits put at the same place, are the
 * same. With the most limbs there are no more to ask. */
static int agrees(const syi_number *a, uint64_t residue)
{
    return a->has_residue && a->limbs == SYI_NUMBER_MOST && a->residue == residue;
}

/* Non-zero when the number but for its rest is the tie between the neighbours below and above. */
static int is_tie(const syi_number *a, double below, double above)
{
    const syi_factor half = syi_factor_of(1, 2);
    syi_number tie, other;
    if (nextafter(below, above) != above || !syi_is_finite(below) || !syi_is_finite(above))
        return 0;
    syi_number_set(&tie, below, a->limbs);
    syi_number_set(&other, above, a->limbs);
    syi_number_add(&tie, &tie, &other);
    syi_number_scale(&tie, &tie, &half);
    return a->error == 0.0L ? same_bits(a, &tie) : agrees(a, tie.residue);
}

/* The number is near zero. What lies on either side of it by less than half the least double is
 * zero, too. */
static int round_zero(const syi_number *a, double *out)
{
    const int is_zero = a->error == 0.0L ? a->sign == 0 : agrees(a, 0);
    if (!is_zero || syi_rest_size(a->rest) >= 0x1p-1080L)
        return 0;
    *out = 0.0;
    return 1;
}

int syi_number_round(const syi_number *a, double *out)
{
    const long double unsure = syi_number_unsure(a);
    syi_number low, high;
    double below, above;
    int power, side;
    int64_t margin;
    *out = nearest(a);
    if (unsure == 0.0L)
        return 1;
    frexpl(unsure, &power);
    margin = power + 1;
    if (a->sign && margin <= a->exponent)
        margin = a->exponent + 1;
    displace(&low, a, -1, margin);
    displace(&high, a, 1, margin);
    below = nearest(&low);
    above = nearest(&high);
    if (below == above)
        return 1;
    if (low.sign != high.sign)
        return round_zero(a, out);
    if (!is_tie(a, below, above))
        return 0;
    side = syi_rest_sign(a->rest);
    *out = side > 0 || (side == 0 && syi_bits(below) & 1) ? above : below;
    return side != 0 || syi_rest_is_none(a->rest);
}
