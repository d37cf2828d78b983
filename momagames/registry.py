"""The registry: games by versioned id."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momagames.errors import InvalidFile, InvalidParameter, MomagamesError, UnknownId, invalid_value, nearest, one_of
from momagames.files.reading import check_files
from momagames.games import COMMANDS, RETIRED, VERSIONS, Command, Entry
from momagames.plugins import Origin, load_object

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from momagames.contract import Game, Policy, State

# Functions of later layers that adapters use, imported by name on use.
POLICY = "momagames.baselines:policy"
KNOWN_FRONT = "momagames.baselines.exact:pareto_front_if_small"
PACKAGED_FRONT = "momagames.fronts.packaged:find_proven_values"
_entries: dict[str, Entry] = dict(VERSIONS)
_commands: dict[str, Command] = dict(COMMANDS)
_listeners: list[Callable[[str], None]] = []


def register(id: str, factory: str, **fixed: Any) -> None:
    """Register a game.

    id        "name-vN"
    factory   "module:function"; called with the id and the parameters, it returns a `momagames.contract.Game`
    fixed     parameters that this id sets
    Raises    InvalidParameter if the id is taken or not of that form
    """
    name, _, version = id.rpartition("-v")
    if not name or not version.isdigit():
        raise InvalidParameter(f"id {id!r} is not of the form 'name-vN', such as 'mo-gridworld-v0'")
    if id in _entries and _entries[id] != Entry(factory, fixed):
        raise InvalidParameter(f"id {id!r} is taken by {_entries[id].factory}")
    _entries[id] = Entry(factory, fixed)
    for listen in _listeners:
        listen(id)


def register_command(name: str, app: str, help: str) -> None:
    """Register commands: `momagames NAME ...`.

    app       "module:attribute" of a `typer.Typer`, imported when one of its commands is called
    help      one line for `momagames --help`
    Raises    InvalidParameter if the name is taken
    """
    command = Command(app, help)
    if _commands.setdefault(name, command) != command:
        raise InvalidParameter(f"command {name!r} is taken by {_commands[name].app}")


def commands() -> dict[str, Command]:
    """Return the registered commands by name, those of other packages included."""
    _load_plugins()
    return dict(_commands)


def add_listener(listen: Callable[[str], None]) -> None:
    """Call a function with each registered id, now and in the future; other packages are not loaded."""
    _listeners.append(listen)
    for id in _entries:
        listen(id)


@functools.cache
def _load_plugins() -> None:
    """Load other packages: each entry point of the group "momagames.games" is a function that calls `register`."""
    from importlib.metadata import entry_points  # slow to import

    for point in entry_points(group="momagames.games"):
        point.load()()


def ids() -> tuple[str, ...]:
    """Return every registered id."""
    _load_plugins()
    return tuple(_entries)


def find_entry(id: str) -> Entry:
    """Return the registry entry of an id; UnknownId if there is none."""
    if not isinstance(id, str):
        raise UnknownId(invalid_value("id", id, "a text of the form 'name-vN'"))
    if id not in _entries:
        _load_plugins()
    if id in RETIRED:
        raise UnknownId(f"{id!r} is retired; use {RETIRED[id]!r}")
    if id not in _entries:
        raise UnknownId(f"no game {id!r}{nearest(id, _entries) or '; there are ' + one_of(_entries)}")
    return _entries[id]


def spec(id: str, **params: Any) -> Game:
    """Return the declared facts of a game with these parameters: agents, objectives, spaces, bounds, parameters.

    An array as a parameter is taken as a list, a number of NumPy as one of Python.
    """
    found = find_entry(id)
    clash = set(params) & set(found.fixed)
    if clash:
        raise InvalidParameter(f"{id} fixes {one_of(sorted(clash))}; choose another id to change that")
    plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in params.items()}
    game: Game = load_object(found.factory)(id, **{**found.fixed, **plain})
    return game


def make_stored_game(id: Any, params: Any, origin: Origin) -> Game:
    """Return the game that a file of data names, as `spec`; files that the parameters name lie in the folder of this file.

    Raises InvalidFile for other files, and for those that do not fit, without a word of their content; else as `spec`
    """
    if not isinstance(id, str):
        raise InvalidFile(f"{origin.place}: {invalid_value('game', id, 'the id of a game')}")
    if not isinstance(params, dict) or "id" in params or not all(isinstance(name, str) for name in params):
        raise InvalidFile(f"{origin.place}: {invalid_value('params', params, f'parameters of {id} by name')}")
    if origin.allows_all:
        return spec(id, **params)
    files: list[Path] = []

    def check(path: Path) -> None:
        files.append(path)
        origin.check_file("file", path)

    try:
        with check_files(check):
            return spec(id, **params)
    except MomagamesError:
        if not files:
            raise
    for path in files:
        origin.check_file("file", path)
    raise InvalidFile(f"{origin.place}: {id}: {files[-1]}: expected a file that fits the parameters of the game")


def canonical(id: str, **params: Any) -> str:
    """Return the id with every parameter, as stored with every result: 'mo-samegame-v0(board_width=15,...)'."""
    return format_id(id, spec(id, **params).params)


def format_id(id: str, params: Mapping[str, Any]) -> str:
    return f"{id}({','.join(f'{name}={value!r}' for name, value in params.items())})"


def policy(name: str, game: Game, agent: int | str | None = None) -> Policy:
    """Return a policy by name, such as "random" or "module:class", for an agent; see `momagames.baselines`."""
    found: Policy = load_object(POLICY)(name, game, agent)
    return found


def pareto_front_if_small(game: Game, start: State) -> NDArray[Any] | None:
    """Return the exact Pareto front of the returns from a position, float64[n, K], or None if the game is too large."""
    front: NDArray[Any] | None = load_object(KNOWN_FRONT)(game, start)
    return front


def find_exact_front(game: Game, start: State, seed: int | None = None) -> NDArray[Any] | None:
    """Return the exact Pareto front of the returns from a start position, float64[n, K], or None if it is not known.

    seed    seed of the start position, by which the proven fronts of the package are found; None if it was given
    """
    front = None if seed is None else load_object(PACKAGED_FRONT)(format_id(game.id, game.params), seed)
    return pareto_front_if_small(game, start) if front is None else front
