"""The oracle: MO-RoboticMail from SPEC.md alone, with plain lists and dicts. It imports nothing from momagames.

Chance comes from outside: `draw(what, choices)` picks one of the choices; what is "place", "mail" or "turn".
"""

from math import ceil

WHITE, GRAY, GREEN, YELLOW, BLUE, RED = "w", "g", "gr", "y", "b", "r"
STAND = 0
MOVES = {1: (0, -1), 2: (0, 1), 3: (-1, 0), 4: (1, 0)}
OBJECTIVES = (
    *("delivery", "pickup", "dock", "step_cost"),
    *("time", "energy", "charge", "blocked", "blocking", "balance", "rivalry", "outcome"),
)


class Robot:
    def __init__(self, cell, mail=0, battery=10.0, delivered=0, stood=0):
        self.cell, self.mail, self.battery, self.delivered, self.stood = cell, mail, float(battery), delivered, stood

    @property
    def displayed(self):
        """§1.4"""
        return ceil(self.battery)


class Game:
    """A game on a layout: rows of color codes and of target numbers.

    position   dict form of a position (§9.1); None: a random start position (§2)
    """

    def __init__(
        self, colors, targets, draw, position=None, *, players=2, team=1, required_mail=6, with_battery=True,
        random_num_steps=False, max_step=500, always_legal=False,
    ):  # fmt: skip
        self.color = {(x, y): code for y, row in enumerate(colors) for x, code in enumerate(row)}
        self.target = {(x, y): number for y, row in enumerate(targets) for x, number in enumerate(row)}
        self.width, self.height = len(colors[0]), len(colors)
        self.neighbors = {cell: self.find_neighbors(cell) for cell in self.color}
        self.narrow = {cell for cell in self.color if self.is_narrow(cell)}
        self.layout = [[self.planes((x, y)) for x in range(self.width)] for y in range(self.height)]
        self.green = [cell for cell, code in self.color.items() if code == GREEN]
        self.indices = sorted({self.target[cell] for cell, code in self.color.items() if code == YELLOW})
        self.draw, self.players, self.team, self.required = draw, players, team, required_mail
        self.battery, self.random, self.max_step, self.always_legal = with_battery, random_num_steps, max_step, always_legal
        self.n, self.clock, self.next, self.winner, self.event, self.illegal = 0, 0, 0, None, "none", 0
        self.terminated, self.truncated = False, False
        if position is None:
            self.generate()
        else:
            self.load(position)

    def generate(self):
        """§2 Draw a start position."""
        self.robots = []
        for _ in range(self.players * self.team):
            occupied = [robot.cell for robot in self.robots]
            free = [cell for cell, code in self.color.items() if code == WHITE and cell not in occupied]
            self.robots.append(Robot(self.draw("place", free)))
        self.mails = {cell: self.draw("mail", self.indices) for cell in self.green}
        self.left = self.draw_turn_length()

    def load(self, position):
        """§9.1 Load a position."""
        self.robots = [Robot((x, y), mail, e, done, stood) for x, y, mail, e, _, done, stood in position["robots"]]
        self.mails = dict(zip(self.green, position["mails"], strict=True))
        self.left, self.n = position.get("left", 1), position.get("n", 0)
        self.clock, self.next = position.get("clock", 0), position.get("next", 0)
        self.event, self.illegal = position.get("event", "none"), position.get("illegal", 0)

    def position(self):
        """§9.1 Return the position, without the random word."""
        return {
            "robots": [[*r.cell, r.mail, r.battery, r.displayed, r.delivered, r.stood] for r in self.robots],
            "mails": [self.mails[cell] for cell in self.green],
            "left": self.left,
            "n": self.n,
            "clock": self.clock,
            "next": self.next,
            "winner": self.winner,
            "event": self.event,
            "illegal": self.illegal,
        }

    # ------------------------------------------------------------------------------------------------------- helpers

    @property
    def over(self):
        return self.terminated or self.truncated

    def draw_turn_length(self):
        """§2.3 Return the number of steps of a turn."""
        return self.draw("turn", [1, 2, 3, 4, 5]) if self.random else 1

    def find_neighbors(self, cell):
        """§1.1 Return the neighbors of a cell."""
        steps = [(cell[0] + right, cell[1] + down) for right, down in MOVES.values()]
        return [there for there in steps if there in self.color]

    def is_narrow(self, cell):
        """§3.3 Return whether a cell is narrow."""
        return sum(self.color[there] in (YELLOW, RED) for there in self.neighbors[cell]) == 2

    def player(self, index):
        return index // self.team

    def side(self, player):
        return range(player * self.team, (player + 1) * self.team)

    def robot_at(self, cell):
        """Return the index of the robot on a cell, or None."""
        return next((index for index, robot in enumerate(self.robots) if robot.cell == cell), None)

    def delivered(self, player):
        return [self.robots[index].delivered for index in self.side(player)]

    # ---------------------------------------------------------------------------------------------------------- masks

    def can_stand(self, robot):
        """§3.1 Return whether a robot may stand."""
        color, displayed = self.color[robot.cell], robot.displayed
        return not (
            (color == BLUE and displayed >= 9)
            or (color == YELLOW and not robot.mail)
            or (color == GREEN and robot.mail)
            or (displayed > 4 and BLUE in [self.color[there] for there in self.neighbors[robot.cell]])
            or robot.cell in self.narrow
            or (color != BLUE and robot.stood >= 5)
        )

    def can_move(self, robot, action):
        """§3.2 Return whether a move is legal, ignoring other robots."""
        to = self.target_cell(robot, action)
        if robot.displayed == 0 or to not in self.color or (self.color[robot.cell] == BLUE and robot.displayed < 8):
            return False
        color = self.color[to]
        if color == RED or (color == YELLOW and (not robot.mail or robot.mail != self.target[to])):
            return False
        if (color == GREEN and robot.mail) or (color == BLUE and robot.displayed > 4):
            return False
        if self.color[robot.cell] == YELLOW or to not in self.narrow:
            return True
        return robot.mail != 0 and robot.mail in [self.target[there] for there in self.neighbors[to]]

    def target_cell(self, robot, action):
        right, down = MOVES[action]
        return robot.cell[0] + right, robot.cell[1] + down

    def blocking_robots(self, index):
        """§5.4 Return a robot for each move that only this robot makes illegal."""
        robot = self.robots[index]
        others = [self.robot_at(self.target_cell(robot, action)) for action in MOVES if self.can_move(robot, action)]
        return [other for other in others if other is not None]

    def legal_actions(self, index):
        """§3 Return the legal actions of a robot, also out of turn."""
        robot = self.robots[index]
        stand = [STAND] if self.can_stand(robot) else []
        return stand + [
            action
            for action in MOVES
            if self.can_move(robot, action) and self.robot_at(self.target_cell(robot, action)) is None
        ]

    def mask(self, index):
        """§3.6, §7.3 Return the action mask."""
        options = [] if self.terminated else self.legal_actions(index) or [STAND] * self.always_legal
        return [int(action in options) for action in range(5)]

    # --------------------------------------------------------------------------------------------------------- a step

    def step(self, action):
        """§4 Play a step; return the rewards of each robot by objective."""
        self.rewards = [dict.fromkeys(OBJECTIVES, 0) for _ in self.robots]
        index, mask = self.next, self.mask(self.next)
        robot = self.robots[index]
        for other in self.blocking_robots(index):
            self.add_reward(index, "blocked", -1)
            self.add_reward(other, "blocking", -1)
        before = [max(self.delivered(player)) - min(self.delivered(player)) for player in range(self.players)]
        if action not in self.legal_actions(index):
            self.event = "skip"
            self.illegal += any(mask) and not mask[action]
        elif action == STAND:
            self.event = "charge" if self.color[robot.cell] == BLUE else "stand"
            robot.stood += 1
            if self.event == "charge":
                self.charge_robot(index)
        else:
            self.event = self.move_robot(index, action)
        self.credit_event(index, before)
        self.update_end(index)
        self.left -= 1
        if self.left == 0:
            self.next = (self.next + 1) % len(self.robots)
            self.left = self.draw_turn_length()
        return self.rewards

    def add_reward(self, index, objective, amount):
        self.rewards[index][objective] += amount

    def charge_robot(self, index):
        """§4.2, §4.6 Charge one unit."""
        robot = self.robots[index]
        before, robot.battery = robot.battery, min(robot.battery + 1, 10.0)
        self.add_reward(index, "charge", robot.battery - before)

    def move_robot(self, index, action):
        """§4.3 to §4.6 Move a robot."""
        robot = self.robots[index]
        robot.stood = 0
        if self.color[robot.cell] == GREEN:
            self.mails[robot.cell] = self.draw("mail", self.indices)
        robot.cell = self.target_cell(robot, action)
        self.clock += 1
        if self.battery:
            before = robot.battery
            robot.battery = max(before - (0.2 if before > 2 else 0.1), 0.0)
            self.add_reward(index, "energy", robot.battery - before)
            for other, there in enumerate(self.robots):
                if there is not robot and self.color[there.cell] == BLUE:
                    self.charge_robot(other)
        color = self.color[robot.cell]
        if color == GREEN:
            robot.mail = self.mails[robot.cell]
        elif color == YELLOW:
            robot.mail = 0
            robot.delivered += 1
        return {GREEN: "pickup", YELLOW: "delivery", BLUE: "dock"}.get(color, "move")

    def credit_event(self, index, before):
        """§5.1, §5.2, §5.5, §5.6 Credit a step; `before`: maximum minus minimum of the deliveries of each player's robots."""
        if self.event in ("delivery", "pickup", "dock"):
            self.add_reward(index, self.event, 1)
        elif self.event != "charge":
            self.add_reward(index, "step_cost", -1)
        if self.event != "charge":
            self.add_reward(index, "time", -1)
        own = self.player(index)
        for other in range(len(self.robots)):
            if other in self.side(own):
                self.add_reward(other, "balance", before[own] - (max(self.delivered(own)) - min(self.delivered(own))))
            elif self.event == "delivery":
                self.add_reward(other, "rivalry", -1)

    def update_end(self, index):
        """§4.7, §4.8, §6 Detect the end of the game."""
        self.n += 1
        player = self.player(index)
        if sum(self.delivered(player)) == self.required:
            self.terminated, self.winner = True, player
            for other in range(len(self.robots)):
                self.add_reward(other, "outcome", 1 if other in self.side(player) else -1)
        self.truncated = self.n >= self.max_step

    # ----------------------------------------------------------------------------------------------------------- seen

    def vector(self, index):
        """§7.1 Return the vector of the robots."""
        order = [index, *(other for other in range(len(self.robots)) if other != index)]
        numbers = []
        for robot in (self.robots[other] for other in order):
            x, y = robot.cell
            numbers += [x / max(self.width - 1, 1), y / max(self.height - 1, 1), robot.mail / max(self.indices)]
            numbers += [robot.displayed / 10] if self.battery else []
        return numbers

    def fields(self, index):
        """§7.2 Return the observation as a dict."""
        own = self.player(index)
        order = [own, *(player for player in range(self.players) if player != own)]
        rows = [[(x, y) for x in range(self.width)] for y in range(self.height)]
        return {
            "observation": self.vector(index),
            "layout": self.layout,
            "targets": [[self.target[cell] for cell in row] for row in rows],
            "mails": [[self.mails.get(cell, 0) for cell in row] for row in rows],
            "delivered": [sum(self.delivered(player)) for player in order],
            "steps": [self.left, self.max_step - self.n, min(self.robots[index].stood, 5)],
        }

    def planes(self, cell):
        colors = [int(self.color[cell] == code) for code in (WHITE, GREEN, YELLOW, BLUE, RED)]
        return [*colors, int(cell in self.narrow)]
