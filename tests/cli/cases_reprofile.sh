# Measuring stored profiles again, and the budget of profile. Read by run_cli.sh.

sim="--devices sim:a,sim:b"
any="--max-load 100000 --budget 200ms"
export STEELYARD_MULTIGPU_PATH="$folder/reprofile.json"
age_by() { # makes every stored profile of the file as old as that year
    sed "s/\"updated_at\": *\"[0-9]*-/\"updated_at\": \"$1-/" reprofile.json >aged &&
        mv aged reprofile.json
}

accepts "reprofile, nothing stored" reprofile $sim
says "reprofile, nothing stored: says so" '^no profile is stored in .*/reprofile.json;'
accepts "profile --budget" profile --workload sma --sample-size 5000 --runs 1 --budget 500ms $sim
accepts "profile of a second tag" profile --sample-size 5000 --runs 1 --tag second $sim
accepts "profile by hand" ratios set a=1,b=1 --tag hand $sim
for value in 2 2x -1s nans s ''; do
    refuses "profile --budget '$value'" 2 "must be a time" profile --budget "$value" $sim
    refuses "--if-older-than '$value'" 2 "must be a time" reprofile --if-older-than "$value" $sim
done
for value in 0s 0ms 1e-400s; do
    refuses "profile --budget $value" 2 "--budget must be above 0, not '$value'" profile --budget $value $sim
    refuses "reprofile --budget $value" 2 "--budget must be above 0, not '$value'" \
        reprofile --budget $value $sim
done
for value in % x% -1% nan inf ''; do
    refuses "--if-drift '$value'" 2 "must be a part" reprofile --if-drift "$value" $sim
done
refuses "--if-drift 10" 2 "--if-drift 10 would be 1000 %; write 10% for per cent" reprofile --if-drift 10 $sim
accepts "--if-drift 1, the whole" reprofile --if-drift 1 --if-older-than 0s --tag hand $sim
cp reprofile.json before.json
accepts "reprofile of fresh ones" reprofile --if-older-than 1d --max-load 0 $sim
says "reprofile of fresh ones: says so" '^sma: fresh$'
says "reprofile: by hand" '^hand: left alone: it was set by hand$'
holds "reprofile of fresh ones changes nothing" reprofile.json <before.json
refuses "reprofile on a busy machine" 75 "the machine is busy" reprofile --max-load 0 $sim
holds "reprofile on a busy machine changes nothing" reprofile.json <before.json
refuses "reprofile of an unknown tag" 1 "no profile is stored for the tag 'zz'" \
    reprofile --tag zz $sim
refuses "reprofile of an unknown workload" 2 "no workload 'zz'" reprofile --workload zz $sim
refuses "reprofile without its device" 3 "cuda:99" reprofile --devices cuda:99
accepts "reprofile within a wide drift" reprofile --tag sma --if-drift 100000% $any $sim
says "reprofile within a wide drift: kept" '^sma: kept: '
holds "reprofile within a wide drift changes nothing" reprofile.json <before.json
age_by 2001
cp reprofile.json before.json
accepts "reprofile with a device missing" reprofile --tag sma $any --devices sim:a
says "reprofile with a device missing: kept" '^sma: kept: device b of it could not be measured$'
holds "reprofile with a device missing changes nothing" reprofile.json <before.json
if command -v flock >/dev/null; then
    flock reprofile.json.reprofile "$steelyard" reprofile $any $sim >stdout 2>err </dev/null
    report "two reprofiles: code 0" "$([ $? = 0 ] || echo "another code")"
    says "two reprofiles: the second says so" 'another reprofile is at work'
    holds "two reprofiles: the second changes nothing" reprofile.json <before.json
fi
accepts "reprofile of old ones" reprofile --if-older-than 7d --if-drift 100000% --workload sma $any $sim
says "reprofile of old ones: one line" '^sma: \(measured again\|kept: the times of . now scatter\)'
report "reprofile --workload: no other one" "$([ "$(wc -l <stdout)" = 1 ] || echo "it is")"
accepts "reprofile of a workload without a profile" reprofile --workload rsi $sim
says "reprofile of a workload without a profile: says so" '^no profile of rsi is stored in '
if command -v flock >/dev/null; then
    # Somebody forgets the first of three while the second is measured: the third has its turn.
    cp reprofile.json three.json
    accepts "a profile is forgotten" ratios clear --tag hand $sim
    mv reprofile.json two.json && mv three.json reprofile.json && mkfifo said
    exec 9>reprofile.json.lock && flock 9
    "$steelyard" reprofile $any $sim,sim:gone:fail=lost@1 >stdout 2>said </dev/null 9>&- &
    {
        read -r line # that `gone` is left out: what was measured now waits for the lock
        cut -d ' ' -f 19 /proc/$!/stat >niceness
        mv two.json reprofile.json
        exec 9>&-
        cat
    } <said >err
    wait $!
    report "profiles change while one is measured: each has its turn once" \
        "$([ "$(cut -d: -f1 stdout | paste -sd ' ' -)" = 'hand second sma' ] || echo "not so")"
    report "reprofile lets everybody else go first" "$([ "$(cat niceness)" -ge 10 ] || cat niceness)"
