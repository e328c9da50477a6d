#!/bin/sh
# What a compiler does not refuse but equal bits and a well-behaved library do.
# Usage: check_lint.sh SOURCE_ROOT BUILD_ROOT
set -u
cd "$1" || exit 2
build=$2
wrong=0

MOST_LINES=400

# code FILE: without comments and strings, each line with its number.
code() {
    awk '
    {
        line = $0; out = ""
        while (line != "") {
            if (inside) {
                end = index(line, "*/")
                if (!end) break
                inside = 0; line = substr(line, end + 2); continue
            }
            c = substr(line, 1, 2)
            if (c == "/*") { inside = 1; line = substr(line, 3); continue }
            if (c == "//") break
            if (substr(line, 1, 1) == "\"") {
                match(line, /^"([^"\\]|\\.)*"?/)
                out = out "\"\""; line = substr(line, RLENGTH + 1); continue
            }
            out = out substr(line, 1, 1); line = substr(line, 2)
        }
        print FILENAME ":" FNR ": " out
    }' "$1"
}

# refuse WHY PATTERN FILE...: no line of code may match.
refuse() {
    why=$1 pattern=$2
    shift 2
    hits=$(for file in "$@"; do code "$file"; done | grep -E "^[^:]*:[0-9]+: .*($pattern)")
    [ -z "$hits" ] && return
    echo "$why:"
    printf '%s\n' "$hits"
    wrong=$((wrong + 1))
}

sources() {
    find "$@" -name '*.[ch]' -o -name '*.cu' -o -name '*.def' | sort
}

library=$(sources runtime kernels profiles | grep -v '^runtime/cli/')
[ -n "$library" ] || exit 2
start='(^|[^A-Za-z0-9_.>])'

# shellcheck disable=SC2086
{
    refuse "an order that the threads choose (reduction or atomic of OpenMP)" \
        'pragma +omp.*(reduction|atomic)' $library
    refuse "an atomic floating-point number" '_Atomic[ (]*(double|float)|atomic<(double|float)>' $library
    refuse "functions whose last bit depends on the machine's libm" \
        "$start(exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|cbrt|hypot|erf|erfc|tgamma|lgamma)[fl]? *\\(" \
        $library
    refuse "pragmas that change arithmetic" 'pragma +(GCC +optimize|STDC +FP_CONTRACT +ON|clang +fp)' \
        $library
    refuse "the library prints, exits or aborts" \
        "$start(printf|puts|putchar|perror|exit|_exit|abort|assert) *\\(|fprintf *\\( *std(out|err)" \
        $library
    refuse "what is printed past cli_print, so that nobody learns of its failure" \
        "$start(printf|puts|putchar|fputs|fputc|putc) *\\(|fprintf *\\( *stdout" $(sources runtime/cli)
    refuse "allocation that the tests cannot make fail" "$start(malloc|calloc|realloc|strdup) *\\(" \
        $(printf '%s\n' $library | grep -v '^runtime/base/mem.c$')
}

for file in $(sources runtime kernels profiles bench tests docs); do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt "$MOST_LINES" ]; then
        echo "$file has $lines lines; $MOST_LINES are the most"
        wrong=$((wrong + 1))
    fi
done

# The flags of every compiled file of the library, as they really are.
commands=$build/compile_commands.json
if [ -f "$commands" ]; then
    ours=$(grep '"command"' "$commands" | grep -E '(runtime|kernels|profiles)_[a-z0-9_]*[_a-z0-9]*\.c\.o|kernels_')
    if [ -z "$ours" ]; then
        echo "no compile command of the library in $commands"
        wrong=$((wrong + 1))
    fi
    bad=$(printf '%s\n' "$ours" | grep -E -e '-Ofast|-ffast-math|-funsafe-math|-fassociative-math|-ffinite-math|-freciprocal-math|-ffp-contract=(fast|on)')
    missing=$(printf '%s\n' "$ours" | grep -v -e '-ffp-contract=off')
    if [ -n "$bad$missing" ]; then
        echo "compiled with flags that change results, or without -ffp-contract=off:"
        printf '%s\n' "$bad$missing" | cut -c1-400
        wrong=$((wrong + 1))
    fi
fi
echo "$wrong kinds of trouble"
[ "$wrong" -eq 0 ]
