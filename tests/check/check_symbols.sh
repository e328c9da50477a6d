#!/bin/sh
# The shared library exports the public functions and nothing else; the static one, all of whose
# names a program gets, has none that could be the program's own.
# Usage: check_symbols.sh SHARED STATIC symbols.txt
set -u
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | LC_ALL=C sort) || exit 2
linked=$(nm -g --defined-only "$2" | awk 'NF == 3 { print $3 }') || exit 2
foreign=$(printf '%s\n' "$exported" | grep -v -e '^sy_' -e '^distribute_workload$'
    printf '%s\n' "$linked" | grep -v -e '^syi\{0,1\}_' -e '^distribute_workload$')
if [ -n "$foreign" ]; then
    echo "symbols outside the library's name space:"
    printf '%s\n' "$foreign"
    exit 1
fi
if ! readelf -d "$1" | grep -q NODELETE; then
    echo "the library could be unloaded under OpenMP's threads, which stay"
    exit 1
fi
printf '%s\n' "$exported" | diff "$3" - && exit 0
echo "the exported symbols (right) differ from the list $3 (left)"
exit 1
