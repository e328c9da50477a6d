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
cp in.csv both.csv
accepts "input and output are the same" run sma --input both.csv --output both.csv --period 2 $cpu
holds "input and output are the same: result" both.csv <wanted

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
accepts "seeds" run sum --input in.csv --output out.csv --accuracy fast --seeds 4 $cpu
cp out.csv stdout
says "an error bar over the seeds" '^series,sum,sum_mean,sum_min,sum_max,sum_std'
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
