import { test } from "node:test";
import { FactorModel } from "../../../src/tanager/report/page/factor_model.js";
import {
  missingVariances,
  shrinkScores,
} from "../../../src/tanager/report/page/missing_variance.js";
import { allCodes, close, random } from "./models.mjs";

// The model of models.mjs with cells that no training sample lacked a value for.
function makeModel(nClasses, scale) {
  const next = random(3);
  const weights = (n) =>
    Float64Array.from({ length: n * nClasses }, () => 2 * next() - 1);
  const factors = [
    { features: [0], bins: [[0, 1, 2]], weights: weights(3), support: [4, 6, 0] },
    {
      features: [0, 1],
      bins: [
        [0, 1, 2],
        [0, 1, 1, 2],
      ],
      weights: weights(9),
      support: [1, 2, 0, 3, 4, 0, 0, 0, 0],
    },
  ];
  for (const factor of factors) {
    factor.support = Float64Array.from(factor.support);
    if (nClasses === 2)
      factor.weights = factor.weights.map((w, k, all) => (k % 2 ? -all[k - 1] : w));
  }
  const logPrior = [0.1, -0.3, 0.2].slice(0, nClasses);
  return new FactorModel({
    nStates: [2, 3, nClasses],
    target: 2,
    logPrior,
    factors,
    varianceScale: scale,
  });
}

test("the variance of one feature", () => {
  const factor = {
    shape: [3],
    strides: [1],
    support: [5, 5, 0],
    weights: [0, 1, 0, -3, 0, 0.5],
  };
  factor.support = Float64Array.from(factor.support);
  [0, 0, 4].forEach((value, cell) => close(missingVariances(factor, 2)[cell], value));
});

test("a feature that was missing in training has no variance", () => {
  const factor = {
    shape: [3],
    strides: [1],
    support: [5, 5, 1],
    weights: [0, 1, 0, -3, 0, 0.5],
  };
  factor.support = Float64Array.from(factor.support);
  [0, 0, 0].forEach((value, cell) => close(missingVariances(factor, 2)[cell], value));
});

test("log odds are shrunk towards the prior", () => {
  const scores = [0, 3];
  shrinkScores(scores, 0, [0, 1], [8], 0, 1);
  close(scores[1] - scores[0], 1 + 2 / 3);
});

for (const nClasses of [2, 3]) {
  test(`single changes and terms of shrunk scores, ${nClasses} classes`, () => {
    const model = makeModel(nClasses, 0.4);
    for (const codes of allCodes(model)) {
      const scores = model.logScores(codes);
      const loo = model.leaveOneOut(codes);
      for (let j = 0; j < 2; j++) {
        for (let v = 0; v < model.nStates[j]; v++) {
          const changed = Array.from(codes);
          changed[j] = v;
          const expected = model.logScores(changed);
          for (let c = 1; c < nClasses; c++) {
            const found = loo[j][v * nClasses + c] - loo[j][v * nClasses];
            close(found, expected[c] - expected[0]);
          }
        }
      }
      const sum = model
        .terms(codes, 1, 0)
        .reduce((total, { value }) => total + value, 0);
      close(sum, scores[1] - scores[0]);
    }
  });
}
