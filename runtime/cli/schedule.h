/* Being a good guest: what a command does that runs by itself on somebody's machine. */
#ifndef CLI_SCHEDULE_H
#define CLI_SCHEDULE_H

/* The load average of the last minute per processor; < 0: not known. */
double cli_load_average(void);
/* Behind everybody else, for processor and disk. Before any thread is started. */
void cli_lower_priority(void);
/* Takes the lock of `path`, a file that is made; *held is -1 when somebody else has it. The lock
 * goes with close() and with the process. */
int cli_lock_alone(const char *path, int *held);

#endif
