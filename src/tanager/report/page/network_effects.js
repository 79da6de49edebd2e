// Effects of one and two features in a network with CPTs, all others unknown, in the
// form of factors: weights by cell and class, and the probability of every cell in the
// place of a support. The Python side is explain/partial_effects.py.

import { logSumExp } from "./numerics.js";

const MAX_BINS = [256, 24]; // of a curve, of an axis of a pair
const LOG_ZERO = Math.log(1e-30); // in the place of a probability of zero

// Whether there are few states, or neighbouring ones may be merged, in a picture of
// `nFeatures` features.
export function isDrawable({ states, ordered }, nFeatures) {
  return ordered || states.length <= MAX_BINS[nFeatures - 1];
}

// Features that share a CPT and are not left out, as [parent, child].
export function featurePairs(model, features) {
  const kept = new Set(features);
  return features.flatMap((child) =>
    model.parents[child].filter((p) => kept.has(p)).map((p) => [p, child]),
  );
}

// Neighbouring states with values are merged if there are more than `most`.
function mergeStates(n, nValues, most) {
  const nBins = Math.min(nValues, most);
  return Array.from({ length: n }, (_, v) =>
    v < nValues ? Math.floor((v * nBins) / nValues) : nBins + v - nValues,
  );
}

// `logs` are log P(class, states) of all cells; the effect is log P(states | class). A
// class of probability zero has no effect, and no part in the means over the classes.
function makeEffect(model, features, bins, logs) {
  const K = model.nClasses;
  const shape = bins.map((own) => own[own.length - 1] + 1);
  const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  const prior = model.logPrior();
  const total = logSumExp(prior);
  const possible = Array.from(prior.keys()).filter((c) => prior[c] > -Infinity);
  const nCells = shape.reduce((a, b) => a * b, 1);
  const weights = new Float64Array(nCells * K);
  const support = new Float64Array(nCells);
  for (let cell = 0; cell < nCells; cell++) {
    const own = logs.subarray(cell * K, cell * K + K);
    support[cell] = Math.exp(logSumExp(own) - total);
    let mean = 0;
    for (const c of possible) {
      const value = Math.max(own[c] - prior[c], LOG_ZERO);
      weights[cell * K + c] = value;
      mean += value / possible.length;
    }
    for (const c of possible) weights[cell * K + c] -= mean;
  }
  return { features, bins, shape, strides, weights, support, errors: null };
}

// Adds exp of `values` to `logs`, for the cell of each row.
function addLogs(logs, cell, values, start, K) {
  for (let c = 0; c < K; c++) {
    const k = cell * K + c;
    const [a, b] = [logs[k], values[start + c]];
    const [high, low] = a > b ? [a, b] : [b, a];
    logs[k] = low === -Infinity ? high : high + Math.log1p(Math.exp(low - high));
  }
}

// `loo` is model.leaveOneOut(model.nStates): nothing is known.
export function effectOfFeature(model, loo, j) {
  const K = model.nClasses;
  const bins = mergeStates(model.nStates[j], model.nValues[j], MAX_BINS[0]);
  const logs = new Float64Array((bins[bins.length - 1] + 1) * K).fill(-Infinity);
  bins.forEach((bin, v) => addLogs(logs, bin, loo[j], v * K, K));
  return makeEffect(model, [j], [bins], logs);
}

export function effectOfPair(model, loo, [i, j]) {
  const K = model.nClasses;
  const merge = (v) => mergeStates(model.nStates[v], model.nValues[v], MAX_BINS[1]);
  const bins = [merge(i), merge(j)];
  const [m, n] = bins.map((own) => own[own.length - 1] + 1);
  const logs = new Float64Array(m * n * K).fill(-Infinity);
  const codes = Array.from(model.nStates);
  for (let u = 0; u < model.nStates[i]; u++) {
    codes[i] = u;
    const rows = rowsGiven(model, loo, codes, i, j);
    bins[1].forEach((bin, v) => {
      addLogs(logs, bins[0][u] * n + bin, rows, v * K, K);
    });
  }
  return makeEffect(model, [i, j], bins, logs);
}

// log P(class, x_i, x_j = v) for every v, given codes with the state of i alone.
function rowsGiven(model, loo, codes, i, j) {
  const K = model.nClasses;
  const { target } = model;
  if (!model.parents[j].every((p) => p === i || p === target))
    return model.leaveOneOut(codes)[j];
  // P(class, x_i) P(x_j | x_i, class)
  const out = new Float64Array(model.nStates[j] * K);
  const all = Array.from(codes);
  const own = model.tables.filter(({ owner }) => owner === j);
  const logs = new Float64Array(K);
  for (let v = 0; v < model.nStates[j]; v++) {
    all[j] = v;
    logs.fill(0);
    for (const table of own) model.addTable(table, all, logs);
    for (let c = 0; c < K; c++) out[v * K + c] = logs[c] + loo[i][codes[i] * K + c];
  }
  return out;
}
