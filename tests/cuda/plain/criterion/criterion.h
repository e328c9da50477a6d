/* Stands in for Criterion where that cannot go: it neither starts under ThreadSanitizer nor fails
 * on a leak. The same test sources, compiled with this folder first on the include path, become a
 * program that runs each test in a process of its own. Only what tests/cuda uses is here. */
#ifndef PLAIN_CRITERION_H
#define PLAIN_CRITERION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct plain_test {
    const char *suite, *name;
    void (*run)(void);
    struct plain_test *next;
} plain_test;

void plain_register(plain_test *test);
/* Prints, and ends the test's process when `fatal`. */
void plain_fail(bool fatal, const char *file, int line, const char *condition);

#define Test(suite_, name_)                                                                        \
    static void suite_##_##name_(void);                                                            \
    __attribute__((constructor)) static void suite_##_##name_##_register(void)                     \
    {                                                                                              \
        static plain_test test = {#suite_, #name_, suite_##_##name_, NULL};                        \
        plain_register(&test);                                                                     \
    }                                                                                              \
    static void suite_##_##name_(void)

/* The messages that Criterion takes as well are left out; the condition and the line must do. */
#define PLAIN_FIRST(x, ...) x
#define PLAIN_CHECK(fatal, condition, text)                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            plain_fail(fatal, __FILE__, __LINE__, text);                                           \
    } while (0)
#define PLAIN_COMPARE(fatal, a, op, ...)                                                           \
    PLAIN_CHECK(fatal, (a)op(PLAIN_FIRST(__VA_ARGS__, 0)), #a " " #op " " #__VA_ARGS__)

#define cr_assert(...)               PLAIN_CHECK(true, PLAIN_FIRST(__VA_ARGS__, 0), #__VA_ARGS__)
#define cr_expect(...)               PLAIN_CHECK(false, PLAIN_FIRST(__VA_ARGS__, 0), #__VA_ARGS__)
#define cr_expect_not(...)           PLAIN_CHECK(false, !(PLAIN_FIRST(__VA_ARGS__, 0)), #__VA_ARGS__)
#define cr_assert_eq(a, ...)         PLAIN_COMPARE(true, a, ==, __VA_ARGS__)
#define cr_expect_eq(a, ...)         PLAIN_COMPARE(false, a, ==, __VA_ARGS__)
#define cr_expect_lt(a, ...)         PLAIN_COMPARE(false, a, <, __VA_ARGS__)
#define cr_expect_leq(a, ...)        PLAIN_COMPARE(false, a, <=, __VA_ARGS__)
#define cr_expect_gt(a, ...)         PLAIN_COMPARE(false, a, >, __VA_ARGS__)
#define cr_expect_geq(a, ...)        PLAIN_COMPARE(false, a, >=, __VA_ARGS__)
#define cr_expect_str_eq(a, b)       PLAIN_CHECK(false, !strcmp(a, b), #a " is " #b)
#define cr_expect_float_eq(a, b, by) PLAIN_CHECK(false, fabs((a) - (b)) <= (by), #a " is about " #b)

#endif
