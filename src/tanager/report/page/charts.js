// Charts as SVG. Colours come from the style sheet, by class names.

import { plain, shorten, signed, svg } from "./dom.js";

export function linear(from, to, low, high) {
  const span = to - from || 1;
  return (x) => low + ((x - from) / span) * (high - low);
}

// Round numbers that cover a range.
export function ticks(low, high, n = 4) {
  const rough = (high - low || 1) / n;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

export function chart(width, height, label, ...children) {
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
      class: "chart",
    },
    ...children,
  );
}

// Numbers of a chart in words, for screen readers: those at the ends and evenly between.
export function inWords(names, values, most = 12) {
  const step = Math.max(1, Math.ceil((names.length - 1) / (most - 1)));
  return names
    .map((name, i) => `${name} ${signed(values[i])}`)
    .filter((_, i) => i % step === 0 || i === names.length - 1)
    .join("; ");
}

export function text(x, y, content, attributes = {}) {
  return svg("text", { x, y, ...attributes }, String(content));
}

const LETTER = 7; // width of a letter of an axis, about

// Horizontal axis with labels at places; those near the ends are moved into the chart.
export function axisBelow(y, places, labels, from, to) {
  const inside = (x, label) => {
    const half = (LETTER * String(label).length) / 2;
    return Math.max(half, Math.min(to + 8 - half, x));
  };
  return svg(
    "g",
    { class: "axis" },
    svg("line", { x1: from, x2: to, y1: y, y2: y }),
    places.map((x, i) =>
      text(inside(x, labels[i]), y + 14, labels[i], { "text-anchor": "middle" }),
    ),
  );
}

export function axisLeft(scale, values, from, to) {
  return svg(
    "g",
    { class: "axis" },
    values
      .map((value) => [
        svg("line", {
          class: "grid",
          x1: from,
          x2: to,
          y1: scale(value),
          y2: scale(value),
        }),
        text(from - 5, scale(value) + 4, plain(value, 3), { "text-anchor": "end" }),
      ])
      .flat(),
  );
}

// Ends of the axis of curves: zero, all values and their errors. Errors that are much
// larger than the values do not count in full, and are cut off.
export function valueLimits(curves) {
  const limits = (scale) => {
    let [low, high] = [0, 0];
    for (const { values, errors } of curves) {
      values.forEach((value, i) => {
        const error = scale * (errors?.[i] ?? 0);
        low = Math.min(low, value - error);
        high = Math.max(high, value + error);
      });
    }
    return [low, high];
  };
  const [least, most] = limits(0);
  const room = most - least;
  let [low, high] = limits(1);
  [low, high] = [Math.max(low, least - room), Math.min(high, most + room)];
  return high - low < 0.2 ? [low - 0.1, high + 0.1] : [low, high];
}

// Curves over bins, as steps, with bands; `edges` has one number more than bins. The
// line joins the first `nJoined` of them; others, such as missing values, stand apart.
export function stepCurves({
  width = 320,
  height = 190,
  label,
  edges,
  tickPlaces,
  tickLabels,
  curves,
  support,
  nJoined = edges.length - 1,
}) {
  const [left, right, top, bottom] = [40, width - 8, 10, height - 38];
  const x = linear(edges[0], edges[edges.length - 1], left, right);
  const [low, high] = valueLimits(curves);
  const y = linear(low, high, bottom, top);
  const most = Math.max(1e-300, ...(support ?? []));
  const parts = [axisLeft(y, ticks(low, high), left, right)];
  parts.push(svg("line", { class: "zero", x1: left, x2: right, y1: y(0), y2: y(0) }));
  (support ?? []).forEach((weight, i) => {
    const tall = (18 * weight) / most;
    const wide = Math.max(0.5, x(edges[i + 1]) - x(edges[i]) - 0.5);
    parts.push(
      svg("rect", {
        class: "support",
        x: x(edges[i]),
        y: bottom - tall,
        width: wide,
        height: tall,
      }),
    );
  });
  curves.forEach(({ values, errors, className }) => {
    const corners = Array.from(values, (v, i) => {
      const ends = [edges[i], edges[i + 1]].map((edge) => x(edge).toFixed(1));
      return (offset) => {
        const end = v + offset * (errors?.[i] ?? 0);
        const at = y(Math.min(high, Math.max(low, end))).toFixed(1);
        return ends.map((place) => `${place},${at}`);
      };
    });
    const apart = corners.slice(nJoined).map((one) => [one]);
    for (const joined of [corners.slice(0, nJoined), ...apart]) {
      if (errors) {
        const above = joined.flatMap((one) => one(1));
        const below = joined.flatMap((one) => one(-1)).reverse();
        parts.push(
          svg("polygon", {
            class: `band ${className}`,
            points: [...above, ...below].join(" "),
          }),
        );
      }
      parts.push(
        svg("polyline", {
          class: `curve ${className}`,
          points: joined.flatMap((one) => one(0)).join(" "),
        }),
      );
    }
  });
  parts.push(axisBelow(bottom, tickPlaces.map(x), tickLabels, left, right));
  return chart(width, height, label, ...parts);
}

