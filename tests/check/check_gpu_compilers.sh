#!/bin/sh
# A compiler that is there but cannot compile for GPUs is left out when a build is set up, with a
# warning that has its error; where GPU kernels are asked for and no other is there, setting up
# fails. Usage: check_gpu_compilers.sh SOURCE_ROOT
set -u
root=$1
command -v meson >/dev/null 2>&1 || { echo "meson is not in PATH: skipped"; exit 77; }
work=$(mktemp -d "${TMPDIR:-$PWD}/check-gpu-compilers-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
PATH=$work:$PATH
export PATH
unset CC # one of the names below may be in it
status=0

# broken NAME: of this name comes a compiler first that knows its version and nothing else.
broken() {
    cat >"$work/$1" <<'EOT'
#!/bin/sh
[ "$1" = --version ] && echo '1.0' && exit
printf 'In file included from a.h:1\nb.h:2: error: unsupported GNU version\n' >&2
exit 1
EOT
    chmod +x "$work/$1"
}

# set_up [OPTION]
set_up() {
    rm -rf "$work/build"
    meson setup "$work/build" "$root" -Dtests=disabled -Dbench=disabled "$@" >"$work/said" 2>&1
}

# said TEXT
said() {
    grep -q -e "$1" "$work/said" && return
    echo "setting up does not say '$1':"
    tail -n 20 "$work/said"
    status=1
}

broken nvcc
set_up || status=1
said 'nvcc cannot compile for GPUs, and is left out: b.h:2: error: unsupported GNU version'
said 'GPU kernels by *: \(clang (PTX)\|none\)'
broken clang
set_up || status=1
said 'GPU kernels by *: none'
if set_up -Dcuda=enabled; then
    echo "with -Dcuda=enabled setting up does not fail"
    status=1
fi
said 'cuda: neither an nvcc nor a clang that compiles for GPUs is here'
exit $status
