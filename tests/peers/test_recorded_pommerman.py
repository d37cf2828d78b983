"""Episodes and short situations recorded with the original pommerman, replayed step by step through the Parallel API.

data/pommerman.jsonl.gz: one record a line. `s_...` are situations made by hand to show a rule, `p_mined_...` short stretches
of play from crowded random boards, the others whole episodes. `config` are the parameters, `initial` is the position to load,
`initial_obs` what is seen of it. Each of `steps` has
    a, m           the actions; in radio each agent's two words, or null: it said nothing
    b, ag, bo, fl, it   board, agents, bombs, flames and hidden items (absent: as before) after it, and after the fall of a ring
    r, d, i        the original's rewards, whether the game is over, result and winners
    o              on some steps what every agent sees; matrices are lists of [row, column, value] of what is not 0
    ev             what happened, from a model of the rules of its own: [kind, ...], see `Ledger`
"""

import numpy as np
import pytest

import momagames
from tests.peers.records import read_records, replay_all, replay_each

IDS = {
    "ffa": "mo-pommerman-ffa-v0",
    "ffa_collapse": "mo-pommerman-ffa-collapse-v0",
    "team": "mo-pommerman-team-v0",
    "team_full": "mo-pommerman-team-full-v0",
    "team_collapse": "mo-pommerman-team-collapse-v0",
    "radio": "mo-pommerman-radio-v0",
    "one_vs_one": "mo-pommerman-duel-v0",
}
RESULTS = {0: "win", 2: "tie", 3: "incomplete"}
MATRICES = ("bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")
NUMBERS = ("ammo", "blast_strength", "can_kick", "teammate", "game_type", "step_count")
ITEMS = {6: "extra_bombs", 7: "ranges", 8: "kick_items"}


def several_owners(record):
    """Return whether bombs of several owners share an effect, where full and split credit differ."""
    kinds = {"wood": 3, "death": 2, "item_burnt": 4, "item_lost": 4}
    return any(len(e[kinds[e[0]]]) > 1 for step in record["steps"] for e in step.get("ev", ()) if e[0] in kinds)


class Ledger:
    """Rewards of each objective, by agent, from the recorded events alone."""

    def __init__(self, record, split=False):
        self.most = record["config"]["max_steps"]
        self.agents, self.seats = record["initial"]["agents"], range(len(record["initial"]["agents"]))
        self.teams = record["variant"] in ("team", "team_full", "team_collapse", "radio")
        self.radio, self.split = record["variant"] == "radio", split
        self.words = [[0, 0] for _ in self.seats]
        self.visited = [{(row, col)} for _, row, col, *_ in self.agents]

    def names(self):
        """The objectives that this game has."""
        names = ["outcome", "outcome_original", "survival", "kills", "self_kill", "wood", "items", *ITEMS.values()]
        names += ["useful_items", "item_waste", "bombs", "movement", "kicks", "explore", "speed"]
        names += ["team_kill", "team_bombs", "mate_survival"] if self.teams else []
        return names + (["comm", "comm_change"] if self.radio else [])

    def mate(self, seat):
        return (seat + 2) % 4 if self.teams else None

    def said(self, step):
        """R4, R5 The words that count: the dead and who gave none say nothing."""
        words = step.get("m") or [None] * len(self.seats)
        return [list(words[i] or (0, 0)) if self.agents[i][0] else [0, 0] for i in self.seats]

    def share(self, owners):
        return 1 / len(owners) if self.split and owners else 1

    def account(self, step):
        """{objective: [amount by agent]} of a step."""
        amounts = {name: [0.0] * len(self.seats) for name in self.names()}
        for kind, *what in step.get("ev", ()):
            getattr(self, kind)(amounts, *what)
        dead = {e[1] for e in step.get("ev", ()) if e[0] == "death"}
        alive = [bool(self.agents[i][0]) and i not in dead for i in self.seats]
        for i in self.seats:
            before, after = self.agents[i][1:3], step["ag"][i][1:3]
            amounts["outcome_original"][i] = step["r"][i]
            amounts["outcome"][i] = step["r"][i] * step["d"]
            amounts["survival"][i] = alive[i] / self.most
            amounts["speed"][i] = (step["d"] - 1) / self.most
            amounts["movement"][i] = -float(before != after)
            amounts["explore"][i] = float(tuple(after) not in self.visited[i])
            self.visited[i].add(tuple(after))
            if self.teams:
                amounts["mate_survival"][i] = alive[self.mate(i)] / self.most
                amounts["team_bombs"][i] = amounts["bombs"][i] + amounts["bombs"][self.mate(i)]
        if self.radio:
            words = self.said(step)
            amounts["comm"] = [-np.count_nonzero(said) / 2 for said in words]
            amounts["comm_change"] = [-float(said != old) for said, old in zip(words, self.words, strict=True)]
            self.words = words
        self.agents = step["ag"]
        return amounts

    def lay(self, amounts, agent, *_):
        amounts["bombs"][agent] -= 1

    def kick(self, amounts, agent, *_):
        amounts["kicks"][agent] += 1

    def pickup(self, amounts, agent, item, wasted):
        amounts["items"][agent] += 1
        amounts[ITEMS[item]][agent] += 1
        amounts["useful_items"][agent] += not wasted

    def death(self, amounts, victim, owners, *_):
        for i in owners:
            side = "self_kill" if i == victim else "team_kill" if i == self.mate(victim) else "kills"
            amounts[side][i] += self.share(owners) * (1 if side == "kills" else -1)

    def wood(self, amounts, row, col, owners, *_):
        for i in owners:
            amounts["wood"][i] += self.share(owners)

    def item_burnt(self, amounts, row, col, item, owners):
        for i in owners:
            amounts["item_waste"][i] -= self.share(owners)

    item_lost = item_burnt

    def collapse_kill(self, amounts, *_):
        """No credit; the agent lived when rewards were computed."""


