/* The last-error record of each thread. The function that first knows the cause records it with
 * syi_fail and returns its status; everybody above only passes the status on. */
#ifndef SYI_BASE_ERROR_H
#define SYI_BASE_ERROR_H

#include <steelyard/steelyard.h>

#if defined(__GNUC__)
#define SYI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SYI_PRINTF(text, first)
#endif

/* Records the cause and returns `status`. */
sy_status syi_fail(sy_status status, const char *format, ...) SYI_PRINTF(2, 3);
sy_status syi_fail_device(sy_status status, int device, int native_code, const char *format, ...)
    SYI_PRINTF(4, 5);
/* "cannot get N bytes of memory" and what to do about it. */
sy_status syi_no_memory(uint64_t bytes);
/* Makes a record taken from another thread's sy_last_error() this thread's own. */
void syi_error_adopt(const sy_error *error);

/* Passes a failure on where nothing is to be undone. */
#define SYI_TRY(call)                                                                              \
    do {                                                                                           \
        sy_status syi_try_status = (call);                                                         \
        if (syi_try_status != SY_OK)                                                               \
            return syi_try_status;                                                                 \
    } while (0)

#endif
