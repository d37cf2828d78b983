// The select elements above a figure: its view, and for three or more objectives those on the axes.

const list = (role, i) => document.querySelector(`select[data-${role}="${i}"]`);
const kindOf = (i) => (list("kind", i) ? list("kind", i).value : "all");

// The stored figure with the traces of the selected view
const stored = (figure, i) => {
  const chosen = list("figure", i);
  if (chosen) figure.views[chosen.value].visible.forEach((isVisible, k) => { figure.data[k].visible = isVisible; });
  return [figure.data, figure.layout];
};

const format = (value, error) => Number(value.toPrecision(6)) + (error ? ` ± ${Number(error.toPrecision(2))}` : "");

// One point in all objectives, for the hover box
const hoverText = (names, cloud, row) =>
  names.map((name, k) => `${name} ${format(cloud.values[row][k], cloud.errors && cloud.errors[row][k])}`).join("<br>") +
  "<br>" + cloud.text[row];

// Name and style of a method, from a trace of the stored figure
const style = (figure, cloud) => {
  const {name, legendgroup, marker, line} = figure.data[cloud.styleTrace];
  return {name, legendgroup, marker: {...marker, opacity: 0.9}, meta: cloud.meta, line};
};

// Points in two or three selected objectives; with two, points dominated in this pair are small and faint
const scatter = (figure, cloud, axes) => {
  const {line, ...rest} = style(figure, cloud);
  const trace = {
    ...rest, type: axes.length === 3 ? "scatter3d" : "scatter", mode: "markers", customdata: cloud.customdata,
    text: cloud.values.map((_, row) => hoverText(figure.projections.names, cloud, row)), hovertemplate: "%{text}",
  };
  axes.forEach((k, place) => { trace["xyz"[place]] = cloud.values.map((value) => value[k]); });
  if (axes.length === 2) {
    const dominated = cloud.values.map((a) => cloud.values.some((b) =>
      axes.every((k) => b[k] >= a[k]) && axes.some((k) => b[k] > a[k])));
    trace.marker = {...rest.marker, size: dominated.map((isDominated) => rest.marker.size * (isDominated ? 0.5 : 1)),
                    opacity: dominated.map((isDominated) => (isDominated ? 0.4 : 0.9))};
  }
  return trace;
};

const MAX_LINES = 300; // of a figure in parallel coordinates

// Every nth point of the clouds, in the order of the first objective, so that all together are at most about MAX_LINES
const thin = (clouds) => {
  const every = Math.max(1, clouds.reduce((sum, {values}) => sum + values.length, 0) / MAX_LINES);
  if (every === 1) return clouds;
  const pick = (list) => (list ? list.filter((_, row) => Math.floor(row / every) !== Math.floor((row - 1) / every)) : list);
  return clouds.map((cloud) => ({...cloud, ...Object.fromEntries(
    ["values", "errors", "text", "customdata"].map((name) => [name, pick(cloud[name])]))}));
};

// A line for each point through all objectives, in normalized returns
const parallel = (figure, cloud) => {
  const {names} = figure.projections;
  const {mode} = figure.data[cloud.styleTrace];
  const trace = {...style(figure, cloud), type: "scatter", mode: mode === "lines" ? mode : "lines+markers", x: [], y: [], text: [], customdata: [],
                 hovertemplate: "%{text}", connectgaps: false, opacity: Math.max(0.2, Math.min(0.9, 20 / cloud.values.length))};
  cloud.values.forEach((value, row) => {
    names.forEach((name, k) => {
      trace.x.push(name);
      trace.y.push((value[k] - cloud.low[k]) / (cloud.high[k] - cloud.low[k]));
      trace.text.push(hoverText(names, cloud, row));
      trace.customdata.push(cloud.customdata[row] || null);
    });
    [trace.x, trace.y, trace.text, trace.customdata].forEach((column) => column.push(null));
  });
  return trace;
};

// The line under the pointer, the last trace of a figure in parallel coordinates
const highlight = {type: "scatter", mode: "lines", x: [], y: [], line: {width: 5}, hoverinfo: "skip", showlegend: false, meta: "highlight"};

const followPointer = (div) => {
  const show = (x, y, color) => Plotly.restyle(div, {x: [x], y: [y], "line.color": color}, [div.data.length - 1]);
  const isParallel = () => div.data.length && div.data[div.data.length - 1].meta === "highlight";
  div.on("plotly_hover", ({points: [{data, pointNumber}]}) => {
    if (!isParallel() || !data.line) return;
    const length = data.x.indexOf(null) + 1; // a line and the gap after it
    const start = Math.floor(pointNumber / length) * length;
    show(data.x.slice(start, start + length - 1), data.y.slice(start, start + length - 1), data.line.color);
  });
  div.on("plotly_unhover", () => { if (isParallel()) show([], [], "rgba(0,0,0,0)"); });
};

