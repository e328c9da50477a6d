/* What a wide number rounds to. */
#include "exact/bits.h"
#include "exact/round.h"
#include "recurrence/number.h"
#include "recurrence/residue.h"
#include "recurrence/rest.h"

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

/* Whether a rest below 2^reach cannot change what the top limb rounds to: the last place of that is
 * larger, it is not next to the middle between two doubles, and they are normal. */
static int is_clear(const syi_number *a, int64_t reach)
{
    const int64_t place = a->exponent + 64 * (int64_t)(a->limbs - 1);
    const int low = (int)(a->limb[a->limbs - 1] & 0x7ff);
    return a->sign && reach <= place && (low < 0x3fe || low > 0x401) && place >= -1084 &&
           place < 950;
}

/* What a, but for its rest, and sign * 2^exponent round to, a multiple of a's last place. */
static double nearest_displaced(const syi_number *a, int sign, int64_t exponent, int *side)
{
    syi_number bits = *a, step = {.limbs = a->limbs, .sign = sign};
    bits.rest = syi_rest_none;
    bits.has_residue = 0;
    step.exponent = exponent - 64 * (int64_t)a->limbs + 1;
    step.limb[a->limbs - 1] = UINT64_C(1) << 63;
    syi_number_add(&step, &bits, &step);
    *side = step.sign;
    return nearest(&step);
}

/* Whether the number is zero. */
static int is_nothing(const syi_number *a)
{
    return a->has_residue ? a->residue == 0 : a->sign == 0 && syi_rest_is_none(a->rest);
}

/* All of it; its sign is that of the number where that is known. */
static syi_rest bounds(const syi_number *a)
{
    return syi_rest_sum(
        syi_rest_of_bits(a->sign, a->limb, a->sign ? 64 * (int64_t)a->limbs : 0, a->exponent),
        a->rest);
}

/* The number is near zero. What is not above half the least double rounds to it. */
static int round_zero(const syi_number *a, double *out)
{
    const syi_rest all = bounds(a);
    const int64_t exponent = all.exponent - (SYI_BOTTOM - 1);
    const int is_tiny =
        exponent < -200 || (exponent < 200 && ldexp(syi_rest_size(all), (int)exponent) <= 1.0);
    if (!is_tiny && (syi_rest_sign(all) || !is_nothing(a)))
        return 0;
    *out = 0.0;
    return 1;
}

/* The number lies between two neighbours, about the middle. */
static int round_tie(const syi_number *a, double below, double above, double *out)
{
    const syi_factor half = syi_factor_of(1, 2);
    syi_number tie, other;
    int side;
    if (nextafter(below, above) != above || !syi_is_finite(below) || !syi_is_finite(above))
        return 0;
    syi_number_set(&tie, below, a->limbs);
    syi_number_set(&other, above, a->limbs);
    syi_number_add(&tie, &tie, &other);
    syi_number_scale(&tie, &tie, &half);
    syi_number_subtract(&other, a, &tie);
    side = syi_rest_sign(bounds(&other));
    *out = side > 0 || (side == 0 && syi_bits(below) & 1) ? above : below;
    return side != 0 || is_nothing(&other);
}

int syi_number_round(const syi_number *a, int narrowed, double *out)
{
    double below, above;
    int power, low_side, high_side;
    int64_t margin;
    *out = nearest(a);
    if (syi_rest_is_none(a->rest))
        return 1;
    frexp(syi_rest_size(a->rest), &power);
    margin = a->rest.exponent + power;
    if (is_clear(a, margin))
        return 1;
    margin = a->sign && margin <= a->exponent ? a->exponent + 2 : margin + 1;
    below = nearest_displaced(a, -1, margin, &low_side);
    above = nearest_displaced(a, 1, margin, &high_side);
    if (below == above || (narrowed && (float)below == (float)above))
        return 1;
    return low_side == high_side ? round_tie(a, below, above, out) : round_zero(a, out);
}
