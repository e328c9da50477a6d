#!/bin/sh
# The page of ./dev bench, from runs that are over at once: complete in itself, a plot wherever there
# are figures, the machine and the commands in it. Usage: check_page.sh PAGE.py BUILD_OF_BENCHES
# Exits with 77 (skipped) where gnuplot or python3 is not installed.
set -u
page=$1
programs=$2
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
measure threads bench_kernels --sizes 100 --workloads sma rolling_std --threads 2
measure data bench_kernels --sizes 100 --workloads sma --data flat spikes
measure transfer bench_transfer --sizes 100 --threads 1
measure overhead bench_overhead --sizes 100 --plan-devices 2 --idle-seconds 0.001
measure inside bench_inside --sizes 100 --devices 1 10
measure balance bench_balance --elements 8192 --runs 1 --cases first small --small-to 100

python3 "$page" "$work" 2>"$work/err" || { cat "$work/err"; exit 1; }
[ ! -s "$work/err" ] || { cat "$work/err"; exit 1; }
python3 - "$work" <<'END'
import base64, html.parser, json, re, sys
text = open(sys.argv[1] + "/index.html").read()
hard = [json.loads(line).get("accuracy") for line in open(sys.argv[1] + "/data.jsonl")]
open_tags, plots = [], []

class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag == "img":
            plots.append(dict(attributes)["src"])
        if tag not in ("img", "meta", "br"):
            open_tags.append(tag)
    def handle_endtag(self, tag):
        assert open_tags.pop() == tag, tag

Page().feed(text)
assert not open_tags, open_tags
# Two sizes, two of threads, balance, memory, planning; hard data for each accuracy.
assert len(plots) == 7 + len(set(hard) - {None}), len(plots)
for plot in plots:
    head, data = plot.split(",", 1)
    assert head == "data:image/svg+xml;base64", head
    svg = base64.b64decode(data).decode()
    assert svg.rstrip().endswith("</svg>")
for word in ("bench_kernels --sizes 100 1000", "rolling_std", "ns per element", "GB/s", "efficiency",
             "commit", "unaccounted_ms"):
    assert word in text or any(word in base64.b64decode(p.split(",")[1]).decode() for p in plots), word
assert not re.search(r'(src|href)="(?!data:)', text), "not complete in itself"
END
