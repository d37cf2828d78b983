"""State of MO-TileBlast (SPEC §1, §2, §6) as one record. Arrays over cells have index x + 13 * y, y upwards."""

from __future__ import annotations

from momagames.kernels.record import record

WIDTH, HEIGHT = 13, 9
CELLS = WIDTH * HEIGHT
MAX_AGENTS = 4
GOALS, FEEDS = 4, 4
NOWHERE = 255  # no cell
ALL = -1  # amount of a goal of `all`
SPAWNERS = 200
HIT, LIT = 1, 2  # flags of a piece during a tap

state_dtype = record(
    MAX_AGENTS,
    # parameters (§8)
    agents=("u1",),
    team_rewards=("u1",),
    strict_moves=("u1",),
    max_taps=("i4",),
    channels=("u1",),
    fields=("u1",),  # the observation has all fields, not the board alone
    upside_down=("u1",),  # row 0 of the observed board is the top
    wanted=("u1", (20,)),  # reward component of each objective (§5)
    share=("f8", (20,)),  # and its divisor
    # the level (§2.1, §10)
    limit=("i4",),
    active=("u1", (CELLS,)),
    below=("u1", (CELLS,)),  # next active cell below in the column, or NOWHERE
    start_kind=("u1", (CELLS,)),
    start_hp=("u1", (CELLS,)),
    start_color=("u1", (CELLS,)),  # 0 for a basic: drawn at the start
    start_cover=("u1", (CELLS,)),
    start_anchor=("u1", (CELLS,)),
    start_counters=("u4", (CELLS,)),
    colors=("u1",),  # colors that are drawn: number, codes, weights
    palette=("u1", (6,)),
    weights=("i4", (6,)),
    goals=("u1",),
    goal_units=("u4", (GOALS,)),  # bits of the kinds and covers that give a unit, see pieces.UNITS
    goal_color=("u1", (GOALS,)),  # 0: any
    goal_amount=("i4", (GOALS,)),
    feeds=("u1",),
    feed_kind=("u1", (FEEDS,)),
    feed_hp=("u1", (FEEDS,)),
    feed_color=("u1", (FEEDS,)),
    feed_per_mille=("i4", (FEEDS,)),
    feed_on_board=("i4", (FEEDS,)),
    feed_total=("i4", (FEEDS,)),
    abilities=("i8",),  # attributes of pieces that the game can have, see pieces.py
    # the board (§1.2): a piece of size 2 has its kind and its anchor in four cells, the rest at its anchor
    kind=("u1", (CELLS,)),
    anchor=("u1", (CELLS,)),  # of the piece in the cell; 0 in empty cells
    hp=("u1", (CELLS,)),
    full=("u1", (CELLS,)),  # hit points at its placement
    color=("u1", (CELLS,)),
    cover=("u1", (CELLS,)),
    counters=("u4", (CELLS,)),  # 4 bits per color, the lowest first, of kinds that count by color
    # counters of the game
    moves=("i4",),
    taps=("i4",),
    invalid_taps=("i4",),
    shuffles=("i4",),
    score=("i8",),
    draws=("i4",),
    collected=("i4", (GOALS,)),
    rest=("i4", (GOALS,)),  # remaining units of each goal (§6.1)
    fed=("i4", (FEEDS,)),
    won=("u1",),
    dead=("u1",),
    # results of the last tap (§5, §6.5)
    valid=("u1",),
    cluster=("i4",),
    created=("i4",),
    used=("i4",),
    combo=("u1",),
    hits=("i4",),
    gained=("i4", (GOALS,)),  # units of each goal
    cleared=("i4", (6,)),  # basics of each color
    # used during a tap, 0 between taps
    flags=("u1", (CELLS,)),
    touched=("u2", (CELLS,)),  # number of the last effect that touched the piece
    effects=("u2",),
    harmed=("u1",),  # a piece was damaged: flags and touched are set
    attacked=("u1",),  # a weed was
    queue=("u1", (CELLS,)),  # lit pieces (cells) in the order of their effects
    queued=("u1",),
    spawns=("u1", (2 * CELLS,)),  # spawning pieces in the order of their hits: the cell of a bucket, or SPAWNERS + code
    spawned=("u1",),
    makers=("u1",),  # number of these that are not buckets
)
PARAMETERS = (
    "agents", "team_rewards", "strict_moves", "max_taps", "channels", "fields", "upside_down", "wanted", "share", "limit",
    "active", "below", "start_kind", "start_hp", "start_color", "start_cover", "start_anchor", "start_counters", "colors",
    "palette", "weights", "goals", "goal_units", "goal_color", "goal_amount", "feeds", "feed_kind", "feed_hp", "feed_color",
    "feed_per_mille", "feed_on_board", "feed_total",
)  # fmt: skip
