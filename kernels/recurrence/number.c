/* Wide floating point with bounds and residues: see number.h. Results are truncated. */
#include "recurrence/number.h"

#include "recurrence/residue.h"
#include "recurrence/rest.h"

#include <string.h>

syi_factor syi_factor_of(int64_t multiply, int64_t divide)
{
    return (syi_factor){
        (uint32_t)multiply, (uint32_t)divide,
        syi_residue_product((uint64_t)multiply, syi_residue_inverse((uint64_t)divide))};
}

static void copy_bits(syi_number *out, const syi_number *a)
{
    if (out == a)
        return;
    out->limbs = a->limbs;
    out->sign = a->sign;
    out->exponent = a->exponent;
    memcpy(out->limb, a->limb, (size_t)a->limbs * sizeof *a->limb);
}

static void copy(syi_number *out, const syi_number *a)
{
    copy_bits(out, a);
    out->error = a->error;
    out->rest = a->rest;
    out->has_residue = a->has_residue;
    out->residue = a->residue;
}

void syi_number_negate(syi_number *out, const syi_number *a)
{
    copy(out, a);
    out->sign = -a->sign;
    out->rest = syi_rest_negative(a->rest);
    out->residue = syi_residue_negative(a->residue);
}

/* The leading bits of the integer limb[0 .. count) * 2^exponent; non-zero when bits were dropped.
 */
static int take_leading(syi_number *out, const uint64_t *limb, int count, int64_t exponent)
{
    int n = out->limbs, shift, from, lost = 0;
    while (count > 0 && limb[count - 1] == 0)
        count--;
    if (count == 0) {
        out->sign = 0;
        return 0;
    }
    shift = __builtin_clzll(limb[count - 1]);
    from = count - n; /* the limb that becomes the lowest; below 0 there are zeros */
    out->exponent = exponent + 64 * (int64_t)from - shift;
    for (int i = 0; i < n; i++) {
        uint64_t high = from + i >= 0 ? limb[from + i] : 0;
        uint64_t low = from + i >= 1 ? limb[from + i - 1] : 0;
        out->limb[i] = shift ? high << shift | low >> (64 - shift) : high;
    }
    if (from > 0) {
        lost = shift ? limb[from - 1] << shift != 0 : limb[from - 1] != 0;
        for (int i = 0; i < from - 1; i++)
            lost |= limb[i] != 0;
    }
    return lost;
}

void syi_number_set(syi_number *out, double x, int limbs)
{
    syi_parts parts = syi_split(x);
    out->limbs = limbs;
    out->error = 0.0L;
    out->rest = (syi_rest){0.0L, 0.0L};
    out->has_residue = 1;
    out->residue = syi_residue_of(parts.negative, parts.mantissa, parts.exponent);
    out->sign = parts.negative ? -1 : 1;
    take_leading(out, &parts.mantissa, 1, parts.exponent);
}

void syi_number_unknown(syi_number *out, long double error, int limbs)
{
    syi_number_set(out, 0.0, limbs);
    out->error = error;
    out->has_residue = error == 0.0L;
}

static uint64_t residue_of_bits(const syi_number *a)
{
    uint64_t residue = 0;
    for (int i = 0; a->sign && i < a->limbs; i++)
        residue = syi_residue_sum(
            residue, syi_residue_of(a->sign < 0, a->limb[i], a->exponent + 64 * (int64_t)i));
    return residue;
}

/* A result has lost bits of the sign given, a multiple of 2^bottom below 2^top. */
static void lose(syi_number *out, int sign, int64_t bottom, int64_t top)
{
    if (out->error != 0.0L) {
        out->error += syi_power_above(top);
        return;
    }
    out->rest =
        syi_rest_sum(out->rest, syi_rest_of(sign, syi_power_below(bottom), syi_power_above(top)));
    out->residue = residue_of_bits(out); /* all that is not rest */
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

/* out = limb >> shift; non-zero when bits were dropped. */
static int shift_down(uint64_t *out, const uint64_t *limb, int count, int64_t shift)
{
    int64_t skip = shift / 64;
    int bits = (int)(shift % 64), lost = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t low = i + skip < count ? limb[i + skip] : 0;
        uint64_t high = i + skip + 1 < count ? limb[i + skip + 1] : 0;
        out[i] = bits ? low >> bits | high << (64 - bits) : low;
    }
    for (int64_t i = 0; i < skip && i < count; i++)
        lost |= limb[i] != 0;
    if (bits && skip < count)
        lost |= limb[skip] << (64 - bits) != 0;
    return lost;
}

