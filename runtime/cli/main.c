/* The command `steelyard`: finds the command that was asked for and hands over to it. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "message.h"
#include "output.h"

typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    {"devices", "the devices of this machine", cli_cmd_devices},
    {"workloads", "what can be computed", cli_cmd_workloads},
    {"run", "compute a workload from a file to a file, on all devices", cli_cmd_run},
    {"profile", "measure the devices and store their ratios", cli_cmd_profile},
    {"reprofile", "measure stored profiles again: what a timer calls", cli_cmd_reprofile},
    {"ratios", "show, set or clear the stored ratios", cli_cmd_ratios},
    {"thresholds", "show, set or clear measurements of CPU against GPU", cli_cmd_thresholds},
    {"plan", "explain a split without running it", cli_cmd_plan},
    {"status", "the devices, and the age of the stored profiles", cli_cmd_status},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *to)
{
    cli_print(to,
              "usage: steelyard COMMAND [OPTION]...\n\n"
              "Several unequal devices work as one fast device: the same bits for any split.\n\n"
              "commands:\n");
    for (int i = 0; i < N_COMMANDS; i++)
        cli_print(to, "  %-12s %s\n", commands[i].name, commands[i].summary);
    cli_print(to, "\n'steelyard COMMAND --help' explains one; 'steelyard --version' prints the "
                  "version.\n");
}

static const command *find_command(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[N_COMMANDS], *nearest;
    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    nearest = cli_nearest(name, names, N_COMMANDS);
    return cli_fail(CLI_USAGE, "there is no command '%s'%s%s%s; see 'steelyard --help'", name,
                    nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
}

static int dispatch(int argc, char **argv)
{
    static char help[] = "--help";
    const command *found;
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        cli_print(stdout, "steelyard %s\n", sy_version());
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 &&
         (argc == 2 || strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))) {
        print_usage(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "help") == 0) {
        found = find_command(argv[2]);
        if (!found)
            return unknown_command(argv[2]);
        argv[2] = help; /* what follows is the command's: a workload */
        return found->run(argc - 2, argv + 2);
    }
    found = find_command(argv[1]);
    return found ? found->run(argc - 2, argv + 2) : unknown_command(argv[1]);
}

/* A standard stream that is closed must not become the number of an output file: reading it and
 * writing it fail instead. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1)
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    int code;
    hold_standard_streams();
    cli_output_catch_signals();
    code = dispatch(argc, argv);
    return code == CLI_DONE ? cli_print_end() : code;
}
