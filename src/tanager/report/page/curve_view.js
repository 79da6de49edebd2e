// The factors of a feature: its curve, the heat maps of its pairs, and an editor.

import { el, numberForm, replace, select, shorten } from "./dom.js";
import { heatMap, inWords, stepCurves } from "./charts.js";
import { cutTexts, shortenTimes } from "./variables.js";

const MAX_CURVES = 8;
const MAX_WEIGHT = 1000;

// Labels of the bins of one axis, without that of "not observed".
export function binLabels(variable, bins) {
  const members = [];
  variable.states.forEach((state, v) => (members[bins[v]] ??= []).push(String(state)));
  return members.map((own) => {
    if (own.length === 1) return own[0];
    if (variable.cuts && own[0].startsWith("(")) {
      return `${own[0].split(",")[0]}, ${own[own.length - 1].split(", ").pop()}`;
    }
    return own.length <= 3 ? own.join(", ") : `${own.length} others`;
  });
}

// Ends of the bins of values on the axis of a curve, and a few labels.
export function binEdges(variable, bins, labels) {
  const nValues = variable.states.length - (variable.missing_state ? 1 : 0);
  const n = labels.length;
  const cuts = variable.cuts?.filter((_, k) => bins[k] !== bins[k + 1]) ?? [];
  const nNumeric = variable.cuts ? new Set(bins.slice(0, nValues)).size : 0;
  if (nNumeric < 3) {
    const step = Math.max(1, Math.ceil(n / 5));
    const places = labels.map((_, i) => i + 0.5).filter((_, i) => i % step === 0);
    const texts = labels
      .filter((_, i) => i % step === 0)
      .map((text) => shorten(text, Math.max(6, Math.floor(44 / Math.min(n, 5)))));
    return {
      edges: Array.from({ length: n + 1 }, (_, i) => i),
      tickPlaces: places,
      tickLabels: texts,
    };
  }
  const [low, high] = [cuts[0], cuts[cuts.length - 1]];
  const pad = (high - low) / 16;
  const edges = [low - pad, ...cuts, high + pad];
  // The bin of missing values stands apart on the right.
  const right = edges[edges.length - 1];
  for (let extra = nNumeric; extra < n; extra++) edges.push(right + 2 * pad);
  // The label of missing values needs the room of that of the largest value.
  const last = n > nNumeric ? 0.8 : 1;
  let tickPlaces = [0, last / 2, last].map((part) => low + part * (high - low));
  let tickLabels = tickPlaces.map((x) => Number(x.toPrecision(4)).toString());
  if (variable.unit) {
    // Dates and times are labelled at the nearest cut points.
    const texts = cutTexts({ cuts, states: labels });
    const near = tickPlaces.map((x) => nearest(cuts, x));
    // The one in the middle only where its label has room between the others.
    const room = 0.3 * (high - low);
    const [first, middle, end] = near.map((i) => cuts[i]);
    const hasRoom = middle - first >= room && end - middle >= room;
    const chosen = [...new Set(hasRoom ? near : [near[0], near[2]])];
    tickPlaces = chosen.map((i) => cuts[i]);
    tickLabels = shortenTimes(chosen.map((i) => texts[i]));
  }
  if (n > nNumeric) {
    tickPlaces.push(right + pad);
    tickLabels.push("missing");
  }
  return { edges, tickPlaces, tickLabels, nJoined: nNumeric };
}

function nearest(cuts, x) {
  let best = 0;
  cuts.forEach((cut, i) => {
    if (Math.abs(cut - x) < Math.abs(cuts[best] - x)) best = i;
  });
  return best;
}

// The chart of a factor over one feature. With two classes the log odds of the second.
export function curveChart(app, factor, size = {}) {
  const [bins] = factor.bins;
  const variable = app.variables[factor.features[0]];
  const labels = binLabels(variable, bins);
  const classes = app.variables[app.target].states;
  const K = classes.length;
  const n = labels.length;
  const curves = [];
  if (K === 2) {
    const values = Float64Array.from(
      { length: n },
      (_, i) => factor.weights[2 * i + 1] - factor.weights[2 * i],
    );
    const errors =
      factor.errors &&
      Float64Array.from(
        { length: n },
        (_, i) => 2 * (factor.errors[2 * i] + factor.errors[2 * i + 1]),
      );
    curves.push({ values, errors, className: "class-0" });
  } else {
    for (let c = 0; c < Math.min(K, MAX_CURVES); c++) {
      curves.push({
        values: Float64Array.from({ length: n }, (_, i) => factor.weights[i * K + c]),
        errors: null,
        className: `class-${c}`,
      });
    }
  }
  const support = Array.from(factor.support.subarray(0, n));
  // The curves of several classes in words would be long: the first and the last.
  const words = (K === 2 ? [0] : [0, curves.length - 1]).map((c) => {
    const name = K === 2 ? `log odds of ${classes[1]}` : `log weight of ${classes[c]}`;
    return `${name}: ${inWords(labels, curves[c].values, K === 2 ? 12 : 6)}`;
  });
  return stepCurves({
    ...size,
    label: `Effect of ${variable.name}, ${words.join(". ")}`,
    ...binEdges(variable, bins, labels),
    curves,
    support,
  });
}

