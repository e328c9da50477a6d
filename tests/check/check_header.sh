#!/bin/sh
# Every public header compiles alone, without a warning, and so do the guards that they define. Usage: check_header.sh INCLUDE_FOLDER STANDARD
# STANDARD: c99, c11 or c++17. Exits with 77 (skipped) when there is no compiler of that language.
set -u
case $2 in
c++*) candidates="${CXX:-} c++ g++ clang++" language=c++ ;;
*) candidates="${CC:-} cc gcc clang" language=c ;;
esac
for compiler in $candidates; do
    if command -v "$compiler" >/dev/null 2>&1; then
        for header in "$1"/steelyard/*.h; do
            flags="-Wconversion -Wshadow"
            # shellcheck disable=SC2086
            main='int main(void);\nint main(void) { return SY_OK; }\n'
            case $header in
            */context.h) main="void f(sy_context *c);\nvoid f(sy_context *c) {\nSY_TRIM_AT_SCOPE_END(c);\n{\nSY_TRIM_AT_SCOPE_END(c);\n}\n}\n$main" ;;
            esac
            printf "#include <steelyard/%s>\n$main" "$(basename "$header")" |
                "$compiler" -x "$language" -std="$2" -Wall -Wextra -pedantic -Werror $flags -I "$1" \
                    -fsyntax-only - || exit 1
        done
        echo "$compiler -std=$2: clean"
        exit 0
    fi
done
echo "no compiler for $2 is installed: skipped"
exit 77
