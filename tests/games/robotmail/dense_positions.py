"""Random positions with many events: robots on any cell, batteries near every threshold, games near their end."""

import math
import random

BATTERIES = (0.0, 0.05, 0.1, 1.0, 2.0, 2.0000000000000004, 4.0, 4.000000000000001, 5.3, 7.0, 7.1, 8.0, 8.3, 9.0, 9.5, 10.0)


def random_position(layout, params, seed):
    """Return a random position, as data, of a game with these parameters on this layout."""
    rng = random.Random(seed)
    players, team = params["num_players"], params["num_robots_per_player"]
    greens = layout.cells("gr")
    waiting = {cell: rng.choice(layout.indices) for cell in greens}
    free = [cell for code in ("w", "g", "gr", "y", "b") for cell in layout.cells(code)]
    special = {cell for code in ("gr", "y", "b") for cell in layout.cells(code)}
    weights = [1 + 9 * any(abs(x - u) + abs(y - v) <= 1 for u, v in special) for x, y in free]
    robots = []
    for _ in range(players):
        for delivered in shares(rng, params["required_mail"] - 1, team):
            at = rng.choices(range(len(free)), weights)[0]
            cell = free.pop(at)
            weights.pop(at)
            battery = rng.choice(BATTERIES) if params["with_battery"] else 10.0
            stands = rng.choice((0, 0, 1, 4, 5, 6))
            mail = carried(rng, layout, cell, waiting)
            robots.append([*cell, mail, battery, math.ceil(battery), delivered, stands])
    n = rng.choice((0, max(params["max_step"] - rng.randint(1, 9), 0)))
    return {
        "robots": robots,
        "mails": [waiting[cell] for cell in greens],
        "left": rng.randint(1, 5) if params["random_num_steps"] else 1,
        "n": n,
        "clock": rng.randint(0, n),
        "next": rng.randrange(players * team),
    }


def shares(rng, most, team):
    """Return deliveries for each robot of a player: close to a win, or fewer."""
    left, counts = rng.choice((most, rng.randint(0, most))), []
    for _ in range(team - 1):
        counts.append(rng.randint(0, left))
        left -= counts[-1]
    return [*counts, left]


def carried(rng, layout, cell, waiting):
    """Return a mail that a robot may carry on this cell: often one that an adjacent receiver accepts."""
    (x, y), code = cell, layout.colors[cell[1]][cell[0]]
    if code in ("gr", "y"):
        return waiting.get(cell, 0)
    near = [layout.targets[v][u] for u, v in layout.cells("y") if abs(u - x) + abs(v - y) == 1]
    return rng.choice((0, rng.choice(near or layout.indices), rng.choice(layout.indices)))
