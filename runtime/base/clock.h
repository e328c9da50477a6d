/* Monotonic time. */
#ifndef SYI_BASE_CLOCK_H
#define SYI_BASE_CLOCK_H

#include <stdint.h>

int64_t syi_now_ns(void);
void syi_sleep_until_ns(int64_t deadline);

#endif
