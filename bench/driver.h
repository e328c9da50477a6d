/* The few calls of the CUDA driver that copying needs, for bench_transfer: what the library's own
 * interface does not show. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stddef.h>

enum { DRIVER_NAME = 96 };

/* The number of GPUs; 0 and a line in `why` when there are none or the driver cannot be opened.
 * `path` NULL: the system's. */
int driver_open(const char *path, char why[256]);
void driver_close(void);

/* From here on it is about this GPU; its name. */
void driver_use(int gpu, char name[DRIVER_NAME]);

typedef enum driver_way { DRIVER_TO, DRIVER_FROM, DRIVER_ON } driver_way;

/* Memory of the GPU (two pieces) and of the host, pinned or not. */
typedef struct driver_memory {
    unsigned long long device[2];
    void *host;
    int pinned;
    size_t bytes;
} driver_memory;

void driver_reserve(driver_memory *memory, size_t bytes, int pinned);
void driver_release(driver_memory *memory);
/* Copies all of it and waits until it is there. */
void driver_copy(const driver_memory *memory, driver_way way);

#endif
