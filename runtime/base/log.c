#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void syi_log_line(syi_log *log, sy_log_level level, const char *format, ...)
{
    char line[640];
    va_list args;
    if (!log->write)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pthread_mutex_lock(&log->lock);
    log->write(log->user, level, line);
    pthread_mutex_unlock(&log->lock);
}
