#!/usr/bin/env python3
"""One HTML page, complete in itself, from the benches' JSON lines: plots by gnuplot, tables beside
them. Usage: page.py FOLDER, which holds *.jsonl and gets index.html."""
import base64
import html
import json
import math
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # the sources' folder is left as it is
from columns import MEANING

COLOURS = {
    "exact": "#1b5e9e", "fast": "#63b3e4", "textbook loop": "#e08a2e", "TA-Lib": "#8c6bb1",
    "memory": "#9aa5ad",
}
OTHERS = ["#1b5e9e", "#63b3e4", "#e08a2e", "#c0504d", "#8c6bb1", "#6aa84f", "#9aa5ad", "#444444"]


def read(folder, name):
    path = folder / (name + ".jsonl")
    if not path.exists():
        return []
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:  # the end of a bench that was killed
            print(f"page.py: a line of {path.name} is no JSON: left out", file=sys.stderr)
    return rows


def of_kind(rows, record, **fields):
    return [r for r in rows if r["record"] == record
            and all(r.get(name) == value for name, value in fields.items())]


def unique(values):
    return list(dict.fromkeys(values))


def grouped(number):
    return f"{number:,}".replace(",", "\u202f")


def over(value, reference):
    return None if value is None or not reference else value / reference


# ---- plots ----

def plot(script):
    """An <img> with what gnuplot draws."""
    head = """set terminal svg size 980,400 noenhanced font "Helvetica,13" background "white"
set datafile missing "?"
set border 3 lc rgb "#666666"
set tics nomirror textcolor rgb "#333333"
set grid ytics lc rgb "#dddddd" lt 1
set key outside top center horizontal reverse Left samplen 1.2
"""
    done = subprocess.run(["gnuplot"], input=head + script, capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"page.py: gnuplot failed: {done.stderr.strip()}")
    if done.stderr.strip():
        print("page.py: gnuplot:", done.stderr.strip(), file=sys.stderr)
    data = base64.b64encode(done.stdout.encode()).decode()
    return f'<img alt="plot" src="data:image/svg+xml;base64,{data}">'


def cell(value):
    return "?" if value is None else f"{value:.6g}"


def columns(block, names, groups):
    """A data block: a line for each group, a column for each name."""
    lines = [f'"{group}" ' + " ".join(cell(values.get(name)) for name in names)
             for group, values in groups.items()]
    return f"${block} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def bars(groups, names, axis, logarithmic=False, line=None, top=None):
    """Groups of bars; `line`: (value, what) drawn across."""
    names = [n for n in names if any(v.get(n) is not None for v in groups.values())]
    values = [v[n] for v in groups.values() for n in names if v.get(n)]
    if not values:
        return "<p>Nothing was measured.</p>"
    script = columns("data", names, groups)
    script += f'set ylabel "{axis}"\nset style data histogram\nset style histogram clustered gap 1\n'
    script += "set style fill solid 0.95 noborder\nset boxwidth 0.92\n"
    script += f"set xrange [-0.6:{len(groups) - 0.4}]\n"
    script += 'set xtics scale 0\n' if len(groups) * max(map(len, groups)) < 140 else 'set xtics scale 0 rotate by -30\n'
    if logarithmic:
        low = 10 ** math.floor(math.log10(min(values)))
        script += f'set logscale y\nset format y "%g"\nset yrange [{low:g}:*]\n'
    else:
        reach = 1.05 * max(values + [line[0] if line else 0])
        script += f"set yrange [0:{top if top else f'{reach:g}'}]\n"
    if line:
        script += (f'set arrow from graph 0, first {line[0]} to graph 1, first {line[0]} nohead '
                   f'lc rgb "#c0504d" dt 2 lw 1.5 front\n')
    parts = []
    for i, name in enumerate(names):
        colour = COLOURS.get(name, OTHERS[i % len(OTHERS)])
        parts.append(f'$data using {i + 2}:xtic(1) title "{name}" lc rgb "{colour}"')
    if line:
        parts.append(f'NaN title "{line[1]}" with lines lc rgb "#c0504d" dt 2 lw 1.5')
    return plot(script + "plot " + ", ".join(parts) + "\n")


