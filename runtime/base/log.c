#define _XOPEN_SOURCE 700
#include "base/log.h"

#include "base/error.h"
#include "base/text.h"

#include <stdarg.h>

void syi_log_init(syi_log *log)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&log->lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

/* Lines told within one another's callbacks, at most: a callback may call what tells a line again
 * each time. */
enum { DEPTH = 4 };
static _Thread_local int depth;

void syi_log_line(syi_log *log, sy_log_level level, const char *format, ...)
{
    char line[640];
    sy_error kept;
    va_list args;
    if (!log->write || depth == DEPTH)
        return;
    va_start(args, format);
    syi_format_list(line, sizeof line, format, args);
    va_end(args);
    syi_make_one_line(line);
    kept = *sy_last_error();
    pthread_mutex_lock(&log->lock);
    depth++;
    log->write(log->user, level, line);
    depth--;
    pthread_mutex_unlock(&log->lock);
    syi_error_adopt(&kept); /* of the call that tells it, whatever the callback has called */
}
