#!/bin/sh
# What a machine with a GPU has to show: prints one section for docs/gpu-verified.md. Everything is
# run on cuda:0; a step that fails says so in the section, and the script then ends with 1; 77: there
# is no usable GPU. Takes some minutes.
#
# run_on_gpu.sh BUILD [DRIVER]: a build folder with tests, and another driver library (the simulated
# one: small inputs, and times that mean nothing). COMPUTE_SANITIZER names the sanitizer's program;
# without it the one of the PATH is used, none on a simulated driver. CONTRACT_PAGE names a file to
# which docs/driver-contract.md is written with the lines marked that held or failed here; it may be
# that page itself.
set -u
build=$(realpath "${1:?"usage: run_on_gpu.sh BUILD [DRIVER]"}")
driver=${2:+$(realpath "$2")}
page=${CONTRACT_PAGE:+$(realpath "$CONTRACT_PAGE")}
tests=$(realpath "$(dirname "$0")/..")
data=$tests/data
sanitizer=${COMPUTE_SANITIZER:-}
[ -n "$sanitizer" ] || [ -n "$driver" ] || sanitizer=$(command -v compute-sanitizer)
failed=0

program() {
    find "$build" -type f -name "$1" -perm -u+x | head -n 1
}

steelyard=$(program steelyard)
series='btcusd_coinbase_1m sp500_1d spy_1h talib_gdata_1d talib_ref252_1d'
short_series='talib_ref252_1d sp500_1d'
columns=16777216
[ -z "$driver" ] || series='talib_ref252_1d' short_series=$series columns=9000
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
export STEELYARD_MULTIGPU_PATH="$scratch/multigpu.json"
export STEELYARD_THRESHOLD_PATH="$scratch/thresholds.json"

# step TITLE FUNCTION: its part of the section; what it says on standard error is shown when it
# fails.
step() {
    echo
    echo "### $1"
    echo
    "$2" 2>errors || {
        echo
        echo "**FAILED: $1**"
        cat errors >&2
        failed=1
    }
}

on_gpu() {
    "$steelyard" "$@" ${driver:+--cuda-driver "$driver"}
}

# on_series DEVICES WORKLOAD SERIES OUTPUT ACCURACY: with the series' columns that the workload wants.
on_series() {
    case $(awk -v name="$2" '$1 == name { print $3 }' workloads) in
    high,low,close) inputs=high,low,close ;;
    x,y) inputs=close,open ;;
    *) inputs=close ;;
    esac
    on_gpu run "$2" --input "$data/$3.csv" --column "$inputs" --output "$4" --devices "$1" \
        --accuracy "$5"
}

# A value of the first device of `devices --json`.
value() {
    sed -n 's/^ *"'"$1"'": "\(.*\)",*$/\1/p' devices.json | head -n 1
}

# What held on another library than the system's driver says nothing about hardware.
mark_page() {
    where="on driver $(value driver), $(value description), $(date -u +%Y-%m-%d)"
    [ -z "$driver" ] || where="on $(basename "$driver"), which is no hardware"
    sh "$tests/gpu/mark_contract.sh" contract "$tests/../docs/driver-contract.md" "$where" >marked &&
        cp marked "$page"
}

contract() {
    "$(program driver_contract)" ${driver:+"$driver"} >contract
    code=$?
    awk 'function list(what) { return what == "" ? "none" : substr(what, 3) }
         $1 == "ok" || $1 == "skipped" || $1 == "FAILED" { ids[$1] = ids[$1] ", `" $2 "`" }
         END { print "* verified: " list(ids["ok"])
               print "* skipped: " list(ids["skipped"])
               print "* failed: " list(ids["FAILED"]) }' contract
    [ -z "$page" ] || mark_page || return 1
    return $code
}

# Whatever is computed before it is rounded, beside the host compiler's translation.
low_halves() {
    revealing=$(find "$build" -name '*_revealing.ptx' | sort)
    # shellcheck disable=SC2086
    "$(program test_words)" "${driver:-libcuda.so.1}" built-in ${revealing:+--revealing} \
        $revealing >words
    code=$?
    sed 's/^/* /' words
    return $code
}

# The golden suite compares the CPU's bits with references; here the GPU's are compared with the
# CPU's.
same_bits() {
    echo '| series | workload | accuracy | SHA-256 of the result, first 16 digits |'
    echo '|---|---|---|---|'
    for name in $series; do
        for workload in $workloads; do
            for accuracy in exact fast; do
                for devices in cpu cuda:0; do
                    on_series $devices "$workload" "$name" "$devices.csv" $accuracy || return 1
                done
                cmp cpu.csv cuda:0.csv || return 1
                echo "| $name | $workload | $accuracy | $(sha256sum <cuda:0.csv | cut -c1-16) |"
            done
        done
    done
}

# Every workload in both accuracies, on rows of one tile and of two.
sanitize() {
    bad=
    steelyard_before=$steelyard
    steelyard=./sanitized
    for accuracy in exact fast; do
        for workload in $workloads; do
            for name in $short_series; do
                on_series cuda:0 "$workload" "$name" sanitized.csv $accuracy >report 2>&1 || {
                    cat report >&2
                    bad="$bad $workload/$accuracy"
                }
            done
        done
    done
    steelyard=$steelyard_before
    echo "* $1: ${bad:+errors in}${bad:-no error}"
    [ -z "$bad" ]
}

sanitizers() {
    [ -n "$sanitizer" ] || {
        echo "* not run: there is no compute-sanitizer"
        return 0
    }
    code=0
    for tool in memcheck racecheck; do
        printf '#!/bin/sh\nexec "%s" --tool %s --error-exitcode 1 "%s" "$@"\n' "$sanitizer" $tool \
            "$steelyard" >sanitized
        chmod +x sanitized
        sanitize $tool || code=1
    done
    return $code
}

bandwidth() {
    "$(program gpu_bandwidth)" $columns ${driver:+"$driver"}
}

parts() {
    "$(program gpu_parts)" $columns ${driver:+"$driver"}
}

on_gpu devices --devices cuda:0 --json >devices.json || exit 77
on_gpu workloads | sed 1d >workloads
workloads=$(awk '{ print $1 }' workloads)
echo "## $(value description), driver $(value driver), $(date -u +%Y-%m-%d)"
echo
echo "Compute capability $(value compute_capability), steelyard" \
    "$(git -C "$tests" rev-parse --short HEAD 2>/dev/null || echo 'of an unknown commit')."
[ -z "$driver" ] || echo "The driver is $(basename "$driver"): nothing here is about hardware."
step "Driver contract" contract
step "Before rounding" low_halves
step "The same bits as the CPU" same_bits
step "compute-sanitizer" sanitizers
step "Bandwidth" bandwidth
step "Two parts of the GPU" parts
exit $failed
