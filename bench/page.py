#!/usr/bin/env python3
"""One HTML page, complete in itself, from the benches' JSON lines: charts, tables beside them.
Usage: page.py FOLDER, which holds *.jsonl and gets index.html."""
import decimal
import html
import json
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True  # the sources' folder is left as it is
from charts import COLOURS, Axes, bars, curves, dots
from columns import MEANING

MOST_ARRAYS = 4  # that a workload reads and writes
PEERS = (("textbook loop", "the textbook loop", "textbook_ns_least"), ("TA-Lib", "TA-Lib", "talib_ns_least"))


def read(folder, name):
    path = folder / (name + ".jsonl")
    if not path.exists():
        return []
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line, parse_float=decimal.Decimal))  # keeps 0.30 as it is
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


def titled(title, rows):
    return f"<h3>{title}</h3>{table(rows)}" if rows else ""


def folded(rows, what):
    if not rows:
        return ""
    return f"<details><summary>{what}: {len(rows)} lines</summary>{table(rows)}</details>"


# ---- sections ----

def workload_dots(rows, n):
    groups = {}
    for r in of_kind(rows, "kernel", n=n):
        g = groups.setdefault(r["workload"], {})
        g[r["accuracy"]] = r["ns_least"]
        g["textbook loop"] = r["textbook_ns_least"]
        g["TA-Lib"] = r["talib_ns_least"]
        g["memory"] = r["copy_ns_least"]
    return dots(groups, list(COLOURS), Axes(f"Time per element, {grouped(n)} elements, one thread",
                                           "workload", "ns per element"))


def kernels(folder):
    figures = of_kind(read(folder, "kernels"), "kernel")
    if not figures:
        return ""
    out = ["<h2>Workloads, one thread</h2><p>Nanoseconds per element (logarithmic; less is better). "
           "<b>exact</b>: every output is the correctly rounded result. <b>textbook loop</b>: the "
           "formula as one would write it, without care for accuracy. <b>memory</b>: reading and "
           "writing as many arrays and nothing else (for a reduction: only reading), which is about "
           "what memory allows.</p>"]
    if not any(r["talib_ns"] for r in figures):
        out.append("<p>TA-Lib was not found, so it is not compared with; <code>TALIB=FILE</code> before "
                   "<code>./dev bench</code> names its library.</p>")
    for n in unique(r["n"] for r in figures):
        out.append(workload_dots(figures, n))
    out.append("<h3>Our time divided by others'</h3><p>By that of the textbook loop and, where it was "
               "found and has the function, of TA-Lib (1: as fast; less is faster), least by least, for "
               "each number of elements.</p>" + table(ratios(figures)))
    out.append(folded(figures, "All figures"))
    return "".join(out)


def ratios(rows):
    lines = {}
    for r in rows:
        line = lines.setdefault((r["workload"], r["accuracy"]), {
            "record": "", "workload": r["workload"], "accuracy": r["accuracy"]})
        for peer, _, field in PEERS:
            ratio = over(r["ns_least"], r[field])
            line[f"{peer}, {grouped(r['n'])}"] = None if ratio is None else round(ratio, 2)
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
            "<p>Speed as a share of that at which as many threads, or one, read and write as many arrays and "
            "do nothing else, for a reduction only read (about 1: memory allows no more); and speed divided by "
            "that on one thread.</p>"
            + bars(groups, ["exact", "fast"], Axes("Share of what memory allows", "workload",
                                                   "share of a copy's speed"), line=(1, "memory"))
            + bars(speed, ["exact", "fast"], Axes(f"What {threads} threads bring", "workload",
                                                  "times as fast as one thread"),
                   line=(threads, f"{threads} times"))
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
        out.append(dots(groups, unique(r["data"] for r in rows),
                        Axes(f"Hard data, {accuracy}", "workload", "time / time on a walk"),
                        line=(1, "a walk")))
    return "".join(out) + folded(rows, "All figures") if rows else ""


