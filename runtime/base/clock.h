/* Monotonic time. */
#ifndef SYI_BASE_CLOCK_H
#define SYI_BASE_CLOCK_H

#include <stdint.h>

int64_t syi_now_ns(void);
/* The same as it was at the kernel's last tick, 1 to 10 ms ago at most: a quarter of the price. */
int64_t syi_tick_ns(void);
/* The shortest step that syi_now_ns() is seen to make. */
int64_t syi_clock_step_ns(void);
void syi_sleep_until_ns(int64_t deadline);

#endif
