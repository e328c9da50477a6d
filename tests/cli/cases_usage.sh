# Commands, options, parameters, ratios and devices. Read by run_cli.sh.

printf 'time,close\n1,1\n2,2\n3,3\n4,4\n' >in.csv
short="--input in.csv --output out.csv $cpu"

"$steelyard" >stdout 2>err
report "without arguments: code 2" "$([ $? = 2 ] || echo "another code")"
accepts "--help" --help
says "--help lists the commands" '^  thresholds '
accepts "--version" --version
says "--version has a number" '^steelyard [0-9]*\.[0-9]*\.[0-9]*$'
for command in devices workloads run profile ratios thresholds plan reprofile status; do
    accepts "help $command" help $command
    says "help $command shows usage" "^usage: steelyard $command"
    accepts "$command --help" $command --help
done
accepts "run macd --help" run macd --help
says "run macd --help tells what it is" '^macd: moving average .*; from close to macd,signal,'
says "run macd --help shows a default" '--slow N .*default 26'
says "run macd --help shows the choices" '--seed_with WORD .*sma, first'
for command in run plan profile; do
    accepts "$command --help again" $command --help
    says "$command --help: the tags of fast runs and of floats" "name, with _fast, _f32)"
done
accepts "ratios --help again" ratios --help
says "ratios --help: which tag set means" 'set the one written last'
accepts "help after the value of an option" run --devices cpu macd --help
says "help after the value of an option is the workload's" '--slow N .*default 26'
accepts "help with nothing but an option" run --devices cpu --help
accepts "help after a value of plan" plan --size 100 sma --help
accepts "help beats errors" run sma --period 0 --nonsense --help

accepts "help run macd" help run macd
says "help run macd lists its parameters" '--slow N .*default 26'
accepts "plan macd --help" plan macd --help
says "plan macd --help lists its parameters" '--slow N .*default 26'
accepts "help --help" help --help
says "help --help lists the commands" '^  thresholds '
accepts "thresholds --help" thresholds --help
says "thresholds --help says that set adds" 'set adds one to the averages of KEY'
refuses "unknown workload after help" 2 "did you mean macd" help run mcad

refuses "unknown command" 2 "did you mean run" rum
refuses "unknown command after help" 2 "did you mean plan" help plam
refuses "unknown command, very long" 2 "xxx'; see" "$(printf '%0150d' 0 | tr 0 x)"
refuses "unknown option" 2 "did you mean --json.*steelyard devices --help" devices --jsn
refuses "unknown option of run" 2 "did you mean --input.*steelyard run sma --help" run sma --inptu in.csv
refuses "option cut short" 2 "did you mean --accuracy" run sma $short --acc fast
refuses "unknown option of every command" 2 "did you mean --nvml" devices --nvm x
refuses "unknown parameter" 2 "did you mean --period.*steelyard run sma --help" run sma $short --perod 3
refuses "option of nothing" 2 "no option --qqqqqq" run sma $short --qqqqqq 3
refuses "single dash" 2 "no option '-x'" devices -x
refuses "option without value" 2 "period needs a value" run sma $short --period
refuses "option with needless value" 2 "takes no value" devices --json=1
refuses "help with needless value" 2 "help takes no value" run --help=1
refuses "option twice" 2 "given twice" run sma $short --seed 1 --seed 2
refuses "parameter twice" 2 "given twice" run sma $short --period 2 --period 3
refuses "too many words" 2 "'ema' is one argument too many; usage: steelyard run WORKLOAD" run sma ema $short
refuses "no workload" 2 "needs a workload" run --input in.csv --output out.csv
refuses "no workload, but a parameter" 2 "needs a workload" run --period 2 --input in.csv --output out.csv
refuses "misspelt option before the workload" 2 "no option --quite (did you mean --quiet?)" run --quite sma $short
refuses "no input" 2 "needs --input" run sma --output out.csv $cpu
refuses "no output" 2 "needs --output" run sma --input in.csv $cpu
refuses "unknown workload" 2 "did you mean sma" run smaa $short
refuses "workload like no other" 2 "no workload 'foo'; 'steelyard workloads'" run foo $short
refuses "workload in capitals" 2 "did you mean sma" run SMA $short
refuses "accuracy odd" 2 "must be exact or fast" run sma $short --accuracy odd
refuses "accuracy odd in plan" 2 "must be exact or fast" plan sma --size 5 --accuracy odd
refuses "accuracy odd in profile" 2 "must be exact or fast" profile --accuracy odd
refuses "dtype odd" 2 "must be f64 or f32, not 'i8'" run sma $short --dtype=i8
for value in -1 9223372036854775808 1e19 1.5 + - ''; do
    refuses "seed '$value'" 2 "whole number" run sma $short --period 2 --seed "$value"
