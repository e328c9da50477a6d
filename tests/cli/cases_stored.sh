# Stored ratios, thresholds and profiles. Read by run_cli.sh.

sim="--devices sim:a,sim:b"
accepts "ratios show, nothing stored" ratios show $sim
says "ratios show, nothing stored: it says so" "no ratios are stored"
accepts "ratios set, no tag and nothing stored" ratios set a=1,b=1 $sim
says "ratios set, no tag and nothing stored: the tag" "^stored for the tag 'default'"
accepts "ratios clear" ratios clear $sim
accepts "ratios set" ratios set a=1,b=1 --tag mine $sim
accepts "ratios set, no tag" ratios set a=3,b=1 $sim
says "ratios set, no tag: the one written last" "^stored for the tag 'mine'"
accepts "ratios show" ratios show $sim
says "ratios show: normalised" '^mine *a *0.7500'
accepts "ratios show --tag" ratios show --tag mine $sim
refuses "ratios show of an unknown tag" 1 \
    "no ratios are stored for the tag 'other'.*'steelyard profile --workload W --tag other'" \
    ratios show --tag other $sim
refuses "ratios show of a workload" 1 "'steelyard profile --workload sma' measures them" \
    ratios show --tag sma $sim
refuses "ratios show of a workload in fast accuracy" 1 \
    "'steelyard profile --workload sma --accuracy fast --dtype f32' measures them" \
    ratios show --tag sma_fast_f32 $sim
refuses "ratios show of what has no fast tag" 1 "same in both accuracies: its tag is 'rolling_min_f32'" \
    ratios show --tag rolling_min_fast_f32 $sim
for value in a=0 a=-1 a=nan a zz=1 a=1,a=1 ''; do
    refuses "ratios set '$value'" 2 "ratio" ratios set "$value" $sim
done
refuses "ratios without a verb" 2 "needs one of show, set and clear" ratios
refuses "ratios with another verb" 2 "not 'list'" ratios list
refuses "ratios set without a list" 2 "needs NAME=R" ratios set
refuses "ratios show with a list" 2 "takes no list" ratios show a=1
accepts "ratios clear --tag" ratios clear --tag mine $sim
refuses "ratios are cleared" 1 "no ratios are stored" ratios show --tag mine $sim

key="bollinger_bands:{'period': 20, 'size': 10000}"
accepts "thresholds show, nothing stored" thresholds show
says "thresholds show, nothing stored: it says so" "no thresholds are stored"
accepts "thresholds set" thresholds set "$key" --cpu-ms 100 --gpu-ms 40
accepts "thresholds set again" thresholds set "$key" --cpu-ms=200 --gpu-ms=60
accepts "thresholds show" thresholds show
says "thresholds show: averages" "^ *150 *50 *2  bollinger_bands"
accepts "thresholds set of times with many digits" thresholds set digits --cpu-ms 1234.56 --gpu-ms 0.00123456
accepts "thresholds show of times with many digits" thresholds show digits
says "thresholds show of times with many digits: them" '^ *1234\.56 *0\.00123456 *1  digits'
long=$(printf '%0600d' 1)
accepts "thresholds set of a long key" thresholds set "$long" --cpu-ms 1 --gpu-ms 1
accepts "thresholds show of a long key" thresholds show "$long"
says "thresholds show of a long key: the whole" " $long\$"
refuses "thresholds set without a key" 2 "needs KEY" thresholds set --cpu-ms 1 --gpu-ms 1
refuses "thresholds set without a time" 2 "needs KEY" thresholds set "$key" --cpu-ms 1
refuses "thresholds set of nan" 2 "not negative" thresholds set "$key" --cpu-ms nan --gpu-ms 1
refuses "thresholds set of -1" 2 "not negative" thresholds set "$key" --cpu-ms 1 --gpu-ms -1
refuses "thresholds show with a time" 2 "belong to thresholds set" thresholds show --cpu-ms 1
for word in first "'first'"; do
    refuses "thresholds set with the word of a choice, $word" 2 \
        "KEY has a word for 'seed_with'; write its index, 1 for first" \
        thresholds set "ema_fast:{'period': 20, 'seed_with': $word, 'size': 10}" --cpu-ms 1 --gpu-ms 1
