#define _XOPEN_SOURCE 700
#include "support/comma.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

bool comma_set(void)
{
    char folder[] = "/tmp/steelyard-locale-XXXXXX", command[200];
    bool done;
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        return true;
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    setenv("LOCPATH", folder, 1);
    done = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && done;
}
