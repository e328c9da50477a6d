/* Whole output files or none. */
#define _XOPEN_SOURCE 700
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"
#include "message.h"
#include "path.h"
#include "progress.h"

/* ---- signals ----------------------------------------------------------------------------- */

/* Temporary files that exist now; the handler reads it. */
enum { MAX_TEMPORARIES = 4 };
static char *volatile temporaries[MAX_TEMPORARIES];

static void remove_temporaries(void)
{
    cli_progress_erase();
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i])
            unlink(temporaries[i]);
}

/* Installed with SA_RESETHAND: the raise is the signal's own action, which a container's
 * first process does not have. */
static void on_end(int signal_number)
{
    sigset_t this_one;
    remove_temporaries();
    raise(signal_number);
    sigemptyset(&this_one);
    sigaddset(&this_one, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &this_one, NULL);
    _exit(128 + signal_number);
}

/* A mapped input was made shorter by somebody else, or its disk failed. Several threads may find
 * out: the first one ends the process. */
static void on_bus_error(int signal_number)
{
    static const char line[] = "steelyard: a file was cut short, or its disk failed, while it was "
                               "in use; run again\n";
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    (void)signal_number;
    while (atomic_flag_test_and_set(&is_told))
        pause();
    remove_temporaries();
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0) {
        /* nobody listens */
    }
    _exit(CLI_FAILED);
}

static void catch_one(int signal_number, void (*handler)(int), int flags)
{
    struct sigaction now, then = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&then.sa_mask);
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(signal_number, &then, NULL);
}

