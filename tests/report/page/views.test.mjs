import assert from "node:assert/strict";
import { test } from "node:test";
import { traceKeys } from "../../../src/tanager/report/page/about_view.js";

test("the columns of a trace are the keys of all its steps", () => {
  const steps = [{ step: 1, arc: "a" }, { step: 2, score: 0.5 }, { loss: 1 }];
  assert.deepEqual(traceKeys(steps), ["step", "arc", "score", "loss"]);
});
