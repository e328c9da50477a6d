# Measuring stored profiles again, and the budget of profile. Read by run_cli.sh.

sim="--devices sim:a,sim:b"
any="--max-load 100000 --budget 200ms"
export STEELYARD_MULTIGPU_PATH="$folder/reprofile.json"
age_by() { # makes every stored profile of the file as old as that year
    sed "s/\"updated_at\": *\"[0-9]*-/\"updated_at\": \"$1-/" reprofile.json >aged &&
        mv aged reprofile.json
}

accepts "reprofile, nothing stored" reprofile $sim
report "reprofile, nothing stored: says nothing" "$([ ! -s stdout ] || echo "it does")"
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
accepts "reprofile of old ones" reprofile --if-older-than 7d --workload sma $any $sim
says "reprofile of old ones: one line" '^sma: \(measured again\|kept: the times of . now scatter\)'
report "reprofile --workload: no other one" "$([ "$(wc -l <stdout)" = 1 ] || echo "it is")"
if command -v flock >/dev/null; then
    # Somebody forgets the first of three while the second is measured: the third has its turn.
    cp reprofile.json three.json
    accepts "a profile is forgotten" ratios clear --tag hand $sim
    mv reprofile.json two.json && mv three.json reprofile.json && mkfifo said
    exec 9>reprofile.json.lock && flock 9
    "$steelyard" reprofile $any $sim,sim:gone:fail=lost@1 >stdout 2>said </dev/null 9>&- &
    {
        read -r line # that `gone` is left out: what was measured now waits for the lock
        mv two.json reprofile.json
        exec 9>&-
        cat
    } <said >err
    wait $!
    report "profiles change while one is measured: each has its turn once" \
        "$([ "$(cut -d: -f1 stdout | paste -sd ' ' -)" = 'hand second sma' ] || echo "not so")"
fi
unset STEELYARD_MULTIGPU_PATH
