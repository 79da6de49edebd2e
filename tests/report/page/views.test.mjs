import assert from "node:assert/strict";
import { test } from "node:test";
import { traceKeys } from "../../../src/tanager/report/page/about_view.js";
import { Samples } from "../../../src/tanager/report/page/sample_loss.js";

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
