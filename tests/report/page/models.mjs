// Small random models, and their answers by enumeration.

import { CptModel } from "../../../src/tanager/report/page/cpt_model.js";
import { FactorModel } from "../../../src/tanager/report/page/factor_model.js";

export function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

// Variables 0 to 3 are features, 4 is the class: parents with a loop (1 and 2 share the
// child 3) and a feature above the class.
export function cptModel(seed, zeros = false) {
  const next = random(seed);
  const nStates = [2, 3, 2, 3, 3];
  const parents = [[], [4, 0], [4, 0], [1, 2, 4], [0]];
  const tables = parents.map((own, owner) => {
    const family = [...own, owner];
    const axes = [...family.filter((v) => v !== 4), ...family.filter((v) => v === 4)];
    const size = axes.reduce((n, v) => n * nStates[v], 1);
    return { owner, axes, values: new Float64Array(size) };
  });
  const model = new CptModel({
    nStates,
    target: 4,
    parents,
    order: [0, 4, 1, 2, 3],
    tables,
  });
  for (const table of model.tables) {
    const step = table.strides[table.axes.indexOf(table.owner)];
    const n = nStates[table.owner];
    for (let k = 0; k < table.values.length; k++) {
      if (Math.floor(k / step) % n) continue;
      const weights = Array.from({ length: n }, () => next() + 0.05);
      if (zeros && next() < 0.3) weights[0] = 0;
      const total = weights.reduce((a, b) => a + b);
      weights.forEach((w, v) => (table.values[k + v * step] = Math.log(w / total)));
    }
  }
  return model;
}

// A forest of features 0 to 5 below the class 6; feature 4 has one state and no class.
export function forestModel(seed) {
  const next = random(seed);
  const nStates = [3, 2, 4, 3, 1, 2, 3];
  const above = [1, -1, 1, 2, 2, 3];
  const parents = above.map((p, v) => [...(v === 4 ? [] : [6]), ...(p < 0 ? [] : [p])]);
  parents.push([]);
  const tables = parents.map((own, owner) => {
    const axes = [...own.filter((v) => v !== 6), owner, ...own.filter((v) => v === 6)];
    const size = axes.reduce((n, v) => n * nStates[v], 1);
    return { owner, axes, values: new Float64Array(size) };
  });
  const order = [6, 1, 0, 2, 4, 3, 5];
  const model = new CptModel({ nStates, target: 6, parents, order, tables });
  for (const table of model.tables) {
    const step = table.strides[table.axes.indexOf(table.owner)];
    const n = nStates[table.owner];
    for (let k = 0; k < table.values.length; k++) {
      if (Math.floor(k / step) % n) continue;
      const weights = Array.from({ length: n }, () => next() + 0.05);
      const total = weights.reduce((a, b) => a + b);
      weights.forEach((w, v) => (table.values[k + v * step] = Math.log(w / total)));
    }
  }
  model.changed();
  return model;
}

export function factorModel(seed) {
  const next = random(seed);
  const weights = (n) => Float64Array.from({ length: n }, () => 2 * next() - 1);
  const support = (n) =>
    Float64Array.from({ length: n }, () => Math.floor(10 * next()));
  const factors = [
    { features: [0], bins: [[0, 1, 2]], weights: weights(9), support: support(3) },
    {
      features: [0, 1],
      bins: [
        [0, 1, 2],
        [0, 1, 1, 2],
      ],
      weights: weights(27),
      support: support(9),
    },
  ];
  return new FactorModel({
    nStates: [2, 3, 3],
    target: 2,
    logPrior: [0.1, -0.3, 0.2],
    factors,
  });
}

// Whether a cell has the bin of a feature that is not observed.
function isUnseen(bins, cell) {
  let rest = cell;
  for (let axis = bins.length - 1; axis >= 0; axis--) {
    const last = bins[axis][3];
    if (rest % (last + 1) === last) return true;
    rest = Math.floor(rest / (last + 1));
  }
  return false;
}

// Five features of three states with factors over one, two and three of them, and a
// prior that only several changes overcome.
export function stubbornModel(seed, nClasses, varianceScale = 0) {
  const next = random(seed);
  const scopes = [[0], [1], [2], [3], [4], [0, 1], [1, 2], [2, 3, 4]];
  const factors = scopes.map((features) => {
    const bins = features.map(() => (next() < 0.5 ? [0, 1, 2, 3] : [0, 1, 1, 2]));
    const nCells = bins.reduce((n, own) => n * (own[3] + 1), 1);
    const weights = Float64Array.from({ length: nCells * nClasses }, () => next());
    const support = Float64Array.from({ length: nCells }, () =>
      Math.floor(10 * next()),
    );
    for (let cell = 0; cell < nCells; cell++)
      if (isUnseen(bins, cell)) support[cell] = 0;
    return { features, bins, weights, support };
  });
  const logPrior = Array.from({ length: nClasses }, (_, c) => (c === 0 ? 1 : 0));
  const nStates = [3, 3, 3, 3, 3, nClasses];
  return new FactorModel({ nStates, target: 5, logPrior, factors, varianceScale });
}

// P(class, evidence) by summing over all states of the features that are not observed.
export function enumerate(model, codes) {
  const out = new Float64Array(model.nClasses);
  const open = model.nStates
    .map((_, v) => v)
    .filter((v) => v !== model.target && codes[v] >= model.nStates[v]);
  const all = Array.from(codes);
  const visit = (i) => {
    if (i < open.length) {
      for (let s = 0; s < model.nStates[open[i]]; s++) {
        all[open[i]] = s;
        visit(i + 1);
      }
      return;
    }
    const logs = new Float64Array(model.nClasses);
    for (const table of model.tables) model.addTable(table, all, logs);
    logs.forEach((value, c) => (out[c] += Math.exp(value)));
  };
  visit(0);
  return out;
}

// All codes of the features, "not observed" included.
export function* allCodes(model) {
  const codes = Array.from(model.nStates);
  function* visit(v) {
    if (v === model.nStates.length) yield codes;
    else if (v === model.target) yield* visit(v + 1);
    else
      for (let s = 0; s <= model.nStates[v]; s++) {
        codes[v] = s;
        yield* visit(v + 1);
      }
  }
  yield* visit(0);
}

export function close(actual, expected, tolerance = 1e-12) {
  if (Math.abs(actual - expected) > tolerance) {
    throw new Error(`${actual} is not ${expected}`);
  }
}
