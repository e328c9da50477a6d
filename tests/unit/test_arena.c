/* The memory of one call: pieces in the arena itself and pieces from the heap, all given back. */
#include "base/mem.h"

#include <criterion/criterion.h>
#include <string.h>

enum { PIECES = 200, MOST = 2 * SYI_ARENA_OWN };

/* Nothing of a piece's bytes is anybody else's, and they begin as zeros. */
static void check_pieces(syi_arena *arena)
{
    unsigned char *piece[PIECES];
    size_t size[PIECES];
    uint64_t random = 88172645463325252u;
    for (int k = 0; k < PIECES; k++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size[k] = k % 10 ? random % 100 : random % MOST;
        piece[k] = syi_arena_alloc(arena, size[k], 1);
        cr_assert(piece[k]);
        cr_expect_eq((uintptr_t)piece[k] % 16, 0);
        for (size_t i = 0; i < size[k]; i++) {
            cr_assert_eq(piece[k][i], 0);
            piece[k][i] = (unsigned char)(k + 1);
        }
    }
    for (int k = 0; k < PIECES; k++)
        for (size_t i = 0; i < size[k]; i++)
            cr_assert_eq(piece[k][i], (unsigned char)(k + 1));
}

Test(arena, pieces)
{
    const int64_t alive = syi_mem_alive();
    syi_arena arena;
    memset(&arena, 0xff, sizeof arena);
    for (int round = 0; round < 2; round++) { /* the second one finds what the first one left */
        syi_arena_open(&arena);
        check_pieces(&arena);
        cr_expect_gt(syi_mem_alive(), alive);
        syi_arena_close(&arena);
        cr_expect_eq(syi_mem_alive(), alive);
    }
}

/* The arena itself to its last byte, without the heap. */
Test(arena, its_own_room)
{
    const int64_t alive = syi_mem_alive();
    syi_arena arena;
    syi_arena_open(&arena);
    cr_expect(syi_arena_alloc(&arena, SYI_ARENA_OWN / 16 - 1, 16));
    cr_expect(syi_arena_alloc(&arena, 0, 8));
    cr_expect(syi_arena_alloc(&arena, 1, 9));
    cr_expect_eq(syi_mem_alive(), alive);
    cr_expect(syi_arena_alloc(&arena, 1, 1));
    cr_expect_eq(syi_mem_alive(), alive + 1);
    syi_arena_close(&arena);
    cr_expect_eq(syi_mem_alive(), alive);
}

Test(arena, lack_of_memory)
{
    const size_t sizes[] = {16, MOST};
    syi_arena arena;
    syi_arena_open(&arena);
    cr_expect_null(syi_arena_alloc(&arena, SIZE_MAX / 2, 3));
    cr_expect_null(syi_arena_alloc(&arena, SIZE_MAX, 1));
    cr_expect_null(syi_arena_alloc(&arena, SIZE_MAX - 8, 1));
    for (int k = 0; k < 2; k++) {
        syi_mem_fail_at(1);
        cr_expect_null(syi_arena_alloc(&arena, sizes[k], 1));
        cr_expect(syi_arena_alloc(&arena, sizes[k], 1), "the next one");
    }
    syi_arena_close(&arena);
}
