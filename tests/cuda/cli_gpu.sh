#!/bin/sh
# The command on virtual GPUs with a simulated NVML: what `devices` and `status` show of them, and
# that a busy GPU keeps `reprofile` from measuring.
# Usage: cli_gpu.sh STEELYARD VCUDA VNVML
set -u
steelyard=$(realpath "$1") driver=$(realpath "$2") nvml=$(realpath "$3") failures=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export STEELYARD_MULTIGPU_PATH="$work/multigpu.json" STEELYARD_THRESHOLD_PATH="$work/thresholds.json"
export VCUDA_SETUP='gpus=2;*:sms=170,cc=12.0;0:name=NVIDIA GeForce RTX 5090;1:name=Tesla T4,sms=40'
idle='driver=580.65.06;*:util=3,temp=41,power=215400,limit=450000,clock=2100,memclock=10501;1:temp=0'
export VNVML_SETUP="$idle"

# tells NAME PATTERN ARGUMENT...: exit code 0, and a line of the output is as the pattern.
tells() {
    name=$1 pattern=$2
    shift 2
    "$steelyard" "$@" --cuda-driver "$driver" >out 2>err </dev/null
    code=$?
    if [ $code -ne 0 ] || ! grep -q -E -e "$pattern" out; then
        echo "FAILED $name: exit code $code, no '$pattern' in:"
        cat out err
        failures=$((failures + 1))
    fi
}

# ends NAME CODE PATTERN ARGUMENT...: that exit code, and a line on standard error.
ends() {
    name=$1 expected=$2 pattern=$3
    shift 3
    "$steelyard" "$@" --cuda-driver "$driver" >out 2>err </dev/null
    code=$?
    if [ $code -ne "$expected" ] || ! grep -q -E -e "$pattern" err; then
        echo "FAILED $name: exit code $code, not $expected, or no '$pattern' in:"
        cat out err
        failures=$((failures + 1))
    fi
}

n="--nvml $nvml"
# shellcheck disable=SC2086
{
    tells "devices" '^ +0 .* RTX5090 .* 0\.12 GHz +215/450 W +580\.65\.06 +NVIDIA' devices $n
    tells "devices without NVML" '^ +0 .* RTX5090 .* - +CUDA 13\.0 ' devices
    tells "devices as JSON" '"power_limit_watts": 450' devices --json $n
    tells "devices as JSON, unknown" '"temperature_celsius": null' devices --json $n
    tells "devices as JSON, PCI" '"pci": "0000:10:00\.0"' devices --json $n
    tells "status" '^RTX5090 +cuda +ok .* 3 % +41 C +215/450 W +2\.10 GHz' status $n
    tells "status without NVML" '^RTX5090 +cuda +ok .* - +- +- +-$' status
    tells "status as JSON" '"utilization": 0\.03,?$' status --format json $n
    tells "status for Prometheus" '^steelyard_device_temperature_celsius\{device="RTX5090"\} 41$' \
        status --format prometheus $n
    tells "status for Prometheus, PSU" '^steelyard_device_power_watts\{device="RTX5090"\} 215\.4' \
        status --format prometheus $n
    if grep -q 'temperature_celsius{device="T4"}\|utilization{device="cpu"}' out; then
        echo "FAILED: a value that nobody knows"
        failures=$((failures + 1))
    fi
    tells "parts of a GPU" '^ +1 +cuda:0\.1 +RTX5090/72 .*\(72 of 170 units\)' \
        devices --devices cuda:0/96+72,cpu
    tells "parts of a GPU, ratios" '"RTX5090/96",?$' plan sma --size 100000 --json \
        --devices cuda:0/96+72 --ratios RTX5090/96=0.7,cuda:0.1=0.3
    tells "devices as JSON, uuid" '"uuid": "GPU-' devices --json
    uuid=$(sed -n 's/.*"uuid": "\(GPU-[^"]*\)".*/\1/p' out | tail -n 1)
    tells "ratios by uuid" '^T4 +1\.0000 ' plan sma --size 100000 --ratios "$uuid=1"
    ends "a GPU twice" 2 'names cuda:0 twice' devices --devices cuda:0,cpu,cuda:0
    ends "a GPU and parts of it" 2 'names cuda:0 twice' devices --devices cuda:0/96+72,cuda
    ends "more parts than the GPU has" 3 'take 22 groups of 8 .* has 21 of them' \
        devices --devices cuda:0/96+80
    tells "profile" . profile --workload sma --sample-size 5000 --runs 1 --tag t $n
    cp multigpu.json before.json
    export VNVML_SETUP="$idle;1:util=60"
    calm='--max-load 100000 --budget 100ms'
    ends "reprofile beside a busy GPU" 75 '^steelyard: T4 is busy \(60 % of its time, limit 20 %\)' \
        reprofile $calm $n
    cmp -s multigpu.json before.json || {
        echo "FAILED: a busy GPU's profile has changed"
        failures=$((failures + 1))
    }
    ends "reprofile, no part" 2 'max-gpu-load must be a part' reprofile --max-gpu-load x $n
    tells "reprofile with a higher limit" '^t: (measured again|kept)' \
        reprofile $calm --max-gpu-load 61% $n
    ends "reprofile at the limit" 75 'limit 60 %' reprofile $calm --max-gpu-load 0.6 $n
    tells "reprofile when nothing is known" '^t: (measured again|kept)' reprofile $calm
}
echo "$failures failed"
[ $failures -eq 0 ]
