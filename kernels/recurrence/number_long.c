/* Products, powers and quotients of wide numbers: see number.h. */
#include "recurrence/number_inside.h"

#include <string.h>

/* factor^k for the largest k <= count of which it can be held; 0 < count. */
static syi_factor power_of(const syi_factor *factor, int64_t count, int64_t *k)
{
    const int64_t most = INT32_MAX / (factor->halvings + 1);
    uint64_t multiply = 1, divisor = 1, residue = 1;
    count = count < most ? count : most;
    if (factor->multiply == 1 && factor->divisor == 1) { /* 1/2, 1/4 ... */
        *k = count;
        return syi_factor_with(1, 1, (int)count * factor->halvings,
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
    return syi_factor_with((uint32_t)multiply, (uint32_t)divisor, (int)*k * factor->halvings,
                           residue);
}

/* The bits alone. */
static syi_rest bits_of(const syi_number *a)
{
    return syi_rest_of_bits(a->sign, a->limb, a->sign ? 64 * a->limbs : 0, a->exponent);
}

/* out = a * b, and `out` may be either. */
static void multiply(syi_number *out, const syi_number *a, const syi_number *b)
{
    uint64_t product[2 * SYI_NUMBER_MOST] = {0};
    const int n = a->limbs;
    syi_number value = {.limbs = n};
    syi_rest lost = syi_rest_none;
    for (int i = 0; i < n && a->sign && b->sign; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < n; k++) {
            const syi_u128 next = (syi_u128)a->limb[i] * b->limb[k] + product[i + k] + carry;
            product[i + k] = (uint64_t)next;
            carry = (uint64_t)(next >> 64);
        }
        product[i + n] = carry;
    }
    value.has_residue = a->has_residue && b->has_residue;
    if (value.has_residue)
        value.residue = syi_residue_product(a->residue, b->residue);
    if (a->sign && b->sign)
        lost = syi_number_take_leading(&value, a->sign * b->sign, product, 2 * n,
                                       a->exponent + b->exponent);
    value.rest = syi_rest_product(a->rest, syi_rest_sum(bits_of(b), b->rest));
    value.rest = syi_rest_sum(value.rest, syi_rest_product(bits_of(a), b->rest));
    value.rest = syi_rest_sum(value.rest, lost);
    syi_number_settle(&value);
    *out = value;
}

/* a *= factor^count, by squares. */
static void multiply_by_power(syi_number *a, const syi_factor *factor, int64_t count)
{
    syi_number square;
    syi_number_set(&square, 1.0, a->limbs);
    syi_number_scale(&square, &square, factor);
    for (; count > 0; count /= 2) {
        if (count % 2)
            multiply(a, a, &square);
        if (count > 1)
            multiply(&square, &square, &square);
    }
}

/* More factors than this are faster by squares. */
#define MANY 24

void syi_number_fade(syi_number *a, const syi_factor *factor, int64_t count)
{
    while (count > 0) {
        int64_t k = 1;
        const syi_factor power = count > 1 ? power_of(factor, count, &k) : *factor;
        if (count / k > MANY)
            multiply_by_power(a, &power, count / k);
        else
            for (int64_t i = count / k; i > 0; i--)
                syi_number_scale(a, a, &power);
        count %= k;
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
    const uint64_t top = b[n - 1], reciprocal = syi_reciprocal_of(top);
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
        quotient[i] =
            high >= top ? UINT64_MAX : syi_divide_two(&high, rest[n - 1], top, reciprocal);
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
        lost = syi_number_take_leading(&value, sign, quotient, n + 1, exponent);
    }
    value.rest = syi_rest_sum(syi_rest_quotient(missing, divisor), lost);
    syi_number_settle(&value);
    *out = value;
}