done
for value in 9223372036854775807 +9007199254740993 1e3; do
    accepts "seed $value" run sma $short --period 2 --seed $value --report seed.json
    [ $value = 1e3 ] && value=1000
    cp seed.json stdout
    says "seed $value is taken as it is" "\"seed\": ${value#+},"
done
tag=$(printf '%064d' 0)
escape=$(printf 'a\033[31mb')
for command in "run sma $short --period 2" "plan sma --size 5" "profile" "reprofile" "ratios show"; do
    refuses "tag of 64 bytes: $command" 2 "must have 1 to 63 bytes, not the 64" $command --tag "$tag"
    refuses "tag without a byte: $command" 2 "must have 1 to 63 bytes" $command --tag ''
    refuses "tag that steers the terminal: $command" 2 "control character, 0x1b, as its byte 2" \
        $command --tag "$escape"
done
accepts "tag of 63 bytes" run sma $short --period 2 --tag "${tag%0}"
refuses "name that steers the terminal" 1 "cannot read 'a?\[31mb.csv'" run sma --input "$escape.csv" \
    --output out.csv $cpu
for verb in show clear "set --cpu-ms 1 --gpu-ms 1"; do
    refuses "key that steers the terminal: $verb" 2 "KEY has a control character, 0x1b" \
        thresholds ${verb%% *} "$escape" ${verb#"${verb%% *}"}
done
refuses "device odd" 2 "device 'gpu': use auto, cpu or cuda" run sma $short --device gpu --period 2
refuses "device cuda without one" 3 "device 'cuda'" run sma $short --device cuda --period 2
accepts "plan of nothing" plan sma --size 0 $cpu
says "plan of nothing: it says so" 'no work$'
accepts "plan of a sum of nothing" plan sum --size 0 $cpu
says "plan of a sum of nothing: it is work" 'the CPU alone$'
refuses "plan for cuda without one" 3 "device 'cuda'" plan sma --size 10 $cpu --device cuda
accepts "device auto" plan sma --size 10 $cpu --device auto
accepts "device cpu" plan sma --size 10000000 --devices cpu,sim:a --device cpu
says "device cpu takes it all" 'the caller has asked for the CPU'
refuses "report is output" 2 "same file" run sma $short --report out.csv

for value in 0 -1 -5 1e18 2.5 nan inf abc '' 0x10 '3 '; do
    refuses "period '$value'" 2 "--period must be a whole number" run sma $short --period "$value"
done
refuses "period above n" 2 "period 50 needs at least 50 values, the series has 4: every" \
    run sma $short --period 50
refuses "default period above n" 2 "period 20 needs at least 20 values" run sma $short
refuses "period above n, before the devices" 2 "period 50 needs" run sma --input in.csv \
    --output out.csv --period 50 --devices cuda:63
printf 'close\n1\nnan\n3\n' >nan.csv
refuses "period above n, nan in the input" 2 "period 4 needs" run sma --input nan.csv \
    --output out.csv --period 4 $cpu
warns "period n, nan in the input" "value 2 of 'close' is no finite number" run sma --input nan.csv --output out.csv --period 3 $cpu
seq 1 30 | sed '1s/^/close\n/' >thirty.csv
thirty="--input thirty.csv --output out.csv $cpu"
printf 'high,low,close\n2,1,1\n3,2,nan\n2,1,2\n' >bars.csv
for request in "macd --slow 40:48" "macd --slow 30:38" "rsi --period 31:32" "rsi --period 30:31" \
    "variance --ddof 30:31" "ema --period 31:31"; do
    refuses "too short for $request" 2 "at least ${request#*:} values, the series has 30" \
        run ${request%:*} $thirty
done
refuses "too short for atr, nan in the input" 2 "period 3 needs at least 4 values" run atr \
    --input bars.csv --output out.csv --period 3 $cpu
for request in "macd --slow 22" "rsi --period 29" "variance --ddof 29" "ema --period 30"; do
    accepts "long enough for $request" run $request $thirty
done
yes 7 | head -n 30 | sed '1s/^/close\n/' >flat.csv
accepts "zscore of a flat series" run zscore --input flat.csv --output out.csv $cpu
report "zscore of a flat series: nan" "$([ "$(grep -c '^7,nan$' out.csv)" = 30 ] || echo "not so")"
accepts "zscore of single values" run zscore $thirty --period 1
printf 'x,y\n1e200,1e200\n1e200,-1e200\n' >large.csv
accepts "nan by overflow" run dot --input large.csv --output out.csv --accuracy fast $cpu
printf 'series,dot\nx_y,nan\n' >wanted
holds "nan by overflow: result" out.csv <wanted
refuses "width nan" 2 "--width must be a number" run bollinger $short --period 2 --width nan
refuses "word of no choice" 2 "must be one of sma, first" run ema $short --seed-with last
accepts "dash for underscore" run ema $short --period 2 --seed-with first
accepts "--name=value" run sma --input=in.csv --output=out.csv --devices=cpu --period=2
holds "sma of 1 2 3 4" out.csv <<END
time,close,sma
1,1,nan
2,2,1.5
3,3,2.5
4,4,3.5
END

two="--input in.csv --output out.csv --period 2 --devices sim:a,sim:b"
for value in a=0 a=-1 a=nan a=inf a=x a= =1 a '' 'a=1,' ',a=1' a=1,,b=1 a==1; do
    refuses "ratios '$value'" 2 "ratio" run sma $two --ratios "$value"
done
refuses "ratios of one device twice" 2 "two ratios" run sma $two --ratios a=1,a=2
refuses "ratios by name and id" 2 "two ratios" run sma $two --ratios a=1,sim:0=2
refuses "ratios of an unknown device" 2 "no device 'zz'.*a, b" run sma $two --ratios a=1,zz=2
accepts "ratios" run sma $two --ratios a=0.75,b=0.25
accepts "a device left out" run sma $two --ratios b=3 --report r.json
cp r.json stdout
says "a device left out: its state" '"state": "left out"'
refuses "device that is not there" 3 "cuda\|GPU" run sma --input in.csv --output out.csv \
    --period 2 --devices cuda:63
refuses "no such kind of device" 3 "nosuch" devices --devices nosuch

for option in speed=1e400 speed=1e308 speed=0 memory=1e400GiB memory=1e30GiB link=1e400GB/s; do
    refuses "simulated device with $option" 2 "$option is not understood" devices --devices sim:a:$option
done
refuses "simulated device, speed twice" 2 "sim:a: speed is given twice" devices \
    --devices sim:a:speed=1:speed=2
refuses "cpu, threads twice" 2 "cpu: threads is given twice" devices --devices cpu:threads=1:threads=2
refuses "cpu, isa twice" 2 "cpu: isa is given twice" devices --devices cpu:isa=base:isa=base
accepts "simulated device, a name of 47 letters" devices --devices "sim:$(printf '%047d' 0)"
refuses "simulated device, a name of 48 letters" 2 "a name of up to 47 letters" devices \
    --devices "sim:$(printf '%048d' 0)"
accepts "simulated device without limits" devices --devices sim:a:speed=inf:memory=inf:link=infGB/s

accepts "no devices named" run sma --input in.csv --output out.csv --period 2
"$steelyard" devices --cuda-driver ./none.so >stdout 2>err
report "a driver that is named and not there is a warning" "$([ $? = 0 ] &&
    grep -q '^steelyard: warning: no usable GPU (' err && [ "$(wc -l <err)" = 1 ] || echo "not so")"
