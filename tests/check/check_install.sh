#!/bin/sh
# The installed command looks for its library where it is installed, not only where ldconfig does.
# Usage: check_install.sh BUILD_ROOT COMMAND LIBDIR   (the last two as they are to be installed)
set -u
build=$1
command=$2
libdir=$3
work=$(mktemp -d "${TMPDIR:-.}/check-install-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
work=$(realpath "$work")

for tool in meson readelf; do
    command -v $tool >/dev/null 2>&1 || { echo "$tool is not in PATH: skipped"; exit 77; }
done
meson install -C "$build" --no-rebuild --tags runtime --destdir "$work" >"$work/said" 2>&1 || {
    cat "$work/said"
    exit 1
}
ls "$work$libdir"/libsteelyard.so.* >/dev/null || exit 1
readelf -d "$work$command" | grep -q "R.*PATH.*\[$libdir\]" || {
    echo "$command does not look for libraries in $libdir:"
    readelf -d "$work$command"
    exit 1
}