done
for pairs in "'period':20, 'size': 10" "'period': 20,'size': 10" "'period' : 20, 'size': 10" \
    '"period": 20, "size": 10' "'perod': 20, 'size': 10" "'period': 20" "'period': 0, 'size': 10" \
    "'period': 2.5, 'size': 10" "'size': 10, 'size': 20" "'size': 0" "'size': 10, " "'size': 10}" \
    "'seed_with': 2, 'size': 10" "'size': x" ''; do
    refuses "thresholds set of {$pairs}" 2 \
        "KEY is not understood from here on: .*; write it like ema:{'period': 20, 'seed_with': 0, 'size': 1000}\$" \
        thresholds set "ema:{$pairs}" --cpu-ms 1 --gpu-ms 1
done
refuses "thresholds set of a key without an end" 2 "from here on: (its end); write it like sum_fast:{'size': 1000}" \
    thresholds set "sum_fast:{'size': 10" --cpu-ms 1 --gpu-ms 1
refuses "thresholds set of a key without braces" 2 "from here on: :10; write" thresholds set sum:10 --cpu-ms 1 --gpu-ms 1
refuses "thresholds set of a fast key of what is the same" 2 "same in both accuracies: begin KEY with 'min:'" \
    thresholds set "min_fast:{'size': 10}" --cpu-ms 1 --gpu-ms 1
for pairs in "'period': 20, 'seed_with': 1, 'size': 10" "'size': 1e3" "'size': 10.0, 'period': 2e1"; do
    accepts "thresholds set of {$pairs}" thresholds set "ema:{$pairs}" --cpu-ms 1 --gpu-ms 1
done
accepts "thresholds clear" thresholds clear "$key"
accepts "thresholds are cleared" thresholds show

accepts "profile" profile --sample-size 20000 --runs 1 --warmup 0 --seed 3 $sim
says "profile prints ratios" '^a *[01]\.[0-9]'
says "profile says where" 'multigpu.json'
accepts "profile is stored" ratios show --tag bollinger $sim
# Which workloads have a tag of their own for fast is known to the command, and to `profile`.
for workload in $("$steelyard" workloads | sed '1d; s/ .*//'); do
    hint="'steelyard profile --workload $workload --accuracy fast' measures"
    "$steelyard" ratios show --tag "${workload}_fast" 2>&1 | grep -q "$hint" && tag=${workload}_fast || tag=$workload
    accepts "profile of fast $workload" profile --workload "$workload" --accuracy fast --sample-size 4096 --runs 1 \
        --warmup 0 $cpu
    says "profile of fast $workload: the tag" "under the tag '$tag'"
    accepts "ratios clear --tag $tag" ratios clear --tag "$tag"
done
accepts "profile of a fast workload" profile --workload sum --accuracy fast --sample-size 20000 --runs 1 $sim
says "fast costs have a tag of their own" "under the tag 'sum_fast'"
accepts "reprofile measures it in fast again" reprofile --tag sum_fast --max-load 1000000 $sim
says "reprofile keeps the tag" '^sum_fast: '
report "reprofile keeps the accuracy" "$(grep -q '"accuracy": "fast"' state/steelyard/multigpu.json || echo "not so")"
accepts "profile of floats" profile --workload sum --dtype f32 --sample-size 20000 --runs 1 $sim
says "the costs of floats have a tag of their own" "under the tag 'sum_f32'"
accepts "reprofile measures floats again" reprofile --tag sum_f32 --max-load 1000000 $sim
says "reprofile keeps the tag of floats" '^sum_f32: '
report "reprofile keeps the dtype" "$(grep -q '"dtype": "f32"' state/steelyard/multigpu.json || echo "not so")"
refuses "profile of another dtype" 2 "must be f64 or f32, not 'f16'" profile --dtype f16
refuses "profile of an unknown workload" 2 "did you mean bollinger" profile --workload bolinger
refuses "profile of no runs" 2 "whole number" profile --runs 0
refuses "profile of a word" 2 "did you mean\|no option\|too many" profile bollinger

