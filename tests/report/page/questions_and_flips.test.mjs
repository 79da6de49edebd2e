import assert from "node:assert/strict";
import { test } from "node:test";
import { withProbability, Edits } from "../../../src/tanager/report/page/edits.js";
import { FactorModel } from "../../../src/tanager/report/page/factor_model.js";
import { argmax, entropy, softmax } from "../../../src/tanager/report/page/numerics.js";
import {
  changeCost,
  cheapestFlip,
  singleFlips,
} from "../../../src/tanager/report/page/class_flips.js";
import { nextQuestions } from "../../../src/tanager/report/page/information_gain.js";
import { countValues } from "../../../src/tanager/report/page/variables.js";
import {
  allCodes,
  close,
  cptModel,
  enumerate,
  factorModel,
  stubbornModel,
} from "./models.mjs";

const variables = (model) =>
  model.nStates.map((n) => ({
    states: Array.from({ length: n }, (_, s) => s),
    ordered: false,
  }));

test("information gain equals enumeration", () => {
  const model = cptModel(5);
  for (const codes of allCodes(model)) {
    const joint = enumerate(model, codes);
    const total = joint.reduce((a, b) => a + b);
    const before = entropy(joint.map((p) => p / total));
    for (const { feature, gain } of nextQuestions(
      model,
      codes,
      model.leaveOneOut(codes),
    )) {
      let after = 0;
      for (let v = 0; v < model.nStates[feature]; v++) {
        const changed = Array.from(codes);
        changed[feature] = v;
        const own = enumerate(model, changed);
        const p = own.reduce((a, b) => a + b);
        after += (p / total) * entropy(own.map((q) => q / p));
      }
      close(gain, before - after, 1e-10);
    }
  }
});

// The cheapest change by trying all, of as few features as suffice.
function bruteForce(model, known, codes) {
  const current = argmax(model.logScores(codes));
  const observed = known
    .map((_, v) => v)
    .filter((v) => v !== model.target && model.isKnown(codes, v));
  let best = null;
  const changed = Array.from(codes);
  const visit = (start, nChanges, cost) => {
    if (nChanges > 0 && nChanges <= 3 && argmax(model.logScores(changed)) !== current) {
      if (
        best === null ||
        nChanges < best.n ||
        (nChanges === best.n && cost < best.cost)
      )
        best = { n: nChanges, cost };
    }
    for (let i = start; i < observed.length && nChanges < 3; i++) {
      const j = observed[i];
      for (let v = 0; v < countValues(known[j]); v++) {
        if (v === codes[j]) continue;
        changed[j] = v;
        visit(i + 1, nChanges + 1, cost + changeCost(known[j], codes[j], v));
      }
      changed[j] = codes[j];
    }
  };
  visit(0, 0, 0);
  return best;
}

function lastOf(search) {
  let step = search.next();
  while (!step.done) step = search.next();
  return step.value;
}

for (const [name, model] of [
  ["CPTs", cptModel(6)],
  ["CPTs with zeros", cptModel(7, true)],
  ["factors", factorModel(2)],
  ["many factors", stubbornModel(3, 2)],
  ["many factors, three classes", stubbornModel(4, 3)],
  ["many factors, shrunk", stubbornModel(3, 2, 0.5)],
  ["many factors, three classes, shrunk", stubbornModel(4, 3, 0.5)],
]) {
  test(`flips are the cheapest: ${name}`, () => {
    const sizes = new Set();
    for (const isOrdered of [false, true]) {
      const known = variables(model).map((own) => ({ ...own, ordered: isOrdered }));
      for (const codes of allCodes(model)) {
        if (model.isImpossible(codes)) continue;
        const expected = bruteForce(model, known, codes);
        const found = lastOf(
          cheapestFlip(model, known, codes, model.leaveOneOut(codes)),
        );
        assert.equal(found === null, expected === null);
        sizes.add(expected?.n ?? 0);
        if (expected === null) continue;
        assert.equal(found.changes.length, expected.n);
        close(found.cost, expected.cost, 1e-9);
        const changed = Array.from(codes);
        for (const [j, v] of found.changes) changed[j] = v;
        assert.notEqual(
          argmax(model.logScores(changed)),
          argmax(model.logScores(codes)),
        );
      }
    }
    if (name.startsWith("many")) assert.deepEqual([...sizes].sort(), [0, 1, 2, 3]);
  });
}

