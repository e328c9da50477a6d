/* Durations and parts of a whole, as the options of scheduled commands take them. */
#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

/* "7d", "12h", "30m", "2s", "500ms", in seconds. `option` names it in the message. */
int cli_duration_parse(const char *option, const char *text, double *seconds);
/* A duration above 0 for --budget: the library's 0 is no limit. */
int cli_budget_parse(const char *text, double *seconds);
/* "10%" or "0.1", as 0.1. */
int cli_part_parse(const char *option, const char *text, double *part);

#endif
