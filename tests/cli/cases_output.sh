# Outputs that cannot be, signals, pipes, reports. Read by run_cli.sh.

printf 'close\n1\n2\n3\n' >in.csv
{ npy '<f8' False '(3,)' && f8 1 2 3; } >in.npy
to="run sma --input in.csv --period 2 $cpu --output"

refuses "output folder missing" 1 "cannot write 'none/out.csv'.*create the folder" $to none/out.csv
refuses "output is a folder" 1 "is a directory" $to dir.csv
refuses "output beneath a file" 1 "cannot write 'in.csv/out.csv'" $to in.csv/out.csv
refuses "report folder missing" 1 "cannot write 'none/r.json'" $to out.csv --report none/r.json
refuses "full disk" 1 "cannot write '/dev/full': No space left" $to /dev/full
refuses "full disk for the report" 1 "cannot write '/dev/full': No space left" $to out.csv \
    --report /dev/full
"$steelyard" $to - >/dev/full 2>err
report "full disk behind standard output" "$([ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || echo "failed")"
"$steelyard" devices $cpu >/dev/full 2>err
report "full disk behind a list" "$([ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || echo "failed")"
"$steelyard" workloads --json >/dev/full 2>err
report "full disk behind a long list" "$([ $? = 1 ] && [ "$(wc -l <err)" = 1 ] &&
    grep -q 'cannot write standard output: No space left' err || echo "failed")"
{
    until [ -e gone ]; do :; done
    "$steelyard" workloads --json 2>err
    echo $? >code
} | { exec <&- && : >gone; }
report "a reader of a long list that has left" "$([ "$(cat code)" = 1 ] && [ ! -s err ] ||
    echo "code $(cat code)")"
"$steelyard" $to - >&- 2>err
report "closed standard output" "$([ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || echo "failed")"

# A limit of 1 block (512 bytes or 1 KiB) on the size of a file stands for a disk that fills up.
seq 1 2000 | sed '1s/^/close\n/' >long.csv
for output in out.csv out.npy; do
    rm -f out.*
    (ulimit -f 1 && exec "$steelyard" run sma --input long.csv --period 2 $cpu --output $output) \
        2>err
    code=$?
    report "$output outgrows the limit" "$([ $code = 1 ] && [ "$(wc -l <err)" = 1 ] &&
        grep -q "cannot write '$output'" err && [ ! -e $output ] && [ -z "$(left_over)" ] ||
        echo "code $code")"
done

if [ "$(id -u)" != 0 ]; then
    mkdir read_only && chmod a-w read_only
    refuses "read-only folder" 1 "cannot write 'read_only/out.csv'" $to read_only/out.csv
fi

echo old >kept.csv
printf 'close\n1\nx\n' >bad.csv
refuses "a failure" 1 "line 3" run sma --input bad.csv --period 2 $cpu --output kept.csv
echo old >wanted
holds "an older output is kept" kept.csv <wanted
chmod 600 kept.csv
ln -s kept.csv link.csv
accepts "an older output is replaced through a link" $to link.csv
printf 'close,sma\n1,nan\n2,1.5\n3,2.5\n' >wanted
holds "an older output is replaced: result" kept.csv <wanted
report "link and mode stay" "$([ -L link.csv ] &&
    [ "$(ls -l kept.csv | cut -c1-10)" = -rw------- ] || echo "changed")"
if [ "$(id -u)" = 0 ]; then
    chown 12345:12346 kept.csv
    accepts "somebody's output is replaced" $to kept.csv
    report "the owner stays" "$([ "$(stat -c %u:%g:%a kept.csv)" = 12345:12346:600 ] || echo "changed")"
fi
cp in.csv both.csv
accepts "input and output are the same" run sma --input both.csv --output both.csv --period 2 $cpu
holds "input and output are the same: result" both.csv <wanted

ln -s nowhere.csv dangling.csv
ln -s loop.csv loop.csv
for link in dangling.csv loop.csv; do
    refuses "output to the link $link" 1 "'$link': it is a link that leads to no file" $to $link
    report "output to the link $link: it stays" "$([ -L $link ] && [ ! -e $link ] || echo "changed")"
done
rm dangling.csv loop.csv
if [ "$(id -u)" != 0 ]; then
    echo old >protected.csv
    chmod 444 protected.csv
    refuses "write-protected output" 1 "cannot write 'protected.csv': Permission denied" $to protected.csv
    echo old >wanted
    holds "write-protected output stays" protected.csv <wanted
