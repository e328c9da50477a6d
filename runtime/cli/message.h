/* What the command says to its user: one line on standard error for every failure, with the exit
 * code of the contract handed back, so that a failure reads `return cli_fail(CLI_USAGE, ...)`. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <steelyard/steelyard.h>

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_NO_DEVICE = 3, CLI_BUSY = 75 };

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* The whole text, however long it is, to be freed; NULL: a lack of memory. */
char *cli_compose(const char *format, va_list args);
/* Control characters become `?`: whatever a line quotes, it stays one. */
void cli_clean(char *text);
/* Prints "steelyard: ..." and returns `code`. */
int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3);
int cli_no_memory(void);
/* What to do about an errno of opening or writing a file, to put behind a semicolon. */
const char *cli_remedy(int code);
/* Prints what the library recorded about a failed call, and returns the exit code for it. */
int cli_library_failed(sy_status status);
/* The library's log: warnings are shown, infos only when `*(const bool *)user`. */
void cli_log(void *user, sy_log_level level, const char *line);

/* fprintf for standard output, and for texts that may go to standard error instead. What standard
 * output fails with is kept for cli_print_end. */
void cli_print(FILE *to, const char *format, ...) CLI_PRINTF(2, 3);
/* Once, after everything: reports what kept standard output from being written, and returns the
 * exit code. */
int cli_print_end(void);

/* Hands a failure, which has been reported, on to the caller. */
#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        int cli_try_code = (call);                                                                 \
        if (cli_try_code)                                                                          \
            return cli_try_code;                                                                   \
    } while (0)

#endif