// On a narrow screen the legend is below the plot, and small plots side by side go below each other.
const LEGEND_HEIGHT = 90; // pixels
const narrow = matchMedia("(max-width: 699px)");
const fitToScreen = (layout) => (narrow.matches ? stack(lowerLegend(layout)) : layout);

const lowerLegend = (layout) => {
  if (!layout.showlegend || layout.legend.yref === "container") return layout;
  const {t, b} = layout.margin;
  const below = layout.scene ? {} : {margin: {...layout.margin, t: Math.min(t, 30), b: Math.max(b, 60) + LEGEND_HEIGHT}};
  const legend = {...layout.legend, x: 0, y: 0, yref: "container", yanchor: "bottom"};
  return {...layout, ...below, height: layout.height + LEGEND_HEIGHT / 2, legend};
};

const stack = (layout) => {
  const axes = Object.keys(layout).filter((name) => /^xaxis\d*$/.test(name) && layout[name].domain);
  if (axes.length < 2) return layout;
  const rows = new Set(axes.map((name) => layout[name.replace("x", "y")].domain[0])).size;
  const stacked = {...layout, height: Math.round((layout.height / rows) * axes.length)};
  axes.forEach((name, i) => {
    const y = name.replace("x", "y");
    const [bottom, top] = [1 - (i + 1) / axes.length, 1 - i / axes.length];
    stacked[name] = {...layout[name], domain: [0, 1]};
    stacked[y] = {...layout[y], domain: [bottom + 0.3 * (top - bottom), top - 0.05 * (top - bottom)], showticklabels: true, automargin: true};
  });
  const tops = axes.map((name) => stacked[name.replace("x", "y")].domain[1]);
  if (layout.annotations) stacked.annotations = layout.annotations.map((one, i) => ({...one, x: 0, y: tops[i]}));
  return stacked;
};

// The layout of the figure with the selected axes
const layoutFor = (figure, kind, axes) => {
  const {xaxis, yaxis, zaxis, scene, ...layout} = figure.layout;
  const lines = scene ? scene.xaxis : xaxis;
  const grid = {gridcolor: figure.projections.grid, zerolinecolor: lines.zerolinecolor, linecolor: lines.linecolor};
  if (kind === "parallel") {
    const order = {type: "category", categoryorder: "array", categoryarray: figure.projections.names};
    return {...layout, margin: figure.projections.margin, xaxis: {...grid, ...order},
            yaxis: {...grid, title: {text: "normalized return"}, rangemode: "tozero"}};
  }
  const named = Object.fromEntries(axes.map((k, place) =>
    ["xyz"[place] + "axis", {...grid, title: {text: figure.projections.titles[k]}, automargin: true}]));
  if (axes.length === 2) return {...layout, margin: figure.projections.margin, ...named};
  return {...layout, height: 460, scene: {...named, aspectmode: "cube", camera: {eye: {x: 1.7, y: 1.7, z: 1}}}};
};

// The current content of a figure: [data, layout]. Views of all runs are shown as stored.
const visible = (figure, i) => {
  const kind = kindOf(i);
  const view = list("figure", i) ? list("figure", i).selectedOptions[0].label : null;
  const clouds = (figure.projections ? figure.projections.clouds : []).filter((cloud) => view === null || cloud.view === view);
  if (kind === "all" || !clouds.length) {
    const [data, layout] = stored(figure, i);
    if (layout.scene || !clouds.length) return [data, layout];
    const lines = thin(clouds).map((cloud) => ({...parallel(figure, cloud), showlegend: false}));
    return [[...data, ...lines, highlight], layout];
  }
  const axes = ["x", "y", "z"].slice(0, kind === "3d" ? 3 : 2).map((axis) => Number(list(axis, i).value));
  const layout = layoutFor(figure, kind, axes);
  if (kind === "parallel") return [[...thin(clouds).map((cloud) => parallel(figure, cloud)), highlight], layout];
  return [clouds.map((cloud) => scatter(figure, cloud, axes)), layout];
};

// Show the select elements of the selected kind, and call `redraw` when a selection changes
const listen = (i, redraw) => {
  const showAxes = () => {
    const used = {"2d": "xy", "3d": "xyz"}[kindOf(i)] || "";
    ["x", "y", "z"].forEach((axis) => { list(axis, i).parentElement.hidden = !used.includes(axis); });
    document.querySelector(`[data-note="${i}"]`).hidden = !used;
  };
  ["figure", "kind", "x", "y", "z"].forEach((role) => {
    if (list(role, i)) list(role, i).addEventListener("change", () => { if (list("kind", i)) showAxes(); redraw(); });
  });
};