printf 'close\n1\n2\n3\n' >in.csv
echo '{"ratios": {' >damaged.json
STEELYARD_MULTIGPU_PATH=$folder/damaged.json "$steelyard" run sma --input in.csv --output out.csv \
    --period 2 $sim >stdout 2>err
report "damaged profile: a warning, and work goes on" "$([ $? = 0 ] && [ -e out.csv ] &&
    grep -q '^steelyard: warning: ' err || echo "failed")"
printf 'close,sma\n1,nan\n2,1.5\n3,2.5\n' >wanted
holds "damaged profile: result" out.csv <wanted

export STEELYARD_MULTIGPU_PATH="$folder/led_to.json"
ln -s nowhere.json led_to.json
refuses "profile by a link to no file" 1 "led_to.json': it is a link that leads to no file; remove it" \
    ratios set a=1,b=1 $sim
report "profile by a link to no file: it stays" "$([ -L led_to.json ] && [ ! -e led_to.json ] || echo "changed")"
rm led_to.json
accepts "profile of one's own" ratios set a=1,b=1 $sim
if [ "$(id -u)" = 0 ]; then
    chown 12345:12346 led_to.json && chmod 600 led_to.json
    accepts "somebody's profile" ratios set a=2,b=1 $sim
    report "profile: the owner stays" \
        "$([ "$(stat -c %u:%g:%a led_to.json)" = 12345:12346:600 ] || echo "changed")"
fi
unset STEELYARD_MULTIGPU_PATH

# A user without a home folder: what computes goes on, what would store says what to set.
homeless="setpriv --reuid 54321 --clear-groups env -u HOME -u XDG_STATE_HOME"
no_place='no place for multigpu.json: .*; set HOME or XDG_STATE_HOME'
if [ "$(id -u)" = 0 ] && ! getent passwd 54321 >/dev/null && (cd / && $homeless test -x "$steelyard") 2>/dev/null; then
    (cd / && $homeless "$steelyard" run sma --input - --output - --period 2 $sim) <in.csv >out.csv 2>err
    report "no home: run" "$([ $? = 0 ] && [ "$(wc -l <err)" = 1 ] &&
        grep -q "^steelyard: warning: $no_place" err || echo "failed")"
    holds "no home: run: result" out.csv <wanted
    for words in devices workloads status 'status --format json' 'plan sma --size 100000'; do
        (cd / && $homeless "$steelyard" $words $sim) >stdout 2>err
        report "no home: $words" "$([ $? = 0 ] && [ "$(wc -l <err)" -le 1 ] || echo "failed")"
    done
    for words in profile reprofile 'ratios show' 'ratios set a=1' 'ratios clear'; do
        (cd / && $homeless "$steelyard" $words $sim) >stdout 2>err
        report "no home: $words" "$([ $? = 1 ] && [ "$(wc -l <err)" = 1 ] &&
            grep -q "^steelyard: $no_place" err || echo "failed")"
    done
fi

mkdir -p locked
: >locked/file
export STEELYARD_MULTIGPU_PATH="$folder/locked/file/multigpu.json"
refuses "profile folder that cannot be" 1 "multigpu.json" ratios set a=1,b=1 $sim
unset STEELYARD_MULTIGPU_PATH
if [ "$(id -u)" != 0 ]; then
    chmod a-w locked
    export STEELYARD_MULTIGPU_PATH="$folder/locked/multigpu.json"
    refuses "profile folder read-only" 1 "multigpu.json" ratios set a=1,b=1 $sim
    unset STEELYARD_MULTIGPU_PATH
fi

# What status shows of a profile that runs have corrected since it was measured.
cat >corrected.json <<'END'
{"format": 1, "profiles": {"sma": {"updated_at": "2026-01-02T03:04:05", "ratios": {"a": 0.6, "b": 0.4},
 "fingerprint": {}, "costs": {"a": {"phases": {}}, "b": {"phases": {}, "drift": 1.25}}}}}
