"""Tables in LaTeX: the numbers of the report, escaped, the best value of each column bold."""

import re
import shutil
import subprocess

import pytest

from momagames.analysis.named_indicators import INDICATORS
from momagames.analysis.statistics import Interval
from momagames.benchmark import run_suite
from momagames.errors import InvalidFile, InvalidParameter
from momagames.reports import report
from momagames.reports.data.overview import list_methods
from momagames.reports.text.latex_tables import (
    MAX_NARROW,
    SPECIAL,
    draw_latex,
    escape,
    latex_report,
    write_latex,
)
from momagames.reports.text.table import Column, Number, Runs, Table
from tests.benchmark.test_generalization import EXPERIMENT
from tests.benchmark.tiny import EXACT, GREEDY, POLICIES, RANDOM, plans, suite

TABLE = re.compile(r"\\begin\{(table\*?)\}.*?\\end\{\1\}\n", re.DOTALL)
VALUE = re.compile(r"(?:\\textbf\{)?(-?[\d.e+]+|\\textasciitilde\{\}[\d.e+]+)\}?(?: \{\\scriptsize \[.*?\]\})?")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a report with panels of plans, of policies against opponents, and of instances."""
    tested = suite(plans([RANDOM, GREEDY, EXACT]), POLICIES, EXPERIMENT)
    folder = tmp_path_factory.mktemp("latex")
    assert not run_suite(tested, folder).failed
    return report(folder, replays=False)


def read_tables(text):
    """Return label -> (head, rows) with the cells as they are written; every row has a cell for each column."""
    found = {}
    for match in TABLE.finditer(text):
        table = match[0]
        assert table.count("{") == table.count("}")
        for name in (match[1], "tabular"):
            assert table.count(f"\\begin{{{name}}}") == table.count(f"\\end{{{name}}}") == 1
        columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", table)[1]
        body = table.partition("\\toprule\n")[2].partition("\\bottomrule")[0].replace("\\midrule\n", "")
        rows = [re.split(r" (?<!\\)& ", line.removesuffix(" \\\\")) for line in body.splitlines()]
        assert {len(row) for row in rows} == {len(columns)}
        assert (match[1] == "table*") == (len(columns) > MAX_NARROW)
        found[re.search(r"\\label\{tab:(.*?)\}", table)[1]] = rows[0], rows[1:]
    return found


def test_chosen_indicators(made):
    known = made.panels[0].indicators
    head, _ = read_tables(latex_report(made, names=["igd_plus", "hypervolume"]))["scores-1"]
    assert head == ["method", "runs", *(escape(known[name].heading) for name in ("igd_plus", "hypervolume"))]
    with pytest.raises(InvalidParameter, match="invalid indicator='igd'; did you mean 'igd_plus'"):
        latex_report(made, names=["igd"])


def test_no_character_has_a_meaning_of_its_own():
    assert escape("a_1 & 50% of $3 #4 {x} ~ ^ \\ < > |") == (
        r"a\_1 \& 50\% of \$3 \#4 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \textless{} \textgreater{} "
        r"\textbar{}"
    )
    assert escape("gap ↓ – HV ↑") == r"gap $\downarrow$ -- HV $\uparrow$"
    bare = "".join(SPECIAL)
    number = Number(Interval(1.0, 0.0, 2.0, 2))
    table = draw_latex(Table("x", bare, [Column("method", is_text=True), Column(bare)], [[bare, number]]))
    rest = re.sub(r"\\[&%$#_{}]|\\text\w+\{\}|\$\\\w+\$", "", table.partition("\\caption{")[2].partition("\\label")[0])
    assert rest == "--}\n"  # all of the caption was escaped, and its brace is left


def test_intervals_and_single_runs():
    intervals = {
        "a_b": Interval(0.5, 0.25, 0.75, 4),
        "single": Interval(0.4, 0.4, 0.4, 1),
        "equal": Interval(0.501, 0.501, 0.501 + 1e-15, 4),
    }
    rows = [[name, Runs(at.runs), Number(at, ".2f", is_estimate=name == "a_b")] for name, at in intervals.items()]
    columns = [Column("method", is_text=True), Column("runs"), Column("v", more_is_better=True)]
    text = draw_latex(Table("x", "", columns, [*rows, ["none", Runs(0, 3), ""]]))
    assert "a\\_b & 4 & \\textbf{\\textasciitilde{}0.50} {\\scriptsize [0.25, 0.75]} \\\\" in text
    assert "single & 1 & 0.40 \\\\" in text
    assert "equal & 4 & \\textbf{0.50} \\\\" in text  # as good after rounding
    assert "none" not in text  # has no finished run


def test_every_table_of_the_report(made):
    panels = {number: panel for number, panel in enumerate(made.panels, 1) if panel.primary}
    last = max(panels)  # of instances
    expected = {"overview", f"generalization-{last}", *(f"scores-{number}" for number in panels)}
    expected |= {f"control-{number}" for number, panel in panels.items() if panel.kind == "policies"}
    assert set(read_tables(latex_report(made))) == expected
    every = set(read_tables(latex_report(made, every=True)))
    expected |= {f"scores-{number}" for number in range(1, last + 1)} | {f"control-{number}" for number in range(2, last + 1)}
    expected |= {"crossplay-1-1", "crossplay-1-2", "utilities-2", f"utilities-{last}"}
    assert every - {"ratings-1"} == expected


def test_scores_are_those_of_the_panel_and_the_best_are_bold(made):
    tables = read_tables(latex_report(made, every=True))
    for number, panel in enumerate(made.panels, 1):
        for table in ("scores", "control"):
            if f"{table}-{number}" not in tables:
                continue
            head, rows = tables[f"{table}-{number}"]
            names = {escape(one.heading): name for name, one in INDICATORS.items()}
            assert [row[0] for row in rows] == [escape(method) for method in panel.scores]
            for column, title in enumerate(head[2:], 2):
                up, form = INDICATORS[names[title]].more_is_better, INDICATORS[names[title]].form
                found = [scores.get(names[title]) for scores in panel.scores.values()]
                texts = [None if one is None else format(one.interval.value, form) for one in found]
                numbers = [float(text) for text in texts if text is not None]
                best = None if up is None or len(numbers) < 2 else max(numbers) if up else min(numbers)
                for row, one, text in zip(rows, found, texts, strict=True):
                    if one is None:
                        assert row[column] == "--"
                        continue
                    value = f"\\textbf{{{text}}}" if float(text) == best else text
                    low, high = (format(bound, form) for bound in (one.interval.low, one.interval.high))
                    assert row[column] == (f"{value} {{\\scriptsize [{low}, {high}]}}" if one.interval.has_width else value)


def test_overview_and_generalization(made):
    tables = read_tables(latex_report(made))
    head, rows = tables["overview"]
    methods = list_methods(made.overview)
    steered = {name for line in made.overview for name in line.control}
    assert steered
    names = [name for method in methods for name in (method, f"{method}: controllability")[: 1 + (method in steered)]]
    assert head == ["game", *map(escape, names)]
    for row, line in zip(rows, made.overview, strict=True):
        cells = dict(zip(names, row[1:], strict=True))
        for name in methods:
            assert cells[name].startswith("\\textbf{") == (name in line.best)
            assert (cells[name] == "") == (name not in line.scores)
            if name in steered and name in line.scores and line.control:
                beside = f"{line.control[name].value:.3f}" if name in line.control else "--"
                assert cells[f"{name}: controllability"].startswith(beside)
    _, rows = tables[f"generalization-{len(made.panels)}"]
    panel = made.panels[-1]
    for row, (method, scores) in zip(rows, panel.generalization.items(), strict=True):
        assert row[0] == escape(method)
        beside = row.pop(4)
        control = panel.scores[method].get("controllability")
        assert beside == "--" if control is None else float(VALUE.fullmatch(beside)[1]) == round(control.interval.value, 3)
        values = [float(VALUE.fullmatch(cell)[1]) for cell in row[1:]]
        expected = [at.value for score in scores.values() for at in (score.training, score.test, score.gap)]
        assert values == pytest.approx(expected, abs=5e-4)
    regrets = [float(VALUE.fullmatch(row[5])[1]) for row in rows]
    assert ["textbf" in row[5] for row in rows] == [value == min(regrets) for value in regrets]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
@pytest.mark.long
def test_tables_compile(made, tmp_path):
    write_latex(made, tmp_path / "tables.tex", every=True)
    packages = "\\usepackage{booktabs}\\usepackage{graphicx}"
    paper = f"\\documentclass[twocolumn]{{article}}{packages}\\begin{{document}}\\input{{tables.tex}}\\end{{document}}"
    (tmp_path / "paper.tex").write_text(paper)
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull \\hbox" not in done.stdout  # no table is wider than its column
    assert (tmp_path / "paper.pdf").stat().st_size > 0


def test_files(made, tmp_path):
    write_latex(made, tmp_path / "tables.tex")
    assert (tmp_path / "tables.tex").read_text() == latex_report(made)
    with pytest.raises(InvalidFile, match="No such file or directory"):
        write_latex(made, tmp_path / "no" / "tables.tex")
