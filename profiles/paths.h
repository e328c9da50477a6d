/* Where the two profile files are (docs/files.md has the order). */
#ifndef SYI_PROFILES_PATHS_H
#define SYI_PROFILES_PATHS_H

#include "base/error.h"

typedef enum syi_profile_file { SYI_FILE_MULTIGPU, SYI_FILE_THRESHOLDS } syi_profile_file;

/* The absolute path, to be given back with syi_free; NULL where there is no place for the file.
 * `chosen` is the caller's own, or NULL. Makes nothing and opens nothing; what the path means is
 * fixed from here on, even when the program changes its working directory later. */
sy_status syi_profile_path(syi_profile_file file, const char *chosen, char **out);

#endif
