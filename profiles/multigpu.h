/* multigpu.json: the devices' ratios of each tag. Every function below reads or changes the file
 * at once; nothing is kept in memory between the calls. */
#ifndef SYI_PROFILES_MULTIGPU_H
#define SYI_PROFILES_MULTIGPU_H

#include "store.h"

#include <stdbool.h>

/* The store of a file at `path`, which is borrowed, as is `log` (NULL: warnings are dropped). */
syi_store syi_multigpu_store(const char *path, syi_log *log);

typedef struct syi_stored_balance {
    sy_balance balance;          /* ratios with sum 1, from syi_alloc */
    json_t *fingerprint, *costs; /* as they were stored; NULL: none */
    bool from_top_level;         /* an older writer's, who has neither of the two */
} syi_stored_balance;

void syi_stored_balance_clear(syi_stored_balance *stored);

/* The ratios of a tag; NULL: the one written last. The tag's entry counts, unless an older writer
 * has written the top level for this tag since, or there is only the top level. */
sy_status syi_multigpu_get(syi_store *store, const char *tag, syi_stored_balance *out);

/* The costs in the entry of a tag, in the document that an edit gets; NULL: none. */
json_t *syi_multigpu_costs(const json_t *root, const char *tag);

/* Calls `each` for every tag, in sorted order, until it returns non-zero. Tags that do not fit are
 * not listed. */
sy_status syi_multigpu_each(syi_store *store, int (*each)(void *user, syi_stored_balance *stored),
                            void *user);

/* SY_ERR_ARGUMENT: nothing can be stored under this tag. */
sy_status syi_multigpu_check_tag(const char *tag);

/* Stores a tag's ratios and makes it the top level's. The ratios are normalised; SY_ERR_ARGUMENT
 * on an empty list, a device named twice, a ratio that is not > 0 and finite, or a bad tag.
 * `fingerprint` and `costs` are borrowed; NULL takes away what was stored for the tag. */
sy_status syi_multigpu_set(syi_store *store, const char *tag, const sy_ratio *ratios, int n_ratios,
                           json_t *fingerprint, json_t *costs);

/* What runs have found of a stored profile: it stays as old as it is, and which tag is the top
 * level's. Nothing is changed, and *done false, while somebody else has the lock, or when the file
 * is another one than was `seen`. */
sy_status syi_multigpu_correct(syi_store *store, const syi_store_look *seen, const char *tag,
                               const sy_ratio *ratios, int n_ratios, json_t *fingerprint,
                               json_t *costs, bool *done);

/* Forgets a tag, SY_ERR_NOT_FOUND when it is not there; NULL: all of them. The most recent of the
 * remaining ones becomes the top level. */
sy_status syi_multigpu_forget(syi_store *store, const char *tag);

#endif
