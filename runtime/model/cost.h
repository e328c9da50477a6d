/*
 * What work costs on a device: a time for each phase as a function of the number of elements, and
 * the time of the whole. Pure values: nothing here knows where the figures come from.
 */
#ifndef SYI_MODEL_COST_H
#define SYI_MODEL_COST_H

#include <stdbool.h>

typedef enum syi_phase { SYI_COPY_IN, SYI_COMPUTE, SYI_COPY_OUT, SYI_PHASES } syi_phase;

enum { SYI_PIECES = 4 };

/* fixed_ns + per_element_ns[0] * n, and from until[0] elements on the next slope, and so on: a
 * cache that is left behind shows as a bend. So written it is continuous and never falls. */
typedef struct syi_curve {
    int pieces;                        /* 0: the phase does not take place and takes no time */
    double fixed_ns;                   /* >= 0; due as soon as there is one element */
    double until[SYI_PIECES - 1];      /* elements, ascending, one per bend */
    double per_element_ns[SYI_PIECES]; /* > 0 */
    double spread;                     /* relative deviation of an undisturbed sample, median */
} syi_curve;

typedef struct syi_cost {
    syi_curve phase[SYI_PHASES];
} syi_cost;

/* One piece; spread 0. */
syi_curve syi_curve_line(double fixed_ns, double per_element_ns);
/* The time of `elements` (0: none). */
double syi_curve_ns(const syi_curve *curve, double elements);

/* All phases; in chunks of `chunk` elements, one after the other (0: all at once). */
double syi_cost_ns(const syi_cost *cost, double chunk, double elements);
/* The sum of the fixed parts: the least that any work takes. */
double syi_cost_fixed_ns(const syi_cost *cost);
/* The largest spread of its phases. */
double syi_cost_spread(const syi_cost *cost);

/* The device as much slower as `factor` says, in all phases. */
void syi_cost_scale(syi_cost *cost, double factor);

#endif
