#!/bin/sh
# The short set of the benches, and the page that shows them. What `./dev bench` calls, under three
# minutes on a quiet machine. Usage: run.sh BUILD OUTPUT_FOLDER
set -eu
programs=$1/bench
output=$2
here=$(dirname "$0")
mkdir -p "$output"
rm -f "$output"/*.jsonl

# measure FILE PROGRAM ARGUMENT...: appends to OUTPUT_FOLDER/FILE.jsonl
measure() {
    file=$output/$1.jsonl
    program=$2
    shift 2
    echo "$program $*"
    printf '{"record": "command", "command": "%s %s"}\n' "$program" "$*" >>"$file"
    "$programs/$program" --json "$@" >>"$file"
}

threads=$(getconf _NPROCESSORS_ONLN)
main="sma ema bollinger macd rsi atr sum"
# shellcheck disable=SC2086
{
    # Many short passes: some of them are left alone by whatever else runs.
    measure kernels bench_kernels --passes 15 --floor-ms 1 --sizes 10000 1000000
    measure kernels bench_kernels --passes 5 --floor-ms 1 --sizes 10000000 --workloads $main
    [ "$threads" = 1 ] ||
        measure threads bench_kernels --passes 15 --floor-ms 1 --sizes 1000000 --workloads $main --threads "$threads"
    measure data bench_kernels --passes 9 --floor-ms 1 --sizes 100000 --workloads $main \
        --data flat spikes volatile returns
}
measure transfer bench_transfer --passes 5 --sizes 10000 1000000 20000000
measure overhead bench_overhead --passes 21 --floor-ms 0.5
measure inside bench_inside --passes 9 --floor-ms 0.5
measure balance bench_balance --elements 4000000 --runs 5 --passes 5 --small-to 1000000
python3 "$here/page.py" "$output"
echo "Look at $output/index.html"
