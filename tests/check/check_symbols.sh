#!/bin/sh
# The shared library exports the public functions and nothing else.
# Usage: check_symbols.sh LIBRARY symbols.txt
set -u
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | LC_ALL=C sort) || exit 2
foreign=$(printf '%s\n' "$exported" | grep -v -e '^sy_' -e '^distribute_workload$')
if [ -n "$foreign" ]; then
    echo "symbols outside the library's name space:"
    printf '%s\n' "$foreign"
    exit 1
fi
printf '%s\n' "$exported" | diff "$2" - && exit 0
echo "the exported symbols (right) differ from the list $2 (left)"
exit 1
