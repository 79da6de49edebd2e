import assert from "node:assert/strict";
import { test } from "node:test";
import { CptModel } from "../../../src/tanager/report/page/cpt_model.js";
import {
  Elimination,
  minFillOrder,
} from "../../../src/tanager/report/page/elimination.js";
import { softmax } from "../../../src/tanager/report/page/numerics.js";
import {
  allCodes,
  close,
  cptModel,
  enumerate,
  factorModel,
  forestModel,
} from "./models.mjs";

for (const zeros of [false, true]) {
  test(`posteriors equal enumeration, zeros: ${zeros}`, () => {
    for (let seed = 1; seed < 6; seed++) {
      const model = cptModel(seed, zeros);
      for (const codes of allCodes(model)) {
        const expected = enumerate(model, codes);
        const found = model.rawScores(codes);
        found.forEach((value, c) => close(Math.exp(value), expected[c]));
      }
    }
  });

  test(`the backward pass gives every single change, zeros: ${zeros}`, () => {
    const model = cptModel(7, zeros);
    for (const codes of allCodes(model)) {
      const loo = model.leaveOneOut(codes);
      for (let j = 0; j < 4; j++) {
        for (let v = 0; v < model.nStates[j]; v++) {
          const changed = Array.from(codes);
          changed[j] = v;
          enumerate(model, changed).forEach((p, c) =>
            close(Math.exp(loo[j][v * 3 + c]), p),
          );
        }
      }
    }
  });
}

test("terms sum to the log odds", () => {
  const model = cptModel(3);
  for (const codes of allCodes(model)) {
    const scores = model.logScores(codes);
    const sum = model.terms(codes, 2, 0).reduce((total, { value }) => total + value, 0);
    close(sum, scores[2] - scores[0], 1e-10);
  }
});

test("terms of a forest by messages equal those by elimination", () => {
  const model = forestModel(5);
  assert.ok(model.forest);
  const other = forestModel(5);
  other.forest = null;
  for (const codes of allCodes(model)) {
    const expected = other.terms(codes, 2, 0);
    model.terms(codes, 2, 0).forEach(({ features, value }, k) => {
      assert.deepEqual(features, expected[k].features);
      close(value, expected[k].value, 1e-10);
    });
  }
});

test("an edit to zero leaves messages for elimination", () => {
  const model = forestModel(6);
  model.tables[0].values[0] = -Infinity;
  model.changed();
  assert.equal(model.forest, null);
  assert.equal(cptModel(1).forest, null); // a class with parents
});

test("evidence of probability zero gives the prior", () => {
  const model = cptModel(4, true);
  let nImpossible = 0;
  for (const codes of allCodes(model)) {
    if (!model.isImpossible(codes)) continue;
    nImpossible++;
    const prior = softmax(model.logPrior());
    softmax(model.logScores(codes)).forEach((p, c) => close(p, prior[c]));
  }
  assert.ok(nImpossible > 0);
});

test("factors: a feature that is not observed has the last bin", () => {
  const model = factorModel(1);
  for (const codes of allCodes(model)) {
    const expected = Array.from(model.prior);
    for (const { features, bins, shape, weights } of model.factors) {
      let cell = 0;
      features.forEach((j, i) => (cell = cell * shape[i] + bins[i][codes[j]]));
      expected.forEach((_, c) => (expected[c] += weights[cell * 3 + c]));
    }
    model.logScores(codes).forEach((value, c) => close(value, expected[c]));
    const loo = model.leaveOneOut(codes);
    for (let j = 0; j < 2; j++) {
      for (let v = 0; v < model.nStates[j]; v++) {
        const changed = Array.from(codes);
        changed[j] = v;
        model.logScores(changed).forEach((value, c) => close(value, loo[j][v * 3 + c]));
      }
    }
    const sum = model.terms(codes, 1, 0).reduce((total, { value }) => total + value, 0);
    close(sum, expected[1] - expected[0]);
  }
});

test("a chain is eliminated without new edges", () => {
  const scopes = [
    [0, 1],
    [1, 2],
    [2, 3],
  ];
  assert.deepEqual(minFillOrder(5, scopes, 4).sort(), [0, 1, 2, 3]);
});

test("too many cells are refused", () => {
  const tables = [{ axes: [0, 1, 2], values: new Float64Array(1000) }];
  assert.throws(() => new Elimination([10, 10, 10, 2], 3, tables, 500), RangeError);
});

test("complete evidence needs no elimination", () => {
  for (const zeros of [false, true]) {
    const full = cptModel(8, zeros);
    const { nStates, target, parents, order, tables } = full;
    const model = new CptModel({
      nStates,
      target,
      parents,
      order,
      tables,
      refused: "too large",
    });
    assert.equal(model.canMarginalise, false);
    for (const codes of allCodes(full)) {
      if (!full.isComplete(codes)) continue;
      const found = model.leaveOneOut(codes);
      full.leaveOneOut(codes).forEach((expected, i) => {
        if (i === target) return;
        expected.forEach((value, k) => {
          if (value === -Infinity) assert.equal(found[i][k], value);
          else close(found[i][k], value, 1e-10);
        });
      });
    }
  }
});
