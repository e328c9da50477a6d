#define _GNU_SOURCE
#include "profile_age.h"

#include <string.h>
#include <time.h>

double cli_profile_age(const sy_balance *balance)
{
    struct tm then = {0}, day;
    const char *end = strptime(balance->updated_at, "%Y-%m-%dT%H:%M:%S", &then);
    time_t at;
    if (!end)
        return -1;
    if (*end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    day = then; /* timegm makes the 2nd of March of the 30th of February */
    at = timegm(&day);
    if (day.tm_mday != then.tm_mday || (*end && strcmp(end, "Z") && strcmp(end, "+00:00")))
        return -1;
    return difftime(time(NULL), at);
}
