/*
 * Roots made by products have the bits of the C library's, which IEEE 754 determines: those of all
 * significands whose root comes nearest to the middle between two doubles, of random numbers, and
 * of such that are not for products beside such that are.
 */
#include "product_root.h"

#include "kernel.h"
#include "series.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { LANES = 8, MOST = 4096 };

static void available(void)
{
    if (syi_isa_detect() < SYI_ISA_V4)
        cr_skip_test("no AVX-512 here");
}

/* Of these numbers, a multiple of LANES. */
static void roots_are_right(const double *squares, int64_t count)
{
    double roots[MOST];
    product_roots(squares, roots, count);
    for (int64_t i = 0; i < count; i++) {
        const double right = sqrt(squares[i]);
        cr_assert(memcmp(&roots[i], &right, sizeof right) == 0, "the root of %a: %a, not %a",
                  squares[i], roots[i], right);
    }
}

/* The n with n (n + 1) + apart = 0 modulo 2^64, for an even `apart`: one even, one odd. */
static uint64_t solution(int64_t apart, uint64_t n)
{
    for (int bit = 1; bit < 64; bit++)
        if ((n * (n + 1) + (uint64_t)apart) >> bit & 1)
            n += UINT64_C(1) << bit;
    return n;
}

/* The square of n + 1/2 less 1/4, and `apart`: where that is a double whose root begins with n, the
 * root's distance from the middle is apart / 2n of the double's last place, about. Gives how many
 * there are, 0 or 1. */
static int64_t near_middle(uint64_t n, int64_t apart, int shift, double *square)
{
    __extension__ typedef unsigned __int128 wide;
    const wide one = 1;
    wide x;
    n &= (UINT64_C(1) << shift) - 1;
    n |= UINT64_C(1) << 52;
    x = (wide)n * (n + 1) + (wide)apart;
    if (x < one << (52 + shift) || x >= one << (53 + shift) || (x & ((one << shift) - 1)) != 0)
        return 0;
    *square = ldexp((double)(uint64_t)(x >> shift), shift);
    return 1;
}

/* All with a distance of less than 2^-100 of the root; those that products might get wrong have
 * less than 2^-102. */
Test(root, is_right_beside_the_middle_between_two_doubles, .init = available)
{
    static const int scales[] = {-1000, 0, 900};
    double squares[MOST], scaled[MOST];
    int64_t count = 0;
    for (int64_t apart = -128; apart <= 128; apart += 2)
        for (uint64_t odd = 0; odd < 2; odd++)
            for (int shift = 52; shift <= 53; shift++)
                count += near_middle(solution(apart, odd), apart, shift, &squares[count]);
    cr_assert_gt(count, 100);
    for (; count % LANES != 0; count++)
        squares[count] = squares[0];
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        for (int64_t i = 0; i < count; i++)
            scaled[i] = ldexp(squares[i], scales[k]);
        roots_are_right(scaled, count);
    }
}

Test(root, is_right_of_numbers_of_all_sizes, .init = available)
{
    double squares[MOST];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        /* Every second time such as are too small for products. */
        const int64_t least = seed % 2 ? -900 : -1074;
        const uint64_t sizes = seed % 2 ? 1900 : 174;
        for (int64_t i = 0; i < MOST; i++)
            squares[i] = ldexp(1.0 + series_uniform(seed, 0, i),
                               (int)(least + (int64_t)(syi_random(seed, 1, (uint64_t)i) % sizes)));
        roots_are_right(squares, MOST);
    }
}

/* Beside numbers that they are made of: zeros, of which they are, too, and small ones. */
Test(root, is_right_of_what_is_zero_or_small, .init = available)
{
    static const double small[] = {0.0, 0x1p-901, 0x1.fffffffffffffp-901, 0x1p-1022, 0x1p-1074};
    enum { KINDS = sizeof small / sizeof *small };
    double squares[MOST];
    for (uint64_t kinds = 1; kinds <= KINDS; kinds++) {
        for (int64_t i = 0; i < MOST; i++) {
            const uint64_t r = syi_random(kinds, 0, (uint64_t)i);
            squares[i] = r % 3 == 0 ? small[r / 3 % kinds] : 1.0 + series_uniform(kinds, 1, i);
        }
        roots_are_right(squares, MOST);
    }
}