fi

# A busy machine comes after the age: what is old enough is refused with 75, what is not is fresh.
aged() { # WHEN: the one profile is of that time
    cat >reprofile.json <<END
{"format": 1, "profiles": {"sma": {"updated_at": "$1", "ratios": {"a": 1},
 "fingerprint": {"workload": "sma"}, "costs": {}}}}
END
}
ages() { # NAME, TIMES that it is older than, TIMES that it is younger than
    for time in $2; do
        refuses "a profile of $1 is older than $time" 75 "the machine is busy" \
            reprofile --if-older-than "$time" --max-load 0 $sim
    done
    for time in $3; do
        accepts "a profile of $1 is younger than $time" reprofile --if-older-than "$time" --max-load 0 $sim
        says "a profile of $1 is younger than $time: says so" '^sma: fresh$'
    done
}
aged "$(date -u -d '90 minutes ago' +%FT%T)"
ages "90 minutes" "900ms 5000s 80m 1.4h 0.05d" "9000000ms 6000s 100m 1.6h 0.07d"
accepts "status of a profile of 90 minutes" status $sim
says "status of a profile of 90 minutes: its age" '^sma .* 1\.5 h '
export TZ=XYZ-9 # the file's times are UTC, wherever it is read
ages "90 minutes, in another time zone" 1h 2h
unset TZ
aged yesterday
ages "unknown age" 1000000d ""

# What time is short for is measured by a smaller sample, which does not take the place of a larger.
slow="--devices sim:a:speed=0.1"
rm reprofile.json
accepts "profile --budget, a short one" profile --workload sma --sample-size 1000000 --runs 1 --warmup 0 \
    --budget 5ms $slow
report "profile --budget, a short one: a smaller sample" \
    "$(grep -q '"sample_size": 1000000,' reprofile.json && echo "not so")"
accepts "profile --budget for two" profile --workload sma --sample-size 1000000 --runs 1 --warmup 0 \
    --budget 10ms $slow,sim:b:speed=0.1 --tag two
report "profile --budget for two: they share it" \
    "$(grep -q '"sample_size": 65536,' reprofile.json && echo "not so")"
accepts "ratios clear --tag two" ratios clear --tag two $slow
accepts "profile without a budget" profile --workload sma --sample-size 1000000 --runs 1 --warmup 0 $slow
report "profile without a budget: the whole sample" \
    "$(grep -q '"sample_size": 1000000,' reprofile.json || echo "not so")"
report "profile without a budget: its times are one" "$(python3 - reprofile.json 2>&1 <<'END'
import json, sys
a = json.load(open(sys.argv[1]))["profiles"]["sma"]["costs"]["a"]
assert a["median_ms"] >= 10, a # as 0.1 of a hundred million elements a second says
assert abs(a["median_ms"] * 1e6 / a["sample_size"] / a["ns_per_element"] - 1) < 1e-9, a
END
)"
accepts "reprofile --budget, a short one" reprofile --max-load 100000 --budget 5ms $slow
# On a busy machine its times may scatter, which is told first.
says "reprofile --budget, a short one: kept" '^sma: kept: \(a had time for a sample of\|the times of a now scatter\)'

accepts "profile of a large sample" profile --workload sma --sample-size 1500000 --runs 1 --devices sim:a --tag large
accepts "reprofile of a large sample" reprofile --tag large --max-load 100000 --devices sim:a
report "reprofile of a large sample: by its like" \
    "$(grep -q '"sample_size": 1500000,' reprofile.json || echo "not so")"

# What another device had to take over says nothing of the one that failed.
"$steelyard" profile --workload sma --sample-size 4096 --runs 1 --tag failed --devices sim:a:fail=launch@1,sim:b \
    >stdout 2>err </dev/null
report "profile of a device that fails: it is left out" "$([ $? = 0 ] && grep -q 'a is left out of the profile' err &&
    grep -q '^b  *1\.0000$' stdout && ! grep -q '^a ' stdout || echo "not so")"

# An operation is a copy or a launch, three a call, and a call here is longer than the clock needs.
for request in "2 0 6" "1 2 9" "3 1 12"; do
    set -- $request
    for lost in $3 $(($3 + 1)); do
        "$steelyard" profile --workload sma --sample-size 4096 --runs $1 --warmup $2 \
            --devices sim:a:latency=3ms:fail=lost@$lost >stdout 2>err </dev/null
        code=$?
        report "profile --runs $1 --warmup $2 of a device that is lost in operation $lost" \
            "$([ $code = $((lost == $3 ? 3 : 0)) ] || echo "code $code")"
    done
done
unset STEELYARD_MULTIGPU_PATH
