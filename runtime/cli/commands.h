/* The commands. Each gets what follows its name, and returns the exit code. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int cli_cmd_devices(int argc, char **argv);
int cli_cmd_workloads(int argc, char **argv);
int cli_cmd_run(int argc, char **argv);
int cli_cmd_profile(int argc, char **argv);
int cli_cmd_reprofile(int argc, char **argv);
int cli_cmd_ratios(int argc, char **argv);
int cli_cmd_thresholds(int argc, char **argv);
int cli_cmd_plan(int argc, char **argv);
int cli_cmd_status(int argc, char **argv);

#endif
