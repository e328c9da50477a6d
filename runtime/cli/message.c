/* Messages to the user. Names of files and contents of fields come from outside, so every line is
 * cleaned of control characters: one failure is one line, whatever it quotes. */
#include "message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

char *cli_compose(const char *format, va_list args)
{
    va_list again;
    char *text;
    int size;
    va_copy(again, args);
    size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (text)
        vsnprintf(text, (size_t)size + 1, format, args);
    return text;
}

enum { LINE_SIZE = 1200 };

void cli_clean(char *text)
{
    for (; *text; text++)
        *text = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
}

/* A line that is too long loses its middle: what it quotes, not the reason and the remedy behind.
 */
static void say(const char *kind, const char *line)
{
    const size_t length = strlen(line);
    char clean[LINE_SIZE];
    if (length < sizeof clean)
        strcpy(clean, line);
    else
        snprintf(clean, sizeof clean, "%.600s ... %s", line, line + length - 590);
    cli_clean(clean);
    cli_progress_erase();
    fprintf(stderr, "steelyard: %s%s\n", kind, clean);
}

int cli_fail(int code, const char *format, ...)
{
    char cut[LINE_SIZE], *whole;
    va_list args;
    va_start(args, format);
    whole = cli_compose(format, args);
    va_end(args);
    if (!whole) {
        va_start(args, format);
        vsnprintf(cut, sizeof cut, format, args);
        va_end(args);
    }
    say("", whole ? whole : cut);
    free(whole);
    return code;
}

int cli_no_memory(void)
{
    return cli_fail(CLI_FAILED, "there is not enough memory; free some, or take a smaller input");
}

const char *cli_remedy(int code)
{
    switch (code) {
    case ENOENT:
        return "create the folder first";
    case ENOTDIR:
        return "one of the names before the last is no folder";
    case ENAMETOOLONG:
        return "choose a shorter name";
    case ENOSPC:
    case EDQUOT:
        return "free some space, or choose another disk";
    case EFBIG:
        return "raise the limit of a file's size, or choose another disk";
    case EBUSY:
        return "if it is a mount point, name another file, or mount its folder";
    case EACCES:
    case EPERM:
    case EROFS:
        return "choose a folder where you may write";
    default:
        return "mend that, or choose another place";
    }
}

int cli_library_failed(sy_status status)
{
    const sy_error *error = sy_last_error();
    const char *text =
        error && error->status == status && *error->text ? error->text : sy_status_string(status);
    switch (status) {
    case SY_ERR_NO_DEVICE:
        return cli_fail(CLI_NO_DEVICE, "%s", text);
    case SY_ERR_ARGUMENT:
    case SY_ERR_NOT_FOUND:
        return cli_fail(CLI_USAGE, "%s", text);
    default:
        return cli_fail(CLI_FAILED, "%s", text);
    }
}

void cli_log(void *user, sy_log_level level, const char *line)
{
    const bool *verbose = user;
    if (level == SY_LOG_WARNING)
        say("warning: ", line);
    else if (*verbose)
        say("", line);
}

/* The first errno: a long list is written in parts, and what comes after the part that failed
 * changes errno. */
static int print_error;

void cli_print(FILE *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (vfprintf(to, format, args) < 0 && to == stdout && !print_error)
        print_error = errno;
    va_end(args);
}

int cli_print_end(void)
{
    if (fflush(stdout) && !print_error)
        print_error = errno;
    if (!print_error)
        return CLI_DONE;
    /* A reader that has seen enough is no news to anybody. */
    if (print_error == EPIPE)
        return CLI_FAILED;
    return cli_fail(CLI_FAILED, "cannot write standard output: %s; %s", strerror(print_error),
                    cli_remedy(print_error));
}