def transfer(folder):
    rows = read(folder, "transfer")
    memory = of_kind(rows, "memory")
    if not memory:
        return ""
    out = ["<h2>Memory and copies</h2><p>Bytes read and written per second in the host's memory, by "
           "how many arrays are read and written.</p>"]
    for threads in unique(r["threads"] for r in memory):
        groups = {}
        for r in of_kind(memory, "memory", threads=threads):
            groups.setdefault(r["read:write"], {})[grouped(r["n"]) + " elements"] = r["most_gb_per_s"]
        names = unique(name for g in groups.values() for name in g)
        out.append(dots(groups, names, Axes(f"The host's memory, {threads} thread{'s' * (threads > 1)}",
                                            "arrays read:written", "GB/s")))
    gpus = of_kind(rows, "copy")
    if gpus and gpus[0]["gpu"] == "none":
        out.append(f"<p>No GPU: {html.escape(gpus[0]['reason'])}.</p>")
    else:
        out.append("<h3>To and from GPUs</h3>"
                   + (table(gpus) + table(of_kind(rows, "library")) or "<p>Nothing was measured.</p>"))
    return "".join(out) + folded(memory, "All figures")


CASES = {"profile": "", "first": "no profile,", "slower": "3x slower,", "off": "20 % off,"}


def balance(folder):
    rows = of_kind(read(folder, "balance"), "balance")
    if not rows:
        return ""
    out = ["<h2>Balance of unequal devices</h2><p>Simulated devices of known speeds; efficiency = "
           "time of a perfect split / time, in the median of the runs. <b>equal</b> and <b>static</b> are "
           "ratios forced on the library; <b>dynamic</b>, <b>hguided</b> and StarPU share the same "
           "devices out in their way.</p>"]
    groups = {}
    for r in rows:
        word = CASES.get(r["case"], r["case"] + ",")
        groups.setdefault(f"{word} {r['speeds']}".strip(), {})[r["player"]] = r["efficiency"]
    names = unique(name for g in groups.values() for name in g)
    out.append(bars(groups, names, Axes("Balance of unequal devices", "case and speeds of the devices",
                                        "efficiency"), line=(1, "perfect"), top=1.05))
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
    out = [titled(title, of_kind(of, record)) for of, record, title in (
        (rows, "call", "One blocking call"),
        (rows, "loop", "A call against a plain OpenMP loop over the same function"),
        (rows, "idle", "CPU seconds per second of a context that does nothing"),
        (inside, "kernel loop", "A window's call against a loop over its kernel"),
        (inside, "dispatch", "One packet of the queue"),
        (rows, "phases", "The phases of a run (unaccounted: what no device was busy with)"))]
    if lines:
        out.append(curves(lines, Axes("Planning 1e9 elements", "devices", "microseconds"),
                          ("aim", [(10, 20), (1000, 1000), (100000, 100000)])))
    return "<h2>What the library costs</h2>" + "".join(out) if any(out) else ""


STYLE = """
:root { color-scheme: light dark; --ink: #222; --soft: #555; --line: #ddd; --link: #0b5394; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --soft: #aaa; --line: #444; --link: #8ab8e6; }
  img { filter: invert(.9) hue-rotate(180deg); } /* white to dark, and each colour keeps its hue */
}
body { font: 15px/1.5 Helvetica, Arial, sans-serif; color: var(--ink); max-width: 1000px;
       margin: 2em auto; padding: 0 1em; }
h1 { margin-bottom: .2em; } h2 { margin-top: 2em; border-bottom: 1px solid var(--line); }
h3 { margin: 1.2em 0 .3em; font-size: 1em; }
img { width: 100%; min-width: 640px; margin: .4em 0; background: #fff; } code { font-size: .85em; }
table { border-collapse: collapse; font-size: 12.5px; margin: .6em 0; display: block;
        overflow-x: auto; }
th, td { padding: .15em .7em; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { text-align: right; color: var(--soft); font-weight: 600; }
.key td { white-space: normal; } .chart { overflow-x: auto; }
td.n { text-align: right; font-variant-numeric: tabular-nums; } td.t { text-align: left; }
details { margin: .5em 0; } summary { cursor: pointer; color: var(--link); }
.machine { color: var(--soft); }
@media print { /* where nothing can be scrolled */
  img { min-width: 0; } .chart { break-inside: avoid; } h2, h3, p { break-after: avoid; }
  table { display: table; font-size: 9px; } th, td { white-space: normal; padding: .1em .35em; }
}
"""


# ---- what the page begins with ----

