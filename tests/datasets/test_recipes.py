import pytest
import yaml

from momagames.datasets import list_recipes, load_recipe
from momagames.errors import InvalidFile, UnknownId
from momagames.games import BENCHMARK, VERSIONS
from tests.datasets.small import GEMWALK, GREEDY, part, recipe


def test_packaged_recipes_have_three_tiers_for_each_family():
    families = {}
    for name in list_recipes():
        loaded = load_recipe(name)
        assert loaded.name == name
        assert [one.tier for one in loaded.parts] == ["random", "medium", "expert"]
        families[name] = {VERSIONS[one.game.id].factory for one in loaded.parts}
    assert set().union(*families.values()) == {VERSIONS[id].factory for id in BENCHMARK}


def test_a_recipe_is_a_file_a_name_or_a_mapping(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(recipe()))
    assert load_recipe(path) == load_recipe(recipe()) == load_recipe(load_recipe(recipe()))
    assert load_recipe(path).digest == load_recipe(recipe()).digest != load_recipe(recipe(seed=8)).digest


def test_shards_cover_the_episodes():
    loaded = load_recipe(recipe())
    assert [loaded.count_episodes(*key) for key in loaded.list_shards()] == [10, 10, 5, 10, 10, 5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sed": 1}, "recipe: sed: unknown key: expected .*did you mean 'seed'"),
        ({"seed": -1}, "invalid seed=-1: expected greater than or equal to 0"),
        ({"shard_episodes": 0}, "invalid shard_episodes=0"),
        ({"name": "../x"}, "invalid name='../x'"),
        ({"parts": []}, "parts"),
        (
            {"parts": [part("random", GEMWALK), part("random", GEMWALK)]},
            r"invalid parts\[1\].tier='random': expected a tier that no",
        ),
        ({"parts": [part("random", {"id": "mo-gemwlk-v0", "params": {}})]}, "did you mean 'mo-gemwalk-v0'"),
        ({"parts": [part("random", {"id": "mo-gemwalk-v0"})]}, r"game.params: missing key: a recipe has no defaults"),
        ({"parts": [part("random", {**GEMWALK, "parms": {}})]}, r"parms: unknown key: expected 'id' or 'params'"),
        ({"parts": [part("random", GEMWALK, [{"name": "greedi", "options": {}}])]}, "did you mean 'greedy'"),
        ({"parts": [part("random", GEMWALK, [{**GREEDY, "options": {}}])]}, "missing option 'divisions'"),
        ({"parts": [part("random", GEMWALK, [{"name": "exact", "options": {"max_states": 9, "max_bytes": 9}}])]}, "exact"),
    ],
)
def test_an_invalid_recipe_names_the_key(changes, message):
    with pytest.raises(InvalidFile, match=message):
        load_recipe(recipe(**changes))


def test_trained_methods_make_no_data():
    options = {
        "data": "samegame", "tier": "random", "divisions": 1, "epochs": 1, "batch_size": 8, "learning_rate": 0.001,
        "channels": 4, "hidden": 8, "layers": 1, "greedy": True,
    }  # fmt: skip
    with pytest.raises(InvalidFile, match="behavior_cloning trains"):
        load_recipe(recipe(part("random", GEMWALK, [{"name": "behavior_cloning", "options": options}])))


def test_an_unknown_name_is_named():
    with pytest.raises(UnknownId, match=r"did you mean 'samegame'.* packaged recipes"):
        load_recipe("samegme")
