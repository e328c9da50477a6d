/* Several threads at once. */
#ifndef SYI_DEVICE_TEAM_H
#define SYI_DEVICE_TEAM_H

#include "base/arithmetic.h"

/* The processors that the process may use. */
int syi_processors(void);

/* Runs `part` on `wanted` threads, the caller's among them, or on that alone where the process can
 * not have so many; returns when all have returned. `index`: which of them it is, from 0, as a rule
 * the same in every call. The parts take their work from where it is shared out: how many they are
 * is not told. OpenMP's threads are the program's, too: those that are made begin with the
 * arithmetic `outside`, if it is not NULL. Thread-safe. */
typedef void (*syi_team_part)(void *argument, int index);
void syi_team_run(int wanted, const syi_arithmetic *outside, syi_team_part part, void *argument);

#endif
