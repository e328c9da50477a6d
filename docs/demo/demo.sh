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

# Three unequal GPUs, simulated, beside the real CPU. They are slower than its thread, on which they
# compute too.
devices=sim:new-gpu:speed=1:latency=50us:link=24GB/s,sim:old-gpu:speed=0.5:latency=100us:link=12GB/s
devices=$devices,sim:laptop-gpu:speed=0.3:latency=150us:link=6GB/s,cpu:threads=1
series=open,high,low,close

title() { printf '\n== %s\n' "$*"; }
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1"; }

# The devices that a report gives a part of the work.
workers() {
    awk '/"name"/ { gsub(/[",]/, ""); name = $2 }
        /"tiles"/ && name && $2 + 0 > 0 { printf "%s%s", separator, name; separator = ", " }' "$1"
}

# Five random splits; the seed is printed so that they can be had again.
random_ratios() {
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        printf "new-gpu=%.4f,old-gpu=%.4f,laptop-gpu=%.4f,cpu=%.4f", rand() + .01, rand() + .01, rand() + .01, rand() + .01
    }'
}

title "the devices of this machine"
"$steelyard" devices

title "and the unequal machine that this demo simulates on it"
"$steelyard" devices --devices "$devices"

# compute WORKLOAD INPUT OUTPUT: profiles, distributes as the plan has it, then proves that the split
# does not show in the bits.
compute() {
    workload=$1
    input=$2
    output=$3
    ending=${output##*.}
    title "$workload of $input (columns $series)"
    "$steelyard" profile --workload "$workload" --sample-size 262144 --runs 3 --devices "$devices"
    "$steelyard" run "$workload" --input "$input" --column "$series" --output "$output" \
        --devices "$devices" --report "$out/report.json" --verbose
    expected=$(checksum "$out/report.json")
    "$steelyard" run "$workload" --input "$input" --column "$series" --output "$out/alone.$ending" \
        --devices cpu --report "$out/alone.json"
    printf 'checksum %s  as planned: %s\n' "$expected" "$(workers "$out/report.json")"
    printf 'checksum %s  the CPU alone\n' "$(checksum "$out/alone.json")"
    [ "$(checksum "$out/alone.json")" = "$expected" ] || exit 1
    cmp "$output" "$out/alone.$ending"
    for seed in 1 2 3 4 5; do
        ratios=$(random_ratios "$seed")
        "$steelyard" run "$workload" --input "$input" --column "$series" \
            --output "$out/split.$ending" --devices "$devices" --ratios "$ratios" \
            --report "$out/split.json"
        printf 'checksum %s  %s\n' "$(checksum "$out/split.json")" "$ratios"
        [ "$(checksum "$out/split.json")" = "$expected" ] || {
            echo "the split changed the result" >&2
            exit 1
        }
        cmp "$output" "$out/split.$ending"
    done
    rm -f "$out/alone.$ending" "$out/split.$ending" "$out/alone.json" "$out/split.json" "$out/report.json"
}

# What takes a fraction of a millisecond is hardly worth sharing out: the plan leaves it, or most of it,
# to the CPU.
compute bollinger "$data/sp500_1d.csv" "$out/sp500_1d_bollinger.csv"
compute macd "$data/spy_1h.csv" "$out/spy_1h_macd.csv"

# The same prices 16 times over are worth it.
long=$out/spy_1h_x16.csv
head -n 1 "$data/spy_1h.csv" >"$long"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    tail -n +2 "$data/spy_1h.csv" >>"$long"
done
compute bollinger "$long" "$out/spy_1h_x16_bollinger.npy"
rm -f "$long"

title "the same bits for every split"
printf 'Bollinger bands of the S&P 500, daily:  %s\n' "$out/sp500_1d_bollinger.csv"
printf 'MACD of SPY, hourly:                    %s\n' "$out/spy_1h_macd.csv"
printf 'Bollinger bands of that 16 times over:  %s\n' "$out/spy_1h_x16_bollinger.npy"
printf 'the ratios that were measured:          %s\n' "$out/multigpu.json"
