#!/bin/sh
# Everything that has to pass: the release build, then the same tests with sanitizers. Called by
# `./dev test` in a tree that is set up. The last line counts the test programs.
set -u
passed=0
failed=0

# run FOLDER SUITE...: builds what suites of one configured folder need, runs them, and counts. Of
# the build only what the compiler has to say is shown.
run() {
    folder=$1
    shift
    suites=
    for suite in "$@"; do suites="$suites --suite $suite"; done
    # shellcheck disable=SC2086
    meson test -C "$folder" --print-errorlogs $suites 2>&1 | tee "$folder/summary.txt" |
        grep -v -E '^ninja: (Entering|no work)|^\[[0-9]+/[0-9]+\] (Compiling|Linking|Generating|Copying)'
    ok=$(sed -n 's/^Ok: *\([0-9]*\).*/\1/p' "$folder/summary.txt")
    bad=$(sed -n -e 's/^Fail: *\([0-9]*\).*/\1/p' -e 's/^Timeout: *\([0-9]*\).*/\1/p' \
        -e 's/^Unexpected Pass: *\([0-9]*\).*/\1/p' "$folder/summary.txt" |
        awk '{ sum += $1 } END { print sum + 0 }')
    passed=$((passed + ${ok:-0}))
    failed=$((failed + bad))
    [ -n "$ok" ] || failed=$((failed + 1))
}

# configure FOLDER OPTION...: once.
configure() {
    folder=$1
    shift
    [ -f "$folder/build.ninja" ] || meson setup "$folder" "$@" >"$folder.setup.log" 2>&1 || {
        cat "$folder.setup.log"
        failed=$((failed + 1))
    }
    rm -f "$folder.setup.log"
}

echo "== release build"
run build unit golden fuzz plain cuda cli check compilers

# What a sanitizer adds to the kernels is slow to optimise: it is to call functions for that. To
# describe it for a debugger is slower: lines are enough. AddressSanitizer itself sees what leaves an
# object, by whatever pointer, and the processor what is read by none.
echo "== AddressSanitizer and UndefinedBehaviorSanitizer"
by_calls=--param=asan-instrumentation-with-call-threshold=0
configure build-asan -Dbuildtype=debugoptimized -Doptimization=1 \
    -Dc_args="-g1 -fno-sanitize=object-size,pointer-overflow,null $by_calls" \
    -Db_sanitize=address,undefined -Db_lundef=false -Dstarpu=disabled
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
run build-asan unit plain cli

echo "== ThreadSanitizer"
# libgomp is not instrumented, so OpenMP's own synchronisation would be reported.
configure build-tsan -Dbuildtype=debugoptimized -Doptimization=1 -Dc_args=-g1 \
    -Db_sanitize=thread -Db_lundef=false -Dopenmp=disabled -Dbench=disabled
export TSAN_OPTIONS=halt_on_error=1
run build-tsan plain

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
