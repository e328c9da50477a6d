#!/bin/sh
# run_on_gpu.sh on the simulated driver: the form of the section that it prints, and its exit code
# when a step fails. No figure is looked at.
# check_run_on_gpu.sh BUILD DRIVER STUB_DRIVER
set -u
script=$(realpath "$(dirname "$0")/run_on_gpu.sh")
build=$(realpath "$1") driver=$(realpath "$2") stub=$(realpath "$3") failures=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export VCUDA_SETUP='gpus=1;*:name=NVIDIA H100,sms=132,cc=9.0' TEST_WORDS_ONLY=ema

# One that runs what it is given and notes it; it finds fault with the tool and workload in BROKEN.
cat >sanitizer <<'EOT'
#!/bin/sh
[ "$1 $3 $4" = "--tool --error-exitcode 1" ] || exit 2
tool=$2
shift 4
case "$*" in
*'--accuracy fast'*) accuracy=fast ;;
*) accuracy=exact ;;
esac
echo "$tool $3 $accuracy" >>sanitized
"$@" || exit 3
[ "$tool $3 $accuracy" != "${BROKEN:-}" ]
EOT
chmod +x sanitizer
sed -i "s|sanitized\$|$work/sanitized|" sanitizer
export COMPUTE_SANITIZER="$work/sanitizer"

complain() {
    echo "FAILED $*"
    failures=$((failures + 1))
}

# has COUNT PATTERN: so many lines of the section are as the pattern.
has() {
    count=$(grep -c -E -e "$2" section)
    [ "$count" -eq "$1" ] || complain "$name: $count lines as '$2', not $1"
}

# run NAME CODE DRIVER
run() {
    name=$1
    sh "$script" "$build" "$3" >section 2>errors
    code=$?
    [ $code -eq "$2" ] || {
        complain "$name: exit code $code, not $2"
        cat section errors
    }
}

number='[0-9]+\.[0-9]{3}'
CONTRACT_PAGE=$work/marked run "all well" 0 "$driver"
has 1 "^## NVIDIA H100, driver CUDA 13\.0, $(date -u +%Y)-[0-9]{2}-[0-9]{2}$"
has 1 '^Compute capability 9\.0, steelyard '
has 1 'nothing here is about hardware'
has 6 '^### '
has 0 FAILED
has 1 '^\* verified: (`[a-z.-]+`, ){50,}`[a-z.-]+`$'
has 1 '^\* failed: none$'
has 1 '^\* built-in: [1-9][0-9]* words, 0 differ$'
has 16 '^\| talib_ref252_1d \| [a-z_]+ \| exact \| [0-9a-f]{16} \|$'
has 16 '^\| talib_ref252_1d \| [a-z_]+ \| fast \| [0-9a-f]{16} \|$'
[ "$(sed -n 's/^| talib.*| \([0-9a-f]*\) |$/\1/p' section | sort -u | wc -l)" -gt 20 ] ||
    complain "fast and exact results are the same"
has 1 '^\* memcheck: no error$'
has 1 '^\* racecheck: no error$'
has 1 '^\| copy inside the device, read and write \| [0-9.]+ \| 1 \| \| \|$'
has 16 "^\| [a-z_]+ \| [0-9.]+ \| $number \| [0-9.]+ \| $number \|$"
has 1 '\| H100/96 alone, ms \| H100/36 alone, ms \| ideal, ms \| together, ms \| efficiency \|$'
has 6 "^\| [a-z_]+ \| (host|GPU) \| $number \| $number \| $number \| $number \| $number \|$"
[ "$(sort -u sanitized | wc -l)" -eq 64 ] || complain "not every workload was sanitized"

# The page of the contract: each line that held says so, no other line and nothing else has changed.
page=$(dirname "$script")/../../docs/driver-contract.md
held=$(sed -n 's/^\* verified: //p' section | tr ',' '\n' | grep -c '`')
[ "$(grep -c 'verified on libvcuda.so, which is no hardware |$' marked)" -eq "$held" ] ||
    complain "$held lines of the contract held, others are marked"
sed 's/| verified on libvcuda.so, which is no hardware |$/| assumed |/' marked |
    diff - "$page" || complain "more than the states was written"

# Each step's failure is the script's, and the others go on.
export BROKEN='racecheck ema fast'
VCUDA_FAULT='call=cuGreenCtxCreate,times=0,error=CUDA_ERROR_NOT_SUPPORTED' \
    CONTRACT_PAGE=$work/marked run "the sanitizer finds something, no parts" 1 "$driver"
has 1 '^\* memcheck: no error$'
has 1 '^\* racecheck: errors in ema/fast$'
has 1 '^\*\*FAILED: compute-sanitizer\*\*$'
has 1 '^\*\*FAILED: Driver contract\*\*$'
has 1 '^\*\*FAILED: Two parts of the GPU\*\*$'
has 3 FAILED
has 16 "^\| [a-z_]+ \| [0-9.]+ \| $number \| [0-9.]+ \| $number \|$"
grep -q 'CUDA_ERROR_NOT_SUPPORTED' errors || complain "$name: no reason"
grep -q '^| `green.context` .* | fails on libvcuda.so, which is no hardware |$' marked ||
    complain "$name: the page does not say what fails"
unset BROKEN COMPUTE_SANITIZER # what follows is not about that
VCUDA_FAULT='call=cuLaunchKernel,after=1,times=0,error=CUDA_ERROR_INVALID_VALUE' \
    run "kernels that do not run" 1 "$driver"
has 1 '^\* not run: there is no compute-sanitizer$'
has 1 '^\*\*FAILED: Before rounding\*\*$'
has 1 '^\*\*FAILED: Bandwidth\*\*$'
run "no GPU" 77 "$stub"
has 0 .

# The parts follow what the GPU has.
parts=$(find "$build" -type f -name gpu_parts -perm -u+x)
for gpu in '170,cc=12.0 120 50' '40,cc=7.5 30 10' '16,cc=8.6 12 4'; do
    # shellcheck disable=SC2086
    set -- $gpu
    name="parts of $1"
    VCUDA_SETUP="gpus=1;*:sms=$1" "$parts" 5000 "$driver" >section 2>errors || complain "$name"
    has 1 "\| Virtual/$2 alone, ms \| Virtual/$3 alone, ms \|"
done
echo "$failures failed"
[ $failures -eq 0 ]