def curves(series, x_axis, y_axis, points=None):
    """Lines with points over logarithmic axes; `points`: (name, [(x, y)]) shown as marks."""
    script = f'set xlabel "{x_axis}"\nset ylabel "{y_axis}"\nset logscale xy\n'
    script += 'set format xy "%.0s%c"\nset grid xtics\n'
    parts = []
    for i, (name, pairs) in enumerate(series.items()):
        body = "\n".join(f"{x:g} {y:g}" for x, y in pairs)
        script += f"$s{i} << EOD\n{body}\nEOD\n"
        parts.append(f'$s{i} using 1:2 with linespoints pt 7 ps 0.7 lw 2 '
                     f'lc rgb "{OTHERS[i % len(OTHERS)]}" title "{name}"')
    if points:
        body = "\n".join(f"{x:g} {y:g}" for x, y in points[1])
        script += f"$p << EOD\n{body}\nEOD\n"
        parts.append(f'$p using 1:2 with points pt 9 ps 1.4 lc rgb "#c0504d" title "{points[0]}"')
    return plot(script + "plot " + ", ".join(parts) + "\n")


# ---- tables ----

def table(rows, skip=()):
    if not rows:
        return ""
    names = [n for n in unique(n for r in rows for n in r) if n not in ("record",) + tuple(skip)
             and any(r.get(n) not in (None, "-") for r in rows)]
    out = ["<table><tr>"] + [f"<th>{html.escape(n)}</th>" for n in names] + ["</tr>"]
    for row in rows:
        out.append("<tr>")
        for name in names:
            value = row.get(name)
            kind = "t" if isinstance(value, str) else "n"
            text = ("-" if value is None else value if isinstance(value, str) else grouped(value))
            out.append(f'<td class="{kind}">{html.escape(text)}</td>')
        out.append("</tr>")
    return "".join(out) + "</table>"


def folded(rows, what):
    if not rows:
        return ""
    return f"<details><summary>{what}: {len(rows)} lines</summary>{table(rows)}</details>"


# ---- sections ----

def workload_bars(rows, n):
    groups = {}
    for r in of_kind(rows, "kernel", n=n):
        g = groups.setdefault(r["workload"], {})
        g[r["accuracy"]] = r["ns_least"]
        g["textbook loop"] = r["textbook_ns_least"]
        g["TA-Lib"] = r["talib_ns_least"]
        g["memory"] = r["copy_ns_least"]
    return bars(groups, list(COLOURS), "ns per element", logarithmic=True)


def kernels(folder):
    rows = read(folder, "kernels")
    out = ["<h2>Workloads, one thread</h2><p>Nanoseconds per element (logarithmic; less is better). "
           "<b>exact</b>: every output is the correctly rounded result. <b>textbook loop</b>: the "
           "formula as one would write it, without care for accuracy. <b>memory</b>: reading and "
           "writing as many arrays and nothing else (for a reduction: only reading), which is "
           "what memory allows.</p>"]
    figures = of_kind(rows, "kernel")
    if figures and not any(r["talib_ns"] for r in figures):
        out.append("<p>TA-Lib was not found, so it is not compared with; <code>TALIB=FILE</code> before "
                   "<code>./dev bench</code> names its library.</p>")
    for n in unique(r["n"] for r in of_kind(rows, "kernel")):
        out.append(f"<h3>{grouped(n)} elements</h3>" + workload_bars(rows, n))
    out.append("<h3>Our time divided by others'</h3><p>By that of the textbook loop and, where it was "
               "found and has the function, of TA-Lib (1: as fast; less is faster), least by least, for "
               "each number of elements.</p>" + table(ratios(of_kind(rows, "kernel"))))
    out.append(folded(of_kind(rows, "kernel"), "All figures"))
    return "".join(out)


def ratios(rows):
    lines = {}
    for r in rows:
        line = lines.setdefault((r["workload"], r["accuracy"]), {
            "record": "", "workload": r["workload"], "accuracy": r["accuracy"]})
        for name, least in (("textbook", "textbook_ns_least"), ("TA-Lib", "talib_ns_least")):
            ratio = over(r["ns_least"], r[least])
            line[f"{name}, {grouped(r['n'])}"] = None if ratio is None else round(ratio, 2)
    return list(lines.values())


