/* Wide floating point with error bounds and residues: see number.h. Results are truncated, and the
 * bound grows by the last place whenever something non-zero is dropped. */
#include "recurrence/number.h"

#include "exact/bits.h"
#include "exact/round.h"

#include <math.h>
#include <string.h>

#define PRIME ((UINT64_C(1) << 61) - 1)

static uint64_t residue_product(uint64_t a, uint64_t b)
{
    syi_u128 product = (syi_u128)a * b;
    uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t residue_sum(uint64_t a, uint64_t b)
{
    return a + b >= PRIME ? a + b - PRIME : a + b;
}

static uint64_t residue_negative(uint64_t a)
{
    return a ? PRIME - a : 0;
}

/* By Fermat: a^(PRIME - 2). */
static uint64_t residue_inverse(uint64_t a)
{
    uint64_t result = 1;
    for (uint64_t power = PRIME - 2; power; power >>= 1) {
        if (power & 1)
            result = residue_product(result, a);
        a = residue_product(a, a);
    }
    return result;
}

/* Powers of two come back after 61 steps. */
static uint64_t residue_of(syi_parts x)
{
    uint64_t power = UINT64_C(1) << ((x.exponent % 61 + 61) % 61);
    uint64_t residue = residue_product(x.mantissa, power);
    return x.negative ? residue_negative(residue) : residue;
}

syi_factor syi_factor_of(int64_t multiply, int64_t divide)
{
    return (syi_factor){(uint32_t)multiply, (uint32_t)divide,
                        residue_product((uint64_t)multiply, residue_inverse((uint64_t)divide))};
}

/* 2^exponent, or a little more where even long double cannot go: there it is far below any double.
 */
static long double power_of_two(int64_t exponent)
{
    return ldexpl(1.0L, exponent < -16000 ? -16000 : (int)exponent);
}

static void copy(syi_number *out, const syi_number *a)
{
    if (out == a)
        return;
    out->limbs = a->limbs;
    out->sign = a->sign;
    out->exponent = a->exponent;
    memcpy(out->limb, a->limb, (size_t)a->limbs * sizeof *a->limb);
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
    out->residue = residue_of(parts);
    out->sign = parts.negative ? -1 : 1;
    take_leading(out, &parts.mantissa, 1, parts.exponent);
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

/* |big| >= |small|, both not zero, their signs being equal or not. */
static void combine(syi_number *out, const syi_number *big, const syi_number *small, int same_sign)
{
    uint64_t sum[SYI_NUMBER_MOST + 1];
    int64_t exponent = big->exponent;
    int n = big->limbs;
    uint64_t carry = 0;
    int lost = shift_down(sum, small->limb, n, exponent - small->exponent);
    for (int i = 0; i < n; i++) {
        syi_u128 next = same_sign ? (syi_u128)big->limb[i] + sum[i] + carry
                                  : (syi_u128)big->limb[i] - sum[i] - carry;
        sum[i] = (uint64_t)next;
        carry = (uint64_t)(next >> 64) & 1;
    }
    sum[n] = carry; /* 0 after a subtraction */
    out->limbs = n;
    out->sign = big->sign;
    lost |= take_leading(out, sum, n + 1, exponent);
    if (lost)
        out->error += power_of_two(exponent + 1);
}

static void sum(syi_number *out, const syi_number *a, const syi_number *b, int b_sign)
{
    long double error = a->error + b->error;
    uint64_t b_residue = b_sign == b->sign ? b->residue : residue_negative(b->residue);
    uint64_t residue = residue_sum(a->residue, b_residue);
    int a_sign = a->sign;
    out->error = error;
    if (b_sign == 0) {
        copy(out, a);
    } else if (a_sign == 0) {
        copy(out, b);
        out->sign = b_sign;
    } else if (compare_sizes(a, b) >= 0) {
        combine(out, a, b, a_sign == b_sign);
    } else {
        combine(out, b, a, a_sign == b_sign);
        if (out->sign)
            out->sign = b_sign;
    }
    out->residue = residue;
}

void syi_number_add(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, b->sign);
}

void syi_number_subtract(syi_number *out, const syi_number *a, const syi_number *b)
{
    sum(out, a, b, -b->sign);
}

void syi_number_negate(syi_number *out, const syi_number *a)
{
    copy(out, a);
    out->sign = -a->sign;
    out->error = a->error;
    out->residue = residue_negative(a->residue);
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
    int n = a->limbs, lost;
    long double ratio = (long double)factor->multiply / (long double)factor->divide;
    out->residue = residue_product(a->residue, factor->residue);
    out->error = a->error * ratio * (1.0L + 0x1p-50L);
    if (a->error != 0.0L && out->error < power_of_two(-16000) && factor->multiply)
        out->error = power_of_two(-16000);
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
    lost = divide(product, n + 2, factor->divide) != 0;
    lost |= take_leading(out, product, n + 2, a->exponent - 64);
    if (lost)
        out->error += power_of_two(out->exponent + 1);
}

/* |a| * 2^power, for error bounds. */
static long double size_of(const syi_number *a, int64_t power)
{
    int64_t exponent = a->exponent + 64 * (int64_t)(a->limbs - 1) + power;
    if (a->sign == 0)
        return 0.0L;
    exponent = exponent < -16300 ? -16300 : exponent > 16300 ? 16300 : exponent;
    return ldexpl((long double)a->limb[a->limbs - 1], (int)exponent);
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
    long double bottom = size_of(b, 0), error;
    syi_number value = {.limbs = n, .sign = a->sign * b->sign};
    value.residue = residue_product(a->residue, residue_inverse(b->residue));
    if (a->sign) {
        memcpy(rest, a->limb, (size_t)n * sizeof *rest);
        rest[n] = 0;
        for (int i = bits - 1; i >= 0; i--)
            quotient[i / 64] |= take_bit(rest, b->limb, n) << (i % 64);
        for (int i = 0; i <= n; i++)
            lost |= rest[i] != 0;
        lost |= take_leading(&value, quotient, n + 1, a->exponent - b->exponent - (bits - 1));
    }
    error = a->error + size_of(&value, 0) * b->error * (1.0L + 0x1p-50L);
    if (error != 0.0L)
        error = bottom > 4.0L * b->error ? error / (bottom - 2.0L * b->error) + power_of_two(-16000)
                                         : power_of_two(16000);
    value.error = error + (lost ? power_of_two(value.exponent + 1) : 0.0L);
    *out = value;
}

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
    uint64_t one = 1;
    syi_number step = {.limbs = a->limbs, .sign = sign};
    take_leading(&step, &one, 1, exponent);
    syi_number_add(out, a, &step);
}

