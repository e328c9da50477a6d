/* One small file that several processes and threads change at once: an exclusive lock on a file
 * beside it, reading it whole, replacing it whole, and setting it aside. A reader sees either the
 * old contents or the new ones, and a crash at any moment leaves one of the two. Knows nothing of
 * what is inside. */
#ifndef SYI_PROFILES_LOCKED_FILE_H
#define SYI_PROFILES_LOCKED_FILE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct syi_locked_file {
    char path[PATH_MAX]; /* symbolic links resolved, so that two names of a file share a lock */
    const char *name;    /* the last part of `path` */
    int folder, lock;    /* descriptors */
} syi_locked_file;

/* The file's contents; *bytes is NULL when there is no such file, else to be freed. */
sy_status syi_file_read(const char *path, char **bytes, size_t *size);

/* Waits for the lock, `patience_ns` at most. A missing folder is made when `make_folder` is set. */
sy_status syi_file_lock(const char *path, bool make_folder, int64_t patience_ns,
                        syi_locked_file *file);
/* The same without waiting: *taken tells whether the lock was free. */
sy_status syi_file_try_lock(const char *path, bool make_folder, syi_locked_file *file, bool *taken);
void syi_file_unlock(syi_locked_file *file);

/* Puts new contents in the place of the file. On failure the old ones are still there. */
sy_status syi_file_replace(const syi_locked_file *file, const char *bytes, size_t size);

/* Renames the file to `*.corrupt`. */
sy_status syi_file_set_aside(const syi_locked_file *file);

#endif