END
STEELYARD_MULTIGPU_PATH=$PWD/corrected.json
export STEELYARD_MULTIGPU_PATH
accepts "status" status $sim
says "status: devices" '^a  *simulated  *ok'
says "status: the drift" '^sma  *2026-01-02T03:04:05  *[0-9.]* h  *b +25 %$'
accepts "status as JSON" status --format json $sim
report "status as JSON: the drift" "$(python3 - stdout 2>&1 <<'END'
import json, sys
profile, = json.load(open(sys.argv[1]))["profiles"]
assert profile["tag"] == "sma" and profile["age_seconds"] > 0, profile
assert [(d["name"], d["ratio"], d["drift"]) for d in profile["devices"]] == [
    ("a", 0.6, 1), ("b", 0.4, 1.25)], profile
END
)"
accepts "status for Prometheus" status --format prometheus $sim
says "status for Prometheus: a device" '^steelyard_device_available{device="a"} 1$'
says "status for Prometheus: the age" '^steelyard_profile_age_seconds{tag="sma"} [0-9]*$'
says "status for Prometheus: the drift" '^steelyard_profile_drift_ratio{tag="sma",device="b"} 1.25$'

# Half the time is as far away as twice.
sed -i 's/"a": {"phases": {}}/"a": {"phases": {}, "drift": 0.5}/' corrected.json
accepts "status of a device that became faster" status $sim
says "status of a device that became faster: the drift" ' a -50 %$'

# Other programs' ways to write UTC; of anything else the age is not known.
for at in 2026-01-02T03:04:05Z 2026-01-02T03:04:05.25 2026-01-02T03:04:05+00:00; do
    echo "{\"updated_at\": \"$at\", \"workload_tag\": \"sma\", \"ratios\": {\"a\": 1}}" >corrected.json
    accepts "status of $at" status --format prometheus $sim
    says "status of $at: the age" '^steelyard_profile_age_seconds{tag="sma"} [0-9]*$'
done
for at in yesterday 2026-01-02T03:04:05+05:00 2026-02-30T03:04:05; do
    echo "{\"updated_at\": \"$at\", \"workload_tag\": \"sma\", \"ratios\": {\"a\": 1}}" >corrected.json
    accepts "status of $at" status $sim
    says "status of $at: no age" "^sma  *$at  *-  "
done
unset STEELYARD_MULTIGPU_PATH

# Runs are one call each: the third strange one in a row corrects the profile, which says that `a` is
# ten times faster than it is; others may disturb some of them.
STEELYARD_MULTIGPU_PATH=$PWD/followed.json
export STEELYARD_MULTIGPU_PATH
awk 'BEGIN { print "close"; for (i = 0; i < 300000; i++) print i % 97 }' >long.csv
accepts "a profile to follow" profile --workload sma --sample-size 50000 --runs 2 \
    --devices sim:a:speed=0.01,sim:b:speed=0.01
cp followed.json before.json
accepts "a frozen run" run sma --input long.csv --output out.csv --frozen \
    --devices sim:a:speed=0.001,sim:b:speed=0.01
holds "a frozen run changes nothing" followed.json <before.json
runs=0
while [ $runs -lt 40 ] && ! grep -q '"drift": [5-9]\|"drift": 1[0-9]' stdout; do
    runs=$((runs + 1))
    "$steelyard" run sma --input long.csv --output out.csv --devices sim:a:speed=0.001,sim:b:speed=0.01 \
        >stdout 2>err </dev/null || break
    "$steelyard" status --format json $sim >stdout 2>err </dev/null
done
report "runs of one call each correct the profile" \
    "$([ $runs -ge 3 ] && [ $runs -lt 40 ] || echo "after $runs runs")"
unset STEELYARD_MULTIGPU_PATH

