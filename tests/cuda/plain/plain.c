/* The runner behind plain/criterion/criterion.h: `PROGRAM [PART OF A NAME]`. */
#define _POSIX_C_SOURCE 200809L
#include "criterion/criterion.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static plain_test *tests;
static int failures; /* of the test that runs in this process */

void plain_register(plain_test *test)
{
    test->next = tests;
    tests = test;
}

void plain_fail(bool fatal, const char *file, int line, const char *condition)
{
    printf("%s:%d: not so: %s\n", file, line, condition);
    failures++;
    if (fatal) {
        fflush(stdout);
        _exit(1);
    }
}

int main(int argc, char **argv)
{
    int run = 0, failed = 0;
    for (plain_test *test = tests; test; test = test->next) {
        int status = 1;
        if (argc > 1 && !strstr(test->name, argv[1]) && !strstr(test->suite, argv[1]))
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            test->run();
            exit(failures > 0); /* with what a sanitizer does at the end */
        }
        bool good = child > 0 && waitpid(child, &status, 0) == child && status == 0;
        printf("%-7s%s::%s\n", good ? "ok" : "FAILED", test->suite, test->name);
        run++;
        failed += !good;
    }
    printf("%d tests, %d failed\n", run, failed);
    return failed || !run;
}
