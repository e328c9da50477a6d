/* Wide floating point with bounds and residues: see number.h. */
#include "recurrence/number.h"

#include "recurrence/residue.h"
#include "recurrence/rest.h"

#include <string.h>

static uint64_t reciprocal_of(uint64_t divisor)
{
    return (uint64_t)(~(syi_u128)0 / divisor);
}

static syi_factor factor_of(uint32_t multiply, uint32_t odd, int halvings, uint64_t residue)
{
    const int shift = __builtin_clzll(odd);
    return (syi_factor){multiply, odd, halvings, shift, reciprocal_of((uint64_t)odd << shift),
                        residue};
}

syi_factor syi_factor_of(int64_t multiply, int64_t divide)
{
    const int common = multiply ? __builtin_ctzll((uint64_t)(multiply | divide)) : 0;
    const int halvings = __builtin_ctzll((uint64_t)divide);
    return factor_of(
        (uint32_t)(multiply >> common), (uint32_t)(divide >> halvings), halvings - common,
        syi_residue_product((uint64_t)multiply, syi_residue_inverse((uint64_t)divide)));
}

/* factor^k for the largest k <= count of which it can be held; 0 < count. */
static syi_factor power_of(const syi_factor *factor, int64_t count, int64_t *k)
{
    const int64_t most = INT32_MAX / (factor->halvings + 1);
    uint64_t multiply = 1, divisor = 1, residue = 1;
    count = count < most ? count : most;
    if (factor->multiply == 1 && factor->divisor == 1) { /* 1/2, 1/4 ... */
        *k = count;
        return factor_of(1, 1, (int)count * factor->halvings,
                         syi_residue_of(0, 1, -count * factor->halvings));
    }
    *k = 0;
    do {
        multiply *= factor->multiply;
        divisor *= factor->divisor;
        residue = syi_residue_product(residue, factor->residue);
        ++*k;
    } while (*k < count && multiply && multiply * factor->multiply <= UINT32_MAX &&
             divisor * factor->divisor <= UINT32_MAX);
    return factor_of((uint32_t)multiply, (uint32_t)divisor, (int)*k * factor->halvings, residue);
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
static syi_rest take_leading(syi_number *out, int sign, const uint64_t *limb, int count,
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
    take_leading(out, parts.negative ? -1 : 1, &parts.mantissa, 1, parts.exponent);
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
    return syi_rest_sum(lost, take_leading(out, big_sign, sum, n + 1, exponent));
}

/* Moves what of the rest reaches the bits over to them, where it is known that well. */
static void settle(syi_number *out)
{
    const int64_t by = out->rest.exponent - out->exponent;
    syi_number whole;
    uint64_t integer;
    double least, most, middle;
    if (out->sign == 0 || by < -150 || by > 150)
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
    take_leading(&whole, 1, &integer, 1, out->exponent);
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
    settle(out);
}

void syi_number_add(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, 0);
}

void syi_number_subtract(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, 1);
}

/* (*rest, low) / divisor, which has its top bit and is above *rest, by its reciprocal: Moller and
 * Granlund, Improved division by invariant integers, 2011. */
static uint64_t divide_two(uint64_t *rest, uint64_t low, uint64_t divisor, uint64_t reciprocal)
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

