/* Inputs as bytes. */
#define _POSIX_C_SOURCE 200809L
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "progress.h"

const char *cli_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *cli_output_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

static int cannot_read(const char *path)
{
    return cli_fail(CLI_FAILED, "cannot read '%s': %s; check the path and its permissions",
                    cli_input_name(path), strerror(errno));
}

bool cli_wait_for(int fd, short what)
{
    struct pollfd ready = {.fd = fd, .events = what};
    const int code = errno;
    if (code != EAGAIN && code != EWOULDBLOCK)
        return false;
    poll(&ready, 1, -1);
    errno = code;
    return true;
}

static int read_all(const char *path, int fd, cli_bytes *out)
{
    size_t room = 0;
    /* Not into what somebody types. */
    cli_progress_begin(isatty(fd) ? NULL : "reading", "B");
    for (;;) {
        ssize_t n;
        if (out->size == room) {
            char *more = room <= SIZE_MAX / 4 ? realloc(out->data, room ? 2 * room : 65536) : NULL;
            if (!more)
                return cli_no_memory();
            out->data = more;
            room = room ? 2 * room : 65536;
        }
        n = read(fd, out->data + out->size, room - out->size);
        if (n == 0)
            return CLI_DONE;
        if (n < 0 && errno != EINTR && !cli_wait_for(fd, POLLIN))
            return cannot_read(path);
        if (n > 0) {
            out->size += (size_t)n;
            cli_progress_step(out->size, 0);
        }
    }
}

static int load_open(const char *path, int fd, cli_bytes *out)
{
    struct stat info;
    void *map;
    if (fstat(fd, &info))
        return cannot_read(path);
    if (S_ISDIR(info.st_mode))
        return cli_fail(CLI_FAILED, "'%s' is a directory; name a .csv or .npy file",
                        cli_input_name(path));
    if (!S_ISREG(info.st_mode) || info.st_size == 0 || fd == STDIN_FILENO)
        return read_all(path, fd, out);
    map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return read_all(path, fd, out);
    posix_madvise(map, (size_t)info.st_size, POSIX_MADV_SEQUENTIAL);
    *out = (cli_bytes){.data = map, .size = (size_t)info.st_size, .mapped = true};
    return CLI_DONE;
}

int cli_load(const char *path, cli_bytes *out)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), code;
    *out = (cli_bytes){0};
    if (fd < 0)
        return cannot_read(path);
    code = load_open(path, fd, out);
    if (fd != STDIN_FILENO)
        close(fd);
    if (code)
        cli_unload(out);
    return code;
}

void cli_unload(cli_bytes *bytes)
{
    if (bytes->mapped)
        munmap(bytes->data, bytes->size);
    else
        free(bytes->data);
    *bytes = (cli_bytes){0};
}
