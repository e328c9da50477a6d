/* The way out of the hot loops for an output that was not certified. */
#ifndef SYI_KERNELS_WINDOW_DECIDE_H
#define SYI_KERNELS_WINDOW_DECIDE_H

#include "window/window.h"

/* The correctly rounded values to *out[..]; of bands some may be NULL. The window's data are
 * integers in units of 2^bottom: `sum` is theirs (two's complement), `spread` = period * sum of
 * squares - sum^2 (twice the limbs; not looked at for means), `newest` the window's last value. */
void syi_window_decide(const syi_window *window, int bottom, int limbs, const uint64_t *sum,
                       const uint64_t *spread, double newest, double *const *out);

#endif
