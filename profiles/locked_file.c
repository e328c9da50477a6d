/* The system calls of syi_locked_file. All that is written lies in the file's own folder, and is
 * reached through a descriptor of that folder: a rename stays within one file system, and the
 * folder itself can be flushed. */
#define _XOPEN_SOURCE   700
#define _DEFAULT_SOURCE /* flock */
#include "locked_file.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct neighbour {
    char name[NAME_MAX + 16]; /* a name too long for the system is the system's to refuse */
} neighbour;

static neighbour beside(const syi_locked_file *file, const char *suffix)
{
    neighbour result;
    snprintf(result.name, sizeof result.name, "%s%s", file->name, suffix);
    return result;
}

static const char *remedy(int code)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "make room there or choose another path";
    case EACCES:
    case EPERM:
    case EROFS:
        return "allow it there or choose another path";
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
        return "remove what is in the way or choose another path";
    default:
        return "mend that or choose another path";
    }
}

static sy_status io_fail(const char *action, const char *path, int code)
{
    char why[128];
    if (strerror_r(code, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", code);
    return syi_fail_device(SY_ERR_IO, -1, code, "cannot %s '%.300s': %s; %s", action, path, why,
                           remedy(code));
}

static sy_status io_fail_beside(const char *action, const syi_locked_file *file, const char *suffix,
                                int code)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s%s", file->path, suffix);
    return io_fail(action, path, code);
}

/* A device or pipe must be neither waited for nor renamed. */
static sy_status refuse_irregular(const char *path, const struct stat *info)
{
    if (S_ISREG(info->st_mode))
        return SY_OK;
    if (S_ISDIR(info->st_mode))
        return syi_fail_device(SY_ERR_IO, -1, EISDIR,
                               "cannot use '%.300s': it is a folder, not a file; name a file in it",
                               path);
    return syi_fail_device(SY_ERR_IO, -1, EINVAL,
                           "cannot use '%.300s': it is something special, not a file; choose "
                           "another path",
                           path);
}

/* ---- reading ------------------------------------------------------------------------------ */

static sy_status read_all(int descriptor, const char *path, char *bytes, size_t *size)
{
    size_t done = 0;
    while (done < *size) {
        ssize_t got = read(descriptor, bytes + done, *size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return io_fail("read", path, errno);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *size = done;
    return SY_OK;
}

static sy_status read_open(int descriptor, const char *path, char **bytes, size_t *size)
{
    struct stat info;
    sy_status status;
    char *buffer;
    size_t length;
    if (fstat(descriptor, &info) != 0)
        return io_fail("read", path, errno);
    SYI_TRY(refuse_irregular(path, &info));
    length = (size_t)info.st_size;
    buffer = syi_alloc(length, 1);
    if (!buffer)
        return syi_no_memory(length);
    status = read_all(descriptor, path, buffer, &length);
    if (status != SY_OK) {
        syi_free(buffer);
        return status;
    }
    *bytes = buffer;
    *size = length;
    return SY_OK;
}

sy_status syi_file_read(const char *path, char **bytes, size_t *size)
{
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    sy_status status;
    if (descriptor < 0 && errno == ENOENT) {
        *bytes = NULL;
        *size = 0;
        return SY_OK;
    }
    if (descriptor < 0)
        return io_fail("read", path, errno);
    status = read_open(descriptor, path, bytes, size);
    close(descriptor);
    return status;
}

/* ---- locking ------------------------------------------------------------------------------ */

/* Makes every missing folder of `folder`, which is left as it was. */
static sy_status make_folders(char *folder)
{
    for (char *end = folder + 1;; end++) {
        char kept = *end;
        if (kept != '/' && kept)
            continue;
        *end = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
            sy_status status = io_fail("make the folder", folder, errno);
            *end = kept;
            return status;
        }
        *end = kept;
        if (!kept)
            return SY_OK;
    }
}

static sy_status open_folder_of(syi_locked_file *file, bool make_folder)
{
    char folder[PATH_MAX];
    size_t length = (size_t)(file->name - file->path);
    snprintf(folder, sizeof folder, "%.*s", length ? (int)length : 2, length ? file->path : "./");
    file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->folder < 0 && errno == ENOENT && make_folder) {
        SYI_TRY(make_folders(folder));
        file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return file->folder < 0 ? io_fail("open the folder", folder, errno) : SY_OK;
}

static sy_status resolve(const char *path, syi_locked_file *file)
{
    struct stat info;
    const char *slash;
    if (strlen(path) >= sizeof file->path)
        return io_fail("use", path, ENAMETOOLONG);
    if (!realpath(path, file->path)) {
        if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            return syi_fail_device(SY_ERR_IO, -1, ENOENT,
                                   "cannot use '%.300s': it is a link that leads to no file; "
                                   "remove it, or make that file",
                                   path);
        strcpy(file->path, path); /* not there yet; any other trouble shows when it is opened */
    }
    slash = strrchr(file->path, '/');
    file->name = slash ? slash + 1 : file->path;
    if (!*file->name)
        return io_fail("use", path, EISDIR);
    return stat(file->path, &info) == 0 ? refuse_irregular(path, &info) : SY_OK;
}

/* Somebody may have deleted the lock file while we waited for it, or wrote: then others lock a new
 * one. */
static bool still_there(const syi_locked_file *file, const char *name)
{
    struct stat ours, named;
    return fstat(file->lock, &ours) == 0 &&
           fstatat(file->folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

static int open_lock(const syi_locked_file *file, const char *name)
{
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int descriptor = openat(file->folder, name, O_RDWR | O_CREAT | flags, 0666);
    /* Another user's lock file: it can be locked without being writable. */
    if (descriptor < 0 && errno == EACCES) {
        descriptor = openat(file->folder, name, O_RDONLY | flags);
        if (descriptor < 0 && errno == ENOENT)
            errno = EACCES; /* there is none, and it cannot be made */
    }
    return descriptor;
}

/* flock and not a POSIX record lock: it belongs to the open file, so that threads of one process
 * exclude each other too. */
static sy_status take_lock(syi_locked_file *file, bool *taken)
{
    neighbour lock = beside(file, ".lock");
    const int most = 10; /* on a file system that numbers files anew it is never still there */
    for (int round = 0; round < most; round++) {
        int result;
        file->lock = open_lock(file, lock.name);
        if (file->lock < 0)
            return io_fail_beside("make the lock file", file, ".lock", errno);
        do
            result = flock(file->lock, LOCK_EX | LOCK_NB);
        while (result != 0 && errno == EINTR);
        *taken = result == 0;
        if (result == 0 && still_there(file, lock.name))
            return SY_OK;
        if (result != 0) {
            sy_status status = errno == EWOULDBLOCK ? SY_OK : io_fail("lock", file->path, errno);
            close(file->lock);
            return status;
        }
        close(file->lock);
    }
    *taken = false;
    return SY_OK;
}

sy_status syi_file_try_lock(const char *path, bool make_folder, syi_locked_file *file, bool *taken)
{
    sy_status status;
    *taken = false;
    SYI_TRY(resolve(path, file));
    SYI_TRY(open_folder_of(file, make_folder));
    status = take_lock(file, taken);
    if (status != SY_OK || !*taken)
        close(file->folder);
    return status;
}

/* flock has no wait that ends: it is asked again and again. */
sy_status syi_file_lock(const char *path, bool make_folder, int64_t patience_ns,
                        syi_locked_file *file)
{
    const int64_t pause_ns = 1000000, until = syi_now_ns() + patience_ns;
    bool taken;
    SYI_TRY(syi_file_try_lock(path, make_folder, file, &taken));
    while (!taken && syi_now_ns() < until) {
        syi_sleep_until_ns(syi_now_ns() + pause_ns);
        SYI_TRY(syi_file_try_lock(path, make_folder, file, &taken));
    }
    if (taken)
        return SY_OK;
    return syi_fail(
        SY_ERR_IO,
        "cannot lock '%.300s.lock': others have held it for %g s; try again, or end the "
        "process that hangs ('fuser' names it)",
        file->path, (double)patience_ns / 1e9);
}

void syi_file_unlock(syi_locked_file *file)
{
    flock(file->lock, LOCK_UN); /* a child forked meanwhile would keep a lock that is only closed */
    close(file->lock);
    close(file->folder);
}

/* ---- writing ------------------------------------------------------------------------------ */

static int write_all(int descriptor, const char *bytes, size_t size)
{
    while (size) {
        ssize_t put = write(descriptor, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        size -= (size_t)put;
    }
    return 0;
}

/* The owner stays where we may give files away, as root may, and the group where we are in it;
 * another group gets nothing. */
static int keep_permissions(int descriptor, const struct stat *old)
{
    const bool same_group = fchown(descriptor, old->st_uid, old->st_gid) == 0 ||
                            fchown(descriptor, (uid_t)-1, old->st_gid) == 0;
    return fchmod(descriptor, old->st_mode & (same_group ? 0777 : 0707));
}

/* The lock makes us the only writer, so one fixed name will do, and what a killed process left
 * behind is swept away by the next one. */
static int write_temporary(const syi_locked_file *file, const char *name, const char *bytes,
                           size_t size)
{
    struct stat old;
    int descriptor, code;
    unlinkat(file->folder, name, 0);
    descriptor = openat(file->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return -1;
    if ((fstatat(file->folder, file->name, &old, 0) != 0 ||
         keep_permissions(descriptor, &old) == 0) &&
        write_all(descriptor, bytes, size) == 0 && fsync(descriptor) == 0)
        return close(descriptor);
    code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

/* Without the lock file, which somebody has deleted, the temporary file may be another writer's. */
static sy_status lost_lock(const syi_locked_file *file)
{
    return syi_fail(SY_ERR_IO,
                    "cannot write '%.300s': its lock file was deleted meanwhile; leave that where "
                    "it is, and try again",
                    file->path);
}

static sy_status replace(const syi_locked_file *file, const char *bytes, size_t size)
{
    neighbour temporary = beside(file, ".tmp"), lock = beside(file, ".lock");
    const int code = write_temporary(file, temporary.name, bytes, size) == 0 ? 0 : errno;
    if (!still_there(file, lock.name))
        return lost_lock(file);
    if (code == EEXIST) /* a folder has that name */
        return io_fail_beside("write", file, ".tmp", code);
    if (code || renameat(file->folder, temporary.name, file->folder, file->name) != 0) {
        sy_status status = io_fail("write", file->path, code ? code : errno);
        unlinkat(file->folder, temporary.name, 0);
        return status;
    }
    /* EINVAL: the file system has no flush for folders. */
    if (fsync(file->folder) != 0 && errno != EINVAL)
        return io_fail("flush the folder of", file->path, errno);
    return SY_OK;
}

/* Beyond RLIMIT_FSIZE, write() says so, and there is a signal besides, which would end the process:
 * taken back, unless there was one before. */
static sy_status replace_within_limit(const syi_locked_file *file, const char *bytes, size_t size)
{
    const struct timespec at_once = {0, 0};
    sigset_t too_large, pending;
    sy_status status;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, NULL);
    sigpending(&pending);
    status = replace(file, bytes, size);
    while (!sigismember(&pending, SIGXFSZ) && sigtimedwait(&too_large, NULL, &at_once) < 0 &&
           errno == EINTR)
        ;
    return status;
}

/* Whoever ends the process waits until the temporary file is the file. */
sy_status syi_file_replace(const syi_locked_file *file, const char *bytes, size_t size)
{
    sigset_t before;
    sy_status status;
    syi_signals_hold(&before);
    status = replace_within_limit(file, bytes, size);
    syi_signals_release(&before);
    return status;
}

sy_status syi_file_set_aside(const syi_locked_file *file)
{
    neighbour aside = beside(file, ".corrupt");
    if (renameat(file->folder, file->name, file->folder, aside.name) == 0)
        return SY_OK;
    return errno == EISDIR ? io_fail_beside("write", file, ".corrupt", errno)
                           : io_fail("set aside", file->path, errno);
}
