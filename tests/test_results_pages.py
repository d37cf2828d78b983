"""The pages of results: generated from an archive, complete and reproducible."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import momagames
from momagames.analysis.statistics import Interval
from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.benchmark import load_suite, run_suite
from momagames.benchmark.choices import label_methods
from momagames.benchmark.runner import Shard
from momagames.benchmark.store.archive_file import pack_archive, unpack_archive
from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Indicators
from momagames.reports.data.generalization import RATIO, REGRET, InstanceScore
from momagames.reports.data.report_data import collect_report_data
from momagames.reports.data.verdicts import LEVEL
from momagames.reports.figures.paper_figures import list_figures
from momagames.reports.report import report
from momagames.reports.text.labels import describe_interval
from tests.benchmark.test_generalization import EXPERIMENT as GENERALIZATION
from tests.benchmark.test_head_to_head import EXPERIMENT as MATCHES
from tests.benchmark.tiny import EXACT, GREEDY, INDICATORS, POLICIES, RANDOM, plans, suite

pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # where its modules are
import headlines  # noqa: E402
import make_results  # noqa: E402
import sections  # noqa: E402
from archives import Archive  # noqa: E402
from page_figures import PageSet, show_images  # noqa: E402
from result_pages import COLLECTION, PAGES, TITLES, make_page, take_ends  # noqa: E402

IMAGE = re.compile(r"!\[.*?\]\((.*?)\)")

SUITE = {"name": "track", "description": "Cut.", "indicators": INDICATORS}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a small collection of two suites, each with one experiment."""
    folder = tmp_path_factory.mktemp("results") / "both"
    experiments = [{**plans([RANDOM, EXACT]), "name": "one: boards", "budget": 3000}, {**POLICIES, "name": "two: seats"}]
    both = load_suite({"name": "both", "description": "", "experiments": experiments, "indicators": INDICATORS})
    assert not run_suite(both, folder).failed
    return folder


@pytest.fixture(scope="module")
def archives(results, tmp_path_factory):
    """Return the archives of two small suites by name."""
    folder = tmp_path_factory.mktemp("archives")
    assert not run_suite(suite(GENERALIZATION), folder / "results").failed
    pack_archive(results, folder / "paper.npz.xz")
    pack_archive(folder / "results", folder / "generalization.npz.xz")
    return {name: folder / f"{name}.npz.xz" for name in ("paper", "generalization")}


def test_only_suites_of_the_pages_are_archived(results, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["make_results.py", "--archive", str(results)])
    with pytest.raises(SystemExit):
        make_results.main()
    assert "invalid suite='both': expected 'policies', 'plans'" in capsys.readouterr().err


def test_every_suite_of_the_collection_has_a_title():
    collection = yaml.safe_load((ROOT / "configs" / "suites" / f"{COLLECTION}.yaml").read_text(encoding="utf-8"))
    assert set(collection["suites"]) == set(TITLES)


def test_pages_of_an_archive(results, archives, tmp_path):
    expected = report(results, replays=False)
    for name in ("a", "b"):
        pack_archive(results, tmp_path / f"{name}.npz.xz")
    assert (tmp_path / "a.npz.xz").read_bytes() == (tmp_path / "b.npz.xz").read_bytes()
    pages = make_results.make_results(archives, tmp_path / "pages")
    assert set(pages) == {"index.md", "one.md", "two.md", "generalization.md"}
    (boards, *_) = expected.panels
    ratio, volume = (boards.scores["exact"][name].interval for name in ("hypervolume_ratio", "hypervolume"))
    assert f"| exact | 2 | {describe_interval(ratio)} | {describe_interval(volume, '.4g')} |" in pages["one.md"]
    assert "| momagames | " in pages["index.md"]
    assert "\n| game | [generalization to unseen instances](generalization.md) |\n" in pages["index.md"]
    assert "\n| MO-SameGame | `cross_entropy` in 1 of 1 setting |\n" in pages["index.md"]
    for line in expected.overview:
        page = pages["one.md" if expected.panels[line.panel].experiment.startswith("one") else "two.md"]
        assert f"\n## {line.title}\n" in page
        assert f"| {line.title}" in page
    for name in pages.keys() - {"index.md"}:
        title, message = pages[name].split("\n\n")[:2]
        assert f"**[{title.removeprefix('# ')}]({name})**: {message}\n" in pages["index.md"]
    for name in ("one.md", "two.md"):
        assert "v0(" not in re.sub("`.*?`", "", pages[name])  # ids with parameters are in the folded tables alone