/* Non-zero when the true value is the tie between the neighbours below and above. */
static int is_tie(const syi_number *a, double below, double above)
{
    const uint64_t half = UINT64_C(1) << 60;
    uint64_t twice;
    if (nextafter(below, above) != above || !syi_is_finite(below) || !syi_is_finite(above))
        return 0;
    twice = residue_sum(residue_of(syi_split(below)), residue_of(syi_split(above)));
    return a->residue == residue_product(twice, half);
}

int syi_number_round(const syi_number *a, int has_residue, double *out)
{
    syi_number low, high;
    double below, above;
    int power;
    int64_t margin;
    *out = nearest(a);
    if (a->error == 0.0L)
        return 1;
    frexpl(a->error, &power);
    margin = power + 1;
    if (a->sign && margin <= a->exponent)
        margin = a->exponent + 1;
    displace(&low, a, -1, margin);
    displace(&high, a, 1, margin);
    below = nearest(&low);
    above = nearest(&high);
    if (below == above)
        return 1;
    if (!has_residue)
        return 0;
    if (low.sign != high.sign) {
        if (a->residue == 0)
            *out = 0.0;
        return a->residue == 0;
    }
    if (is_tie(a, below, above)) {
        *out = syi_bits(below) & 1 ? above : below;
        return 1;
    }
    return 0;
}
