/* The command line; see harness.h. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "harness.h"

/* Prints the help and exits with 0, or says what is wrong and exits with 2, or fills the options.
 */
void bench_options_read(const char *name, const char *purpose, bench_option *options, int count,
                        int argc, char **argv);

#endif