for (const [name, model] of [
  ["CPTs", cptModel(6)],
  ["factors", factorModel(2)],
]) {
  test(`a missing state is asked for and never changed: ${name}`, () => {
    model.nValues = model.nStates.map((n, v) => (v === 1 ? n - 1 : n));
    const states = variables(model);
    states[1].missing_state = true;
    for (const codes of allCodes(model)) {
      const loo = model.leaveOneOut(codes);
      const isOpen = codes[1] >= model.nValues[1];
      const asked = nextQuestions(model, codes, loo).map(({ feature }) => feature);
      assert.equal(asked.includes(1), isOpen);
      const weights = model.stateWeights(1, codes, loo);
      assert.equal(weights.length, model.nValues[1]);
      close(
        weights.reduce((a, b) => a + b),
        1,
      );
      const flips = singleFlips(model, states, codes, loo).map(
        ({ changes }) => changes,
      );
      for (const found of cheapestFlip(model, states, codes, loo)) {
        if (found !== null) flips.push(found.changes);
      }
      for (const [j, v] of flips.flat()) {
        assert.ok(j !== 1 || (!isOpen && v < model.nValues[1]));
      }
    }
  });
}

test("frequencies come from the factor with the most bins", () => {
  const model = factorModel(2);
  const [coarse, fine] = [
    { features: [1], bins: [[0, 0, 0, 1]], support: [9, 0] },
    { features: [1], bins: [[0, 1, 2, 3]], support: [2, 6, 5, 0] },
  ].map((factor) => ({
    ...factor,
    weights: new Float64Array(3 * factor.support.length),
    support: Float64Array.from(factor.support),
  }));
  const { nStates, target, prior: logPrior } = model;
  const make = (factors) =>
    new FactorModel({ nStates, nValues: [2, 2, 3], target, logPrior, factors });
  [0.25, 0.75].forEach((p, v) => close(make([coarse, fine]).stateWeights(1)[v], p));
  [0.5, 0.5].forEach((p, v) => close(make([coarse]).stateWeights(1)[v], p));
  [0.5, 0.5].forEach((p, v) => close(make([]).stateWeights(1)[v], p));
});

test("no gain of factors exceeds the entropy of the class", () => {
  const factor = (feature, weights) => ({
    features: [feature],
    bins: [[0, 1, 2]],
    weights: Float64Array.from(weights),
    support: Float64Array.of(5, 5, 0),
  });
  const model = new FactorModel({
    nStates: [2, 2, 2, 2],
    target: 3,
    logPrior: [0, 0],
    factors: [
      factor(0, [4, -4, -4, 4, 2, -2]),
      factor(1, [0, 0, 0, 0, 0, 0]),
      factor(2, [3, -3, -3, 3, 0, 0]),
    ],
  });
  const codes = [2, 0, 2, 2];
  const most = entropy(softmax(model.logScores(codes)));
  const found = nextQuestions(model, codes, model.leaveOneOut(codes));
  assert.deepEqual(
    found.map(({ feature }) => feature),
    [0, 2],
  );
  assert.equal(found[0].gain, most);
  assert.ok(found.every(({ gain }) => gain <= most));
});

test("a class that is ahead by rounding alone is no flip", () => {
  const factor = { features: [0], bins: [[0, 1, 2]], support: new Float64Array(3) };
  const make = (ahead) =>
    new FactorModel({
      nStates: [2, 2],
      target: 1,
      logPrior: [0, 0],
      factors: [{ ...factor, weights: Float64Array.of(1, -1, 0, ahead, 0, 0) }],
    });
  for (const [ahead, n] of [
    [1e-10, 0],
    [1e-8, 1],
  ]) {
    const model = make(ahead);
    const found = singleFlips(
      model,
      variables(model),
      [0, 2],
      model.leaveOneOut([0, 2]),
    );
    assert.equal(found.length, n);
  }
});

test("an edited distribution keeps the ratios of the others", () => {
  const found = withProbability([0.5, 0.3, 0.2].map(Math.log), 0, 0.75).map(Math.exp);
  [0.75, 0.15, 0.1].forEach((p, v) => close(found[v], p));
  const zeros = withProbability([0, -Infinity, -Infinity], 0, 0.5).map(Math.exp);
  [0.5, 0.25, 0.25].forEach((p, v) => close(zeros[v], p));
});

test("edits are undone in reverse order", () => {
  const values = [1, 2, 3];
  const edits = new Edits(() => {});
  edits.apply("first", values, [0, 1], [5, 6]);
  edits.apply("second", values, [1], [7]);
  assert.deepEqual(values, [5, 7, 3]);
  edits.undo();
  assert.deepEqual(values, [5, 6, 3]);
  edits.apply("third", values, [2], [9]);
  edits.undoAll();
  assert.deepEqual(values, [1, 2, 3]);
});

test("softmax of far apart scores", () => {
  close(softmax([-2000, -1000])[1], 1);
});
