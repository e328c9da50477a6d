/* The environment and the working directory are looked at here, and only when a context is made. */
#define _POSIX_C_SOURCE 200809L
#include "paths.h"

#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct naming {
    const char *file, *variable, *older_variable;
} naming;

static const naming namings[] = {
    [SYI_FILE_MULTIGPU] = {"multigpu.json", "STEELYARD_MULTIGPU_PATH",
                           "THREADX_MULTIGPU_PROFILE_PATH"},
    [SYI_FILE_THRESHOLDS] = {"thresholds.json", "STEELYARD_THRESHOLD_PATH",
                             "THREADX_GPU_THRESHOLD_PATH"},
};

static const char *const artifacts = "artifacts/profiles";

/* An empty variable counts as unset. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* `middle` begins with a slash. */
static sy_status join(char **out, const char *folder, const char *middle, const char *name)
{
    size_t size = strlen(folder) + strlen(middle) + strlen(name) + 1;
    char *path = syi_alloc(size, 1);
    if (!path)
        return syi_no_memory(size);
    snprintf(path, size, "%s%s%s", strcmp(folder, "/") == 0 ? "" : folder, middle, name);
    *out = path;
    return SY_OK;
}

static sy_status absolute(const char *path, char **out)
{
    char here[PATH_MAX];
    if (*path == '/')
        return join(out, "", path, "");
    if (!getcwd(here, sizeof here))
        return syi_fail_device(SY_ERR_IO, -1, errno,
                               "cannot tell where '%.300s' is: the working directory is gone; give "
                               "an absolute path",
                               path);
    return join(out, here, "/", path);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The home folder of the user database, for services that start without HOME. A container's user
 * may have none. */
static sy_status home_of_user(const char *file, char **out)
{
    enum { SIZE = 16384 };
    char *buffer = syi_alloc(SIZE, 1);
    struct passwd entry, *found = NULL;
    sy_status status = SY_OK;
    if (!buffer)
        return syi_no_memory(SIZE);
    *out = NULL;
    if (getpwuid_r(getuid(), &entry, buffer, SIZE, &found) == 0 && found && found->pw_dir &&
        found->pw_dir[0] == '/')
        status = join(out, found->pw_dir, "/.local/state/steelyard/", file);
    syi_free(buffer);
    return status;
}

static sy_status in_state_folder(const char *file, char **out)
{
    const char *state = variable("XDG_STATE_HOME"), *home = variable("HOME");
    if (state && *state == '/')
        return join(out, state, "/steelyard/", file);
    if (home && *home == '/')
        return join(out, home, "/.local/state/steelyard/", file);
    return home_of_user(file, out);
}

sy_status syi_profile_path(syi_profile_file file, const char *chosen, char **out)
{
    const naming *names = &namings[file];
    const char *path = chosen && *chosen ? chosen : NULL;
    char relative[64];
    if (!path)
        path = variable(names->variable);
    if (!path)
        path = variable(names->older_variable);
    if (!path && is_folder(artifacts)) {
        snprintf(relative, sizeof relative, "%s/%s", artifacts, names->file);
        path = relative;
    }
    return path ? absolute(path, out) : in_state_folder(names->file, out);
}