fi
printf 'close,sma\n1,nan\n2,1.5\n3,2.5\n' >wanted
longest=$(printf '%0251d' 0).csv
accepts "output name of 255 bytes" $to "$longest"
holds "output name of 255 bytes: result" "$longest" <wanted

# Neither report nor trace is written over another file of the run, whatever it is called.
cp in.csv price.csv
ln -s price.csv price_link.csv
ln -s kept.csv kept_link.csv
mkdir elsewhere
run="run sma --period 2 $cpu"
for option in report trace; do
    for name in price.csv ./price.csv elsewhere/../price.csv "$folder/price.csv" price_link.csv; do
        refuses "$option is the input, as $name" 2 "--$option and --input name the same file" \
            $run --input price.csv --output out.csv --$option "$name"
    done
    for name in ./kept.csv kept_link.csv; do
        refuses "$option is an older output, as $name" 2 "--$option and --output name the same file" \
            $run --input in.csv --output kept.csv --$option $name
    done
    refuses "$option is the new output" 2 "--$option and --output name the same file" \
        $run --input in.csv --output out.csv --$option elsewhere/../out.csv
    "$steelyard" $run --input - --output out.csv --$option price.csv <price.csv >stdout 2>err
    report "$option is standard input" "$([ $? = 2 ] && grep -q 'same file' err || echo "accepted")"
    "$steelyard" $run --input in.csv --output - --$option both.csv >both.csv 2>err
    report "$option is standard output" "$([ $? = 2 ] && grep -q 'same file' err || echo "accepted")"
done
"$steelyard" $run --input price.csv --output - 1<>price.csv 2>err
report "standard output is the input" "$([ $? = 2 ] && grep -q 'same file' err || echo "accepted")"
"$steelyard" $run --input - --output /dev/fd/3 <price.csv 3<>price.csv 2>err
report "a descriptor is the input" "$([ $? = 2 ] && grep -q 'same file' err || echo "accepted")"
holds "the input stays" price.csv <in.csv
holds "the older output stays" kept.csv <wanted
refuses "trace is the report" 2 "--trace and --report name the same file" \
    $run --input in.csv --output out.csv --report new.json --trace ./new.json
accepts "report of the same name elsewhere" $to out.csv --report elsewhere/out.csv
accepts "report over an older one" $to out.csv --report elsewhere/out.csv

# Descriptors are written where they stand, as a shell's own commands write them.
ln -s /dev/stdout stdout_link.csv
ln -s stdout_link.csv link_of_link.csv
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 stdout_link.csv link_of_link.csv; do
    echo before >log
    "$steelyard" $to $name >>log 2>err
    { echo before && cat wanted; } >both
    holds "output appended through $name" log <both
done
cp in.csv elsewhere/stdout_link.csv
ln -s stdout_link.csv elsewhere/namesake.csv
accepts "output through a link whose target has a namesake here" $to elsewhere/namesake.csv
holds "output through a link whose target has a namesake here: result" elsewhere/stdout_link.csv <wanted
echo before >log
"$steelyard" $to /dev/fd/5 5>>log 2>err
holds "output appended through /dev/fd/5" log <both
for name in /dev/stdout /dev/stderr; do
    echo before >log
    "$steelyard" $to out.csv --report $name --trace /dev/null >>log 2>&1
    report "report appended through $name" "$([ "$(head -n 1 log)" = before ] &&
        grep -q '"workload": "sma"' log || echo "not so")"
done
for number in 3 4 5 6; do
    refuses "report to /dev/fd/$number, which is closed" 1 "'/dev/fd/$number': Bad file descriptor" \
        $to out.csv --report /dev/fd/$number 3>&- 4>&- 5>&- 6>&-
done
cp in.csv log
refuses "output to a descriptor for reading" 1 "'/dev/fd/5': Bad file descriptor" $to /dev/fd/5 5<log
holds "output to a descriptor for reading: the file stays" log <in.csv
accepts "input by a descriptor" run sma --input /dev/fd/5 --period 2 --output out.csv $cpu 5<in.csv
holds "input by a descriptor: result" out.csv <wanted