/* limb[0 .. count) /= divisor; returns the remainder as a part of the divisor. */
static double divide(uint64_t *limb, int count, const syi_factor *factor)
{
    const int shift = factor->shift;
    const uint64_t divisor = (uint64_t)factor->divisor << shift;
    uint64_t rest = limb[count - 1] >> (64 - shift);
    for (int i = count - 1; i >= 0; i--) {
        const uint64_t low = limb[i] << shift | (i ? limb[i - 1] >> (64 - shift) : 0);
        limb[i] = divide_two(&rest, low, divisor, factor->reciprocal);
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
    lost = take_leading(out, a->sign, product, n + 2, bottom);
    out->rest = syi_rest_sum(out->rest, lost);
    settle(out);
}

void syi_number_fade(syi_number *a, const syi_factor *factor, int64_t count)
{
    while (count > 0) {
        int64_t k = 1;
        const syi_factor power = count > 1 ? power_of(factor, count, &k) : *factor;
        for (; count >= k; count -= k)
            syi_number_scale(a, a, &power);
    }
}

/* rest[0 .. n] -= by * b[0 .. n); returns what is borrowed. */
static int take_away(uint64_t *rest, const uint64_t *b, int n, uint64_t by)
{
    uint64_t carry = 0, borrow = 0;
    for (int i = 0; i <= n; i++) {
        const syi_u128 product = (syi_u128)by * (i < n ? b[i] : 0) + carry;
        const syi_u128 next = (syi_u128)rest[i] - (uint64_t)product - borrow;
        carry = (uint64_t)(product >> 64);
        rest[i] = (uint64_t)next;
        borrow = (uint64_t)(next >> 64) & 1;
    }
    return (int)borrow;
}

/* The same, added. */
static int give_back(uint64_t *rest, const uint64_t *b, int n)
{
    uint64_t carry = 0;
    for (int i = 0; i <= n; i++) {
        const syi_u128 next = (syi_u128)rest[i] + (i < n ? b[i] : 0) + carry;
        rest[i] = (uint64_t)next;
        carry = (uint64_t)(next >> 64);
    }
    return (int)carry;
}

/* quotient[0 .. n] = a * 2^(64 n) / b for n limbs each, with their top bits; `rest` is what is
 * left. By limbs: Knuth, The Art of Computer Programming, volume 2, algorithm 4.3.1 D. */
static void divide_long(uint64_t *quotient, uint64_t *rest, const uint64_t *a, const uint64_t *b,
                        int n)
{
    const uint64_t top = b[n - 1], reciprocal = reciprocal_of(top);
    memcpy(rest, a, (size_t)n * sizeof *rest);
    rest[n] = 0;
    quotient[n] = 1;
    if (take_away(rest, b, n, 1)) {
        quotient[n] = 0;
        give_back(rest, b, n);
    }
    for (int i = n - 1; i >= 0; i--) {
        uint64_t high;
        memmove(rest + 1, rest, (size_t)n * sizeof *rest);
        rest[0] = 0;
        high = rest[n];
        quotient[i] = high >= top ? UINT64_MAX : divide_two(&high, rest[n - 1], top, reciprocal);
        if (take_away(rest, b, n, quotient[i]))
            do
                quotient[i]--;
            while (!give_back(rest, b, n));
    }
}

void syi_number_divide(syi_number *out, const syi_number *a, const syi_number *b)
{
    uint64_t rest[SYI_NUMBER_MOST + 1], quotient[SYI_NUMBER_MOST + 1];
    const int n = a->limbs, bits = 64 * n;
    const int64_t exponent = a->exponent - b->exponent - bits;
    const syi_rest divisor =
        syi_rest_sum(b->rest, syi_rest_of_bits(b->sign, b->limb, 64 * n, b->exponent));
    syi_number value = {.limbs = n};
    syi_rest missing = a->rest, lost = syi_rest_none;
    value.has_residue = a->has_residue && b->has_residue && b->residue;
    if (value.has_residue)
        value.residue = syi_residue_product(a->residue, syi_residue_inverse(b->residue));
    if (a->sign) {
        const int sign = a->sign * b->sign;
        syi_rest whole;
        /* The bits of a are q times those of b and what is left. So it is (what is left + a's rest
         * - q times b's rest) / b that is missing from the quotient q. */
        divide_long(quotient, rest, a->limb, b->limb, n);
        whole = syi_rest_of_bits(sign, quotient, bits + 64, exponent);
        missing = syi_rest_sum(
            syi_rest_sum(missing, syi_rest_of_bits(a->sign, rest, bits, a->exponent - bits)),
            syi_rest_negative(syi_rest_product(whole, b->rest)));
        lost = take_leading(&value, sign, quotient, n + 1, exponent);
    }
    value.rest = syi_rest_sum(syi_rest_quotient(missing, divisor), lost);
    settle(&value);
    *out = value;
}
