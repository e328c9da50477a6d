/* Whether memory has been used before. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "base/pages.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 64 };

Test(pages, are_present_once_they_were_touched)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(at != MAP_FAILED);
    madvise(at, size, MADV_NOHUGEPAGE);
    if (access("/proc/self/pagemap", R_OK) != 0)
        cr_skip_test("no /proc/self/pagemap");
    cr_expect_not(syi_pages_present(at, size));
    memset(at, 1, size - page);
    cr_expect_not(syi_pages_present(at, size), "the last one is missing");
    cr_expect(syi_pages_present(at, size - page));
    at[size - 1] = 1;
    cr_expect(syi_pages_present(at, size));
    cr_expect(syi_pages_present(at + 5, 1));
    cr_expect(syi_pages_present(at, 0));
    madvise(at, page, MADV_DONTNEED);
    cr_expect_not(syi_pages_present(at, size), "the first one is missing");
    munmap(at, size);
}