def test_pages_compute_only_what_they_show(results):
    suite = Store(results).read_suite()
    data = collect_report_data(Store(results), suite, primary_only=True)
    assert {figure.kind for figure in list_figures(data, ("front",)).values()} == {"front"}
    assert not {"aggregate", "crossplay"} & vars(data).keys()
    assert not any("user_utilities" in vars(panel) for panel in data.panels)
    assert "crossplay" in {figure.kind for figure in list_figures(data).values()}


def describe_family(data, suite):
    """Return the message of the page of one suite of a collection."""
    archive = Archive("both", None, None, data, (), {})
    (text,) = headlines.family(archive.select([one for one in data.panels if one.experiment.startswith(suite)]))
    return text


def test_message_of_a_family(results):
    data = collect_report_data(Store(results), Store(results).read_suite(), primary_only=True)
    means = {name: score.value for name, score in data.overview[1].scores.items()}
    best, other = sorted(means, key=means.get, reverse=True)
    assert means[best] > means[other]
    message = describe_family(data, "two")
    is_level = message.startswith(f"{best} and {other} are level")
    assert is_level or message.startswith(f"{best} is best: hypervolume ratio {means[best]:.2f}")
    assert message.endswith(f" Ahead of all others: {'level' if is_level else f'`{best}`'} in 1 of 1 setting.")
    # random search finds both fronts of the boards, too
    assert describe_family(data, "one").endswith(" Ahead of all others: level in 1 of 1 setting.")
    both = describe_family(data, "")  # methods of plans and of policies are not compared with each other
    assert both.startswith("Plans: ")
    assert f" Policies: {message.partition(' Ahead of all')[0]} " in both


def test_page_of_generalization(archives, tmp_path):
    text = make_page("generalization", archives["generalization"], PAGES["generalization"]).texts["generalization"]
    message = text.splitlines()[2]
    assert message.startswith(
        "Of the methods that are trained on 3 instances alone, `cross_entropy` has the smallest regret on 4 unseen ones"
    )
    unpack_archive(archives["generalization"], tmp_path / "unpacked")
    (panel,) = report(tmp_path / "unpacked", replays=False).panels
    score = panel.generalization["random"][RATIO]
    for at in (score.training, score.test, score.gap):
        assert f"| {describe_interval(at)} |" in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert "| random | " in text.partition("Environment steps of an episode")[2]


def test_methods_with_equal_gaps_are_level(monkeypatch):
    at = Interval(0.1, 0.1, 0.1, 2)
    found = {
        method: dict.fromkeys((RATIO, REGRET), InstanceScore(at, at, at, {0: 0.1, 1: 0.1}, dict(enumerate(gaps))))
        for method, gaps in {"a": (0.4, 0.1), "b": (0.1, 0.3), "c": (0.0, 0.0)}.items()
    }
    monkeypatch.setattr(headlines, "select_trained", lambda archive: found)
    setting = SimpleNamespace(
        panel=SimpleNamespace(generalization=found), experiment=SimpleNamespace(select_episodes=3, report_episodes=4)
    )
    settings = Indicators(names=("hypervolume_ratio",), margin=0.0, confidence=0.95, resamples=500)
    archive = SimpleNamespace(panels=[None], data=SimpleNamespace(settings=settings), select_setting=lambda panel: setting)
    (text,) = headlines.generalization(archive)
    assert "`a` (level with `b` and `c`) has the smallest regret" in text
    assert "`a` (level with `b`) has the largest gap" in text


@pytest.mark.long
def test_site_shows_every_figure_once(archives, tmp_path):
    pytest.importorskip("matplotlib")
    pages = make_results.make_results(archives, tmp_path)
    assert not any(IMAGE.search(re.sub("<!--.*-->", "", text)) for text in pages.values())
    figures = [IMAGE.findall(show_images(text)) for text in pages.values()]
    assert all(len(set(names)) == len(names) for names in figures)  # a page has a figure once; the index has some of others
    assert {name for names in figures for name in names} == {path.name for path in tmp_path.glob("*.svg")}


