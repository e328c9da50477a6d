/* Names compared by the files behind them. */
#define _POSIX_C_SOURCE 200809L
#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int named_descriptor(const char *path)
{
    static const char *const standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 3; i++)
        if (strcmp(path, standard[i]) == 0)
            return i;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (strncmp(path, folders[i], length) == 0 && *digits && strlen(digits) < 8 &&
            strspn(digits, "0123456789") == strlen(digits))
            return atoi(digits);
    }
    return -1;
}

enum { PATH_SIZE = 4096 };

/* Where the link leads; false: it is none. */
static bool follow(const char *path, char out[PATH_SIZE])
{
    char link[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    ssize_t size = readlink(path, link, sizeof link - 1);
    int folder, n;
    if (size < 0)
        return false;
    link[size] = '\0';
    folder = *link != '/' && slash ? (int)(slash + 1 - path) : 0;
    n = snprintf(out, PATH_SIZE, "%.*s%s", folder, path, link);
    return n >= 0 && n < PATH_SIZE;
}

int cli_path_descriptor(const char *path)
{
    char links[2][PATH_SIZE];
    int descriptor = named_descriptor(path);
    for (int i = 0; descriptor < 0 && i < 8 && follow(path, links[i % 2]); i++) {
        path = links[i % 2];
        descriptor = named_descriptor(path);
    }
    return descriptor;
}

/* A file that is there, or else the folder it would be in. */
typedef struct place {
    bool there;
    struct stat info;
    const char *name; /* of what is not there, in the folder */
} place;

static bool find(const char *path, int standard, place *out)
{
    const char *slash = strrchr(path, '/');
    char *folder;
    bool found;
    out->name = slash ? slash + 1 : path;
    out->there = (strcmp(path, "-") ? stat(path, &out->info) : fstat(standard, &out->info)) == 0;
    if (out->there)
        return true;
    folder = slash ? strndup(path, (size_t)(out->name - path)) : strdup(".");
    found = folder && stat(folder, &out->info) == 0;
    free(folder);
    return found;
}

int cli_path_output(const char *path)
{
    return strcmp(path, "-") == 0 ? STDOUT_FILENO : cli_path_descriptor(path);
}

bool cli_path_hits(const char *path, const char *other, bool other_is_input)
{
    int descriptor = cli_path_output(path);
    place a, b;
    if (!other_is_input &&
        (strcmp(path, other) == 0 || (descriptor >= 0 && descriptor == cli_path_output(other))))
        return true;
    if (!find(path, STDOUT_FILENO, &a) ||
        !find(other, other_is_input ? STDIN_FILENO : STDOUT_FILENO, &b) || a.there != b.there ||
        a.info.st_dev != b.info.st_dev || a.info.st_ino != b.info.st_ino)
        return false;
    return a.there ? S_ISREG(a.info.st_mode) : strcmp(a.name, b.name) == 0;
}
