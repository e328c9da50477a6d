/* Schoolbook arithmetic on integers of a fixed largest size. */
#include "exact/big.h"

static void trim(syi_big *a)
{
    while (a->size > 0 && a->limb[a->size - 1] == 0)
        a->size--;
}

void syi_big_set(syi_big *a, const uint64_t *limbs, int count)
{
    memcpy(a->limb, limbs, (size_t)count * sizeof *limbs);
    a->size = count;
    trim(a);
}

void syi_big_copy(syi_big *out, const syi_big *a)
{
    memcpy(out->limb, a->limb, (size_t)a->size * sizeof a->limb[0]);
    out->size = a->size;
}

int syi_big_compare(const syi_big *a, const syi_big *b)
{
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    for (int k = a->size - 1; k >= 0; k--)
        if (a->limb[k] != b->limb[k])
            return a->limb[k] < b->limb[k] ? -1 : 1;
    return 0;
}

int64_t syi_big_bit_length(const syi_big *a)
{
    return a->size == 0 ? 0 : 64 * (int64_t)a->size - __builtin_clzll(a->limb[a->size - 1]);
}

static void add(syi_big *a, const syi_big *b)
{
    uint64_t carry = 0;
    for (int k = 0; k < b->size || carry != 0; k++) {
        syi_u128 sum = (syi_u128)(k < b->size ? b->limb[k] : 0) + carry;
        if (k == a->size)
            a->limb[a->size++] = 0;
        sum += a->limb[k];
        a->limb[k] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    trim(a);
}

/* out = a - b, for a >= b; out may be either. */
static void subtract(syi_big *out, const syi_big *a, const syi_big *b)
{
    uint64_t borrow = 0;
    const int size = b->size;
    for (int k = 0; k < a->size; k++) {
        syi_u128 rest = (syi_u128)a->limb[k] - (k < size ? b->limb[k] : 0) - borrow;
        out->limb[k] = (uint64_t)rest;
        borrow = (uint64_t)(rest >> 64) & 1;
    }
    out->size = a->size;
    trim(out);
}

int syi_big_add_signed(syi_big *a, int a_negative, const syi_big *b, int b_negative)
{
    if (a_negative == b_negative) {
        add(a, b);
        return a_negative;
    }
    if (syi_big_compare(a, b) >= 0) {
        subtract(a, a, b);
        return a_negative && a->size != 0;
    }
    subtract(a, b, a);
    return b_negative;
}

void syi_big_shift_left(syi_big *a, int64_t bits)
{
    int whole = (int)(bits / 64), part = (int)(bits % 64);
    if (a->size == 0)
        return;
    a->limb[a->size] = 0;
    for (int k = a->size; k >= 0; k--)
        a->limb[k + whole] = a->limb[k] << part | (k > 0 ? a->limb[k - 1] >> 1 >> (63 - part) : 0);
    memset(a->limb, 0, (size_t)whole * sizeof a->limb[0]);
    a->size += whole + 1;
    trim(a);
}

void syi_big_scale(syi_big *a, uint64_t factor)
{
    uint64_t carry = 0;
    for (int k = 0; k < a->size; k++) {
        syi_u128 product = (syi_u128)a->limb[k] * factor + carry;
        a->limb[k] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry != 0)
        a->limb[a->size++] = carry;
    trim(a);
}

void syi_big_square(syi_big *out, const syi_big *a)
{
    memset(out->limb, 0, 2 * (size_t)a->size * sizeof out->limb[0]);
    for (int i = 0; i < a->size; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < a->size; j++) {
            syi_u128 term = (syi_u128)a->limb[i] * a->limb[j] + out->limb[i + j] + carry;
            out->limb[i + j] = (uint64_t)term;
            carry = (uint64_t)(term >> 64);
        }
        out->limb[i + a->size] = carry;
    }
    out->size = 2 * a->size;
    trim(out);
}

uint64_t syi_big_divide(syi_big *a, uint64_t divisor)
{
    syi_u128 rest = 0;
    for (int k = a->size - 1; k >= 0 && divisor != 1; k--) {
        rest = rest << 64 | a->limb[k];
        a->limb[k] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    trim(a);
    return (uint64_t)rest;
}