export function pairChart(app, factor, a, b) {
  const [rowVariable, columnVariable] = factor.features.map((j) => app.variables[j]);
  const K = app.model.nClasses;
  const at = (i, j) => i * factor.strides[0] + j * factor.strides[1];
  return heatMap({
    label: `Interaction of ${rowVariable.name} and ${columnVariable.name}`,
    rows: binLabels(rowVariable, factor.bins[0]),
    columns: binLabels(columnVariable, factor.bins[1]),
    value: (i, j) =>
      factor.weights[at(i, j) * K + a] - factor.weights[at(i, j) * K + b],
    support: (i, j) => factor.support[at(i, j)],
  });
}

export class CurveView {
  constructor(app, variable, place) {
    Object.assign(this, { app, variable, place });
    this.factors = [...app.model.byFeature[variable]].sort(
      (a, b) => a.features.length - b.features.length,
    );
    this.index = 0;
    this.bins = [0, 0, 0];
    this.end = 0;
    this.classIndex = app.model.nClasses === 2 ? 1 : 0;
    this.draw();
  }

  nameOf(factor) {
    return factor.features
      .map((j) => shorten(this.app.variables[j].name, 30))
      .join(" × ");
  }

  draw() {
    const { app } = this;
    const title = el("h3", {}, shorten(app.variables[this.variable].name, 80));
    if (!this.factors.length) {
      replace(
        this.place,
        title,
        el("p", {}, "No factor has this feature: it does not change the prediction."),
      );
      return;
    }
    const factor = this.factors[this.index];
    const picker =
      this.factors.length > 1
        ? el(
            "label",
            {},
            "Factor ",
            select(
              this.factors.map((f) => this.nameOf(f)),
              this.index,
              (i) => {
                this.index = i;
                this.bins = [0, 0, 0];
                this.end = 0;
                this.draw();
              },
            ),
          )
        : null;
    let picture = null;
    if (factor.features.length === 1)
      picture = curveChart(app, factor, { width: 460, height: 250 });
    if (factor.features.length === 2)
      picture = pairChart(app, factor, ...app.classPair());
    const classes = app.variables[app.target].states;
    const bars = factor.support.some((weight) => weight > 0)
      ? "the bars show the number of training samples"
      : "the model has no numbers of training samples";
    const band = factor.errors
      ? "the band is two standard errors"
      : "the model has no standard errors, so there is no band";
    const note =
      app.model.nClasses === 2
        ? `Log odds of ${shorten(classes[1], 30)}; ${band}; ${bars}.`
        : `Log weight of every class; ${bars}.`;
    replace(
      this.place,
      title,
      picker,
      picture,
      factor.features.length === 1 ? app.legend() : null,
      el("p", { class: "note" }, note),
      this.editor(factor),
    );
  }

  editor(factor) {
    const { app } = this;
    const K = app.model.nClasses;
    const pickers = factor.features.map((j, i) => {
      const labels = [...binLabels(app.variables[j], factor.bins[i]), "unknown"];
      const from = el(
        "label",
        {},
        `${shorten(app.variables[j].name, 24)} `,
        select(labels, this.bins[i], (bin) => {
          this.bins[i] = bin;
          if (factor.features.length === 1) this.end = Math.max(this.end, bin);
          this.draw();
        }),
      );
      if (factor.features.length > 1) return from;
      const to = el(
        "label",
        {},
        " to ",
        select(labels, Math.max(this.end, this.bins[0]), (bin) => {
          this.end = Math.max(bin, this.bins[0]);
          this.draw();
        }),
      );
      return el("span", {}, from, to);
    });
    const classes = app.variables[app.target].states;
    const classPicker =
      K === 2
        ? null
        : el(
            "label",
            {},
            " class ",
            select(classes.map(String), this.classIndex, (c) => {
              this.classIndex = c;
              this.draw();
            }),
          );
    const cell = factor.features.reduce(
      (sum, _, i) => sum + this.bins[i] * factor.strides[i],
      0,
    );
    const now =
      K === 2
        ? factor.weights[cell * 2 + 1] - factor.weights[cell * 2]
        : factor.weights[cell * K + this.classIndex];
    return numberForm(
      {
        value: Number(now.toPrecision(6)),
        low: -MAX_WEIGHT,
        high: MAX_WEIGHT,
        label: "New value",
        before: K === 2 ? " log odds " : " log weight ",
        after: " ",
        onset: (value) => this.set(factor, value),
      },
      ...pickers,
      classPicker,
    );
  }

  // The weights of a cell sum to zero over the classes; the others keep their ratios.
  set(factor, value) {
    const K = this.app.model.nClasses;
    const cells = [];
    if (factor.features.length === 1) {
      for (let bin = this.bins[0]; bin <= Math.max(this.end, this.bins[0]); bin++)
        cells.push(bin);
    } else {
      cells.push(
        factor.features.reduce(
          (sum, _, i) => sum + this.bins[i] * factor.strides[i],
          0,
        ),
      );
    }
    const places = [];
    const values = [];
    for (const cell of cells) {
      const chosen = this.classIndex;
      const old = factor.weights[cell * K + chosen];
      for (let c = 0; c < K; c++) {
        places.push(cell * K + c);
        if (K === 2) values.push(c === 1 ? value / 2 : -value / 2);
        else
          values.push(
            c === chosen
              ? value
              : factor.weights[cell * K + c] + (old - value) / (K - 1),
          );
      }
    }
    const where = cells.length > 1 ? `${cells.length} bins` : "a bin";
    this.app.edits.apply(
      `${this.nameOf(factor)}: ${where} set to ${value}`,
      factor.weights,
      places,
      values,
    );
  }
}