def share_of_copy(folder):
    rows = of_kind(read(folder, "threads"), "kernel")
    if not rows:
        return ""
    threads = rows[0]["threads"]
    groups, speed = {}, {}
    for r in rows:
        groups.setdefault(r["workload"], {})[r["accuracy"]] = over(r["copy_ns_least"], r["ns_least"])
        speed.setdefault(r["workload"], {})[r["accuracy"]] = over(r["single_ns_least"], r["ns_least"])
    return (f"<h2>{threads} threads, {grouped(rows[0]['n'])} elements</h2>"
            "<p>Speed as a share of that at which as many threads read and write as many arrays and do "
            "nothing else, for a reduction only read (1: memory allows no more).</p>"
            + bars(groups, ["exact", "fast"], "share of memory's speed", line=(1, "memory"))
            + f"<p>Speed on {threads} threads divided by that on one.</p>"
            + bars(speed, ["exact", "fast"], "times one thread",
                   line=(threads, "as many times"))
            + folded(rows, "All figures"))


def hard_data(folder):
    rows = of_kind(read(folder, "data"), "kernel")
    out = ["<h2>Hard data</h2><p>Time on hard data divided by the time on a walk in cents: "
           "stretches without a move, ticks of which one in ten moves, single values of 1e12, "
           "moves of a fifth, returns around zero.</p>"]
    for accuracy in unique(r["accuracy"] for r in rows):
        groups = {}
        for r in of_kind(rows, "kernel", accuracy=accuracy):
            groups.setdefault(r["workload"], {})[r["data"]] = over(r["ns_least"], r["walk_ns_least"])
        out.append(f"<h3>{accuracy}</h3>" + bars(groups, unique(r["data"] for r in rows),
                                                "times a walk", logarithmic=True,
                                                line=(1, "a walk")))
    return "".join(out) + folded(rows, "All figures") if rows else ""


def transfer(folder):
    rows = read(folder, "transfer")
    memory = of_kind(rows, "memory")
    out = ["<h2>Memory and copies</h2><p>Bytes read and written per second in the host's memory, by "
           "how many arrays are read and written.</p>"]
    for threads in unique(r["threads"] for r in memory):
        groups = {}
        for r in of_kind(memory, "memory", threads=threads):
            groups.setdefault(r["read:write"], {})[grouped(r["n"]) + " elements"] = r["most_gb_per_s"]
        names = unique(name for g in groups.values() for name in g)
        out.append(f"<h3>{threads} thread{'s' * (threads > 1)}</h3>"
                   + bars(groups, names, "GB/s", logarithmic=True))
    gpus = of_kind(rows, "copy")
    if gpus and gpus[0]["gpu"] == "none":
        out.append(f"<p>No GPU: {html.escape(gpus[0]['reason'])}.</p>")
    else:
        out.append("<h3>To and from GPUs</h3>"
                   + (table(gpus) + table(of_kind(rows, "library")) or "<p>Nothing was measured.</p>"))
    return "".join(out) + folded(memory, "All figures")


CASES = {"profile": "", "first run, no profile": "no profile,", "fast one 3x slower": "3x slower,",
         "profile off by 20 %": "20 % off,"}


def balance(folder):
    rows = of_kind(read(folder, "balance"), "balance")
    out = ["<h2>Balance of unequal devices</h2><p>Simulated devices of known speeds; efficiency = "
           "time of a perfect split / time, in the median of the runs. <b>equal</b> and <b>static</b> are "
           "ratios forced on the library; <b>dynamic</b>, <b>hguided</b> and StarPU share the same "
           "devices out in their way.</p>"]
    groups = {}
    for r in rows:
        word = CASES.get(r["case"], r["case"] + ",")
        groups.setdefault(f"{word} {r['speeds']}".strip(), {})[r["player"]] = r["efficiency"]
    names = unique(name for g in groups.values() for name in g)
    out.append(bars(groups, names, "efficiency", top=1.05, line=(1, "perfect")))
    out.append(folded(rows, "All figures"))
    small = of_kind(read(folder, "balance"), "small")
    if small:
        out.append("<h3>Small works</h3><p>All devices at hand against the best subset of them, each "
                   "measured: where fixed costs do not pay, devices have to be left out.</p>"
                   + table(small))
    return "".join(out)