mkfifo fifo.csv fifo.npy
cat fifo.csv >from_fifo &
accepts "output to a pipe" $to fifo.csv
wait $!
holds "output to a pipe: result" from_fifo <wanted
cat in.npy >fifo.npy &
accepts "input from a pipe" run sma --input fifo.npy --output out.csv --period 2 $cpu
wait $!

seq 1 200000 | sed '1s/^/close\n/' >long.csv
{
    "$steelyard" run sma --input long.csv --output - --period 2 $cpu 2>err
    echo $? >code
} | head -n 1 >first
report "a reader that leaves" "$([ "$(cat code)" = 1 ] && [ ! -s err ] || echo "code $(cat code)")"

# With a pipe that nobody reads as its report, the command stands still once the output is open.
# (The shell makes its background processes deaf to INT, and nohup this whole script to HUP.)
mkfifo report.json
for signal in HUP TERM; do
    env --default-signal=$signal "$steelyard" $to stopped.csv --report report.json 2>err &
    process=$!
    until [ -e ".stopped.csv.tmp.$process" ] || ! kill -0 $process 2>/dev/null; do :; done
    kill -s $signal $process
    wait $process 2>/dev/null
    code=$?
    report "SIG$signal removes the temporary file" "$([ $code -gt 128 ] && [ -z "$(left_over)" ] &&
        [ ! -e stopped.csv ] || echo "code $code, $(left_over)")"
done

# A container's first process has no action of a signal's own. It needs the right to make one.
if unshare --pid --fork true 2>/dev/null; then
    unshare --pid --fork env --default-signal=TERM "$steelyard" $to first.csv --report report.json \
        2>err &
    around=$!
    until [ -e .first.csv.tmp.1 ] || ! kill -0 $around 2>/dev/null; do :; done
    kill -s TERM $(cat /proc/$around/task/$around/children)
    wait $around
    code=$?
    report "SIGTERM ends a container's first process" "$([ $code = 143 ] &&
        [ -z "$(left_over)" ] && [ ! -e first.csv ] || echo "code $code, $(left_over)")"
fi

# A killed process that had the same number has left its temporary file.
sh -c 'echo old >.left.csv.tmp.$$; exec "$0" "$@"' "$steelyard" $to left.csv 2>err
report "a killed process's temporary file" "$([ $? = 0 ] && [ -e left.csv ] &&
    [ -z "$(left_over)" ] || echo "$(left_over)")"

# In another container a living process may have the same number: it holds a lock on its file.
if command -v flock >/dev/null; then
    sh -c 'exec 9>.held.csv.tmp.$$ && flock 9 && exec "$0" "$@"' "$steelyard" $to held.csv 2>err
    report "a living process's temporary file stays" "$([ $? = 0 ] && [ -e held.csv ] &&
        [ -e .held.csv.tmp.[0-9]* ] || echo "not so")"
    rm .held.csv.tmp.*
fi

# Whoever shares a pipe may have told it not to wait.
report "pipes that do not wait" "$(python3 - "$steelyard" 2>&1 <<'END'
import os, subprocess, sys, threading
rows = 200000
text = 'close\n' + ''.join('%d\n' % (i % 97) for i in range(rows))
read, write = os.pipe()
back, out = os.pipe()
os.set_blocking(read, False)
os.set_blocking(out, False)
run = subprocess.Popen([sys.argv[1], 'run', 'sma', '--input', '-', '--output', '-', '--period', '2',
                        '--devices', 'cpu'], stdin=read, stdout=out)
os.close(read)
os.close(out)
threading.Thread(target=lambda: os.fdopen(write, 'w').write(text)).start()
lines = os.fdopen(back).read().count('\n')
if run.wait() or lines != rows + 1:
    print('code', run.returncode, 'lines', lines)
END
)"

# The device takes 1.2 seconds for its first slab of 64 tiles, after which it tells how far it is.
seq 1 300000 | sed '1s/^/close\n/' >longer.csv
report "progress and table on a terminal only" "$(python3 - "$steelyard" 2>&1 <<'END'
import os, re, subprocess, sys
def start(arguments, stderr):
    return subprocess.Popen([sys.argv[1], 'run', 'sma', '--output', 'out.csv'] + arguments,
                            stdout=subprocess.DEVNULL, stderr=stderr)
def end(run, text):
    assert run.wait() == 0, text
    return text
def on_terminal(arguments):
    terminal, end_of_run = os.openpty()
    run, text = start(arguments, end_of_run), b''
    os.close(end_of_run)
    try:
        while part := os.read(terminal, 65536):
            text += part
    except OSError: # nobody has it open any more
        pass
    return end(run, text.decode())