def test_page_of_a_track(tmp_path, monkeypatch):
    weaker = {"name": "greedy", "options": {"divisions": 1}}
    wanted = {**POLICIES, "methods": [RANDOM, weaker], "seeds": [0, 1, 2]}
    suite = load_suite({"name": "track", "description": "Cut.", "experiments": [wanted], "indicators": INDICATORS})
    assert not run_suite(suite, tmp_path / "results", shard=Shard(1, 1, (0, 1))).failed
    pack_archive(tmp_path / "results", tmp_path / "track.npz.xz")
    outcomes = {}
    for learner in ("random", "greedy"):
        monkeypatch.setattr(headlines, "LEARNER", learner)
        page = make_page("track", tmp_path / "track.npz.xz", PAGES["policies"])
        row, *_ = re.findall(r"^\| MO-Breakthrough .*$", page.texts["track"], re.MULTILINE)
        outcomes[learner] = [cell.strip() for cell in row.strip("| ").split("|")]
    assert [outcomes[name][-1] for name in outcomes] == ["loss", "win"]
    assert outcomes["random"][1] == outcomes["greedy"][4] != outcomes["greedy"][1] == outcomes["random"][4]
    assert outcomes["random"][2] == outcomes["greedy"][5] == "–"  # one policy
    assert outcomes["random"][5] == outcomes["greedy"][2] != "–"
    assert "Of the 2 methods that play all 1 setting, `greedy` has the highest" in page.texts["track"]
    assert "The trained policies of the package" not in page.texts["track"]
    assert "`greedy` wins 1, is level in 0 and loses 0." in page.texts["track"]
    assert "**2 of 3 seeds** are complete (seeds 0, 1; 4 of 6 runs)." in page.texts["track"]
    assert "momagames bench run track --archive benchmarks/fronts/track.npz.xz -o track-results --seed 2" in page.texts["track"]
    assert "`momagames bench run track` made the runs" not in page.texts["track"]
    assert set(IMAGE.findall(show_images(page.texts["track"]))) == {f"{name}.svg" for name in page.figures}


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_a_part_of_a_suite(page, tmp_path):
    """One method in one of two settings."""
    kinds = {"plans": plans([RANDOM, GREEDY]), "head_to_head": MATCHES, "generalization": GENERALIZATION}
    first = {**kinds.get(page, POLICIES), "name": "now"}
    suite = load_suite({**SUITE, "experiments": [first, {**first, "name": "later", "seeds": [9]}]})
    part = Shard(1, 1, (first["seeds"][0],), ("now",), methods=("random",))
    outcome = run_suite(suite, tmp_path / "results", shard=part)
    assert [len(outcome.finished), outcome.failed] == [1, ()]
    pack_archive(tmp_path / "results", tmp_path / "track.npz.xz", thinned=True)
    text = make_page("track", tmp_path / "track.npz.xz", PAGES[page]).texts["track"]
    assert re.search(r"^(No .* yet\.|.* random alone was run: .*)$", text.split("\n\n")[1])
    assert re.findall(r"^Still to come: .*later\.$", text, re.MULTILINE)
    assert re.search(r"0 of \d seeds\*\* are complete", text) or page == "generalization"
    assert ("Not compared yet, since they have no run there: `greedy` in 1 setting." in text) == (page == "policies")


def test_page_of_tradeoffs_measures_the_front_of_each_setting(tmp_path):
    suite = load_suite({**SUITE, "experiments": [{**POLICIES, "ideal_point": "front"}]})
    assert not run_suite(suite, tmp_path / "results").failed
    (panel,) = collect_report_data(Store(tmp_path / "results"), suite, primary_only=True).panels
    played = [np.concatenate([at.values for at in panel.points[name].values()]) for name in ("random", "greedy")]
    found = measure_tradeoffs(panel.references[0].values, *played)
    pack_archive(tmp_path / "results", tmp_path / "track.npz.xz", thinned=True)
    text = make_page("track", tmp_path / "track.npz.xz", PAGES["policies"]).texts["track"]
    (row,) = re.findall(r"^\| MO-Breakthrough [^|]* \| (\d.*) \|$", text.partition("What each setting shows")[2], re.MULTILINE)
    assert "Not compared yet" not in text
    numbers = f"{found.single_share:.2f} | {found.points} | {min(found.losses):.2f}"
    shares = f"{found.simple_share:.2f} | {found.untrained_share:.2f}"
    assert row == f"{numbers} | {shares} | {', '.join(found.list_failures())}"


def test_page_shows_games_from_both_ends_of_a_front(tmp_path, monkeypatch):
    suite = load_suite({**SUITE, "experiments": [POLICIES]})
    assert not run_suite(suite, tmp_path / "results", shard=Shard(1, 1, (0,))).failed
    pack_archive(tmp_path / "results", tmp_path / "track.npz.xz")
    (game,) = suite.experiments[0].games
    pair = [SimpleNamespace(id=game.id, params=game.params, text=f"On {name}", file=f"{name}.gif") for name in ("win", "speed")]
    texts = []
    for ends in ((), (pair,)):
        monkeypatch.setattr(sections, "ENDS", ends)
        texts.append(make_page("track", tmp_path / "track.npz.xz", PAGES["policies"]).texts["track"])
    assert "Both ends" not in texts[0]
    blocks = take_ends(texts[1].split("\n\n"))
    assert blocks[0] == sections.ENDS_TEXT
    assert blocks[1].startswith("**MO-Breakthrough")
    assert "| ![On win](../_static/win.gif) | ![On speed](../_static/speed.gif) |" in blocks[-1]


