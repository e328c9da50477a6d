/* A number and its unit. A duration without a unit is refused: seconds and days are both likely. */
#include "quantity.h"

#include <math.h>
#include <string.h>

#include "message.h"
#include "number.h"

/* Cuts the suffix off; returns the length of the number before it, 0 when it does not end so. */
static size_t before(const char *text, const char *suffix)
{
    size_t size = strlen(text), end = strlen(suffix);
    return size > end && strcmp(text + size - end, suffix) == 0 ? size - end : 0;
}

static int is_amount(const char *text, size_t size, double *value)
{
    return cli_number_parse(text, size, value) == CLI_NUMBER_OK && *value >= 0 && !isinf(*value);
}

int cli_duration_parse(const char *option, const char *text, double *seconds)
{
    static const struct {
        const char *suffix;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t size = before(text, units[i].suffix);
        if (size && is_amount(text, size, seconds)) {
            *seconds *= units[i].seconds;
            return CLI_DONE;
        }
    }
    return cli_fail(CLI_USAGE, "--%s must be a time such as 7d, 12h, 30m, 2s or 500ms, not '%s'",
                    option, text);
}

int cli_budget_parse(const char *text, double *seconds)
{
    CLI_TRY(cli_duration_parse("budget", text, seconds));
    if (*seconds > 0)
        return CLI_DONE;
    return cli_fail(CLI_USAGE, "--budget must be above 0, not '%s'", text);
}

int cli_part_parse(const char *option, const char *text, double *part)
{
    size_t size = before(text, "%");
    if (!is_amount(text, size ? size : strlen(text), part))
        return cli_fail(CLI_USAGE, "--%s must be a part such as 10%% or 0.1, not '%s'", option,
                        text);
    if (size)
        *part /= 100;
    else if (*part > 1) /* per cent are likely to be meant */
        return cli_fail(CLI_USAGE, "--%s %s would be %.10g %%; write %s%% for per cent", option,
                        text, 100 * *part, text);
    return CLI_DONE;
}