def on_pipe(arguments):
    run = start(arguments, subprocess.PIPE)
    return end(run, run.stderr.read().decode())
slow = ['--input', 'longer.csv', '--devices', 'sim:a:speed=0.0022']
quick = ['--input', 'longer.csv', '--devices', 'sim:a']
piped = start(slow, subprocess.PIPE)
shown = on_terminal(slow)
assert re.search(r'\rsma   86 %  [0-9.]+ tiles/s  eta [0-9]+ s\x1b\[K', shown), shown
table = r'device +ratio .*\r?\na +1\.0000 +74 .* ok\r?\nsma: 1 x 300000 in [^\n]*\n$'
assert re.search(r'\r\x1b\[K' + table, shown), shown
assert end(piped, piped.stderr.read()) == b''
assert on_terminal(quick + ['--quiet']) == ''
assert re.search(table, on_pipe(quick + ['--verbose']))
assert not re.search(table, on_pipe(quick + ['--verbose', '--quiet']))
END
)"

accepts "report" run sma --input in.csv --period 2 --output out.csv --report r.json \
    --devices sim:a,sim:b --ratios a=0.75,b=0.25 --seed 7
cp r.json stdout
for field in '"workload": "sma"' '"rows": 1' '"columns": 3' '"seed": 7' '"accuracy": "exact"' \
    '"wall_ms": ' '"ideal_ms": ' '"efficiency": ' '"unaccounted_ms": ' \
    '"checksum": "[0-9a-f]\{16\}"' '"name": "a"' '"id": "sim:0"' '"ratio": ' '"tiles": ' \
    '"tail_tiles": ' '"elements": ' '"copy_in_ms": ' '"compute_ms": ' '"copy_out_ms": ' \
    '"retries": 0' '"state": "ok"'; do
    says "report has $field" "$field"
done
# The figures say 20 us for a copy and 1 us a byte, 20 us and 30 ms for computing.
figures=sim:a:speed=1e-6:link=1MB/s:latency=20us,sim:b
accepts "report of what the figures say" run sma --input in.csv --period 2 --output out.csv \
    --report r.json --trace t.json --devices $figures --ratios a=0.75,b=0.25
report "report of what the figures say: the times" "$(python3 - 2>&1 <<'END'
import json
run = json.load(open("r.json"))
a, b = run["devices"]
assert abs(a["copy_in_ms"] - 0.044) < 1e-9 and abs(a["copy_out_ms"] - 0.044) < 1e-9, a
assert a["compute_ms"] >= 30.02 and a["busy_ms"] >= 30.1, a
assert [a["tiles"], a["tail_tiles"], a["elements"], a["state"]] == [1, 0, 3, "ok"], a
assert [b["tiles"], b["elements"], b["busy_ms"], b["copy_in_ms"]] == [0, 0, 0, 0], b
assert run["wall_ms"] >= a["busy_ms"] and abs(run["ideal_ms"] - a["busy_ms"]) < 1e-9, run
assert abs(run["efficiency"] - run["ideal_ms"] / run["wall_ms"]) < 1e-9, run
assert abs(run["unaccounted_ms"] - (run["wall_ms"] - a["busy_ms"])) < 1e-9, run
END
)"
# A trace counts in microseconds.
report "trace of what the figures say" "$(python3 - 2>&1 <<'END'
import json
events = json.load(open("t.json"))["traceEvents"]
process = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
packets = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
span = {e["name"]: e for e in events if e["ph"] == "X"}
into, compute, out = (span[name] for name in ("copy in", "compute", "copy out"))
assert abs(into["dur"] - 44) < 1e-3 and abs(out["dur"] - 44) < 1e-3, (into, out)
assert compute["dur"] >= 30019, compute
assert abs(into["ts"] + into["dur"] - compute["ts"]) < 1e-3, (into, compute)
assert abs(compute["ts"] + compute["dur"] - out["ts"]) < 1e-3, (compute, out)
assert {into["pid"], compute["pid"], out["pid"], span["packet"]["pid"]} == {process["a"]}, span
assert {span["plan"]["pid"], span["merge"]["pid"]} == {process["host"]}, span
assert len(packets) == 2 and (process["a"], span["packet"]["tid"]) in packets, packets
assert (process["a"], into["tid"]) not in packets, packets
END
)"
refuses "output with too long a name" 1 "File name too long; choose a shorter name" $to "$(printf '%0300d' 0).csv"
printf 'x\n1\ninf\n' >infinite.csv
accepts "seeds of an infinite sum" run sum --input infinite.csv --output out.csv --seeds 3 $cpu
printf 'series,sum,sum_mean,sum_min,sum_max,sum_std\nx,inf,inf,inf,inf,nan\n' >wanted
holds "seeds of an infinite sum: result" out.csv <wanted
accepts "seeds of an infinite sum as .npy" run sum --input infinite.csv --output out.npy --seeds 3 $cpu
report "an undefined deviation is the one NaN" \
    "$([ "$(tail -c 8 out.npy | od -An -tx8)" = " 7ff8000000000000" ] || tail -c 8 out.npy | od -An -tx8)"
