#!/bin/sh
# The short set of the benches, and the page that shows them. What `./dev bench` calls, under three
# minutes on a quiet machine. Usage: run.sh BUILD OUTPUT_FOLDER
# The variable TALIB names TA-Lib's library where it is not installed. A bench that fails is told, and
# named on the page; the exit code is then 1.
set -eu
programs=$1/bench
output=$2
here=$(dirname "$0")
failed=0
ran=0
for needed in gnuplot python3; do
    command -v "$needed" >/dev/null 2>&1 || {
        echo "run.sh: $needed is not installed, and the page is made with it; install it (Debian:" \
            "gnuplot-nox, python3)" >&2
        exit 1
    }
done
mkdir -p "$output"
rm -f "$output"/*.jsonl "$output"/index.html # or an old page would be beside new figures

# measure FILE PROGRAM ARGUMENT...: appends to OUTPUT_FOLDER/FILE.jsonl
measure() {
    file=$output/$1.jsonl
    program=$programs/$2
    shift 2
    ran=$((ran + 1))
    echo "$program $*"
    said=$(printf '%s' "$program --json $*" | sed 's/[\\"]/\\&/g')
    said="\"order\": $ran, \"command\": \"$said\""
    printf '{"record": "command", %s}\n' "$said" >>"$file"
    "$program" --json "$@" >>"$file" || {
        echo "run.sh: $program failed (exit code $?): what it did not measure is not on the page" >&2
        printf '{"record": "failed", %s}\n' "$said" >>"$output/failed.jsonl"
        failed=1
    }
}

# kernels FILE PASSES ARGUMENT...
kernels() {
    to=$1
    passes=$2
    shift 2
    measure "$to" bench_kernels --passes "$passes" --floor-ms 1 ${TALIB:+--talib "$TALIB"} "$@"
}

threads=$(nproc)
main="sma ema bollinger macd rsi atr sum"
# shellcheck disable=SC2086
{
    # Many short passes: some of them are left alone by whatever else runs.
    kernels kernels 15 --sizes 10000 1000000
    kernels kernels 5 --sizes 10000000 --workloads $main
    [ "$threads" = 1 ] ||
        kernels threads 15 --sizes 1000000 --workloads $main --threads "$threads"
    kernels data 9 --sizes 100000 --workloads $main --data flat ticks spikes volatile returns
}
measure transfer bench_transfer --passes 5 --sizes 10000 1000000 20000000
measure overhead bench_overhead --passes 21 --floor-ms 0.5
measure inside bench_inside --passes 9 --floor-ms 0.5
measure balance bench_balance --elements 4000000 --runs 5 --passes 5 --small-to 1000000
python3 "$here/page.py" "$output"
echo "Look at $output/index.html"
exit $failed
