// The player of the page: shows a stored game of a point, picture by picture. A picture is a list of tiles of a sheet; what
// is stored are the tiles that changed since the picture before (see player.py).
// A block of its own, because the other scripts of the page have names, too.

{
  const library = JSON.parse(document.getElementById("films").textContent);
  const player = document.getElementById("player");
  const part = (name) => player.querySelector(`[data-part="${name}"]`);
  const [canvas, slider, speed] = [part("canvas"), part("slider"), part("speed")];
  const SECOND = 1000; // milliseconds
  let film = null; // the game that is shown
  let sheet = null; // its tiles, as a picture
  let at = 0; // the picture that is shown
  let timer = null; // while it plays

  // ------------------------------------------------------------------------------------------------------------- loading

  const loadSheet = async (stored) => {
    if (!stored.image) {
      stored.image = new Image();
      stored.image.src = `data:image/png;base64,${stored.png}`;
    }
    await stored.image.decode();
    return stored;
  };

  // key: "RUN/POINT". A point without a stored game says how to play it in a terminal.
  const watch = async (key) => {
    pause();
    const cut = key.lastIndexOf("/");
    part("command").textContent = `momagames replay ${library.folder}/runs/${key.slice(0, cut)} --point ${key.slice(cut + 1)}`;
    const stored = library.films[key];
    const known = stored && typeof DecompressionStream !== "undefined";
    part("stage").hidden = !known;
    part("missing").hidden = known;
    part("title").textContent = known ? "Loading" : "This game is not on the page";
    if (!player.open) player.showModal();
    if (!known) return;
    const [loaded, tiles] = await Promise.all([unpacked(stored.data), loadSheet(library.sheets[stored.sheet])]);
    [film, sheet] = [JSON.parse(loaded), tiles];
    part("title").textContent = film.title;
    part("thin").hidden = film.every === 1;
    part("thin").textContent = `Of every ${film.every} steps the last is shown.`;
    [canvas.width, canvas.height] = [film.width, film.height];
    canvas.style.aspectRatio = `${film.width} / ${film.height}`;
    slider.max = film.pictures.length - 1;
    buildTable();
    show(0);
    part("play").focus();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
  };

  // ------------------------------------------------------------------------------------------------------------- showing

  const show = (index) => {
    at = Math.max(0, Math.min(film.pictures.length - 1, index));
    paint();
    const {step, words} = film.pictures[at];
    const last = film.pictures[film.pictures.length - 1].step;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
    part("step").textContent = `step ${step} of ${last}` + (at === film.pictures.length - 1 ? ", over" : "");
    part("words").textContent = words || "the start";
    fillTable();
  };

  const paint = () => {
    const board = [];
    for (const {tiles} of film.pictures.slice(0, at + 1)) {
      for (let i = 0; i < tiles.length; i += 2) board[tiles[i]] = tiles[i + 1];
    }
    const pen = canvas.getContext("2d");
    const {side, columns, image} = sheet;
    board.forEach((tile, place) => {
      const [x, y] = [place % film.columns, Math.floor(place / film.columns)];
      const [fromX, fromY] = [(tile % columns) * side, Math.floor(tile / columns) * side];
      pen.drawImage(image, fromX, fromY, side, side, x * side - film.left, y * side - film.top, side, side);
    });
  };

  const number = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6))));
  const gain = (value) => (value === 0 ? "" : (value > 0 ? "+" : "") + number(Number(value.toFixed(6))));

  // A row for each agent with its return so far and what it has just got, and one for the point.
  const buildTable = () => {
    const row = (name, kind) => {
      const line = document.createElement("tr");
      if (kind) line.className = kind;
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      line.append(head, ...film.objectives.map(() => document.createElement("td")));
      return line;
    };
    const top = document.createElement("tr");
    top.append(...["return so far", ...film.objectives].map((name) => {
      const head = document.createElement("th");
      head.scope = "col";
      head.textContent = name;
      return head;
    }));
    const end = row(film.games ? `the point: mean of ${film.games} games` : "the point", "point");
    film.point.forEach((value, k) => { end.cells[k + 1].textContent = number(value); });
    const agents = film.agents.map((name, i) => row(name, i === film.seat ? "seat" : ""));
    part("table").replaceChildren(top, ...agents, end);
    part("typical").hidden = !film.games;
  };

  const fillTable = () => {
    const [now, before] = [film.pictures[at].returns, film.pictures[Math.max(0, at - 1)].returns];
    now.forEach((values, i) => values.forEach((value, k) => {
      const [cell, more] = [part("table").rows[i + 1].cells[k + 1], document.createElement("small")];
      more.textContent = gain(value - before[i][k]);
      cell.dataset.value = value;
      cell.replaceChildren(number(value), more);
    }));
  };

  // ------------------------------------------------------------------------------------------------------------- playing

  const pause = () => {
    clearTimeout(timer);
    timer = null;
    part("play").textContent = "Play";
    part("said").setAttribute("aria-live", "polite");
  };

  const play = () => {
    if (at === film.pictures.length - 1) show(0);
    part("play").textContent = "Pause";
    part("said").setAttribute("aria-live", "off"); // nobody can listen that fast
    const next = () => {
      show(at + 1);
      if (at === film.pictures.length - 1) pause();
      else timer = setTimeout(next, SECOND / speed.value);
    };
    timer = setTimeout(next, SECOND / speed.value);
  };

  const toggle = () => (timer ? pause() : play());
  const go = (index) => { pause(); show(index); };
  const moves = {
    first: () => go(0),
    back: () => go(at - 1),
    play: toggle,
    forward: () => go(at + 1),
    last: () => go(film.pictures.length - 1),
  };
  const keys = {ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play"};

  for (const [name, act] of Object.entries(moves)) part(name).addEventListener("click", act);
  slider.addEventListener("input", () => go(Number(slider.value)));
  part("close").addEventListener("click", () => player.close());
  player.addEventListener("close", pause);
  player.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    const own = event.key === " " ? "button, select, a" : "select"; // these know the key themselves
    if (!act || !film || part("stage").hidden || event.target.closest(own) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    moves[act]();
  });

  // ------------------------------------------------------------------------------------------------------------ opening

  // A click on a figure: `meta` of a trace names runs, `customdata` of a point which of them, and its number on the front.
  document.addEventListener("point", ({detail: {data, customdata}}) => {
    if (data.meta && customdata && customdata[1] >= 0) watch(`${data.meta[customdata[0]]}/${customdata[1]}`);
  });

  const element = (kind, text, more = {}) => Object.assign(document.createElement(kind), {textContent: text, ...more});

  // Below each figure a list of the points that have a game, with a button: the same as a click, for keys.
  library.lists.forEach(({goals, groups}, i) => {
    if (!Object.keys(groups).length) return;
    const list = element("select", "");
    for (const [method, points] of Object.entries(groups)) {
      const group = element("optgroup", "", {label: method});
      group.append(...points.map(([key, told]) => element("option", told, {value: key})));
      list.append(group);
    }
    const label = element("label", "watch ");
    label.append(list);
    const button = element("button", "Play", {type: "button"});
    button.addEventListener("click", () => watch(list.value));
    const line = element("p", "", {className: "picker watch"});
    line.append(label, " ", button, " ", element("small", `${goals}; or click on a point`));
    document.getElementById(`f${i}`).after(line);
  });
  document.querySelector("nav, section").before(element("p", library.note, {className: "caption"}));
}
