#!/bin/sh
# The page of ./dev bench, from runs that are over at once: complete in itself, a plot wherever there
# are figures, the machine and the commands in it. Usage: check_page.sh PAGE.py RUN.sh BUILD_OF_BENCHES
# Exits with 77 (skipped) where gnuplot or python3 is not installed.
set -u
page=$1
run=$2
programs=$3
for needed in gnuplot python3; do
    command -v $needed >/dev/null 2>&1 || {
        echo "$needed is not installed: skipped"
        exit 77
    }
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# measure FILE PROGRAM ARGUMENT...
measure() {
    file=$work/$1.jsonl
    program=$2
    shift 2
    printf '{"record": "command", "command": "%s %s"}\n' "$program" "$*" >>"$file"
    "$programs/$program" --json --passes 1 --floor-ms 0.001 "$@" >>"$file" || exit 1
}

measure kernels bench_kernels --sizes 100 1000 --workloads sma bollinger sum
[ "$(nproc)" = 1 ] || measure threads bench_kernels --sizes 100 --workloads sma rolling_std --threads 2
measure data bench_kernels --sizes 100 --workloads sma --data flat spikes
measure transfer bench_transfer --sizes 100 --threads 1
measure overhead bench_overhead --sizes 100 --plan-devices 2 --idle-seconds 0.001
measure inside bench_inside --sizes 100 --devices 1 10
measure balance bench_balance --elements 8192 --runs 1 --cases first small --small-to 100
printf '{"record": "failed", "order": 1, "command": "bench_lost --json"}\n' >"$work/failed.jsonl"

python3 "$page" "$work" 2>"$work/err" || { cat "$work/err"; exit 1; }
[ ! -s "$work/err" ] || { cat "$work/err"; exit 1; }
python3 - "$work" <<'END'
import base64, html.parser, json, os, re, sys
text = open(sys.argv[1] + "/index.html").read()
hard = [json.loads(line).get("accuracy") for line in open(sys.argv[1] + "/data.jsonl")]
open_tags, plots, alts = [], [], []

class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag == "img":
            plots.append(dict(attributes)["src"])
            alts.append(dict(attributes)["alt"])
        if tag not in ("img", "meta", "br"):
            open_tags.append(tag)
    def handle_endtag(self, tag):
        assert open_tags.pop() == tag, tag

Page().feed(text)
assert not open_tags, open_tags
# The headline, two sizes, balance, memory, planning; two of threads; hard data for each accuracy.
threads = 2 * os.path.exists(sys.argv[1] + "/threads.jsonl")
assert len(plots) == 6 + threads + len(set(hard) - {None}), len(plots)
assert len(set(alts)) == len(alts), alts
for plot in plots:
    head, data = plot.split(",", 1)
    assert head == "data:image/svg+xml;base64", head
    svg = base64.b64decode(data).decode()
    assert svg.rstrip().endswith("</svg>")
assert re.search(r"prefers-color-scheme: dark[^@]* img { filter: invert", text), "white charts on a dark page"
assert "color-scheme: light dark" in text and '<meta name="viewport"' in text
for word in ("bench_kernels --sizes 100 1000", "bollinger", "times as fast as the textbook loop", "ns per element", "GB/s", "efficiency",
             "commit", "unaccounted_us", "bench_lost --json"):
    assert word in text or any(word in base64.b64decode(p.split(",")[1]).decode() for p in plots), word
assert not re.search(r'(src|href)="(?!data:)', text), "not complete in itself"
assert not re.search(r"</h2>(<h2|</body)|</h3>(<h|</body)", text), "a heading with nothing below it"
END
code=$?

# What is missing is told before anything is measured; no old page stays beside new figures.
mkdir "$work/bin" "$work/old"
ln -s "$(command -v dirname)" "$work/bin/dirname"
PATH=$work/bin "$(command -v sh)" "$run" "$programs/.." "$work/new" 2>"$work/err"
grep -q '^run.sh: gnuplot is not installed' "$work/err" || { cat "$work/err"; code=1; }
[ ! -e "$work/new" ] || { echo "measured without gnuplot"; code=1; }
touch "$work/old/index.html"
sh "$run" "$work/none" "$work/old" >/dev/null 2>&1
[ ! -e "$work/old/index.html" ] || { echo "an old page stays where nothing was measured"; code=1; }
exit $code
