"""Games of Ingenious recorded with momaland 0.2.0, replayed step by step.

data/ingenious.jsonl.gz: one game a line, with `params` (names of momaland) and `start`. Each of `steps` has the mover, its
action [x, y, slot], the tiles that were drawn after it (`drawn`, `swap_drawn`), and after it the rewards of all agents, the
position, the next mover, the placements that are open to it (`legal`, a digit for each unordered pair of neighbors), and
whether the game is over. `quirk` is why we decide a step otherwise: "13", the cap of scores, "22", no placement is allowed in
the first round.
"""

import pytest

import momagames
from momagames.games.ingenious.codec import find_geometry
from tests.peers.records import read_records, replay_each

ID, NAME = "mo-ingenious-v0", "ingenious"
GROUPS = 4


def make(game):
    params = {("fully_observable" if name == "fully_obs" else name): value for name, value in game["params"].items()}
    return momagames.make(ID, **params)


def start(env, state, mover, first_round, upcoming=()):
    """Start from a recorded position, with the tiles to come."""
    given = {key: state[key] for key in ("board", "racks", "scores", "bag")}
    env.reset(seed=0, options={"state": {**given, "mover": mover, "first_round": first_round, "upcoming": list(upcoming)}})


def list_open(env, rack_size):
    """Return the mask of the agent to move in the form of `legal`: it has all slots of a placement, and both ways round."""
    pairs = find_geometry(env.game.params["board_size"] - 1).pairs
    mask = env.observe(env.agent_selection)["action_mask"].reshape(len(pairs), rack_size)
    assert (mask.min(axis=1) == mask.max(axis=1)).all()
    found = {pair: int(row[0]) for pair, row in zip(pairs, mask, strict=True)}
    assert all(found[x, y] == found[y, x] for x, y in pairs)
    return "".join(str(found[pair]) for pair in sorted(pairs) if pair[0] < pair[1])


def replay(game):
    env, params = make(game), game["params"]
    pairs, rack_size = find_geometry(params["board_size"] - 1).pairs, params["rack_size"]
    before, first_round = game["start"], game["start"]["first_round"]
    start(env, before, before["mover"], first_round)
    assert list_open(env, rack_size) == before["legal"]
    for step in game["steps"]:
        if "quirk" not in step:
            start(env, before, step["mover"], first_round, step["drawn"] + step["swap_drawn"])
            x, y, slot = step["actions"]
            env.step(pairs.index((tuple(x), tuple(y))) * rack_size + slot)
            check_step(env, step, rack_size)
        before, first_round = step["state"], step["first_round"]


def check_step(env, step, rack_size):
    state = env.get_state()
    assert {key: state[key] for key in step["state"]} == step["state"]
    assert state["first_round"] == step["first_round"]
    assert state["upcoming"] == []
    for i, agent in enumerate(env.possible_agents):
        assert env.rewards[agent].tolist() == step["rewards"][i]
        assert env.terminations[agent] == step["terminations"]
        assert not env.truncations[agent]
    if not step["terminations"]:
        assert state["next_agent"] == f"agent_{step['next_mover']}"
        assert list_open(env, rack_size) == step["legal"]


def test_all_kinds_are_here():
    records = read_records(NAME)
    steps = [step for game in records for step in game["steps"]]
    assert (len(records), len(steps)) == (20, 403)
    counts = {name: sum(bool(step.get(name)) for step in steps) for name in ("swap", "bonus", "two_corners")}
    assert counts == {"swap": 21, "bonus": 12, "two_corners": 7}
    assert {game["params"]["reward_mode"] for game in records} == {"competitive", "collaborative", "two_teams"}


@pytest.mark.parametrize("group", range(GROUPS))
def test_replay(group):
    """Positions, rewards, movers, ends and open placements after each step that no quirk decides."""
    replay_each(read_records(NAME)[group::GROUPS], replay)