for memory in 6GiB=6442450944 3MiB=3145728 2KiB=2048 1TiB=1099511627776 7GB=7000000000 5MB=5000000 4kB=4000 9B=9; do
    accepts "memory of ${memory%=*}" devices --json --devices sim:a:memory=${memory%=*}
    says "memory of ${memory%=*}: in bytes" "\"memory_total\": ${memory#*=},"
done
accepts "devices" devices --devices cpu,sim:big:speed=3
says "devices names one" ' big '
accepts "devices --json" devices --json --devices cpu,sim:big
says "devices --json names one" '"name": "big"'
accepts "70 devices" devices --devices "$(seq 1 70 | sed 's/^/sim:d/' | paste -sd , -)"
says "70 devices: the last one" ' d70 '
(ulimit -s 512 && exec "$steelyard" devices) 2>err
report "a small stack" "$([ $? = 1 ] && grep -q "stack is 512 KiB" err || cat err)"
(OMP_STACKSIZE=64k && export OMP_STACKSIZE && exec "$steelyard" devices) 2>err
report "a small stack of threads" "$([ $? = 1 ] && grep -q "OMP_STACKSIZE=64k is less than the 1024 KiB" err || cat err)"
(OMP_STACKSIZE='1 m' && export OMP_STACKSIZE && exec "$steelyard" devices) >stdout 2>err
report "a stack of threads that will do" "$([ $? = 0 ] || cat err)"
accepts "blanks between devices" devices --devices ' cpu, sim:big '
says "blanks between devices: the last one" ' big '
# OpenMP's library binds the first thread to one processor before anything else runs.
report "threads where OpenMP binds them" "$([ "$("$steelyard" devices --json | grep units)" = \
    "$(OMP_PROC_BIND=true "$steelyard" devices --json | grep units)" ] || echo "not as many")"