/* The bits of a sum whose bounds are there: |big| >= |small|, with the signs that they have in it.
 */
static void combine(syi_number *out, const syi_number *big, int big_sign, const syi_number *small,
                    int small_sign)
{
    uint64_t sum[SYI_NUMBER_MOST + 1];
    const int64_t exponent = big->exponent, bottom = small->exponent;
    const int n = big->limbs;
    uint64_t carry = 0;
    const int shifted = shift_down(sum, small->limb, n, exponent - bottom);
    int halved;
    for (int i = 0; i < n; i++) {
        syi_u128 next = big_sign == small_sign ? (syi_u128)big->limb[i] + sum[i] + carry
                                               : (syi_u128)big->limb[i] - sum[i] - carry;
        sum[i] = (uint64_t)next;
        carry = (uint64_t)(next >> 64) & 1;
    }
    sum[n] = carry; /* 0 after a subtraction */
    out->limbs = n;
    out->sign = big_sign;
    halved = take_leading(out, sum, n + 1, exponent);
    if (shifted)
        lose(out, small_sign, bottom, exponent);
    if (halved)
        lose(out, big_sign, exponent, exponent + 1);
}

/* Whether nothing of `small` reaches big's bits, and its sign is known all the same. */
static int is_beside(const syi_number *big, const syi_number *small)
{
    return big->sign && small->sign &&
           big->exponent - small->exponent >= 64 * (int64_t)big->limbs &&
           syi_size_below(small) > syi_number_unsure(small);
}

/* Then all of it becomes rest. */
static void add_beside(syi_number *out, const syi_number *big, int big_flips,
                       const syi_number *small, int small_sign)
{
    const long double unsure = syi_number_unsure(small);
    const syi_rest all =
        syi_rest_of(small_sign, syi_size_below(small) - unsure, syi_size_above(small) + unsure);
    if (big_flips)
        syi_number_negate(out, big);
    else
        copy(out, big);
    out->rest = syi_rest_sum(out->rest, all);
}

/* out = a + b, or a - b when it flips. */
static void sum(syi_number *out, const syi_number *a, const syi_number *b, int flips)
{
    const int a_sign = a->sign, b_sign = flips ? -b->sign : b->sign;
    const int b_is_small = !b_sign || (a_sign && compare_sizes(a, b) >= 0);
    if (is_beside(a, b)) {
        add_beside(out, a, 0, b, b_sign);
        return;
    }
    if (is_beside(b, a)) {
        add_beside(out, b, flips, a, a_sign);
        return;
    }
    out->error = a->error + b->error;
    out->rest = syi_rest_sum(a->rest, flips ? syi_rest_negative(b->rest) : b->rest);
    out->has_residue = a->has_residue && b->has_residue;
    out->residue =
        syi_residue_sum(a->residue, flips ? syi_residue_negative(b->residue) : b->residue);
    if (a_sign && b_sign && b_is_small) {
        combine(out, a, a_sign, b, b_sign);
    } else if (a_sign && b_sign) {
        combine(out, b, b_sign, a, a_sign);
    } else {
        copy_bits(out, b_is_small ? a : b);
        out->sign = b_is_small ? a_sign : b_sign;
    }
}

void syi_number_add(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, 0);
}

void syi_number_subtract(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, 1);
}

