"""Random positions in which much can happen: robots anywhere, batteries near every threshold, games near their end."""

import math
import random

BATTERIES = (0.0, 0.05, 0.1, 1.0, 2.0, 2.0000000000000004, 4.0, 4.000000000000001, 5.3, 7.0, 7.1, 8.0, 8.3, 9.0, 9.5, 10.0)


def position(layout, params, seed):
    """A position as data of a game with these parameters on this layout."""
    luck = random.Random(seed)
    players, team = params["num_players"], params["num_robots_per_player"]
    greens = layout.cells("gr")
    waiting = {cell: luck.choice(layout.indices) for cell in greens}
    free = [cell for code in ("w", "g", "gr", "y", "b") for cell in layout.cells(code)]
    special = {cell for code in ("gr", "y", "b") for cell in layout.cells(code)}
    weights = [1 + 9 * any(abs(x - u) + abs(y - v) <= 1 for u, v in special) for x, y in free]
    robots = []
    for _ in range(players):
        for delivered in shares(luck, params["required_mail"] - 1, team):
            at = luck.choices(range(len(free)), weights)[0]
            cell = free.pop(at)
            weights.pop(at)
            battery = luck.choice(BATTERIES) if params["with_battery"] else 10.0
            stands = luck.choice((0, 0, 1, 4, 5, 6))
            mail = carried(luck, layout, cell, waiting)
            robots.append([*cell, mail, battery, math.ceil(battery), delivered, stands])
    n = luck.choice((0, max(params["max_step"] - luck.randint(1, 9), 0)))
    return {
        "robots": robots,
        "mails": [waiting[cell] for cell in greens],
        "left": luck.randint(1, 5) if params["random_num_steps"] else 1,
        "n": n,
        "clock": luck.randint(0, n),
        "next": luck.randrange(players * team),
    }


def shares(luck, most, team):
    """So many mails that somebody soon wins, or fewer, for each robot of a player."""
    left, counts = luck.choice((most, luck.randint(0, most))), []
    for _ in range(team - 1):
        counts.append(luck.randint(0, left))
        left -= counts[-1]
    return [*counts, left]


def carried(luck, layout, cell, waiting):
    """What a robot may carry on this cell: often what a receiver beside it wants."""
    (x, y), code = cell, layout.colors[cell[1]][cell[0]]
    if code in ("gr", "y"):
        return waiting.get(cell, 0)
    near = [layout.targets[v][u] for u, v in layout.cells("y") if abs(u - x) + abs(v - y) == 1]
    return luck.choice((0, luck.choice(near or layout.indices), luck.choice(layout.indices)))
