#include "device/partials.h"

#include "base/arithmetic.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Tiles that are folded into one node, a subtree of the canonical tree. */
enum { GROUP = SYI_TILE_GROUP, FIRST_STRAYS = 2 * GROUP };

struct syi_partials {
    int64_t group;      /* tiles of a node */
    int64_t nodes;      /* of a row */
    unsigned char *all; /* the nodes of all rows */
    /* Tiles of groups that came in parts, since devices do not begin and end where groups do. */
    pthread_mutex_t lock;
    int64_t *stray; /* their numbers */
    unsigned char *values;
    int64_t strays, capacity;
};

sy_status syi_partials_create(const syi_job *job, syi_partials **out)
{
    const size_t size = job->workload->partial_size;
    const int one_by_one = job->workload->user || (job->moves && (job->seed || job->n_seeds));
    syi_partials *made = syi_alloc(1, sizeof *made);
    if (!made)
        return syi_no_memory(sizeof *made);
    pthread_mutex_init(&made->lock, NULL);
    made->group = one_by_one ? 1 : GROUP;
    made->nodes = (syi_tiles_per_row(job->columns) + made->group - 1) / made->group;
    made->all = syi_alloc((size_t)(job->rows * made->nodes), size);
    if (!made->all) {
        uint64_t bytes = (uint64_t)(job->rows * made->nodes) * size;
        syi_partials_destroy(&made);
        return syi_no_memory(bytes);
    }
    *out = made;
    return SY_OK;
}

void syi_partials_destroy(syi_partials **partials)
{
    syi_partials *p = *partials;
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    syi_free(p->all);
    syi_free(p->stray);
    syi_free(p->values);
    syi_free(p);
    *partials = NULL;
}

static sy_status combine(const syi_job *job, void *into, const void *right)
{
    const syi_workload *workload = job->workload;
    if (!workload->user) {
        workload->combine(into, right);
        return SY_OK;
    }
    if (workload->user->combine(into, right, job->params) != 0)
        return syi_fail(SY_ERR_USER, "workload '%s': its combine function failed", workload->name);
    return SY_OK;
}

sy_status syi_partials_fold(const syi_job *job, unsigned char *nodes, int64_t count)
{
    const size_t size = job->workload->partial_size;
    for (int64_t step = 1; step < count; step *= 2)
        for (int64_t i = 0; i + step < count; i += 2 * step)
            SYI_TRY(combine(job, nodes + (size_t)i * size, nodes + (size_t)(i + step) * size));
    return SY_OK;
}

/* A group of tiles: `tiles` of a row from `first` on. */
typedef struct group {
    int64_t first, tiles;
    unsigned char *node;
} group;

/* That of a row's tile `at`. */
static group group_in(const syi_job *job, int64_t row, int64_t at)
{
    const syi_partials *p = job->partials;
    const int64_t per_row = syi_tiles_per_row(job->columns);
    const int64_t index = at / p->group, left = per_row - index * p->group;
    return (group){row * per_row + index * p->group, left < p->group ? left : p->group,
                   p->all + (size_t)(row * p->nodes + index) * job->workload->partial_size};
}

static group group_of(const syi_job *job, int64_t tile)
{
    const int64_t per_row = syi_tiles_per_row(job->columns);
    return group_in(job, tile / per_row, tile % per_row);
}

/* The lock is held. */
static sy_status make_room(syi_partials *p, int64_t count, size_t size)
{
    int64_t capacity = p->capacity ? p->capacity : FIRST_STRAYS;
    int64_t *stray;
    unsigned char *values;
    while (capacity < p->strays + count)
        capacity *= 2;
    if (capacity == p->capacity)
        return SY_OK;
    stray = syi_realloc(p->stray, (size_t)capacity, sizeof *stray);
    if (stray)
        p->stray = stray;
    values = syi_realloc(p->values, (size_t)capacity, size);
    if (values)
        p->values = values;
    if (!stray || !values)
        return syi_no_memory((uint64_t)capacity * (size + sizeof *stray));
    p->capacity = capacity;
    return SY_OK;
}