void cli_output_catch_signals(void)
{
    static const int ending[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGXCPU,
                                 SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        catch_one(ending[i], on_end, (int)SA_RESETHAND);
    catch_one(SIGBUS, on_bus_error, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* A library that gives up with exit() leaves nothing behind either; without the memory for it,
     * this process has other worries. */
    atexit(remove_temporaries);
}

/* ---- opening ----------------------------------------------------------------------------- */

int cli_output_failed(const cli_output *output)
{
    /* A reader that has seen enough is no news to anybody. */
    if (errno == EPIPE)
        return CLI_FAILED;
    return cli_fail(CLI_FAILED, "cannot write '%s': %s; %s", cli_output_name(output->path),
                    strerror(errno), cli_remedy(errno));
}

/* DIR/.NAME.tmp.PID[.ATTEMPT]; of NAME only so much that a file may be called so wherever one may
 * be called NAME. */
static char *temporary_name(const char *target, int attempt)
{
    const char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    size_t size = strlen(target) + 48;
    char *text = malloc(size);
    int n;
    if (!text)
        return NULL;
    n = snprintf(text, size, "%.*s.%.100s.tmp.%ld", (int)(name - target), target, name,
                 (long)getpid());
    if (attempt)
        snprintf(text + n, size - (size_t)n, ".%d", attempt);
    return text;
}

static int free_slot(void)
{
    int i = 0;
    while (i < MAX_TEMPORARIES - 1 && temporaries[i])
        i++;
    return i;
}

/* Creates the file that must not be there yet and notes its name, with no signal in between: a file
 * that the handler does not know of would stay. It is locked as long as this process lives. */
static int create_noted(cli_output *output)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    output->fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd >= 0) {
        temporaries[output->slot] = output->temporary;
        flock(output->fd, LOCK_EX | LOCK_NB);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return output->fd >= 0;
}

/* Removes the file of a process that was killed: nobody holds its lock. In a container processes
 * may have one number again and again. */
static bool remove_left_behind(const char *temporary)
{
    const int fd = open(temporary, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    const bool left = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                      flock(fd, LOCK_EX | LOCK_NB) == 0 && unlink(temporary) == 0;
    if (fd >= 0)
        close(fd);
    return left;
}

static int create_temporary(cli_output *output)
{
    int error = 0;
    output->slot = free_slot();
    for (int attempt = 0; attempt < 100; attempt++) {
        output->temporary = temporary_name(output->target, attempt);
        if (!output->temporary)
            return cli_no_memory();
        output->open = create_noted(output);
        error = output->open ? 0 : errno;
        if (error == EEXIST && remove_left_behind(output->temporary))
            output->open = create_noted(output);
        if (output->open)
            return CLI_DONE;
        free(output->temporary);
        output->temporary = NULL;
        if (error != EEXIST)
            break;
    }
    errno = error;
    return cli_output_failed(output);
}

static int open_direct(cli_output *output)
{
    output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
    if (output->fd < 0)
        return cli_output_failed(output);
    output->open = true;
    return CLI_DONE;
}

/* Not opened by its name again, which would begin at the start of what it leads to. A descriptor of
 * this process's own, which closes with it, is none that the user can mean. */
static int open_descriptor(cli_output *output, int descriptor)
{
    int flags = fcntl(descriptor, F_GETFD), mode = fcntl(descriptor, F_GETFL);
    output->fd = -1;
    if (flags >= 0 && !(flags & FD_CLOEXEC) && (mode & O_ACCMODE) != O_RDONLY)
        output->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else
        errno = EBADF;
    if (output->fd < 0)
        return cli_output_failed(output);
    output->open = true;
    return CLI_DONE;
}

static int check_target(const cli_output *output, const struct stat *there)
{
    const char *path = output->path;
    struct stat link;
    if (there && S_ISDIR(there->st_mode))
        return cli_fail(CLI_FAILED, "cannot write '%s': it is a directory; name a file in it",
                        path);
    if (!there && lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
        return cli_fail(CLI_FAILED,
                        "cannot write '%s': it is a link that leads to no file; remove it, or name "
                        "the file itself",
                        path);
    if (!*path || (!there && path[strlen(path) - 1] == '/'))
        return cli_fail(CLI_FAILED, "cannot write '%s': it names no file", path);
    /* The renaming would not ask. */
    if (there && access(path, W_OK))
        return cli_fail(CLI_FAILED, "cannot write '%s': %s; allow writing to it, or name another",
                        path, strerror(errno));
    return CLI_DONE;
}

/* As the file that it takes the place of, the owner too where we may give files away. Another group
 * than its own gets nothing. */
static int take_permissions(int descriptor, const struct stat *there)
{
    const bool same_group = fchown(descriptor, there->st_uid, there->st_gid) == 0 ||
                            fchown(descriptor, (uid_t)-1, there->st_gid) == 0;
    return fchmod(descriptor, there->st_mode & (same_group ? 0777 : 0707));
}

static int open_target(cli_output *output)
{
    int descriptor = cli_path_descriptor(output->path);
    struct stat info;
    bool there;
    if (strcmp(output->path, "-") == 0) {
        output->fd = STDOUT_FILENO;
        output->open = true;
        return CLI_DONE;
    }
    if (descriptor >= 0)
        return open_descriptor(output, descriptor);
    there = stat(output->path, &info) == 0;
    CLI_TRY(check_target(output, there ? &info : NULL));
    if (there && !S_ISREG(info.st_mode))
        return open_direct(output);
    /* A link stays a link: what it points to is replaced. */
    output->target = there ? realpath(output->path, NULL) : strdup(output->path);
    if (!output->target)
        return cli_output_failed(output);
    CLI_TRY(create_temporary(output));
    if (there && take_permissions(output->fd, &info))
        return cli_output_failed(output);
    return CLI_DONE;
}

int cli_output_open(cli_output *output, const char *path)
{
    int code;
    *output = (cli_output){.path = path, .buffer = malloc(CLI_OUTPUT_BUFFER)};
    code = output->buffer ? open_target(output) : cli_no_memory();
    if (code)
        cli_output_discard(output);
    return code;
}

/* ---- writing ----------------------------------------------------------------------------- */

static int write_out(cli_output *output, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(output->fd, data, size < 1 << 30 ? size : 1 << 30);
        if (n < 0 && errno != EINTR && !cli_wait_for(output->fd, POLLOUT))
            return cli_output_failed(output);
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return CLI_DONE;
}

static int flush(cli_output *output)
{
    size_t used = output->used;
    output->used = 0;
    return write_out(output, output->buffer, used);
}

int cli_output_write(cli_output *output, const void *data, size_t size)
{
    if (size > CLI_OUTPUT_BUFFER - output->used)
        CLI_TRY(flush(output));
    if (size > CLI_OUTPUT_BUFFER)
        return write_out(output, data, size);
    memcpy(output->buffer + output->used, data, size);
    output->used += size;
    return CLI_DONE;
}

int cli_output_seal(cli_output *output)
{
    CLI_TRY(flush(output));
    if (output->fd == STDOUT_FILENO)
        return CLI_DONE;
    if (output->temporary && fsync(output->fd))
        return cli_output_failed(output);
    output->open = false;
    return close(output->fd) ? cli_output_failed(output) : CLI_DONE;
}

int cli_output_commit(cli_output *output)
{
    if (output->temporary) {
        if (rename(output->temporary, output->target))
            return cli_output_failed(output);
        temporaries[output->slot] = NULL;
        free(output->temporary);
        output->temporary = NULL;
    }
    cli_output_discard(output);
    return CLI_DONE;
}

void cli_output_discard(cli_output *output)
{
    if (output->open && output->fd != STDOUT_FILENO)
        close(output->fd);
    if (output->temporary) {
        unlink(output->temporary);
        temporaries[output->slot] = NULL;
    }
    free(output->temporary);
    free(output->target);
    free(output->buffer);
    *output = (cli_output){0};
}