def all_rows(folder):
    return [r for path in sorted(folder.glob("*.jsonl")) for r in read(folder, path.stem)]


def header(folder):
    machines = of_kind(all_rows(folder), "machine")
    if not machines:
        sys.exit(f"page.py: no *.jsonl with figures in {folder}")
    m = machines[0]
    loads = [r["load"] for r in machines if r["load"] is not None]
    caches = ", ".join("unknown" if m[c] is None else grouped(m[c]) + " KiB"
                       for c in ("l1_kib", "l2_kib", "l3_kib"))
    text = (f"{html.escape(m['cpu'])}, instruction set {m['isa']}, {m['cpus']} processors, caches {caches}; "
            f"{html.escape(m['system'])}<br>steelyard {html.escape(m['library'])}, commit "
            f"{html.escape(m['commit'])}"
            + (" (+: with changes that are in no commit)" if m["commit"].endswith("+") else "")
            + f", {html.escape(m['build'])}")
    # The least of the loads tells of others' work, but for the one processor that a bench before it, or
    # the building, kept busy.
    if loads and min(loads) - 1 > 0.5 * m["cpus"]:
        text += ("<br><strong>The machine was busy with other work meanwhile; medians, several threads "
                 "and efficiencies are not worth keeping.</strong>")
    if loads:
        span = f"{min(loads):g}" + (f" to {max(loads):g}" if max(loads) > min(loads) else "")
        text += f"<br>load of the machine when the programs began: {span}"
    for r in of_kind(read(folder, "failed"), "failed"):
        text += ("<br><strong>Failed, and what it did not measure is left out:</strong> "
                 f"<code>{html.escape(r['command'])}</code>")
    return f'<h1>steelyard: benches</h1><p class="machine">{text}</p>'


def cached_size(rows, machine):
    """The largest size of which all arrays fit into the last cache, of those with the most lines."""
    sizes = [r["n"] for r in rows]
    full = [n for n in unique(sizes) if sizes.count(n) == max(map(sizes.count, sizes))]
    cache = 1024 * (machine["l3_kib"] or machine["l2_kib"] or 0)
    return max((n for n in full if 8 * MOST_ARRAYS * n <= cache), default=min(full))


def headline(folder):
    """How many times as fast as others, as a sentence and a chart."""
    rows = read(folder, "kernels")
    figures = of_kind(rows, "kernel")
    if not figures:
        return ""
    n = cached_size(figures, of_kind(rows, "machine")[0])
    groups, said = {}, []
    for _, called, field in PEERS:
        for accuracy in unique(r["accuracy"] for r in figures):
            times = {r["workload"]: over(r[field], r["ns_least"])
                     for r in of_kind(figures, "kernel", n=n, accuracy=accuracy) if r[field]}
            for workload, value in times.items():
                groups.setdefault(workload, {})[f"{accuracy} against {called}"] = value
            if times:
                few, middle, many = (f"{of(times.values()):.2f}" for of in (min, statistics.median, max))
                said.append(f"{accuracy} <b>{middle}</b> times as fast as {called} ({few} to {many}, "
                            f"{len(times)} workloads)")
    names = unique(name for g in groups.values() for name in g)
    where = f"{grouped(n)} elements, one thread"
    return (f"<p>With {where}, quickest pass by quickest pass, the workloads are in the median: "
            f"{'; '.join(said)}.</p>"
            + bars(groups, names, Axes(f"Times as fast as others, {where}", "workload", "times as fast"),
                   line=(1, "as fast")))


def method(folder):
    rows = all_rows(folder)
    ran = sorted(of_kind(rows, "command"), key=lambda r: r.get("order", 0))
    commands = "<br>".join(f"<code>{html.escape(r['command'])}</code>" for r in ran)
    return ("<p>What is compared ran in turn in one process; read ratios, not nanoseconds. The charts of "
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
            "<code>_least</code> are quotients of the quickest passes.</p>"
            f'<table class="key">{lines}</table></details>')


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: page.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    parts = [section(folder) for section in (header, headline, method, kernels, share_of_copy, hard_data,
                                             balance, transfer, overhead)]
    page = ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>steelyard: benches</title><style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n")
    (folder / "index.html").write_text(page)


main()
