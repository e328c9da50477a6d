/* The limit of a control group counts for all groups in it, so the least on the way to the root is
 * the process's. In a container the way may be the host's: what is not there is passed over. */
#include "device/quota.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* The group's path, "" for the root. */
static void read_group(const char *membership, char path[PATH_SIZE])
{
    static const char unified[] = "0::";
    FILE *file = fopen(membership, "re");
    char line[PATH_SIZE];
    *path = '\0';
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, unified, sizeof unified - 1) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        strcpy(path, line + sizeof unified - 1);
    }
    if (file)
        fclose(file);
}

/* "MICROSECONDS PERIOD"; "max PERIOD": no limit. */
static int read_limit(const char *groups, const char *path)
{
    char name[2 * PATH_SIZE];
    long long quota, period;
    int fields;
    FILE *file;
    snprintf(name, sizeof name, "%s%s/cpu.max", groups, path);
    file = fopen(name, "re");
    if (!file)
        return 0;
    fields = fscanf(file, "%lld %lld", &quota, &period);
    fclose(file);
    if (fields != 2 || quota < 1 || period < 1 || quota / period >= 65536)
        return 0;
    return (int)((quota + period - 1) / period);
}

int syi_cpu_quota(const char *membership, const char *groups)
{
    char path[PATH_SIZE], *end;
    int least = 0;
    read_group(membership, path);
    do {
        const int limit = read_limit(groups, path);
        if (limit && (!least || limit < least))
            least = limit;
        end = strrchr(path, '/');
        if (end)
            *end = '\0';
    } while (end);
    return least;
}
