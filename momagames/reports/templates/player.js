// The replay player: shows a stored episode of a point frame by frame. A frame is a list of tiles of a sheet; stored are the
// tiles that changed since the previous frame (see html/replay_player.py). The block keeps its names out of the global scope.

{
  const library = JSON.parse(document.getElementById("replays").textContent);
  const player = document.getElementById("player");
  const part = (name) => player.querySelector(`[data-part="${name}"]`);
  const [canvas, slider, speed] = [part("canvas"), part("slider"), part("speed")];
  const SECOND = 1000; // milliseconds
  let replay = null; // the current replay
  let sheet = null; // its tiles, as an image
  let at = 0; // the index of the current frame
  let timer = null; // set while it plays

  // ------------------------------------------------------------------------------------------------------------- loading

  const loadSheet = async (stored) => {
    if (!stored.image) {
      stored.image = new Image();
      stored.image.src = `data:image/png;base64,${stored.png}`;
    }
    await stored.image.decode();
    return stored;
  };

  // key: "RUN/POINT". For a point without a stored replay, show the command that replays it in a terminal.
  const watch = async (key) => {
    pause();
    const cut = key.lastIndexOf("/");
    part("command").textContent = `momagames replay ${library.folder}/runs/${key.slice(0, cut)} --point ${key.slice(cut + 1)}`;
    const stored = library.replays[key];
    const known = stored && typeof DecompressionStream !== "undefined";
    part("stage").hidden = !known;
    part("missing").hidden = known;
    part("title").textContent = known ? "Loading" : "No replay on this page";
    if (!player.open) player.showModal();
    if (!known) return;
    [replay, sheet] = await load(stored);
    part("title").textContent = replay.title;
    part("stride").hidden = replay.stride === 1;
    part("stride").textContent = `Shown in steps of ${replay.stride}.`;
    fit(canvas, replay);
    slider.max = replay.frames.length - 1;
    buildTable();
    show(0);
    part("play").focus();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
  };

  // ------------------------------------------------------------------------------------------------------------- showing

  const show = (index) => {
    at = Math.max(0, Math.min(replay.frames.length - 1, index));
    paint(canvas, replay, sheet, at);
    const {step, text} = replay.frames[at];
    const last = replay.frames[replay.frames.length - 1].step;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
    part("step").textContent = `step ${step} of ${last}` + (at === replay.frames.length - 1 ? ", end" : "");
    part("text").textContent = text || "start position";
    fillTable();
  };

  // Draw frame `index` of a replay.
  const paint = (target, drawn, {side, columns, image}, index) => {
    const board = [];
    for (const {tiles} of drawn.frames.slice(0, index + 1)) {
      for (let i = 0; i < tiles.length; i += 2) board[tiles[i]] = tiles[i + 1];
    }
    const pen = target.getContext("2d");
    board.forEach((tile, place) => {
      const [x, y] = [place % drawn.columns, Math.floor(place / drawn.columns)];
      const [fromX, fromY] = [(tile % columns) * side, Math.floor(tile / columns) * side];
      pen.drawImage(image, fromX, fromY, side, side, x * side - drawn.left, y * side - drawn.top, side, side);
    });
  };

  const load = async (stored) => {
    const [loaded, tiles] = await Promise.all([decompress(stored.data), loadSheet(library.sheets[stored.sheet])]);
    return [JSON.parse(loaded), tiles];
  };

  const fit = (target, {width, height}) => {
    [target.width, target.height] = [width, height];
    target.style.aspectRatio = `${width} / ${height}`;
  };

  const number = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6))));
  const gain = (value) => (value === 0 ? "" : (value > 0 ? "+" : "") + number(Number(value.toFixed(6))));

  // A row for each agent with its return so far and its last reward, and one row for the point.
  const buildTable = () => {
    const row = (name, kind) => {
      const line = document.createElement("tr");
      if (kind) line.className = kind;
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      line.append(head, ...replay.objectives.map(() => document.createElement("td")));
      return line;
    };
    const top = document.createElement("tr");
    top.append(...["return so far", ...replay.objectives].map((name) => {
      const head = document.createElement("th");
      head.scope = "col";
      head.textContent = name;
      return head;
    }));
    const end = row(replay.episodes ? `point: mean of ${replay.episodes} episodes` : "point", "point");
    replay.point.forEach((value, k) => { end.cells[k + 1].textContent = number(value); });
    const agents = replay.agents.map((name, i) => row(name, i === replay.seat ? "seat" : ""));
    part("table").replaceChildren(top, ...agents, end);
    part("typical").hidden = !replay.episodes;
  };

  const fillTable = () => {
    const [now, before] = [replay.frames[at].returns, replay.frames[Math.max(0, at - 1)].returns];
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
    part("caption").setAttribute("aria-live", "polite");
  };

  const play = () => {
    if (at === replay.frames.length - 1) show(0);
    part("play").textContent = "Pause";
    part("caption").setAttribute("aria-live", "off"); // too fast for a screen reader
    const next = () => {
      show(at + 1);
      if (at === replay.frames.length - 1) pause();
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
    last: () => go(replay.frames.length - 1),
  };
  const keys = {ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play"};

  for (const [name, act] of Object.entries(moves)) part(name).addEventListener("click", act);
  slider.addEventListener("input", () => go(Number(slider.value)));
  part("close").addEventListener("click", () => player.close());
  player.addEventListener("close", pause);
  player.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    const own = event.key === " " ? "button, select, a" : "select"; // these elements handle the key themselves
    if (!act || !replay || part("stage").hidden || event.target.closest(own) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    moves[act]();
  });

  // ------------------------------------------------------------------------------------------------------------ opening

  // A click on a figure: `meta` of a trace holds the runs, `customdata` of a point the index of its run and of the point on the front.
  document.addEventListener("point", ({detail: {data, customdata}}) => {
    if (data.meta && customdata && customdata[1] >= 0) watch(`${data.meta[customdata[0]]}/${customdata[1]}`);
  });

  const element = (kind, text, more = {}) => Object.assign(document.createElement(kind), {textContent: text, ...more});

  // Below each figure: a list of the points with a replay and a button, the keyboard equivalent of a click.
  library.lists.forEach(({objectives, groups}, i) => {
    if (!Object.keys(groups).length) return;
    const list = element("select", "");
    for (const [method, points] of Object.entries(groups)) {
      const group = element("optgroup", "", {label: method});
      group.append(...points.map(([key, text]) => element("option", text, {value: key})));
      list.append(group);
    }
    const label = element("label", "replay ");
    label.append(list);
    const button = element("button", "Play", {type: "button"});
    button.addEventListener("click", () => watch(list.value));
    const line = element("p", "", {className: "picker watch"});
    line.append(label, " ", button, " ", element("small", `${objectives}; or click on a point`));
    document.getElementById(`f${i}`).after(line);
  });
  document.querySelector("#reading h2").after(element("p", library.note, {className: "introduction"}));

  // The pictures beside figures: a position of the replay that a click starts.
  const pictures = new IntersectionObserver((entries) => entries.forEach(async ({target, isIntersecting}) => {
    if (!isIntersecting || typeof DecompressionStream === "undefined") return;
    pictures.unobserve(target);
    const [drawn, tiles] = await load(library.replays[target.dataset.watch]);
    const picture = target.querySelector("canvas");
    fit(picture, drawn);
    paint(picture, drawn, tiles, Math.floor(drawn.frames.length / 3));
  }), {rootMargin: "500px"});
  document.querySelectorAll("[data-watch]").forEach((button) => {
    button.addEventListener("click", () => watch(button.dataset.watch));
    pictures.observe(button);
  });
}