def test_page_of_methods_without_a_common_seed(tmp_path):
    suite = load_suite({**SUITE, "experiments": [POLICIES]})
    for seed, method in ((0, "random"), (1, "greedy")):
        run_suite(suite, tmp_path / "results", shard=Shard(1, 1, (seed,), methods=(method,)))
    pack_archive(tmp_path / "results", tmp_path / "track.npz.xz", thinned=True)
    text = make_page("track", tmp_path / "track.npz.xz", PAGES["policies"]).texts["track"]
    assert "No two methods have been run in all settings that have results yet." in text


def test_page_of_a_complete_track_has_the_commands(tmp_path):
    suite = load_suite({"name": "track", "description": "", "experiments": [POLICIES], "indicators": INDICATORS})
    assert not run_suite(suite, tmp_path / "results").failed
    pack_archive(tmp_path / "results", tmp_path / "track.npz.xz")
    page = make_page("track", tmp_path / "track.npz.xz", PAGES["policies"])
    assert "`momagames bench run track` made the runs" in page.texts["track"]
    assert "`python docs/make_results.py --suite track --unpack FOLDER` restores them" in page.texts["track"]


def test_a_baseline_of_one_seed_counts_only_alone(tmp_path, monkeypatch):
    wanted = {**POLICIES, "methods": [RANDOM, GREEDY, {"name": "greedy", "options": {"divisions": 3}}]}
    suite = load_suite({"name": "track", "description": "", "experiments": [wanted], "indicators": INDICATORS})
    monkeypatch.setattr(headlines, "LEARNER", "random")
    monkeypatch.setattr(headlines, "MORE_TRAINING", "")
    first, second = list(label_methods(suite.experiments[0].methods).values())[1:]
    for number, name in enumerate(("random", first)):
        assert not run_suite(suite, tmp_path, shard=Shard(1, 1, (0, 1)[: 2 - number], methods=(name,))).failed
    (alone,) = headlines.compare_learner(collect_report_data(Store(tmp_path), suite, primary_only=True))
    assert alone.baseline == first  # with its only seed
    assert not run_suite(suite, tmp_path, shard=Shard(1, 1, methods=(second,))).failed
    (both,) = headlines.compare_learner(collect_report_data(Store(tmp_path), suite, primary_only=True))
    assert both.baseline == second


def test_standing_leaves_out_methods_with_more_training(tmp_path, monkeypatch):
    wanted = {**POLICIES, "methods": [RANDOM, GREEDY]}
    suite = load_suite({"name": "track", "description": "", "experiments": [wanted], "indicators": INDICATORS})
    assert not run_suite(suite, tmp_path).failed
    data = collect_report_data(Store(tmp_path), suite, primary_only=True)
    monkeypatch.setattr(headlines, "LEARNER", "random")
    (before,) = headlines.compare_learner(data)
    assert (before.baseline, before.result) == ("greedy", "loss")
    (line,) = headlines.describe_standing(data)
    assert line.endswith("`random` wins 0, is level in 0 and loses 1.")
    monkeypatch.setattr(headlines, "PEERS", {"greedy"})
    two = [before, *headlines.compare_learner(data)]  # in the second one greedy is a peer
    monkeypatch.setattr(headlines, "compare_learner", lambda data: two)
    assert "In 1 of these settings" in (text := " ".join(headlines.describe_standing(data)))
    assert "there it wins 0, is level in 0 and loses 1." in text
    monkeypatch.undo()
    monkeypatch.setattr(headlines, "LEARNER", "greedy")
    monkeypatch.setattr(headlines, "MORE_TRAINING", "random")
    assert headlines.compare_learner(data) == []  # no other method is left
    assert not [*headlines.describe_standing(data)]
    assert "lead 0 of the 1 setting that they play; each is one training" in " ".join(headlines.describe_champions(data))


