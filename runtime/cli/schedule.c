/* Load, priority and the lock of a scheduled command. */
#define _GNU_SOURCE
#include "schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "message.h"

double cli_load_average(void)
{
    double load;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 && getloadavg(&load, 1) == 1 ? load / (double)processors : -1;
}

void cli_lower_priority(void)
{
    const int niceness = 10;
    int present;
    errno = 0;
    present = getpriority(PRIO_PROCESS, 0);
    /* Both are courtesies: a system that refuses them is not a failure. */
    if (errno == 0 && present < niceness)
        setpriority(PRIO_PROCESS, 0, niceness);
#ifdef SYS_ioprio_set
    const int this_process = 1, idle_class = 3 << 13;
    syscall(SYS_ioprio_set, this_process, 0, idle_class);
#endif
}

int cli_lock_alone(const char *path, int *held)
{
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    *held = open(path, O_RDWR | O_CREAT | flags, 0666);
    if (*held < 0 && errno == EACCES) /* another user's: it can be locked without being writable */
        *held = open(path, O_RDONLY | flags);
    if (*held < 0 && errno == ENOENT)
        errno = EACCES; /* there is none, and it cannot be made */
    if (*held < 0)
        return cli_fail(CLI_FAILED, "cannot open the lock file '%s': %s; %s", path, strerror(errno),
                        cli_remedy(errno));
    if (flock(*held, LOCK_EX | LOCK_NB) == 0)
        return CLI_DONE;
    int reason = errno;
    close(*held);
    *held = -1;
    if (reason == EWOULDBLOCK)
        return CLI_DONE;
    return cli_fail(CLI_FAILED, "cannot lock '%s': %s; %s", path, strerror(reason),
                    cli_remedy(reason));
}
