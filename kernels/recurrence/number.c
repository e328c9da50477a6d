/* Wide floating point with bounds and residues: see number.h. */
#include "recurrence/number.h"

#include "exact/dd.h"
#include "recurrence/number_inside.h"

#include <string.h>

syi_factor syi_factor_with(uint32_t multiply, uint32_t odd, int halvings, uint64_t residue)
{
    const int shift = __builtin_clzll(odd);
    return (syi_factor){multiply, odd, halvings, shift, syi_reciprocal_of((uint64_t)odd << shift),
                        residue};
}

syi_factor syi_factor_of(int64_t multiply, int64_t divide)
{
    const int common = multiply ? __builtin_ctzll((uint64_t)(multiply | divide)) : 0;
    const int halvings = __builtin_ctzll((uint64_t)divide) - common;
    const uint64_t top = (uint64_t)multiply >> common,
                   odd = (uint64_t)divide >> (halvings + common);
    const uint64_t residue = syi_residue_of(0, top, -halvings);
    return syi_factor_with((uint32_t)top, (uint32_t)odd, halvings,
                           odd == 1 ? residue
                                    : syi_residue_product(residue, syi_residue_inverse(odd)));
}

/* All but the rest and the residue. */
static void copy_bits(syi_number *out, const syi_number *a)
{
    if (out == a)
        return;
    out->limbs = a->limbs;
    out->sign = a->sign;
    out->exponent = a->exponent;
    memcpy(out->limb, a->limb, (size_t)a->limbs * sizeof *a->limb);
}

void syi_number_negate(syi_number *out, const syi_number *a)
{
    copy_bits(out, a);
    out->sign = -a->sign;
    out->rest = syi_rest_negative(a->rest);
    out->has_residue = a->has_residue;
    out->residue = syi_residue_negative(a->residue);
}

/* out = the leading bits of sign * limb[0 .. count) * 2^exponent, and the rest as it is; returns
 * what the bits do not hold. */
syi_rest syi_number_take_leading(syi_number *out, int sign, const uint64_t *limb, int count,
                                 int64_t exponent)
{
    int n = out->limbs, shift, from;
    while (count > 0 && limb[count - 1] == 0)
        count--;
    out->sign = count ? sign : 0;
    if (count == 0)
        return syi_rest_none;
    shift = __builtin_clzll(limb[count - 1]);
    from = count - n; /* the limb that becomes the lowest; below 0 there are zeros */
    out->exponent = exponent + 64 * (int64_t)from - shift;
    for (int i = 0; i < n; i++) {
        uint64_t high = from + i >= 0 ? limb[from + i] : 0;
        uint64_t low = from + i >= 1 ? limb[from + i - 1] : 0;
        out->limb[i] = shift ? high << shift | low >> (64 - shift) : high;
    }
    if (from <= 0)
        return syi_rest_none;
    return syi_rest_of_bits(sign, limb, 64 * from - shift, exponent);
}

void syi_number_set(syi_number *out, double x, int limbs)
{
    syi_parts parts = syi_split(x);
    out->limbs = limbs;
    out->rest = syi_rest_none;
    out->has_residue = limbs == SYI_NUMBER_MOST;
    if (out->has_residue)
        out->residue = syi_residue_of(parts.negative, parts.mantissa, parts.exponent);
    syi_number_take_leading(out, parts.negative ? -1 : 1, &parts.mantissa, 1, parts.exponent);
}

void syi_number_unknown(syi_number *out, double bound, int64_t count, int limbs)
{
    syi_number_set(out, 0.0, limbs);
    out->rest = syi_rest_scaled(syi_rest_settled((syi_rest){-bound, bound, 0}), (double)count);
    out->has_residue &= syi_rest_is_none(out->rest);
}

