#!/bin/sh
# Tries the command as a user would: right and wrong requests, every shape of file, every exit code.
#
#   run_cli.sh STEELYARD DATA
#
# STEELYARD is the command, DATA the folder with sp500_1d.csv. One line a case; exit 1 if any failed.
# Expected results are written here by hand. A refused request must give its exit code, one line on
# standard error that matches, and no output file.

steelyard=$(realpath "$1") && data=$(realpath "$2") || exit 1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir state
unset STEELYARD_MULTIGPU_PATH STEELYARD_THRESHOLD_PATH
unset THREADX_MULTIGPU_PROFILE_PATH THREADX_GPU_THRESHOLD_PATH
export XDG_STATE_HOME="$folder/state" LC_ALL=C
failures=0
cases=0

report() { # NAME PROBLEM
    cases=$((cases + 1))
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        echo "FAILED $1: $2"
        sed 's/^/    /' err
        failures=$((failures + 1))
    fi
}

left_over() { # temporary files that are still there
    find . -name '.*.tmp.*' | head -n 1
}

# refuses NAME CODE PATTERN ARGUMENT...: the exit code, one line that matches, no out.* file.
refuses() {
    name=$1 code=$2 pattern=$3
    shift 3
    rm -f out.csv out.npy
    "$steelyard" "$@" >stdout 2>err </dev/null
    got=$?
    problem=
    [ "$got" = "$code" ] || problem="exit code $got, not $code"
    [ "$(wc -l <err)" = 1 ] || problem="$problem; $(wc -l <err) lines of error"
    grep -q '^steelyard: ' err || problem="$problem; not a steelyard line"
    grep -q -e "$pattern" err || problem="$problem; no '$pattern'"
    [ ! -e out.csv ] && [ ! -e out.npy ] || problem="$problem; there is an output"
    [ -z "$(left_over)" ] || problem="$problem; left $(left_over)"
    report "$name" "$problem"
}

# accepts NAME ARGUMENT...: exit code 0 and a silent standard error.
accepts() {
    name=$1
    shift
    rm -f out.csv out.npy
    "$steelyard" "$@" >stdout 2>err </dev/null
    got=$?
    problem=
    [ "$got" = 0 ] || problem="exit code $got"
    [ ! -s err ] || problem="$problem; a message"
    [ -z "$(left_over)" ] || problem="$problem; left $(left_over)"
    report "$name" "$problem"
}

# warns NAME PATTERN ARGUMENT...: exit code 0, and one line on standard error, a warning that matches.
warns() {
    name=$1 pattern=$2
    shift 2
    rm -f out.csv out.npy
    "$steelyard" "$@" >stdout 2>err </dev/null
    got=$?
    problem=
    [ "$got" = 0 ] || problem="exit code $got"
    [ "$(wc -l <err)" = 1 ] || problem="$problem; $(wc -l <err) lines"
    grep -q -e "^steelyard: warning: $pattern" err || problem="$problem; no '$pattern'"
    [ -z "$(left_over)" ] || problem="$problem; left $(left_over)"
    report "$name" "$problem"
}

# holds NAME FILE: the file is byte for byte what is on standard input.
holds() {
    cat >expected
    if cmp -s "$2" expected; then
        report "$1" ""
    else
        { echo "found:" && cat "$2" && echo "expected:" && cat expected; } >err 2>&1
        report "$1" "the contents of $2"
    fi
}

# says NAME PATTERN: the last command's standard output has such a line.
says() {
    if grep -q -e "$2" stdout; then
        report "$1" ""
    else
        cp stdout err
        report "$1" "no '$2' on standard output"
    fi
}

# run ARGUMENTS of a run on the CPU: used with refuses and accepts.
cpu="--devices cpu"

for part in usage csv npy output stored reprofile; do
    # shellcheck source=/dev/null
    . "$here/cases_$part.sh"
done

echo "$cases cases, $failures failed"
[ "$failures" = 0 ]
