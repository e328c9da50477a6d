#!/bin/sh
# The same bits from every compiler, optimisation level and instruction set. The kernels and
# golden_hash are compiled with gcc at -O0 and -O2, with clang at -O0, -O2 and -O3; each of these, and
# the library as it was built, hashes its outputs with each instruction set; all hashes must be the
# same. What is not there is skipped with a notice; for instruction sets that this processor lacks the
# kernels are only looked through, once by each compiler.
# Usage: check_bits.sh SOURCE_ROOT LIBRARY.a LINK_ARGUMENT...   (in an empty or own folder)
set -u
root=$1
library=$2
shift 2
work=$(mktemp -d "${TMPDIR:-.}/check-bits-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

include="-I$root/runtime/include -I$root/runtime -I$root/profiles -I$root/kernels -I$root/tests"
flags="-std=c11 -ffp-contract=off -fno-math-errno -Wno-unknown-pragmas -DTESTS_DIR=\\\"$root/tests\\\""
isas=base
case $(uname -m) in
x86_64 | amd64)
    isas="base v3 v4"
    flags="$flags -DSYI_HAVE_V3 -DSYI_HAVE_V4"
    ;;
esac

# What follows is of $compiler at $level, into $folder.

# The command that compiles for an instruction set.
compile_for() {
    machine=
    [ "$1" = base ] || machine="-march=x86-64-$1"
    echo "$compiler $flags $level $include $machine -DSYI_ISA=$1"
}

# The longest header, compiled for each instruction set before the kernels: one command a line.
header_commands() {
    for isa in $isas; do
        echo "$(compile_for "$isa") -x c-header $root/kernels/pch/intrinsics.h -o $folder/$isa.h.gch"
    done
}

# One compile command a line: kernels for every instruction set (none: the library's are taken),
# then what is compiled once.
commands() {
    [ "$level" = "$built" ] || for source in $(find "$root/kernels" -name '*.c' | sort); do
        name=$(basename "$source" .c)
        case $name in
        *_run | *_fast)
            for isa in $isas; do
                to="-c -o $folder/$name.$isa.o"
                case " $lacking " in
                *" $isa "*)
                    [ "$level" = -O0 ] || continue
                    to=-fsyntax-only
                    ;;
                esac
                echo "$(compile_for "$isa") -include $folder/$isa.h $source $to"
            done
            ;;
        *) echo "$compiler $flags $level $include -c $source -o $folder/$name.o" ;;
        esac
    done
    for source in tools/golden_hash support/lab support/series support/data; do
        echo "$compiler $flags ${level#$built} $include -c $root/tests/$source.c -o $folder/$(basename $source).o"
    done
}

# Runs the commands, one a line.
side_by_side() {
    xargs -d '\n' -P 2 -I{} sh -c '{}'
}

built=built # in the place of a level: nothing but the library's own kernels
lacking= # instruction sets that this processor has not, once that is known
reference=
status=0
builds=0
for compiler in cc gcc clang; do
    if ! command -v $compiler >/dev/null 2>&1; then
        echo "$compiler is not installed: skipped"
        continue
    fi
    case $compiler in
    cc) levels=$built ;;
    gcc) levels="-O0 -O2" ;;
    *) levels="-O0 -O2 -O3" ;;
    esac
    for level in $levels; do
        folder=$work/$compiler$level
        mkdir "$folder"
        [ $level = $built ] || header_commands | side_by_side || exit 1
        commands | side_by_side || exit 1
        # The kernels above come first, so the library gives only what is not a kernel.
        # shellcheck disable=SC2086
        $compiler "$folder"/*.o "$library" "$@" -lm -o "$folder/golden_hash" || exit 1
        builds=$((builds + 1))
        for isa in $isas; do # side by side: what is not optimised takes long
            out=$work/$compiler$level-$isa.txt
            {
                "$folder/golden_hash" $isa >"$out" 2>"$out.err"
                echo $? >"$out.code"
            } &
        done
        wait
        for isa in $isas; do
            out=$work/$compiler$level-$isa.txt
            code=$(cat "$out.code")
            if [ $code -eq 77 ]; then
                echo "$compiler $level: no $isa here: skipped"
                lacking="$lacking $isa"
                continue
            elif [ $code -ne 0 ] || [ ! -s "$out" ]; then
                echo "$compiler $level $isa: golden_hash failed with $code:"
                cat "$out.err"
                exit 1
            fi
            reference=${reference:-$out}
            if cmp -s "$reference" "$out"; then
                echo "$compiler $level $isa: $(wc -l <"$out") hashes, all the same"
            else
                echo "$compiler $level $isa differs:"
                diff "$reference" "$out" | head -n 20
                status=1
            fi
        done
    done
done
[ "$builds" -gt 0 ] || { echo "no compiler"; exit 1; }
exit $status