accepts "workloads" workloads
says "workloads has bollinger" '^bollinger .*upper,middle,lower'
accepts "workloads --json" workloads --json
says "workloads --json has bollinger" '"name": "bollinger"'

accepts "plan --json" plan sma --size 64 --rows 1000 --json --devices sim:a,sim:b \
    --ratios a=0.75,b=0.25
for field in '"workload": "sma"' '"rows": 1000' '"columns": 64' '"decision": "' '"predicted_ms": ' \
    '"reason": "' '"name": "a"' '"id": "sim:0"' '"ratio": 0.75' '"tiles": 750' \
    '"elements": 48000' '"copy_in_ms": ' '"compute_ms": ' '"copy_out_ms": ' '"limited_by": ' '"left_out": null'; do
    says "plan --json has $field" "$field"
done
accepts "plan --json of a last tile that is short" plan sma --size 10000 --json --devices sim:a,sim:b \
    --ratios a=2,b=1
says "plan --json of a last tile that is short: two tiles" '"elements": 8192'
says "plan --json of a last tile that is short: the rest" '"elements": 1808'
accepts "plan as text" plan bollinger --size 100000 --period 50 $cpu
refuses "plan without size" 2 "needs --size" plan sma
refuses "plan without a workload" 2 "needs a workload" plan --size 5
refuses "plan with a misspelt option before the workload" 2 "no option --jsn (did you mean --json?)" plan --jsn sma --size 5
refuses "plan with a misspelt size" 2 "no option --szie (did you mean --size?)" plan sma --szie 100
refuses "plan with a bad size" 2 "whole number" plan sma --size x
refuses "plan with a bad parameter" 2 "did you mean --period.*steelyard plan sma --help" plan sma --size 5 --peroid 3
