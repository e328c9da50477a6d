#!/bin/sh
# Flags that change results are refused when a build is set up, in c_args, c_link_args, CFLAGS and
# LDFLAGS; those that come another way, say with the compiler's name, when a kernel is compiled.
# Usage: check_flags.sh SOURCE_ROOT
set -u
root=$1
command -v meson >/dev/null 2>&1 || { echo "meson is not in PATH: skipped"; exit 77; }
work=$(mktemp -d "${TMPDIR:-.}/check-flags-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
status=0

# refused FLAG OPTION...: setting up fails, and says that it is for this flag.
refused() {
    flag=$1
    shift
    rm -rf "$work/build"
    if meson setup "$work/build" "$root" "$@" >"$work/said" 2>&1 ||
        ! grep -q -e "$flag changes results" "$work/said"; then
        echo "$flag is not refused:"
        tail -n 5 "$work/said"
        status=1
    fi
}

unset CFLAGS
for flag in -Ofast -ffast-math -funsafe-math-optimizations -fassociative-math -ffinite-math-only \
    -freciprocal-math -fno-signed-zeros -ffp-contract=fast -ffp-contract=on; do
    refused $flag -Dc_args="-g $flag"
done
if command -v clang >/dev/null 2>&1; then
    export CC=clang
    refused -ffp-model=fast -Dc_args=-ffp-model=fast
    unset CC
fi
refused -ffast-math -Dc_link_args=-ffast-math
LDFLAGS='-O3 -Ofast' refused -Ofast
CFLAGS='-O2 -Ofast' refused -Ofast

compile() {
    ${CC:-cc} "$@" -I"$root/kernels" -I"$root/runtime" -I"$root/runtime/include" -fsyntax-only \
        "$root/kernels/exact/total.c" >"$work/said" 2>&1
}
compile || { cat "$work/said" && status=1; }
for flag in -Ofast -ffast-math -funsafe-math-optimizations -ffinite-math-only -freciprocal-math \
    -fno-signed-zeros; do
    if compile $flag || ! grep -q 'changes results' "$work/said"; then
        echo "a kernel compiles with $flag"
        status=1
    fi
done
exit $status
