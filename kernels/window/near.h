/* Exact decisions about windows of few prices that are close to each other. */
#ifndef SYI_KERNELS_WINDOW_NEAR_H
#define SYI_KERNELS_WINDOW_NEAR_H

#include "window/window.h"

/* The correctly rounded bands, upper, middle and lower, of the window that ends at `newest`. What
 * lies in *out[..] is not read: it may have gone past the cache. Returns 0 where 128 bits do not
 * hold what decides. */
int syi_window_near(const syi_window *window, const double *newest, double *const *out);

#endif
