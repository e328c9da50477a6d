#!/bin/sh
# The layers: who may include whom (docs/architecture.md). Usage: check_includes.sh SOURCE_ROOT
# An include with quotes is looked for beside the file and then in runtime/, kernels/ and profiles/;
# where it is found decides its layer.
set -u
cd "$1" || exit 2

# The layers that each layer may include, itself among them.
allowed() {
    case $1 in
    base) echo "base" ;;
    model) echo "base model" ;;
    profiles) echo "base model profiles" ;;
    kernels) echo "base kernels" ;;
    device) echo "base kernels device" ;;
    plan) echo "base model kernels device plan" ;;
    exec) echo "base model kernels device plan exec" ;;
    api) echo "base model profiles kernels device plan exec api" ;;
    cli) echo "cli" ;;
    bench) echo "bench" ;;
    examples) echo "examples" ;;
    esac
}

# The layer of a path from the root.
layer() {
    case $1 in
    runtime/include/*) echo public ;;
    runtime/*/*) echo "$1" | cut -d/ -f2 ;;
    kernels/*) echo kernels ;;
    profiles/*) echo profiles ;;
    bench/*) echo bench ;;
    docs/*) echo examples ;;
    *) echo unknown ;;
    esac
}

find_include() {
    for folder in "$(dirname "$1")" runtime kernels profiles runtime/include; do
        if [ -f "$folder/$2" ]; then
            echo "$folder/$2"
            return
        fi
    done
}

wrong=0
complain() {
    echo "$*"
    wrong=$((wrong + 1))
}

checked=0
for file in $(find runtime kernels profiles bench docs -name '*.[ch]' -o -name '*.cu' | sort); do
    from=$(layer "$file")
    [ "$from" = public ] && continue
    checked=$((checked + 1))
    for name in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
        found=$(find_include "$file" "$name")
        if [ -z "$found" ]; then
            # made by the build, or one of this file's own lists
            [ -n "$(find runtime kernels profiles -name "$(basename "$name")" | head -n 1)" ] ||
                case $name in *.gen.h) ;; *) complain "$file: \"$name\" is not found" ;; esac
            continue
        fi
        to=$(layer "$found")
        case " $(allowed "$from") " in
        *" $to "*) ;;
        *) complain "$file: the $from layer must not include \"$name\" of the $to layer" ;;
        esac
    done
    for name in $(sed -n 's/^ *# *include *<\([^>]*\)>.*/\1/p' "$file"); do
        case $name in
        cuda*.h | nvrtc*.h | driver_types.h)
            case $file in
            runtime/device/cuda/* | *.cu) ;;
            *) complain "$file: <$name> belongs into runtime/device/cuda and .cu files" ;;
            esac
            ;;
        nccl*.h) complain "$file: NCCL is opened at run time, by our own nccl_api.h" ;;
        esac
    done
done
# NCCL's declarations: its one user, the simulated NCCL, and what compares them with the real one.
for file in $(grep -rlE '^ *# *include *"([^"]*/)?nccl_api\.(h|def)"' runtime kernels profiles bench docs tests); do
    case $file in
    runtime/device/cuda/nccl.c | runtime/device/cuda/nccl_api.h) ;;
    tests/cuda/vnccl/internal.h | tests/cuda/test_vnccl.c) ;;
    tests/cuda/test_nccl_library.c | tests/cuda/contract/header_check.c) ;;
    *) complain "$file: NCCL's declarations are for runtime/device/cuda/nccl.c alone" ;;
    esac
done
[ "$checked" -gt 20 ] || complain "only $checked files were found under $1"
echo "$checked files, $wrong wrong includes"
[ "$wrong" -eq 0 ]