def test_leaders_by_game():
    games = [momagames.spec(f"mo-{name}-v0") for name in ("pommerman-duel", "tileblast", "pommerman-ffa", "pommerman-duel")]
    leaders = headlines.count_leaders(zip(games, (["a", "c"], ["b"], ["c"], ["c"]), strict=True))
    assert leaders == {"MO-Pommerman": {"c": 2, LEVEL: 1}, "MO-TileBlast": {"b": 1}}
    tracks = {"x": PageSet({"x": "# Track 1: first\n"}, {}, leaders), "y": PageSet({"y": "# Second\n"}, {})}
    assert list(make_results.leader_table(tracks))[1].splitlines() == [
        "| game | [first](x.md) | [Second](y.md) |",
        "|---|---:|---:|",
        "| MO-Pommerman | `c` in 2 of 3 settings, level in 1 | – |",
        "| MO-TileBlast | `b` in 1 of 1 setting | – |",
    ]


def run_page(name, experiments, tmp_path):
    """Run experiments and return the page of the suite with this name."""
    suite = load_suite({**SUITE, "experiments": experiments})
    assert not run_suite(suite, tmp_path / "results").failed
    pack_archive(tmp_path / "results", tmp_path / "track.npz.xz", thinned=True)
    return make_page("track", tmp_path / "track.npz.xz", PAGES[name])


def test_page_of_games_between_learners(tmp_path):
    page = run_page("head_to_head", [{**MATCHES, "methods": [RANDOM, GREEDY], "budget": 0}], tmp_path)
    assert page.texts["track"].startswith("# Track 3: games between learners\n\nRating above those of all others, by the ")
    assert "**2 of 2 seeds** are complete (seeds 0, 1; 4 of 4 runs)." in page.texts["track"]
    (panel,) = report(tmp_path / "results", replays=False).crossplay
    scores = panel.head_to_head
    won, tied, lost = scores.total("greedy")
    assert won > 0.9
    assert f"| greedy | {describe_interval(scores.ratings['greedy'], '.0f')} |" in page.texts["track"]
    assert f"| {won:.3f} | {tied:.3f} | {lost:.3f} |" in page.texts["track"]
    assert f"| random | {lost:.2f} / {tied:.2f} / {won:.2f} |" in page.texts["track"]
    assert (
        set(IMAGE.findall(show_images(page.texts["track"])))
        == {f"{name}.svg" for name in page.figures}
        == {"head_to_head-1.svg"}
    )
    assert page.texts["track"].count("<details>") == page.texts["track"].count("</details>") == 3


def test_page_of_plans(tmp_path):
    steps = {
        **plans([RANDOM, GREEDY, EXACT], id="mo-samegame-v0", board_width=6, board_height=6, num_colors=3),
        "name": "steps",
    }
    beams = [{"name": "beam", "options": {"width": 2, "estimate": estimate}} for estimate in ("present", "champion")]
    trained = load_suite({**SUITE, "experiments": [{**steps, "methods": [RANDOM, *beams]}]})
    assert headlines.describe_trained(trained).endswith("which no budget includes: `beam(estimate=champion)`.")
    page = run_page("plans", [steps, {**steps, "name": "time", "cpu_seconds": 0.02}], tmp_path)
    ratios = {}
    for panel in report(tmp_path / "results", replays=False).panels:
        ratios[panel.experiment] = {name: panel.scores[name]["hypervolume_ratio"].interval.value for name in panel.points}
    best, other = sorted(("random", "greedy"), key=ratios["steps"].get, reverse=True)
    first, second = (f"{ratios['steps'][name]:.2f}" for name in (best, other))
    start = f"\n\nAt equal environment steps, without known draws: {best} "
    is_best, is_level = (
        f"{start}{text} {first}" in page.texts["track"]
        for text in ("is best: hypervolume ratio", f"and {other} are level: hypervolume ratios")
    )
    assert is_best or (is_level and f"{first} and {second}, difference " in page.texts["track"])
    assert "Trained beforehand" not in page.texts["track"]
    tables = page.texts["track"].partition("## At equal CPU time")
    for text, found in ((tables[0], ratios["steps"]), (tables[2], ratios["time"])):
        best = max(found[name] for name in ("random", "greedy"))  # the proven front has no budget
        assert f" **{best:.3f}** |" in text
        assert " 1.000 |" in text
    costs = re.findall(r"^\| random \| ([\d,]+) \| ([\d.]+) \|$", page.texts["track"], re.MULTILINE)
    assert len(costs) == 2
    assert int(costs[0][0].replace(",", "")) <= steps["budget"] < int(costs[1][0].replace(",", ""))
    assert set(IMAGE.findall(show_images(page.texts["track"]))) == {f"{name}.svg" for name in page.figures}