static int compare_sizes(const syi_number *a, const syi_number *b)
{
    if (a->exponent != b->exponent)
        return a->exponent < b->exponent ? -1 : 1;
    for (int i = a->limbs - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* out = limb >> shift. */
static void shift_down(uint64_t *out, const uint64_t *limb, int count, int64_t shift)
{
    int64_t skip = shift / 64;
    int bits = (int)(shift % 64);
    for (int64_t i = 0; i < count; i++) {
        uint64_t low = i + skip < count ? limb[i + skip] : 0;
        uint64_t high = i + skip + 1 < count ? limb[i + skip + 1] : 0;
        out[i] = bits ? low >> bits | high << (64 - bits) : low;
    }
}

/* out = big +- small in bits, |big| >= |small|, with the signs that they have in it; returns what
 * the bits do not hold. */
static syi_rest combine(syi_number *out, const syi_number *big, int big_sign,
                        const syi_number *small, int small_sign)
{
    uint64_t sum[SYI_NUMBER_MOST + 1];
    const int64_t exponent = big->exponent, shift = exponent - small->exponent;
    const int n = big->limbs;
    const int64_t below = shift < 64 * (int64_t)n ? shift : 64 * (int64_t)n;
    const syi_rest lost = syi_rest_of_bits(small_sign, small->limb, below, small->exponent);
    uint64_t carry = 0;
    shift_down(sum, small->limb, n, shift);
    for (int i = 0; i < n; i++) {
        syi_u128 next = big_sign == small_sign ? (syi_u128)big->limb[i] + sum[i] + carry
                                               : (syi_u128)big->limb[i] - sum[i] - carry;
        sum[i] = (uint64_t)next;
        carry = (uint64_t)(next >> 64) & 1;
    }
    sum[n] = carry; /* 0 after a subtraction */
    out->limbs = n;
    return syi_rest_sum(lost, syi_number_take_leading(out, big_sign, sum, n + 1, exponent));
}

/* Moves what of the rest reaches the bits over to them, where it is known that well. */
void syi_number_settle(syi_number *out)
{
    const int64_t by = out->rest.exponent - out->exponent;
    const int power = (int)(syi_bits(syi_rest_size(out->rest)) >> 52) - 1022; /* the size is less */
    syi_number whole;
    uint64_t integer;
    double least, most, middle;
    if (out->sign == 0 || by + power < 0 || by > 150) /* as a rule less than half a bit */
        return;
    least = out->rest.least * syi_pow2((int)by);
    most = out->rest.most * syi_pow2((int)by);
    middle = floor(0.5 * (least + most) + 0.5);
    if (middle == 0.0 || fabs(middle) > 0x1p50 || most - least > 0.25)
        return;
    out->rest = syi_rest_settled(
        (syi_rest){syi_outward(least - middle, 0), syi_outward(most - middle, 1), out->exponent});
    integer = (uint64_t)fabs(middle);
    whole.limbs = out->limbs;
    syi_number_take_leading(&whole, 1, &integer, 1, out->exponent);
    out->rest =
        syi_rest_sum(out->rest, combine(out, out, out->sign, &whole, middle < 0.0 ? -1 : 1));
}

/* out = a + b, or a - b when it flips. */
static void sum(syi_number *out, const syi_number *a, const syi_number *b, int flips)
{
    const int a_sign = a->sign, b_sign = flips ? -b->sign : b->sign;
    const int b_is_small = !b_sign || (a_sign && compare_sizes(a, b) >= 0);
    out->rest = syi_rest_sum(a->rest, flips ? syi_rest_negative(b->rest) : b->rest);
    out->has_residue = a->has_residue && b->has_residue;
    if (out->has_residue)
        out->residue =
            syi_residue_sum(a->residue, flips ? syi_residue_negative(b->residue) : b->residue);
    if (a_sign && b_sign && b_is_small) {
        out->rest = syi_rest_sum(out->rest, combine(out, a, a_sign, b, b_sign));
    } else if (a_sign && b_sign) {
        out->rest = syi_rest_sum(out->rest, combine(out, b, b_sign, a, a_sign));
    } else {
        copy_bits(out, b_is_small ? a : b);
        out->sign = b_is_small ? a_sign : b_sign;
    }
    syi_number_settle(out);
}

void syi_number_add(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, 0);
}

void syi_number_subtract(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, 1);
}

void syi_number_set_difference(syi_number *out, double a, double b, int limbs)
{
    const syi_dd difference = syi_dd_of_sum(a, -b);
    syi_number less;
    if (difference.low == 0.0) { /* it is a double, as a rule; of what overflows it is a NaN */
        syi_number_set(out, difference.high, limbs);
        return;
    }
    syi_number_set(out, a, limbs);
    syi_number_set(&less, b, limbs);
    syi_number_subtract(out, out, &less);
}

/* limb[0 .. count) /= divisor; returns the remainder as a part of the divisor. */
static double divide(uint64_t *limb, int count, const syi_factor *factor)
{
    const int shift = factor->shift;
    const uint64_t divisor = (uint64_t)factor->divisor << shift;
    uint64_t rest = limb[count - 1] >> (64 - shift);
    for (int i = count - 1; i >= 0; i--) {
        const uint64_t low = limb[i] << shift | (i ? limb[i - 1] >> (64 - shift) : 0);
        limb[i] = syi_divide_two(&rest, low, divisor, factor->reciprocal);
    }
    return (double)rest / (double)divisor;
}

void syi_number_scale(syi_number *out, const syi_number *a, const syi_factor *factor)
{
    uint64_t product[SYI_NUMBER_MOST + 2], carry = 0;
    const int64_t bottom = a->exponent - 64 - factor->halvings;
    const int n = a->limbs;
    syi_rest lost;
    out->has_residue = a->has_residue;
    if (a->has_residue)
        out->residue = syi_residue_product(a->residue, factor->residue);
    out->rest = syi_rest_scaled(a->rest, (double)factor->multiply / (double)factor->divisor);
    out->rest.exponent -= factor->halvings;
    out->limbs = n;
    out->sign = a->sign;
    if (a->sign == 0)
        return;
    /* One limb below the number, so that the quotient has all its bits. */
    product[0] = 0;
    for (int i = 0; i < n; i++) {
        syi_u128 next = (syi_u128)a->limb[i] * factor->multiply + carry;
        product[i + 1] = (uint64_t)next;
        carry = (uint64_t)(next >> 64);
    }
    product[n + 1] = carry;
    if (factor->divisor > 1)
        out->rest =
            syi_rest_sum(out->rest, syi_rest_of(a->sign, divide(product, n + 2, factor), bottom));
    lost = syi_number_take_leading(out, a->sign, product, n + 2, bottom);
    out->rest = syi_rest_sum(out->rest, lost);
    syi_number_settle(out);
}
