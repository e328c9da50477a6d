#!/bin/sh
# What an interpreter cannot see of the GPU kernels: that nothing in their PTX may be contracted or
# approximated, and that the assembler neither fuses nor spills. The counts of f64 instructions in
# the machine code are golden values of one release of the toolkit; for any release they must not
# depend on whether the assembler is allowed to fuse.
# Usage: gpu_lints.sh [--update] GOLDEN [FILE..]     the built ones: nvccNN.sm_NN.cubin, with .log
# beside it, then nvccNN.ptx, clangNN.ptx
# exit 77: there are none
set -u
update=
[ "$1" != --update ] || { update=1 && shift; }
golden=$1 failures=0
shift
[ $# -gt 0 ] || exit 77
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)
ptxas=$(command -v ptxas) # without nvcc it still assembles what clang makes
[ -z "$nvcc" ] || ptxas=$(dirname "$(readlink -f "$nvcc")")/ptxas

complain() {
    echo "$1"
    failures=$((failures + 1))
}

# PTX of arithmetic that leaves bits open. Floats may be moved and converted, nothing else.
lint_ptx() {
    open=$(grep -nE '\b(add|sub|mul|mad|fma)\.(sat\.|ftz\.)*f(32|64)\b|\.approx|\.ftz|\.f32\b' "$1" |
        grep -vE '[[:space:]](cvt\.f64\.f32|cvt\.rn\.f32\.f64|mov\.f32|\.reg \.f32)[[:space:]]' |
        head -3)
    [ -z "$open" ] || complain "$(basename "$1"): bits are left to the hardware: $open"
    grep -q 'fma\.rn\.f64' "$1" || complain "$(basename "$1"): no f64 arithmetic at all?"
}

# "KERNEL DADD n DMUL n DFMA n DSETP n" for each kernel of a cubin (DSETP compares). An instruction
# has 16 bytes, the low 9 bits are the operation.
count_f64() {
    readelf -SW "$1" 2>/dev/null | sed 's/^ *\[ *[0-9]*\] *//' |
        awk '$1 ~ /^\.text\./ { print $1, $4, $5 }' | LC_ALL=C sort |
        while read -r name offset size; do
            od -An -v -w16 -tx4 -j $((0x$offset)) -N $((0x$size)) "$1" |
                awk -v name="${name#.text.}" '
                    substr($1, 6, 1) ~ /[02468ace]/ { n[substr($1, 7, 2)]++ }
                    END { print name, "DADD", n["29"] + 0, "DMUL", n["28"] + 0,
                        "DFMA", n["2b"] + 0, "DSETP", n["2a"] + 0 }'
        done
}

# A cubin with the assembler's log beside it: of each kernel it says that nothing is spilled. Counts
# the instructions.
lint_code() {
    name=$(basename "$1" .cubin) log=${1%.cubin}.log
    counts=$work/$name.counts
    count_f64 "$1" >"$counts"
    grep -q 'DFMA [1-9]' "$counts" || complain "$name: no DFMA counted"
    while read -r kernel _; do
        grep -q "properties for $kernel\$" "$log" || complain "$name: no word on $kernel in its log"
    done <"$counts"
    spills=$(grep -E '[1-9][0-9]* bytes (stack frame|spill)' "$log" | head -1)
    [ -z "$spills" ] || complain "$name: $spills"
}

# One PTX for one architecture.
assemble() {
    out=$work/$(basename "$1" .ptx).$2
    if "$ptxas" --fmad=false -v -arch="$2" "$1" -o "$out.cubin" 2>"$out.log"; then
        lint_code "$out.cubin"
    else
        complain "$(basename "$1") for $2: $(head -2 "$out.log")"
    fi
}

# Nothing in it can be fused, allowed or not.
cannot_fuse() {
    out=$work/$(basename "$1" .ptx).$2
    "$ptxas" --fmad=true -arch="$2" "$1" -o "$out.fused" 2>/dev/null
    count_f64 "$out.fused" | cmp -s - "$out.counts" ||
        complain "$(basename "$1") for $2: the assembler found something to fuse"
}

by_nvcc=
for file in "$@"; do
    case $file in
    *.cubin) by_nvcc=1 && lint_code "$file" ;;
    *.ptx) lint_ptx "$file" ;;
    esac
    [ -n "$ptxas" ] || continue
    case $(basename "$file") in
    clang*.ptx)
        for code in sm_75 sm_90 sm_120; do
            assemble "$file" "$code"
        done
        ;;
    nvcc75.ptx)
        cannot_fuse "$file" sm_75
        # The newest stands for the later ones, for which the driver compiles it.
        assemble "$file" "$("$nvcc" --list-gpu-code | sort -t_ -k2n | tail -1)"
        ;;
    nvcc100.ptx) cannot_fuse "$file" sm_120 ;;
    esac
done

if [ -n "$by_nvcc" ]; then
    release=$("$nvcc" --version | sed -n 's/.*, V\([0-9.]*\)$/\1/p')
    {
        echo "nvcc $release"
        for each in nvcc75.sm_75 nvcc75.sm_90 nvcc100.sm_120; do
            sed "s/^/${each#*.} /" "$work/$each.counts"
        done
    } >"$work/counts"
    if [ -n "$update" ]; then
        cp "$work/counts" "$golden"
    elif [ "$(head -1 "$golden")" != "nvcc $release" ]; then
        echo "the golden counts are of $(head -1 "$golden"), this is $release: not compared"
    else
        diff "$golden" "$work/counts" || complain "the machine code's f64 instructions changed"
    fi
else
    [ -n "$ptxas" ] || echo "neither nvcc nor ptxas: machine code is not checked"
fi
[ $failures -eq 0 ]
