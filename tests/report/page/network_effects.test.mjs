import assert from "node:assert/strict";
import { test } from "node:test";
import { CptModel } from "../../../src/tanager/report/page/cpt_model.js";
import {
  effectOfFeature,
  effectOfPair,
  featurePairs,
} from "../../../src/tanager/report/page/network_effects.js";
import { close, cptModel, enumerate } from "./models.mjs";

// Checks an effect against log P(states | class) by enumeration.
function check(model, effect, scale) {
  const K = model.nClasses;
  const prior = enumerate(model, model.nStates);
  const [n, m = 1] = effect.shape;
  for (let cell = 0; cell < n * m; cell++) {
    const codes = Array.from(model.nStates);
    const states = effect.features.length === 1 ? [cell] : [Math.floor(cell / m), cell % m];
    effect.features.forEach((j, axis) => (codes[j] = states[axis]));
    const joint = enumerate(model, codes);
    const total = joint.reduce((a, b) => a + b);
    close(effect.support[cell], total);
    const logs = Array.from(joint, (p, c) => Math.max(Math.log(p / prior[c]), scale));
    const mean = logs.reduce((a, b) => a + b) / K;
    logs.forEach((value, c) => close(effect.weights[cell * K + c], value - mean, 1e-9));
  }
}

for (const zeros of [false, true]) {
  test(`effects equal enumeration, zeros: ${zeros}`, () => {
    const model = cptModel(11, zeros);
    const loo = model.leaveOneOut(model.nStates);
    const features = [0, 1, 2, 3];
    const least = Math.log(1e-30);
    for (const j of features) check(model, effectOfFeature(model, loo, j), least);
    const pairs = featurePairs(model, features);
    assert.deepEqual(pairs, [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ]);
    for (const pair of pairs) check(model, effectOfPair(model, loo, pair), least);
  });
}

test("a class of probability zero has no effect", () => {
  const half = Math.log(0.5);
  const [most, least] = [Math.log(0.9), Math.log(0.1)];
  const model = new CptModel({
    nStates: [2, 3],
    nValues: [2, 3],
    target: 1,
    parents: [[1], []],
    order: [1, 0],
    tables: [
      { owner: 0, axes: [0, 1], values: Float64Array.of(most, half, half, least, half, half) },
      { owner: 1, axes: [1], values: Float64Array.of(half, half, -Infinity) },
    ],
  });
  const { weights } = effectOfFeature(model, model.leaveOneOut(model.nStates), 0);
  const [high, low] = [(most - half) / 2, (least - half) / 2];
  const expected = [high, -high, 0, low, -low, 0];
  expected.forEach((value, k) => close(weights[k], value, 1e-12));
});

test("neighbouring states of many are merged, the missing state is not", () => {
  const n = 601;
  const values = new Float64Array(2 * n);
  for (let v = 0; v < n; v++) {
    values[2 * v] = Math.log((2 * (v + 1)) / (n * (n + 1)));
    values[2 * v + 1] = Math.log(1 / n);
  }
  const prior = new Float64Array(2).fill(Math.log(0.5));
  const model = new CptModel({
    nStates: [n, 2],
    nValues: [n - 1, 2],
    target: 1,
    parents: [[1], []],
    order: [1, 0],
    tables: [
      { owner: 0, axes: [0, 1], values },
      { owner: 1, axes: [1], values: prior },
    ],
  });
  const loo = model.leaveOneOut(model.nStates);
  const { bins, shape, support } = effectOfFeature(model, loo, 0);
  assert.deepEqual(shape, [257]);
  assert.equal(bins[0][n - 1], 256);
  assert.ok(bins[0].every((bin, v) => v === 0 || bin - bins[0][v - 1] <= 1));
  close(
    support.reduce((a, b) => a + b),
    1,
  );
  const last = 0.5 * (2 / (n + 1) + 1 / n);
  close(support[256], last);
});
