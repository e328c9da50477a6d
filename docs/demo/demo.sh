#!/bin/sh
# The main job on real prices: demo.sh STEELYARD DATA_FOLDER OUTPUT_FOLDER. `./dev demo` calls it.
set -eu
steelyard=$1
data=$2
out=$3
mkdir -p "$out"

# The demo's profile is its own: nothing that is stored on this machine is used or changed.
STEELYARD_MULTIGPU_PATH=$out/multigpu.json
STEELYARD_THRESHOLD_PATH=$out/thresholds.json
export STEELYARD_MULTIGPU_PATH STEELYARD_THRESHOLD_PATH

# Three unequal GPUs, simulated, beside the real CPU.
devices=sim:new-gpu:speed=0.1:latency=10us:link=24GB/s,sim:old-gpu:speed=0.05:latency=20us:link=12GB/s
devices=$devices,sim:laptop-gpu:speed=0.03:latency=30us:link=6GB/s,cpu:threads=1
series=open,high,low,close

title() { printf '\n== %s\n' "$*"; }
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1"; }

# Five random splits; the seed is printed so that they can be had again.
random_ratios() {
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        printf "new-gpu=%.4f,old-gpu=%.4f,laptop-gpu=%.4f,cpu=%.4f", rand() + .01, rand() + .01, rand() + .01, rand() + .01
    }'
}

title "the devices of this machine"
"$steelyard" devices 2>/dev/null

title "and the unequal machine that this demo simulates on it"
"$steelyard" devices --devices "$devices"

# compute WORKLOAD INPUT OUTPUT [RUN-OPTION...]: profiles, distributes, then proves that the split does
# not show in the bits.
compute() {
    workload=$1
    input=$2
    output=$3
    shift 3
    title "$workload of $input (columns $series)"
    "$steelyard" profile --workload "$workload" --sample-size 262144 --runs 3 --devices "$devices"
    "$steelyard" run "$workload" --input "$input" --column "$series" --output "$output" \
        --devices "$devices" --report "$out/report.json" --verbose "$@"
    expected=$(checksum "$out/report.json")
    "$steelyard" run "$workload" --input "$input" --column "$series" --output "$out/alone.csv" \
        --devices cpu --report "$out/alone.json"
    printf 'checksum %s  four devices\n' "$expected"
    printf 'checksum %s  the CPU alone\n' "$(checksum "$out/alone.json")"
    [ "$(checksum "$out/alone.json")" = "$expected" ] || exit 1
    cmp "$output" "$out/alone.csv"
    for seed in 1 2 3 4 5; do
        ratios=$(random_ratios "$seed")
        "$steelyard" run "$workload" --input "$input" --column "$series" \
            --output "$out/split.csv" --devices "$devices" --ratios "$ratios" \
            --report "$out/split.json"
        printf 'checksum %s  %s\n' "$(checksum "$out/split.json")" "$ratios"
        [ "$(checksum "$out/split.json")" = "$expected" ] || {
            echo "the split changed the result" >&2
            exit 1
        }
        cmp "$output" "$out/split.csv"
    done
    rm -f "$out/alone.csv" "$out/split.csv" "$out/alone.json" "$out/split.json" "$out/report.json"
}

# So short a series is not worth sharing out, and the plan would say so: the ratios are given by hand.
compute bollinger "$data/sp500_1d.csv" "$out/sp500_1d_bollinger.csv" \
    --ratios new-gpu=3,old-gpu=2,laptop-gpu=1,cpu=2
compute bollinger "$data/spy_1h.csv" "$out/spy_1h_bollinger.csv"
compute macd "$data/spy_1h.csv" "$out/spy_1h_macd.csv"

title "the same bits for every split"
printf 'Bollinger bands of the S&P 500, daily:  %s\n' "$out/sp500_1d_bollinger.csv"
printf 'Bollinger bands of SPY, hourly:         %s\n' "$out/spy_1h_bollinger.csv"
printf 'MACD of SPY, hourly:                    %s\n' "$out/spy_1h_macd.csv"
printf 'the ratios that were measured:          %s\n' "$out/multigpu.json"