// A waterfall: every bar begins where the one before ends; the last is their sum.
export function waterfall({ width, label, names, values }) {
  const [row, left, right] = [22, Math.min(200, 0.42 * width), width - 8];
  const height = row * (names.length + 1) + 6;
  const ends = [0];
  for (const value of values) ends.push(ends[ends.length - 1] + value);
  const total = ends[ends.length - 1];
  const finite = ends.filter(Number.isFinite);
  const x = linear(
    Math.min(...finite),
    Math.max(...finite, 1e-9),
    left + 42,
    right - 42,
  );
  const at = (value) => (Number.isFinite(value) ? x(value) : value > 0 ? right : left);
  const parts = [svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: height })];
  const bar = (i, name, value, from, to, kind) => {
    const y = 3 + row * i;
    const [low, high] = [Math.min(at(from), at(to)), Math.max(at(from), at(to))];
    const isLeft = value < 0;
    parts.push(
      text(left - 6, y + 14, shorten(name, Math.floor(left / 7)), {
        "text-anchor": "end",
        class: kind === "total" ? "strong" : null,
      }),
      svg(
        "rect",
        {
          class: kind,
          x: low,
          y: y + 2,
          width: Math.max(1, high - low),
          height: row - 6,
          rx: 2,
        },
        svg("title", {}, `${name}: ${signed(value, 3)}`),
      ),
      text(isLeft ? low - 4 : high + 4, y + 14, signed(value), {
        "text-anchor": isLeft ? "end" : "start",
        class: "value",
      }),
    );
  };
  values.forEach((value, i) =>
    bar(i, names[i], value, ends[i], ends[i + 1], value < 0 ? "against" : "for"),
  );
  bar(values.length, "log odds", total, 0, total, "total");
  const words = inWords([...names, "log odds"], [...values, total], names.length + 1);
  return chart(width, height, `${label}: ${words}`, ...parts);
}

