"""The oracle: MO-Pommerman from SPEC.md alone, with plain lists and dicts. It imports nothing from momagames.

A game starts from the dict form of a position (§9) and facts: kind ("ffa", "team", "radio", "duel"), size, max_steps,
first_collapse (None: never), range_limit, view (None: everything), credit ("full" or "split"), dead ("stay" or "leave").
"""

from copy import deepcopy

PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA, RANGE, KICK, NO_AGENT = range(10)
STEPS = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}
ITEMS = (EXTRA, RANGE, KICK)
GAME_TYPES = {"ffa": 1, "team": 2, "radio": 3, "duel": 4}


class Agent:
    def __init__(self, seat, facts):
        alive, row, col, ammo, strength, kick = facts
        self.seat, self.alive, self.cell = seat, bool(alive), (row, col)
        self.ammo, self.strength, self.kick = ammo, strength, bool(kick)
        self.message, self.seen, self.want, self.action, self.gone = (0, 0), {self.cell}, None, 0, False


class Bomb:
    def __init__(self, row, col, life, strength, owner, direction):
        self.cell, self.life, self.strength, self.owner, self.direction = (row, col), life, strength, owner, direction
        self.want, self.kicker = None, None


class Game:
    def __init__(
        self, position, kind, size, max_steps, range_limit, first_collapse=None, view=None, credit="full", dead="stay"
    ):
        self.kind, self.size, self.max_steps, self.range_limit = kind, size, max_steps, range_limit
        self.view, self.credit, self.leave, self.rings = view, credit, dead == "leave", []
        if first_collapse:
            self.rings = list(range(first_collapse, max_steps, (max_steps - first_collapse) // 4))
        digits = [int(digit, 16) for digit in position["board"]]
        self.board = {(i // size, i % size): code for i, code in enumerate(digits)}
        self.agents = [Agent(seat, facts) for seat, facts in enumerate(position["agents"])]
        self.bombs = [Bomb(*facts) for facts in position["bombs"]]
        owners = position.get("flame_owners") or [0] * len(position["flames"])
        self.flames = [
            {"cell": (r, c), "life": life, "owners": {seat for seat in range(4) if bits >> seat & 1}}
            for (r, c, life), bits in zip(position["flames"], owners, strict=True)
        ]
        self.items = {(r, c): item for r, c, item in position["items"]}
        for agent, words in zip(self.agents, position.get("messages", []), strict=False):
            agent.message = tuple(words)
        for agent, word in zip(self.agents, position.get("visited", []), strict=False):
            agent.seen = {cell for i, cell in enumerate(self.board) if int(word, 16) >> i & 1}
        for agent in self.agents:
            agent.gone = self.leave and not agent.alive
        self.count, self.ring = position.get("step_count", 0), None
        self.over, self.cut, self.winners, self.result = False, False, [], "incomplete"

    # ------------------------------------------------------------------------------------------------------- helpers

    def side(self, seat):
        return [seat, (seat + 2) % 4] if self.teams else [seat]

    @property
    def teams(self):
        return self.kind in ("team", "radio")

    def on_board(self, cell):
        return cell in self.board

    def neighbor(self, cell, direction):
        down, right = STEPS[direction]
        return cell[0] + down, cell[1] + right

    def live_agents(self):
        return [agent for agent in self.agents if agent.alive]

    def add_reward(self, seat, name, amount):
        self.rewards[seat][name] = self.rewards[seat].get(name, 0) + amount

    def add_owner_rewards(self, owners, among, name, sign):
        for seat in owners:
            if seat in among:
                self.add_reward(seat, name, sign if self.credit == "full" else sign / len(owners))

    # --------------------------------------------------------------------------------------------------------- a step

    def step(self, actions, messages=None):
        """Play a step; return a dict of rewards by objective for each agent. Missing objectives are 0."""
        self.rewards = [{} for _ in self.agents]
        self.collapse_ring()
        self.update_messages(messages)
        self.age_flames()
        self.propose_moves(actions)
        self.propose_rolls()
        self.resolve_crossings()
        self.resolve_conflicts()
        self.resolve_kicks()
        self.apply_moves()
        self.explode_bombs()
        self.update_board()
        self.credit_outcomes()
        return self.rewards

    def collapse_ring(self):
        """§4.11 Collapse the ring that is due."""
        ring, self.ring = self.ring, None
        if ring is None:
            return
        far = self.size - 1 - ring
        cells = {
            (r, c) for r, c in self.board if ring <= r <= far and ring <= c <= far and (r in (ring, far) or c in (ring, far))
        }
        for agent in self.live_agents():
            if agent.cell in cells:
                agent.alive = False
        for bomb in self.bombs:
            if bomb.cell in cells:
                self.refund_ammo(bomb.owner)
        self.bombs = [bomb for bomb in self.bombs if bomb.cell not in cells]
        self.flames = [flame for flame in self.flames if flame["cell"] not in cells]
        for cell in cells:
            self.items.pop(cell, None)
            self.board[cell] = RIGID

    def update_messages(self, messages):
        """§3.3, §5.6 Record messages."""
        if self.kind != "radio":
            return
        for agent, words in zip(self.agents, messages, strict=True):
            said = tuple(words) if agent.alive else (0, 0)
            self.add_reward(agent.seat, "comm", -0.5 * sum(word != 0 for word in said))
            if said != agent.message:
                self.add_reward(agent.seat, "comm_change", -1)
            agent.message = said

    def age_flames(self):
        """§4.1 Age flames."""
        burning, came = [], []
        for flame in self.flames:
            if flame["life"] == 0:
                item = self.items.pop(flame["cell"], None)
                if item:
                    came.append(flame["cell"])
                self.board[flame["cell"]] = item or PASSAGE
            else:
                flame["life"] -= 1
                burning.append(flame)
        self.flames = burning
        for cell in came:
            owners = set().union(*(flame["owners"] for flame in burning if flame["cell"] == cell))
            self.add_owner_rewards(owners, range(4), "item_waste", -1)
        for flame in burning:
            self.board[flame["cell"]] = FLAMES

    def propose_moves(self, actions):
        """§4.2 Set the targets of agents, and lay bombs."""
        for agent, action in zip(self.agents, actions, strict=True):
            agent.want, agent.action = agent.cell, action if agent.alive else 0
            if not agent.alive:
                continue
            self.board[agent.cell] = PASSAGE
            if action == 5:
                if agent.ammo > 0 and all(bomb.cell != agent.cell for bomb in self.bombs):
                    agent.ammo -= 1
                    self.bombs.append(Bomb(*agent.cell, 10, agent.strength, agent.seat, 0))
                    self.add_reward(agent.seat, "bombs", -1)
                    for seat in self.side(agent.seat):
                        self.add_reward(seat, "team_bombs", -1)
            elif action:
                to = self.neighbor(agent.cell, action)
                if self.on_board(to) and self.board[to] not in (RIGID, WOOD):
                    agent.want = to

    def propose_rolls(self):
        """§4.3 Set the targets of bombs."""
        for bomb in self.bombs:
            self.board[bomb.cell] = PASSAGE
            bomb.want = bomb.cell
            if bomb.direction:
                to = self.neighbor(bomb.cell, bomb.direction)
                if self.on_board(to) and self.board[to] not in (RIGID, WOOD, *ITEMS):
                    bomb.want = to

    def resolve_crossings(self):
        """§4.4 Stop movers that cross the same border."""
        borders = {}
        for mover in [*self.live_agents(), *self.bombs]:
            if mover.want == mover.cell:
                continue
            border = frozenset((mover.cell, mover.want))
            if border not in borders:
                borders[border] = mover
                continue
            mover.want = mover.cell
            if isinstance(mover, Agent) or isinstance(borders[border], Bomb):
                borders[border].want = borders[border].cell

    def resolve_conflicts(self):
        """§4.5 Resolve conflicts of targets."""
        self.claims = {Agent: dict.fromkeys(self.board, 0), Bomb: dict.fromkeys(self.board, 0)}
        movers = [*self.live_agents(), *self.bombs]
        for mover in movers:
            self.claims[type(mover)][mover.want] += 1
        changed = True
        while changed:
            changed = False
            for mover in movers:
                if mover.want != mover.cell and max(claims[mover.want] for claims in self.claims.values()) > 1:
                    self.send_back(mover)
                    changed = True

    def send_back(self, mover):
        mover.want = mover.cell
        self.claims[type(mover)][mover.cell] += 1

    def resolve_kicks(self):
        """§4.6 Resolve kicks."""
        agents, bombs = self.claims[Agent], self.claims[Bomb]
        notes = []
        for bomb in self.bombs:
            bomb.kicker = None
            takers = [agent for agent in self.live_agents() if agent.want == bomb.want]
            if agents[bomb.want] == 0 or not takers:
                continue
            (agent,) = takers
            if agent.want == agent.cell:
                if bomb.want != bomb.cell:
                    notes.append((bomb, bomb.cell))
                continue
            to = self.neighbor(bomb.want, agent.action)
            free = self.on_board(to) and agents[to] == bombs[to] == 0 and self.board[to] not in (RIGID, WOOD, *ITEMS)
            if agent.kick and free:
                bombs[bomb.want] = 0
                bomb.kicker, bomb.direction = agent, agent.action
                notes.append((bomb, to))
            else:
                notes += [(bomb, bomb.cell), (agent, agent.cell)]
        for mover, to in notes:
            mover.want = to
            self.claims[type(mover)][to] += 1
        changed = bool(notes)
        while changed:
            changed = False
            for agent in self.live_agents():
                if agent.want != agent.cell and (agents[agent.want] > 1 or bombs[agent.want] != 0):
                    for bomb in self.bombs:
                        if bomb.kicker is agent:
                            bomb.kicker = None
                            self.send_back(bomb)
                    self.send_back(agent)
                    changed = True
            for bomb in self.bombs:
                if (bomb.want != bomb.cell or bomb.kicker) and (bombs[bomb.want] > 1 or agents[bomb.want] != 0):
                    self.send_back(bomb)
                    if bomb.kicker:
                        self.send_back(bomb.kicker)
                        bomb.kicker = None
                    changed = True

    def apply_moves(self):
        """§4.7 Move bombs and agents."""
        for bomb in self.bombs:
            if bomb.kicker:
                self.add_reward(bomb.kicker.seat, "kicks", 1)
            elif bomb.want == bomb.cell:
                bomb.direction = 0
            bomb.cell = bomb.want
        for agent in self.live_agents():
            if agent.want == agent.cell:
                continue
            agent.cell = agent.want
            self.add_reward(agent.seat, "movement", -1)
            if agent.cell not in agent.seen:
                agent.seen.add(agent.cell)
                self.add_reward(agent.seat, "explore", 1)
            if self.board[agent.cell] in ITEMS:
                self.take_item(agent, self.board[agent.cell])
                self.board[agent.cell] = PASSAGE

    def take_item(self, agent, item):
        """§4.7 V2, §5.4 Apply an item."""
        before = agent.ammo, agent.strength, agent.kick
        if item == EXTRA:
            agent.ammo = min(agent.ammo + 1, 10)
            useful = before[0] < 10
        elif item == RANGE:
            agent.strength = min(agent.strength + 1, self.range_limit)
            useful = before[1] < self.range_limit
        else:
            agent.kick = True
            useful = not before[2]
        self.add_reward(agent.seat, "items", 1)
        self.add_reward(agent.seat, {EXTRA: "extra_bombs", RANGE: "ranges", KICK: "kick_items"}[item], 1)
        self.add_reward(agent.seat, "useful_items", int(useful))

    def refund_ammo(self, owner):
        self.agents[owner].ammo = min(self.agents[owner].ammo + 1, 10)

    def explode_bombs(self):
        """§4.8 Explode bombs."""
        self.blast = {}
        for bomb in self.bombs:
            bomb.life -= 1
            if self.board[bomb.cell] == FLAMES:
                bomb.life = 0
        while any(bomb.life == 0 for bomb in self.bombs):
            for bomb in [bomb for bomb in self.bombs if bomb.life == 0]:
                self.bombs.remove(bomb)
                self.refund_ammo(bomb.owner)
                for cell in self.blast_cells(bomb):
                    self.blast.setdefault(cell, set()).add(bomb.owner)
            for bomb in self.bombs:
                if bomb.cell in self.blast:
                    bomb.life = 0

    def blast_cells(self, bomb):
        """§4.8 B8 Yield the cells of a blast."""
        yield bomb.cell
        for direction in STEPS:
            cell = bomb.cell
            for _ in range(bomb.strength - 1):
                cell = self.neighbor(cell, direction)
                if not self.on_board(cell) or self.board[cell] == RIGID:
                    break
                yield cell
                if self.board[cell] == WOOD:
                    break

    def update_board(self):
        """§4.9 Write bombs, flames and agents to the board."""
        for bomb in self.bombs:
            self.board[bomb.cell] = BOMB
        for cell in sorted(self.blast):
            owners = self.blast[cell]
            if self.board[cell] == WOOD:
                self.add_owner_rewards(owners, range(4), "wood", 1)
            elif self.board[cell] in ITEMS:
                self.add_owner_rewards(owners, range(4), "item_waste", -1)
            self.flames.append({"cell": cell, "life": 2, "owners": set(owners)})
        for flame in self.flames:
            self.board[flame["cell"]] = FLAMES
        for agent in self.live_agents():
            if self.board[agent.cell] != FLAMES:
                self.board[agent.cell] = 10 + agent.seat
                continue
            agent.alive = False
            owners = set().union(*(flame["owners"] for flame in self.flames if flame["cell"] == agent.cell))
            side = self.side(agent.seat)
            self.add_owner_rewards(owners, [seat for seat in range(4) if seat not in side], "kills", 1)
            self.add_owner_rewards(owners, [seat for seat in side if seat != agent.seat], "team_kill", -1)
            self.add_owner_rewards(owners, [agent.seat], "self_kill", -1)

    def credit_outcomes(self):
        """§4.10, §6 Credit the objectives of the outcome."""
        self.count += 1
        sides = {tuple(sorted(self.side(agent.seat))) for agent in self.live_agents()}
        late = self.count >= self.max_steps
        won = sides.pop() if len(sides) == 1 else ()
        decided = bool(won) or not self.live_agents()
        self.over, self.cut = decided or late, late and not decided
        self.winners = list(won)
        self.result = "win" if won else "tie" if self.over else "incomplete"
        for agent in self.agents:
            if won:
                outcome = 1 if agent.seat in won else -1
            elif self.over:
                outcome = 0 if self.kind == "duel" and not self.cut else -1
            else:
                outcome = -1 if self.kind == "ffa" and not agent.alive else 0
            last = self.over or (self.leave and not agent.alive)  # §6.5
            self.add_reward(agent.seat, "outcome_original", outcome)
            self.add_reward(agent.seat, "outcome", outcome if last else 0)
            self.add_reward(agent.seat, "speed", 0 if last else -1 / self.max_steps)
            self.add_reward(agent.seat, "survival", agent.alive / self.max_steps)
            if self.teams:
                self.add_reward(agent.seat, "mate_survival", self.agents[agent.seat ^ 2].alive / self.max_steps)
            if agent.gone:
                self.rewards[agent.seat] = {}
            agent.gone = self.leave and not agent.alive
        if self.count in self.rings:
            self.ring = self.rings.index(self.count)

    # ------------------------------------------------------------------------------------------------------ what shows

    def position(self):
        """§9.1, after the fall of a ring that is due, without `rng`"""
        if self.ring is not None:
            later = deepcopy(self)
            later.collapse_ring()
            return later.position()
        cells = list(self.board)
        code = {
            "board": "".join(f"{code:x}" for code in self.board.values()),
            "agents": [[int(a.alive), *a.cell, a.ammo, a.strength, int(a.kick)] for a in self.agents],
            "bombs": [[*b.cell, b.life, b.strength, b.owner, b.direction] for b in self.bombs],
            "flames": [[*f["cell"], f["life"]] for f in self.flames],
            "items": [[*cell, item] for cell, item in sorted(self.items.items())],
            "step_count": self.count,
            "flame_owners": [sum(1 << seat for seat in f["owners"]) for f in self.flames],
            "visited": [f"{sum(1 << cells.index(cell) for cell in a.seen):x}" for a in self.agents],
        }
        if self.kind == "radio":
            code["messages"] = [list(a.message) for a in self.agents]
        if self.leave:
            code["gone"] = [int(a.gone) for a in self.agents]
        if self.over:
            code["over"] = {"result": self.result, "winners": [f"agent_{seat}" for seat in self.winners]}
        return code

    def legal(self, seat):
        """§3.2 Moves that the agent may choose from; it may say anything if it may do anything, else be silent."""
        agent = self.agents[seat]
        if (self.over and not self.cut) or agent.gone:
            return []
        return [0, 1, 2, 3, 4, 5] if agent.alive else [0]

    def observe(self, seat):
        """§7.3"""
        agent = self.agents[seat]
        side = self.side(seat)
        enemies = [10 + a.seat for a in self.agents if a.seat not in side]
        row, col = agent.cell

        def matrix(values, unseen=0):
            """The values of the cells that the agent sees, from a dict by cell."""
            rows = [[unseen] * self.size for _ in range(self.size)]
            for (r, c), value in values.items():
                if self.view is None or max(abs(r - row), abs(c - col)) <= self.view:
                    rows[r][c] = value
            return rows

        lives = {}
        for flame in self.flames:
            lives[flame["cell"]] = max(lives.get(flame["cell"], 0), flame["life"] + 1)
        fields = {
            "board": matrix(self.board, FOG),
            "bomb_blast_strength": matrix({bomb.cell: bomb.strength for bomb in self.bombs}),
            "bomb_life": matrix({bomb.cell: bomb.life for bomb in self.bombs}),
            "bomb_moving_direction": matrix({bomb.cell: bomb.direction for bomb in self.bombs}),
            "flame_life": matrix(lives),
            "alive": [int(a.alive) for a in self.agents],
            "position": list(agent.cell),
            "ammo": [agent.ammo],
            "blast_strength": [agent.strength],
            "can_kick": [int(agent.kick)],
            "teammate": [10 + side[1] if self.teams else NO_AGENT],
            "enemies": enemies + [NO_AGENT] * self.teams,
            "game_type": [GAME_TYPES[self.kind]],
            "step_count": [self.count],
        }
        return fields | ({"message": list(self.agents[side[1]].message)} if self.kind == "radio" else {})
