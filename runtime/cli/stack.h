#ifndef CLI_STACK_H
#define CLI_STACK_H

/* Refuses stacks, of this thread or of OpenMP's, on which a kernel would crash. */
int cli_stack_check(void);

#endif
