/* steelyard: version, status and errors. Conventions: steelyard.h. */
#ifndef STEELYARD_STATUS_H
#define STEELYARD_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SY_API __attribute__((visibility("default")))
#else
#define SY_API
#endif

#define SY_VERSION_MAJOR 0
#define SY_VERSION_MINOR 1
#define SY_VERSION_PATCH 0

/* The version of the library that runs, "0.1.0". Constant. */
SY_API const char *sy_version(void);

typedef enum sy_status {
    SY_OK = 0,
    SY_ERR_ARGUMENT = 1,    /* an argument, parameter or name is wrong */
    SY_ERR_NOT_FOUND = 2,   /* no such workload, tag or key */
    SY_ERR_NO_DEVICE = 3,   /* a device that was asked for is not there, or none is usable */
    SY_ERR_MEMORY = 4,      /* memory of the host or of a device is exhausted */
    SY_ERR_DEVICE = 5,      /* a device failed, and no other could take its part over */
    SY_ERR_IO = 6,          /* a file could not be read, written or locked */
    SY_ERR_CANCELLED = 7,   /* the progress callback asked to stop */
    SY_ERR_USER = 8,        /* a function of the user's own workload returned non-zero */
    SY_ERR_UNSUPPORTED = 9, /* valid, but this build or version cannot do it */
    SY_ERR_INTERNAL = 10    /* a bug in the library */
} sy_status;

/* The status in a few words. Constant, never NULL, also for unknown values. */
SY_API const char *sy_status_string(sy_status status);

typedef struct sy_error {
    sy_status status;
    int device;      /* index of the device concerned, -1 for none */
    int native_code; /* the driver's or the system's own code (errno, CUresult), 0 for none; after
                        SY_ERR_USER what the user's compute, reduce or gpu_launch returned */
    char text[512];  /* one line: what, where, and what to do */
} sy_error;

/* Why the thread's last call failed, if it returned another status than SY_OK; valid until its next
 * call. After a call that returned SY_OK it may be what that call could do without. */
SY_API const sy_error *sy_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
