#!/bin/sh
# What is to be recorded in docs/gpu-verified.md, on a machine with a GPU.
# run_on_gpu.sh BUILD [DRIVER]: a build folder, and another driver library (the simulated one).
set -u
build=${1:?"usage: run_on_gpu.sh BUILD [DRIVER]"}
driver=${2:-}
command=$build/cli/steelyard
[ -x "$command" ] || command=$(find "$build" -type f -name steelyard -perm -u+x | head -n 1)
data=$(dirname "$0")/../data
failed=0

step() {
    name=$1
    shift
    echo "== $name"
    "$@" || { echo "FAILED: $name"; failed=1; }
}

on_gpu() {
    "$command" "$@" ${driver:+--cuda-driver "$driver"}
}

# Every workload with a reference on every real series. The golden suite compares the CPU's bits with
# the references; here the GPU's are compared with the CPU's, and their hash is printed.
same_bits() {
    for name in btcusd_coinbase_1m sp500_1d spy_1h talib_gdata_1d talib_ref252_1d; do
        for workload in sma ema rolling_std bollinger macd rsi atr; do
            columns=close
            [ "$workload" = atr ] && columns=high,low,close
            for devices in cpu cuda; do
                on_gpu run "$workload" --input "$data/$name.csv" --column "$columns" \
                    --output "$devices.csv" --devices "$devices" || return 1
            done
            cmp cpu.csv cuda.csv || return 1
            echo "$name $workload: $(sha256sum < cuda.csv | cut -c1-16)"
        done
    done
}

date -u +%Y-%m-%d
command -v nvidia-smi > /dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv
contract=$(find "$build" -type f -name driver_contract -perm -u+x | head -n 1)
step "driver contract" "$contract" ${driver:+"$driver"}
step "devices" on_gpu devices
scratch=$(mktemp -d)
data=$(realpath "$data")
series=$data/btcusd_coinbase_1m.csv
contract=$(realpath "$contract")
bandwidth=$(realpath "$(find "$build" -type f -name gpu_bandwidth -perm -u+x | head -n 1)")
[ -z "$driver" ] || driver=$(realpath "$driver")
build=$(realpath "$build")
command=$(realpath "$command")
cd "$scratch" || exit 2
step "the same bits as the CPU" same_bits
columns=16777216
[ -z "$driver" ] || columns=20000 # the simulated one: virtual times, to try this script
step "bandwidth" "$bandwidth" $columns ${driver:+"$driver"}
if command -v compute-sanitizer > /dev/null && [ -z "$driver" ]; then
    for tool in memcheck racecheck; do
        step "$tool" compute-sanitizer --tool "$tool" --error-exitcode 1 \
            "$command" run bollinger --input "$series" --column close --output sanitized.csv \
            --devices cuda
    done
else
    echo "compute-sanitizer: not run"
fi
rm -rf "$scratch"
exit $failed
