import assert from "node:assert/strict";
import { test } from "node:test";
import { traceKeys } from "../../../src/tanager/report/page/about_view.js";
import { valueLimits } from "../../../src/tanager/report/page/charts.js";
import { numberProblem } from "../../../src/tanager/report/page/dom.js";
import { Samples } from "../../../src/tanager/report/page/sample_loss.js";

test("empty fields and numbers out of range are refused", () => {
  for (const text of ["0", "100", " 12.5 ", "1e1"])
    assert.equal(numberProblem(text, 0, 100), "");
  for (const text of ["", "  ", "-1", "100.1", "x", "Infinity"])
    assert.equal(numberProblem(text, 0, 100), "Enter a number from 0 to 100.");
});

test("rows are counted from 1", () => {
  const header = { variables: [{}, {}], data: { n_shown: 2, n_random: 2 } };
  const arrays = {
    samples: [0, 1],
    sample_rows_low: [0, 3],
    sample_rows_high: [0, 1],
    sample_labels: [0, 0],
  };
  const { rows } = new Samples({ header, arrays });
  assert.deepEqual(
    rows.map(({ number }) => number),
    [1, 65540],
  );
});

test("the columns of a trace are the keys of all its steps", () => {
  const steps = [{ step: 1, arc: "a" }, { step: 2, score: 0.5 }, { loss: 1 }];
  assert.deepEqual(traceKeys(steps), ["step", "arc", "score", "loss"]);
});

test("errors much larger than the values do not hide a curve", () => {
  const values = [-0.5, 0.25, 0.5];
  assert.deepEqual(valueLimits([{ values, errors: null }]), [-0.5, 0.5]);
  const small = [{ values, errors: [0.25, 0.25, 0.25] }];
  assert.deepEqual(valueLimits(small), [-0.75, 0.75]);
  const large = [{ values, errors: [20, 20, 20] }];
  assert.deepEqual(valueLimits(large), [-1.5, 1.5]);
});