def overhead(folder):
    rows, inside = read(folder, "overhead"), read(folder, "inside")
    split = of_kind(inside, "split")
    lines = {}
    for r in split:
        lines.setdefault("links " + r["links"], []).append((r["devices"], r["us"]))
    plans = [(r["devices"], r["us"]) for r in of_kind(rows, "plan")]
    if plans:
        lines["sy_plan_explain(), profiled devices"] = plans
    out = ["<h2>What the library costs</h2>"]
    for record, title in (("call", "One blocking call"),
                          ("loop", "A call against a plain OpenMP loop over the same function"),
                          ("idle", "CPU seconds per second of a context that does nothing")):
        out.append(f"<h3>{title}</h3>" + table(of_kind(rows, record)))
    out.append("<h3>A window's call against a loop over its kernel</h3>"
               + table(of_kind(inside, "kernel loop")))
    out.append("<h3>One packet of the queue</h3>" + table(of_kind(inside, "dispatch")))
    out.append("<h3>Planning 1e9 elements</h3>" + curves(
        lines, "devices", "microseconds",
        ("aim", [(10, 20), (1000, 1000), (100000, 100000)])))
    out.append("<h3>The phases of a run</h3><p>unaccounted: what no device was busy with.</p>"
               + table(of_kind(rows, "phases")))
    return "".join(out)


STYLE = """
body { font: 15px/1.5 Helvetica, Arial, sans-serif; color: #222; max-width: 1000px;
       margin: 2em auto; padding: 0 1em; }
h1 { margin-bottom: .2em; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
h3 { margin: 1.2em 0 .3em; font-size: 1em; }
img { width: 100%; } code { font-size: .85em; }
table { border-collapse: collapse; font-size: 12.5px; margin: .6em 0; display: block;
        overflow-x: auto; }
th, td { padding: .15em .7em; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th { text-align: right; color: #555; font-weight: 600; }
td.n { text-align: right; font-variant-numeric: tabular-nums; } td.t { text-align: left; }
details { margin: .5em 0; } summary { cursor: pointer; color: #1b5e9e; }
.machine { color: #444; }
"""


def header(folder):
    rows = [r for path in sorted(folder.glob("*.jsonl")) for r in read(folder, path.stem)]
    machines = of_kind(rows, "machine")
    if not machines:
        sys.exit(f"page.py: no *.jsonl with figures in {folder}")
    m = machines[0]
    loads = [r["load"] for r in machines if r["load"] is not None]
    caches = ", ".join("unknown" if m[c] is None else grouped(m[c]) + " KiB"
                       for c in ("l1_kib", "l2_kib", "l3_kib"))
    text = (f"{html.escape(m['cpu'])}, {m['cpus']} processors, caches {caches}; "
            f"{html.escape(m['system'])}<br>steelyard {html.escape(m['library'])}, commit "
            f"{html.escape(m['commit'])}"
            + (" (+: with changes that are in no commit)" if m["commit"].endswith("+") else "")
            + f", {html.escape(m['build'])}")
    # The benches themselves keep a processor busy, so the least of the loads tells of the others.
    if loads and min(loads) > 0.5 * m["cpus"]:
        text += ("<br><strong>The machine was busy with other work meanwhile; medians, several threads "
                 "and efficiencies are not worth keeping.</strong>")
    if loads:
        span = f"{min(loads):g}" + (f" to {max(loads):g}" if max(loads) > min(loads) else "")
        text += f"<br>load of the machine when the programs began: {span}"
    ran = sorted(of_kind(rows, "command"), key=lambda r: r.get("order", 0))
    commands = "<br>".join(f"<code>{html.escape(r['command'])}</code>" for r in ran)
    return (f'<h1>steelyard: benches</h1><p class="machine">{text}</p>'
            "<p>What is compared ran in turn in one process; read ratios, not nanoseconds. The bars of "
            "workloads show the least of all passes, which other load on the machine disturbs least; "
            "the tables have the medians too.</p>"
            f"<details><summary>The commands</summary><p>{commands}</p></details>" + key(rows))


def key(rows):
    """What the columns that the tables have mean."""
    names = {name for r in rows for name, value in r.items() if value is not None}
    lines = "".join(f"<tr><td class=\"t\">{html.escape(name)}</td><td class=\"t\">{html.escape(text)}"
                    "</td></tr>" for name, text in MEANING.items() if name in names)
    return ("<details><summary>What the columns mean</summary><p>Names that end in <code>_least</code> are "
            "the same of the quickest pass instead of the median. Ratios are medians over the passes of the "
            "ratio in one pass, so not the quotients of the medians shown; those that end in "
            f"<code>_least</code> are quotients of the quickest passes.</p><table>{lines}</table></details>")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: page.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    parts = [header(folder)] + [section(folder) for section in
                                (kernels, share_of_copy, hard_data, balance, transfer, overhead)]
    page = ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>steelyard: benches'
            f"</title><style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n")
    (folder / "index.html").write_text(page)


main()
