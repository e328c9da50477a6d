#!/bin/sh
# Every source file is in the form of .clang-format. Usage: check_format.sh SOURCE_ROOT
# Exits with 77 (skipped) when clang-format is not installed.
set -u
cd "$1" || exit 2
if ! command -v clang-format >/dev/null 2>&1; then
    echo "clang-format is not installed: skipped"
    exit 77
fi
find runtime kernels profiles bench docs tests -name '*.[ch]' -print0 |
    xargs -0 clang-format --dry-run -Werror
