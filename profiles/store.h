/* A JSON document in a file that several processes and threads read and change at once
 * (docs/files.md). The layers above see only the document. */
#ifndef SYI_PROFILES_STORE_H
#define SYI_PROFILES_STORE_H

#include "base/log.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The number of the format that is written, and the last one that is known. */
enum { SYI_STORE_FORMAT = 1 };

/* A change takes milliseconds: who has the lock for so long hangs. */
#define SYI_STORE_PATIENCE_NS INT64_C(10000000000)

/* What is wrong with the document's shape, in a few words; NULL: nothing. */
typedef const char *syi_store_check(const json_t *root);

/* Changes the document. A failure leaves the file as it was. */
typedef sy_status syi_store_edit(json_t *root, void *user);

typedef struct syi_store {
    const char *path;       /* borrowed; NULL: there is no place for it, and every call fails */
    const char *name;       /* what the file is called, for the message then */
    syi_store_check *check; /* called with an object */
    syi_log *log;           /* may be NULL */
    int64_t patience_ns;    /* for somebody else who has the lock */
    atomic_bool said;       /* that the file cannot be used, nor set aside */
    atomic_int updates;     /* by ourselves, tried ones included */
} syi_store;

/* The file when it was last looked at. */
typedef struct syi_store_look {
    struct stat file; /* zeros: none */
    int64_t tick;
    int updates;
} syi_store_look;

/* Whether the file is another one than it was, or was none; `last` is brought up to date. The file
 * system is asked after an update of ours, and otherwise once in a tick of the kernel's clock, by
 * which it also dates files: asking takes a good part of what a small call does. */
bool syi_store_changed(syi_store *store, syi_store_look *last);

/* The document, always an object, to be given back with json_decref; an empty one when there is no
 * file, when it is damaged (it is then set aside, with a warning), or when it is a newer version's
 * with a shape unknown to us (it is then left alone, with a warning). Takes no lock unless the
 * file is damaged. */
sy_status syi_store_read(syi_store *store, json_t **out);

/* Whether the file can be changed as far as can be told without doing it: its folder is there, or
 * has been made, and the lock beside it, which others may hold. */
sy_status syi_store_prepare(const syi_store *store);

/* Lock, read, edit, write, unlock. SY_ERR_UNSUPPORTED on a newer version's file of unknown shape,
 * SY_ERR_IO when the lock is not to be had. */
sy_status syi_store_update(syi_store *store, syi_store_edit *edit, void *user);

/* The same for what is a help and no condition: neither waits for the lock, nor changes another
 * file than the one that was `seen` (NULL: any). *done tells whether it was changed. */
sy_status syi_store_amend(syi_store *store, const syi_store_look *seen, syi_store_edit *edit,
                          void *user, bool *done);

/* ---- pieces of documents, for the layers above ---- */

/* jansson failed to get memory. */
sy_status syi_json_no_memory(void);
/* Like json_object_set_new, with the failure recorded. `key` must be UTF-8. */
sy_status syi_json_put(json_t *object, const char *key, json_t *value);
/* SY_ERR_ARGUMENT unless `text` is UTF-8 and not empty; `what` names it in the message. */
sy_status syi_json_check_text(const char *what, const char *text);
/* The object at `key`, made when it is not there. */
sy_status syi_json_child(json_t *object, const char *key, json_t **out);
/* Writes `updated_at`: now, UTC, "YYYY-MM-DDTHH:MM:SS". */
sy_status syi_json_stamp(json_t *object);

#endif
