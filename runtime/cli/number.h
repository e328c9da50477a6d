/* Decimal text to and from doubles: correctly rounded when read, shortest when printed, and the
 * same in every locale. */
#ifndef CLI_NUMBER_H
#define CLI_NUMBER_H

#include <stddef.h>

typedef enum cli_number {
    CLI_NUMBER_OK,
    CLI_NUMBER_NOT,
    CLI_NUMBER_TOO_LARGE,
    CLI_NUMBER_TOO_LONG /* of more than 1,199 characters */
} cli_number;

/* The whole of text[0 .. size) must be one decimal number, or nan, inf or infinity in any case.
 * No blanks, no hexadecimal. */
cli_number cli_number_parse(const char *text, size_t size, double *out);
/* The same for a float: the decimal rounded once, not the nearest double rounded again. */
cli_number cli_number_parse_float(const char *text, size_t size, float *out);

enum { CLI_NUMBER_SIZE = 32 };
/* Writes the shortest decimal that reads back to the same bits, `nan`, `inf` or `-inf`, with a
 * terminating zero; returns its length. */
size_t cli_number_print(double value, char out[CLI_NUMBER_SIZE]);
/* The same for a float: the shortest that reads back to its bits. */
size_t cli_number_print_float(float value, char out[CLI_NUMBER_SIZE]);

#endif
