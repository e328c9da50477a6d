/* A device memory for tests of the PTX interpreter: a few host arrays at made-up addresses with
 * gaps between. */
#ifndef VPTX_HOST_H
#define VPTX_HOST_H

#include "vptx/vptx.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct host_memory {
    vptx_window windows[16];
    int count;
    void *owned[16]; /* the module's variables */
    int owned_count;
} host_memory;

static inline const vptx_window *host_resolve(void *user, uint64_t address, uint32_t size,
                                              int is_write, const char **why_not)
{
    host_memory *m = user;
    (void)is_write;
    for (int i = 0; i < m->count; i++) {
        const vptx_window *w = &m->windows[i];
        if (address >= w->base && address - w->base < w->size &&
            size <= w->size - (address - w->base))
            return w;
    }
    *why_not = "in no array of the test";
    return NULL;
}

/* The address of the array; `shadow` may be NULL. */
static inline uint64_t host_add(host_memory *m, void *array, size_t size, unsigned char *shadow)
{
    vptx_window *w = &m->windows[m->count];
    *w = (vptx_window){0x7f0000000000u + ((uint64_t)m->count++ << 32), size, array, shadow, 0};
    return w->base;
}

static inline int host_place(void *user, const vptx_variable *v, uint64_t *address)
{
    host_memory *m = user;
    void *copy = calloc(1, v->size);
    if (!copy)
        return -1;
    m->owned[m->owned_count++] = copy;
    if (v->image)
        memcpy(copy, v->image, v->size);
    *address = host_add(m, copy, v->size, NULL);
    return 0;
}

static inline void host_free(host_memory *m)
{
    while (m->owned_count)
        free(m->owned[--m->owned_count]);
}

static inline vptx_module *host_load(const char *text, size_t length)
{
    char error[300];
    vptx_module *m = NULL;
    if (vptx_load(text, length, &m, error, sizeof error)) {
        fprintf(stderr, "load: %s\n", error);
        return NULL;
    }
    return m;
}

static inline uint64_t host_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The suites; each returns the number of failures. */
int test_vptx_ops(void);
int test_vptx_warp(void);
int test_vptx_faults(void);
int test_vptx_samples(const char *path);
int test_vptx_speed(const char *path);

#endif