static sy_status put_aside(syi_partials *p, int64_t tile, int64_t count, size_t size,
                           const unsigned char *partials)
{
    sy_status status;
    pthread_mutex_lock(&p->lock);
    status = make_room(p, count, size);
    if (status == SY_OK) {
        memcpy(p->values + (size_t)p->strays * size, partials, (size_t)count * size);
        for (int64_t i = 0; i < count; i++)
            p->stray[p->strays++] = tile + i;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

sy_status syi_partials_put(const syi_job *job, int64_t tile, int64_t count, unsigned char *partials)
{
    const size_t size = job->workload->partial_size;
    const syi_arithmetic saved = syi_arithmetic_enter();
    const int64_t per_row = syi_tiles_per_row(job->columns);
    int64_t row = tile / per_row, at = tile % per_row;
    sy_status status = SY_OK;
    for (int64_t done = 0, part; status == SY_OK && done < count; done += part) {
        const group g = group_in(job, row, at);
        unsigned char *from = partials + (size_t)done * size;
        part = g.first + g.tiles - (tile + done);
        part = part < count - done ? part : count - done;
        if (part < g.tiles) {
            status = put_aside(job->partials, tile + done, part, size, from);
        } else {
            status = syi_partials_fold(job, from, part);
            memcpy(g.node, from, size);
        }
        at += part;
        if (at == per_row) {
            row++;
            at = 0;
        }
    }
    syi_arithmetic_leave(saved);
    return status;
}

/* ---- groups that came in parts ---- */

typedef struct part {
    int64_t tile, at; /* `at`: among the strays */
} part;

static int by_tile(const void *left, const void *right)
{
    const part *a = left, *b = right;
    return a->tile != b->tile ? (a->tile > b->tile) - (a->tile < b->tile)
                              : (a->at > b->at) - (a->at < b->at);
}

/* Joins the sorted parts from `from` on that are one group's; gives where the next one begins. A
 * group of which a tile is missing here has come as a whole as well. */
static sy_status join(const syi_job *job, const part *parts, int64_t from, int64_t *next)
{
    const syi_partials *p = job->partials;
    const size_t size = job->workload->partial_size;
    const group g = group_of(job, parts[from].tile);
    unsigned char *room = syi_alloc((size_t)g.tiles, size);
    sy_status status = SY_OK;
    int64_t i = from, found = 0;
    if (!room)
        return syi_no_memory((uint64_t)g.tiles * size);
    for (; i < p->strays && parts[i].tile < g.first + g.tiles; i++) {
        found += i == from || parts[i].tile != parts[i - 1].tile;
        memcpy(room + (size_t)(parts[i].tile - g.first) * size,
               p->values + (size_t)parts[i].at * size, size);
    }
    if (found == g.tiles) {
        status = syi_partials_fold(job, room, found);
        memcpy(g.node, room, size);
    }
    syi_free(room);
    *next = i;
    return status;
}

sy_status syi_partials_nodes(const syi_job *job, unsigned char **nodes, int64_t *count)
{
    syi_partials *p = job->partials;
    sy_status status = SY_OK;
    *nodes = p->all;
    *count = p->nodes;
    if (p->strays) {
        part *parts = syi_alloc((size_t)p->strays, sizeof *parts);
        if (!parts)
            return syi_no_memory((uint64_t)p->strays * sizeof *parts);
        for (int64_t i = 0; i < p->strays; i++)
            parts[i] = (part){p->stray[i], i};
        qsort(parts, (size_t)p->strays, sizeof *parts, by_tile);
        for (int64_t i = 0; status == SY_OK && i < p->strays;)
            status = join(job, parts, i, &i);
        syi_free(parts);
        p->strays = 0;
    }
    return status;
}
