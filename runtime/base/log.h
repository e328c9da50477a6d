/* One line at a time to the context's callback. */
#ifndef SYI_BASE_LOG_H
#define SYI_BASE_LOG_H

#include "base/error.h"

#include <pthread.h>

typedef struct syi_log {
    sy_log_fn write; /* NULL: dropped */
    void *user;
    pthread_mutex_t lock;
} syi_log;

/* The callback may call the library, which may log again. */
void syi_log_init(syi_log *log);
void syi_log_line(syi_log *log, sy_log_level level, const char *format, ...) SYI_PRINTF(3, 4);

#endif
