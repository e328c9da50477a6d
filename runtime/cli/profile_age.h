/* How old a stored profile is. */
#ifndef CLI_PROFILE_AGE_H
#define CLI_PROFILE_AGE_H

#include <steelyard/steelyard.h>

/* Seconds; < 0: not known. */
double cli_profile_age(const sy_balance *balance);

#endif