for seeds in 3 4; do
    accepts "report of $seeds seeds" run sum --input in.csv --output out.csv --accuracy fast \
        --seeds $seeds --report $seeds.json $cpu
    grep checksum $seeds.json >$seeds.sum
done
report "the checksum is of all seeds" "$(cmp -s 3.sum 4.sum && cat 3.sum)"
accepts "seeds" run sum --input in.csv --output out.csv --accuracy fast --seeds 4 $cpu
cp out.csv stdout
says "an error bar over the seeds" '^series,sum,sum_mean,sum_min,sum_max,sum_std'
# Of what single runs give, of values that cancel, so that little but the roundings is left.
report "what is said of the seeds" "$(python3 - "$steelyard" 2>&1 <<'END'
import math, subprocess, sys
with open('wide.csv', 'w') as file:
    file.write('x\n')
    half = ['%de%d\n' % (i * 7919 % 100003, i * 37 % 31) for i in range(10 * 4096)]
    file.writelines(half + ['-' + line for line in reversed(half)])
def run(*more):
    text = subprocess.run([sys.argv[1], 'run', 'sum', '--input', 'wide.csv', '--output', '-', '--accuracy',
                           'fast', '--devices', 'cpu', *more], stdout=subprocess.PIPE, check=True).stdout
    return [float(x) for x in text.decode().splitlines()[1].split(',')[1:]]
single = [run('--seed', str(k))[0] for k in range(1, 7)]
value, mean, least, most, deviation = run('--seeds', '6')
assert single[0] not in (min(single), max(single)), single
assert (value, least, most) == (run()[0], min(single), max(single)), single
true_mean = math.fsum(single) / 6
squares = math.fsum((x - true_mean) ** 2 for x in single) / 6
assert abs(mean / true_mean - 1) < 1e-12, (mean, true_mean)
assert abs(deviation / math.sqrt(squares) - 1) < 1e-12, (deviation, squares)
END
)"
refuses "seeds of a window" 2 "is for sum, mean" run sma --input in.csv --output out.csv --period 2 --seeds 4 $cpu
accepts "report of a fast run" run sma --input in.csv --period 2 --output out.csv --report r.json \
    --accuracy fast $cpu
cp r.json stdout
says "report tells the accuracy" '"accuracy": "fast"'
accepts "trace" run sma --input in.csv --period 2 --output out.csv --trace t.json \
    --devices sim:a,sim:b --ratios a=0.75,b=0.25
report "trace is JSON with its devices" "$(python3 - 2>&1 <<'EOT'
import json
events = json.load(open("t.json"))["traceEvents"]
names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
spans = [e for e in events if e["ph"] == "X"]
assert names == ["host", "a", "b"], names
assert {e["name"] for e in spans} >= {"plan", "packet", "compute", "merge"}, spans
assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans), spans
EOT
)"
refuses "trace and report in one file" 2 "name the same file 'r.json'" $to out.csv --report r.json \
    --trace r.json
for ratios in a=1 b=1 a=1,b=1 a=0.1,b=0.9; do
    accepts "ratios $ratios" run macd --input "$data/sp500_1d.csv" --output out.csv --report r.json \
        --devices sim:a,sim:b --ratios $ratios
    grep checksum r.json >>checksums
    cksum <out.csv >>files
done
report "one checksum for all ratios" "$([ "$(sort -u checksums | wc -l)" = 1 ] || echo "several")"
report "one output for all ratios" "$([ "$(sort -u files | wc -l)" = 1 ] || echo "several")"
