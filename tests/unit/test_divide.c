/*
 * Roots and scores made by products have the bits of the C library's root and the language's
 * quotient, which IEEE 754 determines: of all significands whose root comes nearest to the middle
 * between two doubles, of quotients that come as near to it as any of their divisor, of random
 * numbers, and of such that are not for products beside such that are.
 */
#include "by_products.h"

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

/* Of these numbers, a multiple of LANES: the distances, as they are and as losses, of the roots. */
static void scores_are_right(const double *distances, const double *variances, int64_t count)
{
    double losses[MOST], scores[MOST];
    for (int sign = 0; sign < 2; sign++) {
        for (int64_t i = 0; i < count; i++)
            losses[i] = sign ? -distances[i] : distances[i];
        product_scores(losses, variances, scores, count);
        for (int64_t i = 0; i < count; i++) {
            const int has_one = variances[i] > 0.0 && isfinite(variances[i]);
            const double right = has_one ? (losses[i] + 0.0) / sqrt(variances[i]) : syi_nan();
            cr_assert(memcmp(&scores[i], &right, sizeof right) == 0,
                      "the score of %a in %a: %a, not %a", losses[i], variances[i], scores[i],
                      right);
        }
    }
}

/* The number of 53 bits whose quotient by `odd`, which has as many, is `apart` / 2 odd of its last
 * place from the middle between two doubles; 0 where there is none. `shift`: 53 where the quotient
 * of the significands is at least 1, else 54. */
static uint64_t quotient_beside_middle(uint64_t odd, int64_t apart, int shift)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t places = UINT64_C(1) << shift, least = UINT64_C(1) << 53;
    uint64_t inverse = odd, middle;
    for (int i = 0; i < 5; i++) /* modulo 2^64, twice as many bits each time */
        inverse *= 2 - odd * inverse;
    middle = (inverse * (uint64_t)-apart & (places - 1)) | (least & -(uint64_t)(shift == 53));
    const uint64_t n = (uint64_t)(((wide)odd * middle + (wide)apart) >> shift);
    return middle >= least && n >> 52 == 1 ? n : 0;
}

/* Adds those distances that are hardest of a root, an odd whole number of 53 bits, whose square is
 * next to `toward`. Gives how many. */
static int64_t add_hardest(double root, double toward, int64_t most, double *distances,
                           double *variances)
{
    const double variance = nextafter(root * root, toward);
    int64_t count = 0;
    for (int64_t apart = 1 - most; apart < most && sqrt(variance) == root; apart += 2)
        for (int shift = 53; shift <= 54; shift++) {
            const uint64_t n = quotient_beside_middle((uint64_t)root, apart, shift);
            distances[count] = (double)n;
            variances[count] = variance;
            count += n > 0;
        }
    return count;
}

/* Of the roots next to powers of two, where a reciprocal is farthest off for its place, and of
 * random ones. */
Test(score, is_right_beside_the_middle_between_two_doubles, .init = available)
{
    static const int scales[] = {-449, 0, 449};
    enum { NEXT = 16, HARD = 64, ROOM = MOST + 6 * HARD };
    double distances[ROOM], variances[ROOM];
    int64_t found = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        const int scale = scales[seed % 3];
        int64_t count = 0;
        for (uint64_t i = 0; count < MOST && i < MOST; i++) {
            const int is_next = seed < 6;
            const uint64_t next = seed < 3 ? i : UINT64_MAX - i;
            const uint64_t bits = is_next ? next * 2 : syi_random(seed, 0, i);
            const uint64_t last = (UINT64_C(1) << 52) - 1;
            const double root = (double)((bits & last) | (last + 1) | 1);
            const double toward[] = {0.0, root * root, INFINITY};
            for (int k = 0; k < 3; k++)
                count += add_hardest(root, toward[k], i < NEXT && is_next ? HARD : 4,
                                     distances + count, variances + count);
        }
        found += count;
        count -= count % LANES;
        for (int64_t i = 0; i < count; i++) {
            distances[i] = ldexp(distances[i], scale - 52);
            variances[i] = ldexp(variances[i], 2 * (scale - 52));
        }
        scores_are_right(distances, variances, count < MOST ? count : MOST);
    }
    cr_assert_gt(found, 1000000);
}

Test(score, is_right_of_numbers_of_all_sizes, .init = available)
{
    double distances[MOST], variances[MOST];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        /* Every second time such as are too small for products, or too large; every third time no
         * small scores. */
        const int64_t least = seed % 2 ? -450 : -537;
        const uint64_t sizes = seed % 2 ? 950 : 1049, scores = seed % 3 ? 1100 : 60;
        for (int64_t i = 0; i < MOST; i++) {
            const uint64_t r = syi_random(seed, 1, (uint64_t)i);
            const int size = (int)(least + (int64_t)(r % sizes));
            variances[i] = ldexp(1.0 + series_uniform(seed, 2, i), 2 * size);
            distances[i] = ldexp(series_uniform(seed, 0, i), size + 8 - (int)(r / sizes % scores));
        }
        scores_are_right(distances, variances, MOST);
    }
}

/* Beside numbers that they are made of: zeros, small ones, and variances that have no score. */
Test(score, is_right_of_what_is_zero_or_small_or_none, .init = available)
{
    static const double odd_ones[] = {0.0, 0x1p-901, 0x1p-1074, INFINITY, NAN, -1.0, 0x1p-900};
    static const double small[] = {0.0, -0.0, 0x1p-511, 0x1.fffffffffffffp-512, 0x1p-1074};
    enum { KINDS = sizeof odd_ones / sizeof *odd_ones, SMALL = sizeof small / sizeof *small };
    double distances[MOST], variances[MOST];
    for (uint64_t kinds = 1; kinds <= KINDS; kinds++) {
        for (int64_t i = 0; i < MOST; i++) {
            const uint64_t r = syi_random(kinds, 0, (uint64_t)i), of = r / 8;
            distances[i] = r % 8 == 1 ? small[of % SMALL] : series_uniform(kinds, 1, i) - 0.5;
            variances[i] = r % 8 == 0 ? odd_ones[of % kinds] : 1.0 + series_uniform(kinds, 2, i);
        }
        scores_are_right(distances, variances, MOST);
    }
}
