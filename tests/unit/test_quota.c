/* What a control group's files say of the processors that a process may keep busy. */
#define _XOPEN_SOURCE 700
#include "device/quota.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/steelyard-quota-XXXXXX";

static void set_up(void)
{
    cr_assert(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(mkdir("groups", 0700), 0);
    cr_assert_eq(mkdir("groups/a", 0700), 0);
    cr_assert_eq(mkdir("groups/a/b", 0700), 0);
}

static const char *const files[] = {"membership", "groups/cpu.max", "groups/a/cpu.max",
                                    "groups/a/b/cpu.max"};

static void tear_down(void)
{
    for (int i = 0; i < 4; i++)
        remove(files[i]);
    rmdir("groups/a/b");
    rmdir("groups/a");
    rmdir("groups");
    rmdir(folder);
}

TestSuite(quota, .init = set_up, .fini = tear_down);

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    cr_assert(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static int quota(void)
{
    return syi_cpu_quota("membership", "groups");
}

Test(quota, none)
{
    cr_expect_eq(quota(), 0, "nothing is there");
    put("membership", "0::/a/b\n");
    cr_expect_eq(quota(), 0, "no limits");
    put("groups/a/b/cpu.max", "max 100000\n");
    cr_expect_eq(quota(), 0, "no limit");
    put("groups/a/b/cpu.max", "nonsense\n");
    cr_expect_eq(quota(), 0, "not understood");
}

Test(quota, rounded_up)
{
    put("membership", "2:cpu:/c\n0::/a/b\n");
    put("groups/a/b/cpu.max", "50000 100000\n");
    cr_expect_eq(quota(), 1);
    put("groups/a/b/cpu.max", "200000 100000\n");
    cr_expect_eq(quota(), 2);
    put("groups/a/b/cpu.max", "210000 100000\n");
    cr_expect_eq(quota(), 3);
}

Test(quota, least_on_the_way)
{
    put("membership", "0::/a/b\n");
    put("groups/a/b/cpu.max", "800000 100000\n");
    put("groups/a/cpu.max", "200000 100000\n");
    cr_expect_eq(quota(), 2);
    put("groups/a/cpu.max", "max 100000\n");
    cr_expect_eq(quota(), 8);
}

/* A container's own view begins at its group; the host's path is not there then. */
Test(quota, container)
{
    put("membership", "0::/\n");
    put("groups/cpu.max", "150000 100000\n");
    cr_expect_eq(quota(), 2);
    put("membership", "0::/docker/0123\n");
    cr_expect_eq(quota(), 2);
}