/* limb[0 .. count) /= divisor; returns the remainder. Half limbs keep to 64-bit divisions. */
static uint64_t divide(uint64_t *limb, int count, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = count - 1; i >= 0; i--) {
        uint64_t high = rest << 32 | limb[i] >> 32;
        uint64_t low = high % divisor << 32 | (limb[i] & 0xffffffffu);
        limb[i] = high / divisor << 32 | low / divisor;
        rest = low % divisor;
    }
    return rest;
}

void syi_number_scale(syi_number *out, const syi_number *a, const syi_factor *factor)
{
    uint64_t product[SYI_NUMBER_MOST + 2] = {0}, carry = 0;
    const int64_t bottom = a->exponent - 64;
    const long double ratio = (long double)factor->multiply / (long double)factor->divide;
    int n = a->limbs, rest, lost;
    out->has_residue = a->has_residue || factor->multiply == 0;
    out->residue = syi_residue_product(a->residue, factor->residue);
    out->rest = syi_rest_scaled(a->rest, ratio);
    out->error = syi_bound_scaled(a->error, syi_outward(ratio, 1), 0);
    out->limbs = n;
    out->sign = a->sign;
    if (a->sign == 0)
        return;
    /* One limb below the number, so that the quotient has all its bits. */
    for (int i = 0; i < n; i++) {
        syi_u128 next = (syi_u128)a->limb[i] * factor->multiply + carry;
        product[i + 1] = (uint64_t)next;
        carry = (uint64_t)(next >> 64);
    }
    product[n + 1] = carry;
    rest = divide(product, n + 2, factor->divide) != 0;
    lost = take_leading(out, product, n + 2, bottom);
    if (rest) /* which no bits hold: the residue still does */
        out->error += syi_power_above(out->exponent + 1);
    else if (lost)
        lose(out, out->sign, bottom, out->exponent);
}

/* One bit of a long division: `rest` has a limb more than b. */
static uint64_t take_bit(uint64_t *rest, const uint64_t *b, int n)
{
    uint64_t borrow = 0, fits;
    uint64_t less[SYI_NUMBER_MOST + 1];
    for (int i = 0; i <= n; i++) {
        syi_u128 next = (syi_u128)rest[i] - (i < n ? b[i] : 0) - borrow;
        less[i] = (uint64_t)next;
        borrow = (uint64_t)(next >> 64) & 1;
    }
    fits = !borrow;
    for (int i = n; i >= 0; i--) {
        uint64_t *kept = fits ? less : rest;
        rest[i] = kept[i] << 1 | (i ? kept[i - 1] >> 63 : 0);
    }
    return fits;
}

void syi_number_divide(syi_number *out, const syi_number *a, const syi_number *b)
{
    uint64_t rest[SYI_NUMBER_MOST + 1], quotient[SYI_NUMBER_MOST + 1] = {0};
    int n = a->limbs, bits = 64 * n + 1, lost = 0;
    const long double bottom = syi_size_below(b), unsure = syi_number_unsure(b);
    syi_number value = {.limbs = n, .sign = a->sign * b->sign};
    value.has_residue =
        a->has_residue && b->has_residue && syi_rest_is_none(a->rest) && syi_rest_is_none(b->rest);
    value.residue = syi_residue_product(a->residue, syi_residue_inverse(b->residue));
    if (a->sign) {
        memcpy(rest, a->limb, (size_t)n * sizeof *rest);
        rest[n] = 0;
        for (int i = bits - 1; i >= 0; i--)
            quotient[i / 64] |= take_bit(rest, b->limb, n) << (i % 64);
        for (int i = 0; i <= n; i++)
            lost |= rest[i] != 0;
        lost |= take_leading(&value, quotient, n + 1, a->exponent - b->exponent - (bits - 1));
    }
    value.error = syi_number_unsure(a) + syi_outward(syi_size_above(&value) * unsure, 1);
    if (value.error != 0.0L)
        value.error = bottom > 4.0L * unsure ? value.error / (bottom - 2.0L * unsure) +
                                                   syi_power_above(SYI_REST_BOTTOM)
                                             : syi_power_above(16000);
    if (lost)
        value.error += syi_power_above(value.exponent + 1);
    *out = value;
}
