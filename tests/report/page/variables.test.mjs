import assert from "node:assert/strict";
import { test } from "node:test";
import {
  generalFormat,
  intervals,
} from "../../../src/tanager/report/page/variables.js";

test("numbers are written as Python writes them", () => {
  // Right-hand sides: f"{x:.6g}" in Python.
  const expected = new Map([
    [0.5, "0.5"],
    [100000.5, "100000"],
    [100001.5, "100002"],
    [1234567, "1.23457e+06"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [-2.5e-300, "-2.5e-300"],
    [123456.5, "123456"],
    [999999.5, "1e+06"],
    [-0.017915, "-0.017915"],
    [1e6, "1e+06"],
    [1e5, "100000"],
    [0, "0"],
  ]);
  for (const [x, text] of expected) assert.equal(generalFormat(x, 6), text);
  assert.equal(generalFormat(0.1, 17), "0.10000000000000001");
});

test("intervals that 6 digits cannot keep apart have more", () => {
  assert.deepEqual(intervals([1, 1.0000001]), [
    "(-inf, 1]",
    "(1, 1.0000001]",
    "(1.0000001, inf)",
  ]);
  assert.deepEqual(intervals([]), ["(-inf, inf)"]);
});