# Ratios of costs that are not believed are a guess, and plan says so.
export STEELYARD_MULTIGPU_PATH="$folder/unbelieved.json"
accepts "a profile not to be believed" profile --workload sma --sample-size 20000 --runs 1 --warmup 0 $sim
accepts "plan by a profile" plan sma --size 100000000 $sim
says "plan by a profile: the reason" '^the measured costs'
python3 - unbelieved.json <<'END'
import json, sys
file = json.load(open(sys.argv[1]))
a = file["profiles"]["sma"]["costs"]["a"]["phases"]
for phase, fixed, each in ("copy_in", 1000000, 1), ("compute", 0, 3), ("copy_out", 5000000, 2):
    a[phase] = {"fixed_ns": fixed, "per_element_ns": [each], "until_elements": [], "spread": 0.1}
json.dump(file, open(sys.argv[1], "w"), indent=1)
END
accepts "plan --json by a profile" plan sma --size 1000000 --ratios a=1 --json $sim
report "plan --json by a profile: the times" "$(python3 - stdout 2>&1 <<'END'
import json, sys
plan = json.load(open(sys.argv[1]))
a, b = plan["devices"]
times = [a[name + "_ms"] for name in ("predicted", "copy_in", "compute", "copy_out")]
assert all(abs(t - ms) < 1e-9 for t, ms in zip(times, (12, 2, 3, 7))), times
assert a["limited_by"] == "copy out" and a["left_out"] is None, a
assert b["predicted_ms"] is None and b["tiles"] == 0 and b["left_out"] == "has no ratio", b
END
)"
cp unbelieved.json believed.json
for damage in '"fixed_ns": 0/"fixed_ns": -5' '"compute": {/"compute": 7, "other": {' '"phases"/"drift": -1, "phases"'; do
    sed "s/$damage/" believed.json >unbelieved.json
    warns "damaged costs, $damage" "'.*unbelieved.json' has damaged .costs. of a for 'sma'; going on without them; run 'profile'" \
        run sma --input long.csv --output out.csv --frozen --devices sim:a,sim:other --ratios a=1,other=1
done
cp believed.json unbelieved.json
sed -i 's/"workload_version": [0-9]*/"workload_version": 999/' unbelieved.json
accepts "plan by a profile that is not believed" plan sma --size 100000000 $sim
says "plan by a profile that is not believed: the reason" '^a guess, the ratios of a profile that is not believed'
unset STEELYARD_MULTIGPU_PATH

# Ratios of devices that are all absent.
export STEELYARD_MULTIGPU_PATH="$folder/absent.json"
accepts "ratios set for two" ratios set a=1,b=3 $sim
accepts "plan without either" plan sma --size 3000000 --devices sim:c,sim:d --tag default
says "plan without either: the reason" '^no stored ratios of these devices'
"$steelyard" plan sma --size 3000000 --devices sim:c,sim:d --tag default --verbose >stdout 2>err
report "plan without either --verbose" "$(grep -q "the ratios of 'default' in .* are only for devices that are not here: a, b; nominal speeds take their place" err || echo "does not say so")"

# What is in the way of a file is named.
for suffix in tmp lock; do
    rm -f "absent.json.$suffix" && mkdir "absent.json.$suffix"
    refuses "a folder at .$suffix" 1 "absent.json.$suffix': .*; remove what is in the way" ratios set a=1 $sim
    rmdir "absent.json.$suffix"
done
mkdir absent.json.corrupt
echo '{' >absent.json
"$steelyard" ratios set a=1 $sim >stdout 2>err
report "a folder at .corrupt" "$([ $? = 1 ] && tail -n 1 err | grep -q "absent.json.corrupt': .*; remove what is in the way" || echo "is not named")"
unset STEELYARD_MULTIGPU_PATH

# What cannot be read is no empty file: a monitor has to notice.
mkdir no-file
export STEELYARD_MULTIGPU_PATH="$folder/no-file"
for format in text json prometheus; do
    refuses "status --format $format, profiles unreadable" 1 "it is a folder, not a file" \
        status --format $format $sim
    report "status --format $format, profiles unreadable: the devices all the same" \
        "$(grep -q '^a \|"a"' stdout || echo "they are not there")"
done
refuses "reprofile, profiles unreadable" 1 "it is a folder, not a file; name a file in it" reprofile $sim
unset STEELYARD_MULTIGPU_PATH