// A grid of coloured cells; values are scaled to their largest absolute value.
export function heatMap({ label, rows, columns, value, support }) {
  const [left, top] = [110, 4];
  const cell = Math.max(6, Math.min(40, 200 / Math.max(rows.length, columns.length)));
  const [width, height] = [
    Math.max(320, left + cell * columns.length + 10),
    top + cell * rows.length + 32,
  ];
  const values = rows.map((_, i) => columns.map((_, j) => value(i, j)));
  const most = Math.max(1e-9, ...values.flat().map(Math.abs));
  const weights = rows.map((_, i) => columns.map((_, j) => support(i, j)));
  const dense = Math.max(1e-300, ...weights.flat());
  const parts = [];
  values.forEach((line, i) =>
    line.forEach((v, j) => {
      const empty = weights[i][j] <= 0;
      parts.push(
        svg(
          "rect",
          {
            class: empty ? "empty" : v < 0 ? "against" : "for",
            x: left + cell * j,
            y: top + cell * i,
            width: cell - 0.6,
            height: cell - 0.6,
            "fill-opacity": empty
              ? null
              : (0.06 + 0.94 * (Math.abs(v) / most)).toFixed(2),
          },
          svg(
            "title",
            {},
            `${rows[i]}, ${columns[j]}: ${signed(v, 3)}, support ${plain(weights[i][j], 3)}`,
          ),
        ),
      );
      const radius = 0.32 * cell * Math.sqrt(weights[i][j] / dense);
      if (radius > 0.8) {
        parts.push(
          svg("circle", {
            class: "dot",
            cx: left + cell * (j + 0.5),
            cy: top + cell * (i + 0.5),
            r: radius.toFixed(1),
          }),
        );
      }
    }),
  );
  const everyRow = Math.ceil(12 / cell);
  rows.forEach((name, i) => {
    if (i % everyRow === 0)
      parts.push(
        text(left - 4, top + cell * (i + 0.5) + 4, shorten(name, 16), {
          "text-anchor": "end",
        }),
      );
  });
  const y = top + cell * rows.length + 13;
  const last = columns.length - 1;
  parts.push(text(left, y, shorten(columns[0], 16)));
  if (last > 0)
    parts.push(
      text(left + cell * columns.length, y + 13, shorten(columns[last], 16), {
        "text-anchor": "end",
      }),
    );
  const cells = values.flatMap((line, i) =>
    line.map((v, j) => ({ name: `${rows[i]}, ${columns[j]}`, v, n: weights[i][j] })),
  );
  const strongest = cells
    .filter(({ n }) => n > 0)
    .sort((a, b) => Math.abs(b.v) - Math.abs(a.v))
    .slice(0, 5);
  const words = inWords(
    strongest.map(({ name }) => name),
    strongest.map(({ v }) => v),
  );
  return chart(width, height, `${label}. Strongest cells: ${words}`, ...parts);
}

// Predicted probability against how often it came true, with intervals.
export function calibrationChart(bins, label) {
  const [size, left, bottom] = [260, 38, 222];
  const x = linear(0, 1, left, size - 10);
  const y = linear(0, 1, bottom, 10);
  const parts = [
    axisLeft(y, [0, 0.25, 0.5, 0.75, 1], left, size - 10),
    axisBelow(bottom, [0, 0.5, 1].map(x), ["0", "0.5", "1"], left, size - 10),
    svg("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    text((left + size) / 2, size - 6, "predicted probability", {
      "text-anchor": "middle",
    }),
  ];
  bins.forEach(({ predicted, observed, n_samples }) => {
    parts.push(
      svg("line", {
        class: "whisker",
        x1: x(predicted),
        x2: x(predicted),
        y1: y(observed.low),
        y2: y(observed.high),
      }),
      svg(
        "circle",
        { class: "point", cx: x(predicted), cy: y(observed.value), r: 4 },
        svg(
          "title",
          {},
          `${n_samples} samples: predicted ${predicted.toFixed(3)}, observed ${observed.value.toFixed(3)}`,
        ),
      ),
    );
  });
  const words = bins.map(
    ({ predicted, observed }) =>
      `predicted ${predicted.toFixed(2)}, observed ${observed.value.toFixed(2)}`,
  );
  return chart(size, size, `${label}: ${words.join("; ")}`, ...parts);
}

export function lineChart(values, label) {
  const [width, height, left, bottom] = [420, 150, 60, 126];
  const y = linear(Math.min(...values), Math.max(...values), bottom, 10);
  const x = linear(0, Math.max(1, values.length - 1), left, width - 10);
  const points = values
    .map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`)
    .join(" ");
  const words = `from ${plain(values[0])} to ${plain(values[values.length - 1])}`;
  return chart(
    width,
    height,
    `${label}: ${words} in ${values.length} steps`,
    axisLeft(y, ticks(Math.min(...values), Math.max(...values), 3), left, width - 10),
    svg("polyline", { class: "curve class-0", points }),
    text((left + width) / 2, height - 6, "step", { "text-anchor": "middle" }),
  );
}
