// What the lists above a figure do: choose a view of it, and of three or more objectives those that lie on the axes.

const list = (role, i) => document.querySelector(`select[data-${role}="${i}"]`);
const kindOf = (i) => (list("kind", i) ? list("kind", i).value : "whole");

// The figure as it was made, with the traces of the chosen view
const made = (figure, i) => {
  const chosen = list("figure", i);
  if (chosen) figure.views[chosen.value].visible.forEach((seen, k) => { figure.data[k].visible = seen; });
  return [figure.data, figure.layout];
};

const spread = (value, error) => Number(value.toPrecision(6)) + (error ? ` ± ${Number(error.toPrecision(2))}` : "");

// One point in all objectives, for the box beside the pointer
const told = (names, cloud, row) =>
  names.map((name, k) => `${name} ${spread(cloud.values[row][k], cloud.errors && cloud.errors[row][k])}`).join("<br>") +
  "<br>" + cloud.text[row];

// Name and look of a method, from a trace of the figure as it was made
const look = (figure, cloud) => {
  const {name, legendgroup, marker, line} = figure.data[cloud.like];
  return {name, legendgroup, marker: {...marker, opacity: 0.9}, meta: cloud.meta, line};
};

// Points on two or three chosen objectives; with two, those that others dominate in this pair are hollow and small
const scattered = (figure, cloud, axes) => {
  const {line, ...rest} = look(figure, cloud);
  const trace = {
    ...rest, type: axes.length === 3 ? "scatter3d" : "scatter", mode: "markers", customdata: cloud.customdata,
    text: cloud.values.map((_, row) => told(figure.choices.names, cloud, row)), hovertemplate: "%{text}",
  };
  axes.forEach((k, place) => { trace["xyz"[place]] = cloud.values.map((value) => value[k]); });
  if (axes.length === 2) {
    const beaten = cloud.values.map((a) => cloud.values.some((b) =>
      axes.every((k) => b[k] >= a[k]) && axes.some((k) => b[k] > a[k])));
    trace.marker = {...rest.marker, size: beaten.map((lost) => rest.marker.size * (lost ? 0.5 : 1)),
                    opacity: beaten.map((lost) => (lost ? 0.4 : 0.9))};
  }
  return trace;
};

// A line for each point through all objectives, as shares of the range
const beside = (figure, cloud) => {
  const {names} = figure.choices;
  const {mode} = figure.data[cloud.like];
  const trace = {...look(figure, cloud), type: "scatter", mode: mode === "lines" ? mode : "lines+markers", x: [], y: [], text: [], customdata: [],
                 hovertemplate: "%{text}", connectgaps: false, opacity: Math.max(0.2, Math.min(0.9, 20 / cloud.values.length))};
  cloud.values.forEach((value, row) => {
    names.forEach((name, k) => {
      trace.x.push(name);
      trace.y.push((value[k] - cloud.low[k]) / (cloud.high[k] - cloud.low[k]));
      trace.text.push(told(names, cloud, row));
      trace.customdata.push(cloud.customdata[row]);
    });
    [trace.x, trace.y, trace.text, trace.customdata].forEach((column) => column.push(null));
  });
  return trace;
};

// The layout of the figure with other axes
const laid = (figure, kind, axes) => {
  const {xaxis, yaxis, zaxis, scene, ...layout} = figure.layout;
  const lines = scene ? scene.xaxis : xaxis;
  const grid = {gridcolor: figure.choices.grid, zerolinecolor: lines.zerolinecolor, linecolor: lines.linecolor};
  if (kind === "parallel") {
    const order = {type: "category", categoryorder: "array", categoryarray: figure.choices.names};
    return {...layout, margin: figure.choices.margin, xaxis: {...grid, ...order},
            yaxis: {...grid, title: {text: "share of the range"}, rangemode: "tozero"}};
  }
  const named = Object.fromEntries(axes.map((k, place) =>
    ["xyz"[place] + "axis", {...grid, title: {text: figure.choices.titles[k]}, automargin: true}]));
  if (axes.length === 2) return {...layout, margin: figure.choices.margin, ...named};
  return {...layout, height: 560, scene: {...named, aspectmode: "cube", camera: {eye: {x: 1.7, y: 1.7, z: 1}}}};
};

// What a figure shows now: [data, layout]. Views of all runs together are shown as they were made.
const picked = (figure, i) => {
  const kind = kindOf(i);
  const view = list("figure", i) ? list("figure", i).selectedOptions[0].label : null;
  const clouds = (figure.choices ? figure.choices.clouds : []).filter((cloud) => view === null || cloud.view === view);
  if (kind === "whole" || !clouds.length) {
    const [data, layout] = made(figure, i);
    if (layout.scene) return [data, layout];
    return [[...data, ...clouds.map((cloud) => ({...beside(figure, cloud), showlegend: false}))], layout];
  }
  const axes = ["x", "y", "z"].slice(0, kind === "solid" ? 3 : 2).map((axis) => Number(list(axis, i).value));
  const traces = clouds.map((cloud) => (kind === "parallel" ? beside(figure, cloud) : scattered(figure, cloud, axes)));
  return [traces, laid(figure, kind, axes)];
};

// Show the lists that the chosen kind has, and call `redraw` when one of the lists changes
const follow = (i, redraw) => {
  const shown = () => {
    const used = {flat: "xy", solid: "xyz"}[kindOf(i)] || "";
    ["x", "y", "z"].forEach((axis) => { list(axis, i).parentElement.hidden = !used.includes(axis); });
    document.querySelector(`[data-loss="${i}"]`).hidden = !used;
  };
  ["figure", "kind", "x", "y", "z"].forEach((role) => {
    if (list(role, i)) list(role, i).addEventListener("change", () => { if (list("kind", i)) shown(); redraw(); });
  });
};