def make(record, **more):
    return momagames.make(IDS[record["variant"]], api="parallel", **record["config"], **more)


def actions_of(record, step):
    """By name, as recorded: dead agents sometimes do or say something, which must not count."""
    words = step.get("m") or [None] * len(step["a"])
    if record["variant"] != "radio":
        return {f"agent_{i}": action for i, action in enumerate(step["a"])}
    return {f"agent_{i}": np.array([action, *(words[i] or (0, 0))]) for i, action in enumerate(step["a"])}


def sparse(matrix):
    return [[int(r), int(c), int(matrix[r, c])] for r, c in zip(*np.nonzero(matrix), strict=True)]


def check_observations(seen, wanted):
    for i, want in enumerate(wanted):
        found = seen[f"agent_{i}"]
        found = found.get("observation", found)
        assert "".join(f"{code:x}" for code in found["board"].ravel()) == want["board"]
        for name in MATRICES:
            assert sparse(found[name]) == sorted(want[name]), name
        for name in NUMBERS:
            assert found[name].tolist() == [int(want[name])], name
        assert found["position"].tolist() == want["position"]
        assert found["enemies"].tolist() == want["enemies"]
        assert [10 + k for k in np.flatnonzero(found["alive"])] == want["alive"]
        assert ("message" in found) == ("message" in want)
        if "message" in want:
            assert found["message"].tolist() == want["message"]


def check_position(position, step, items, words):
    assert position["board"] == step["b"]
    assert position["agents"] == step["ag"]
    assert position["bombs"] == step["bo"]
    assert position["flames"] == step["fl"]
    assert position["items"] == items
    assert position.get("messages", words) == words


def check_rewards(rewards, names, amounts):
    wanted = np.array([amounts[objective] for objective in names])
    for i, name in enumerate(rewards):
        wrong = ~(np.abs(rewards[name] - wanted[:, i]) <= 1e-6)  # also what is not a number
        assert not wrong.any(), (name, np.array(names)[wrong])


def test_all_records_are_here():
    records = read_records("pommerman")
    variants = [record["variant"] for record in records]
    assert {variant: variants.count(variant) for variant in IDS} == {
        "ffa": 120,
        "ffa_collapse": 28,
        "team": 24,
        "team_full": 21,
        "team_collapse": 21,
        "radio": 20,
        "one_vs_one": 17,
    }
    assert sum(len(record["steps"]) for record in records) == 3223
    kinds = {event[0] for record in records for step in record["steps"] for event in step.get("ev", ())}
    assert kinds == {"lay", "kick", "pickup", "death", "wood", "item_burnt", "item_lost", "collapse_kill"}


@pytest.mark.parametrize("variant", IDS)
def test_replay(variant):
    """Positions, observations, ends, results and every objective, step by step."""
    replay_all("pommerman", replay, variant=variant)


def replay(record):
    ledger = Ledger(record)
    names = ledger.names()
    env = make(record, objectives=names)
    seen, _ = env.reset(seed=0, options={"state": record["initial"]})
    check_observations(seen, record["initial_obs"])
    items = record["initial"]["items"]
    reward_spaces = [env.reward_space(agent) for agent in env.possible_agents]
    for number, step in enumerate(record["steps"]):
        words = ledger.said(step)
        amounts = ledger.account(step)
        seen, rewards, terminations, truncations, infos = env.step(actions_of(record, step))
        items = step.get("it", items)
        check_position(env.get_state(), step, items, words)
        if "o" in step:
            check_observations(seen, step["o"])
        check_rewards(rewards, names, amounts)
        for seat, agent in enumerate(env.possible_agents):
            assert (terminations[agent] or truncations[agent]) == bool(step["d"])
            assert (number + seat) % 4 or env.observation_space(agent).contains(seen[agent])  # of one agent in turn
            assert reward_spaces[seat].contains(rewards[agent])
            assert infos[agent]["result"] == RESULTS[step["i"]["result"]]
            assert infos[agent]["winners"] == [f"agent_{i}" for i in step["i"].get("winners", ())]
    assert env.agents == ([] if record["steps"][-1]["d"] else env.possible_agents)


SHARED = ("kills", "self_kill", "wood", "item_waste")


def test_split_credit():
    """Owners of a common effect share its credit."""
    replay_each(filter(several_owners, read_records("pommerman")), replay_split)


def replay_split(record):
    env, ledger = make(record, objectives=SHARED, credit="split"), Ledger(record, split=True)
    env.reset(seed=0, options={"state": record["initial"]})
    for step in record["steps"]:
        check_rewards(env.step(actions_of(record, step))[1], SHARED, ledger.account(step))
