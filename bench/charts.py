"""Charts by gnuplot, each an <img> that is complete in itself, from groups of figures that may be
missing (None)."""
import base64
import html
import math
import subprocess
import sys
import typing

# Okabe and Ito's colours, which the colour-blind tell apart.
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE, GREY = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#999999")
COLOURS = {
    "exact": BLUE, "fast": SKY, "textbook loop": ORANGE, "TA-Lib": PURPLE, "memory": GREEN,
    "exact against the textbook loop": BLUE, "fast against the textbook loop": SKY,
    "exact against TA-Lib": VERMILLION, "fast against TA-Lib": ORANGE,
}
OTHERS = [BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, BLACK, GREY]
SHAPES = [7, 5, 9, 13, 11, 6, 4, 8]  # of points: discs, squares, triangles, ...


class Axes(typing.NamedTuple):
    title: str
    x: str
    y: str


def plot(script, axes, names):
    """An <img> with what gnuplot draws; `names`: of what it shows."""
    head = f"""set terminal svg size 980,430 noenhanced font "Helvetica,13" background "white"
set datafile missing "?"
set border 3 lc rgb "#666666"
set tics nomirror textcolor rgb "#333333"
set grid ytics lc rgb "#dddddd" lt 1
set key outside bottom center horizontal reverse Left samplen 1.2 height 1
set title "{axes.title}"
set xlabel "{axes.x}"
set ylabel "{axes.y}"
"""
    done = subprocess.run(["gnuplot"], input=head + script, capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"page.py: gnuplot failed: {done.stderr.strip()}")
    if done.stderr.strip():
        print("page.py: gnuplot:", done.stderr.strip(), file=sys.stderr)
    data = base64.b64encode(done.stdout.encode()).decode()
    alt = f"Chart: {axes.title}. {axes.y} by {axes.x}: {'; '.join(names)}."
    return (f'<div class="chart"><img alt="{html.escape(alt)}" '
            f'src="data:image/svg+xml;base64,{data}"></div>')


def shown(groups, names):
    """The names of which there are figures, and these."""
    names = [n for n in names if any(v.get(n) is not None for v in groups.values())]
    return names, [float(v[n]) for v in groups.values() for n in names if v.get(n)]


def colour_of(names, name):
    return COLOURS.get(name, OTHERS[names.index(name) % len(OTHERS)])


def cell(value):
    return "?" if value is None else f"{value:.6g}"


def frame(groups, names, line):
    """The data block, a line for each group, a column for each name; the x axis; and the line across:
    (value, what)."""
    rows = [" ".join(cell(values.get(name)) for name in names) for values in groups.values()]
    labels = ", ".join(f'"{group.replace("%", "%%")}" {i}' for i, group in enumerate(groups))
    script = "$data << EOD\n" + "\n".join(rows) + "\nEOD\n"
    script += f"set xrange [-0.6:{len(groups) - 0.4}]\n"
    tilted = len(groups) * max(map(len, groups)) >= 140
    script += f"set xtics scale 0{' rotate by -30' if tilted else ''} ({labels})\n"
    if line:
        script += (f"set arrow from graph 0, first {line[0]} to graph 1, first {line[0]} nohead "
                   f'lc rgb "{BLACK}" dt 2 lw 1.5 front\n')
    return script


def draw(script, parts, axes, names, line):
    if line:
        parts.append(f'NaN title "{line[1]}" with lines lc rgb "{BLACK}" dt 2 lw 1.5')
    return plot(script + "plot " + ", ".join(parts) + "\n", axes, names)


def bars(groups, names, axes, line=None, top=None):
    """Groups of bars from 0."""
    names, values = shown(groups, names)
    if not values:
        return "<p>Nothing was measured.</p>"
    script = frame(groups, names, line)
    script += "set style data histogram\nset style histogram clustered gap 1\n"
    script += "set style fill solid 0.95 noborder\nset boxwidth 0.92\n"
    script += f"set yrange [0:{top or 1.05 * max(values + [line[0] if line else 0]):g}]\n"
    parts = [f'$data using {i + 1} title "{name}" lc rgb "{colour_of(names, name)}"'
             for i, name in enumerate(names)]
    return draw(script, parts, axes, names, line)


def logarithmic_tics(low, high):
    """1, 2, 5, 10, ...; only the tens where they are many, and more where there is less than one."""
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    narrow = (1, 1.2, 1.5, 2, 3, 4, 5, 7)
    steps = narrow if high < 5 * low else (1, 2, 5) if len(tens) < 5 else (1,)
    return ", ".join(f"{step * 10.0 ** ten:g}" for ten in tens for step in steps)


def dots(groups, names, axes, line=None):
    """Groups of points over a logarithmic axis, on which bars would begin nowhere."""
    names, values = shown(groups, names)
    if not values:
        return "<p>Nothing was measured.</p>"
    low, high = min(values) / 1.3, max(values + [line[0] if line else 0]) * 1.3
    script = frame(groups, names, line) + f"set logscale y\nset yrange [{low:g}:{high:g}]\n"
    script += f'set format y "%g"\nset ytics ({logarithmic_tics(low, high)})\n'
    for i in range(1, len(groups)):
        script += f'set arrow from {i - 0.5}, graph 0 to {i - 0.5}, graph 1 nohead lc rgb "#dddddd" back\n'
    step = 0.7 / len(names)
    parts = [f"$data using ($0 + {(i - (len(names) - 1) / 2) * step:.3f}):{i + 1} with points "
             f"pt {SHAPES[i % len(SHAPES)]} ps 0.9 lc rgb \"{colour_of(names, name)}\" title \"{name}\""
             for i, name in enumerate(names)]
    return draw(script, parts, axes, names, line)


def curves(series, axes, points):
    """Lines with points over logarithmic axes; `points`: (name, [(x, y)]) shown as marks."""
    script = 'set logscale xy\nset format x "%.0s%c"\nset format y "%g"\nset grid xtics\n'
    parts = []
    for i, (name, pairs) in enumerate(list(series.items()) + [points]):
        body = "\n".join(f"{x:g} {y:g}" for x, y in pairs)
        script += f"$s{i} << EOD\n{body}\nEOD\n"
        style = (f"points pt 8 ps 1.4 lc rgb \"{BLACK}\"" if i == len(series) else
                 f"linespoints pt {SHAPES[i % len(SHAPES)]} ps 0.7 lw 2 lc rgb \"{OTHERS[i]}\"")
        parts.append(f'$s{i} using 1:2 with {style} title "{name}"')
    return draw(script, parts, axes, list(series) + [points[0]], None)
