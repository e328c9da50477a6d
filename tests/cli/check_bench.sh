#!/bin/sh
# A bench answers --help, refuses wrong options with 2, prints nothing but JSON lines, the first about
# the machine, and leaves nothing behind, also when it is interrupted. No time is looked at.
# Usage: check_bench.sh OPTIMISATION PROGRAM RECORD[,RECORD...] ARGUMENT...
#   RECORD: lines of these kinds must come; ARGUMENT...: a run that is over at once.
set -u
optimisation=$1
program=$2
records=$3
shift 3
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export TMPDIR="$work/tmp"
failed=0

fail() {
    echo "$*"
    cat "$work/out" "$work/err" 2>/dev/null
    failed=1
}

# expect STATUS ARGUMENT...
expect() {
    wanted=$1
    shift
    "$program" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ $code -eq "$wanted" ] || fail "$*: exit status $code instead of $wanted"
}

# Exit status 2, nothing on the output, one line on standard error that has the word.
refuse() {
    word=$1
    shift
    expect 2 "$@"
    [ ! -s "$work/out" ] || fail "$*: printed something on its output"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: not one line of error"
    grep -q -e "$word" "$work/err" || fail "$*: the error does not say '$word'"
}

expect 0 --help
grep -q '^usage: ' "$work/out" || fail "--help says no usage"
refuse "'--nonsense'" --nonsense
refuse "'stray'" stray
refuse "needs a value" --passes
refuse "'0'" --passes 0
refuse "'many'" --passes many
refuse "given twice" --json --json
refuse "takes no value" --json=1

if [ "$optimisation" = 0 ]; then
    expect 1 --json "$@"
    grep -q 'not optimised' "$work/err" || fail "a debug build is not refused"
    exit $failed
fi

case $(basename "$program") in
bench_kernels)
    refuse "none of sma, " --workloads none
    refuse "name at most" --threads 1024
    refuse "the period 200 of sma" --sizes 100 --periods 5 200
    refuse "the period 20 of sma in each row" --sizes 100 --rows 10 --periods 20
    refuse "not a multiple of --rows 3" --sizes 100 --rows 3
    expect 0 --json --passes 1 --floor-ms 0.001 --workloads sma --sizes 100 --rows 5 --periods 5
    grep -q '"rows": *5' "$work/out" || fail "rows are not in the line"
    expect 1 --talib /nonexistent
    [ ! -s "$work/out" ] || fail "a TA-Lib that is not there is refused after the first line"
    expect 0 --json --passes 1 --floor-ms 0.001 --workloads sma sma --sizes 100 100 \
        --threads 1 1 --accuracy fast fast
    [ "$(wc -l <"$work/out")" -eq 2 ] || fail "what is named twice is measured twice"
    ;;
bench_transfer)
    refuse "name at most" --threads 1024
    expect 1 --only copies --cuda-driver /nonexistent
    [ ! -s "$work/out" ] || fail "a driver that is not there is refused after the first line"
    ;;
esac

# Where there is no memory for the second size, the first is not measured.
case $(basename "$program") in
bench_balance) large="--small-to 1e10" ;;
*) large="--sizes 100 1e10" ;;
esac
free=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null)
case " $* " in
*' --cuda-driver '*) ;;
*) [ "${free:-100000000}" -ge 100000000 ] || refuse "choose less" $large ;;
esac

expect 0 --passes 1 --floor-ms 0.001 "$@"
[ "$(grep -v '^#' "$work/out" | wc -L)" -le 136 ] || fail "a table is too wide for a terminal"
expect 0 --json --passes 1 --floor-ms 0.001 "$@"
[ ! -s "$work/err" ] || fail "something on standard error"
if command -v python3 >/dev/null 2>&1; then
    python3 -c '
import json, sys
def refuse(word): raise ValueError(word + " is no JSON")
rows = [json.loads(line, parse_constant=refuse) for line in open(sys.argv[1])]
assert all(isinstance(row, dict) for row in rows)
assert rows[0]["record"] == "machine" and rows[0]["cpus"] >= 1 and rows[0]["commit"]
kinds = {row["record"] for row in rows[1:]}
missing = set(sys.argv[2].split(",")) - kinds
assert not missing, missing
' "$work/out" "$records" || fail "the lines are not what they should be"
else
    echo "python3 is not installed: the JSON is not checked"
fi
[ -z "$(ls -A "$work/tmp")" ] || fail "left behind: $(ls "$work/tmp")"

# What cannot be written is told; who reads no more ends it.
"$program" --json --passes 1 --floor-ms 0.001 "$@" >/dev/full 2>"$work/err"
code=$?
[ $code -eq 1 ] || fail "a full disk: exit status $code instead of 1"
grep -q 'cannot be written' "$work/err" || fail "a full disk: the error does not say so"
"$program" --json --passes 1 --floor-ms 0.001 "$@" 2>"$work/err" | head -n 1 >/dev/null
[ -z "$(ls -A "$work/tmp")" ] || fail "left behind when nobody reads: $(ls "$work/tmp")"

# Interrupted while it measures: its first line is out by then.
mkfifo "$work/pipe"
"$program" --json --passes 99 --floor-ms 10000 "$@" >"$work/pipe" 2>"$work/err" &
child=$!
exec 3<"$work/pipe"
read -r line <&3
kill -INT $child
wait $child
code=$?
[ $code -eq 130 ] || fail "interrupted: exit status $code instead of 130"
[ -z "$(ls -A "$work/tmp")" ] || fail "left behind when interrupted: $(ls "$work/tmp")"
exit $failed
