import assert from "node:assert/strict";
import { test } from "node:test";
import { AboutView } from "../../../src/tanager/report/page/about_view.js";
import { binEdges, binLabels } from "../../../src/tanager/report/page/curve_view.js";
import {
  cutTexts,
  readVariables,
  shortenTimes,
} from "../../../src/tanager/report/page/variables.js";

// Days as seconds since 1970, and the texts that Python made of them.
const TEXTS = ["2024-05-01", "2024-06-01", "2024-07-01", "2024-08-01"];
const CUTS = TEXTS.map((text) => Date.parse(text) / 1000);

function dates(texts, cuts, missing = false) {
  const starts = ["-inf", ...texts];
  const states = texts.map((text, i) => `(${starts[i]}, ${text}]`);
  states.push(`(${texts.at(-1)}, inf)`);
  const others = missing ? ["(missing)"] : [];
  return {
    name: "when",
    ordered: true,
    missing_state: missing,
    n_cuts: cuts.length,
    decimals: 0,
    unit: "datetime",
    states,
    others,
  };
}

function stored(cuts) {
  return {
    high: Int32Array.from(cuts, (cut) => Math.floor(cut / 2 ** 32)),
    low: Uint32Array.from(cuts, (cut) => cut % 2 ** 32),
  };
}

function read(texts, cuts, missing) {
  const header = { variables: [dates(texts, cuts, missing)] };
  return readVariables(header, { cuts: stored(cuts) })[0];
}

test("variables of dates keep their texts, cut points and unit", () => {
  const variable = read(TEXTS, CUTS);
  assert.equal(variable.unit, "datetime");
  assert.deepEqual(variable.cuts, CUTS);
  assert.equal(variable.states[1], "(2024-05-01, 2024-06-01]");
  assert.deepEqual(cutTexts(variable), TEXTS);
});

test("the largest date has its label where it is the nearest to the middle, too", () => {
  const texts = ["2024-01-01", "2024-03-01", "2024-04-10"];
  const cuts = texts.map((text) => Date.parse(text) / 1000);
  const variable = read(texts, cuts, true);
  const bins = [0, 1, 2, 3, 4];
  const { tickLabels } = binEdges(variable, bins, binLabels(variable, bins));
  assert.deepEqual(tickLabels, ["2024-01-01", "2024-03-01", "missing"]);
});

test("times before 1970 are read", () => {
  const cuts = [-1, -0.5, 86400.25].map((cut) => cut * 100);
  const high = Int32Array.from(cuts, (cut) => Math.floor(cut / 2 ** 32));
  const low = Uint32Array.from(cuts, (cut) => cut - Math.floor(cut / 2 ** 32) * 2 ** 32);
  const entry = { ...dates(["a", "b", "c"], cuts), decimals: 2 };
  const [variable] = readVariables({ variables: [entry] }, { cuts: { high, low } });
  assert.deepEqual(variable.cuts, [-1, -0.5, 86400.25]);
});

test("merged bins of dates are intervals of dates", () => {
  const labels = binLabels(read(TEXTS, CUTS), [0, 0, 1, 1, 1, 2]);
  assert.deepEqual(labels, ["(-inf, 2024-06-01]", "(2024-06-01, inf)"]);
});

test("the axis of a curve has dates at cut points, in the right order", () => {
  const variable = read(TEXTS, CUTS, true);
  const bins = [0, 1, 2, 3, 4, 5, 6];
  const labels = binLabels(variable, bins);
  const { edges, tickPlaces, tickLabels, nJoined } = binEdges(variable, bins, labels);
  assert.equal(edges.length, 7);
  assert.equal(nJoined, 5);
  assert.equal(tickLabels.at(-1), "missing");
  tickLabels.slice(0, -1).forEach((label, i) => {
    assert.equal(tickPlaces[i], CUTS[TEXTS.indexOf(label)]);
  });
  assert.equal(tickLabels[0], "2024-05-01");
});

test("dates with times are shortened to what distinguishes them", () => {
  const times = ["2024-05-01 08:00", "2024-06-01 12:30"];
  assert.deepEqual(shortenTimes(times), ["2024-05-01", "2024-06-01"]);
  const day = ["2024-05-01 08:00", "2024-05-01 12:30"];
  assert.deepEqual(shortenTimes(day), ["08:00", "12:30"]);
  const two = [...day, "2024-05-02 00:00"];
  assert.deepEqual(shortenTimes(two), two);
  for (const other of [["36480 s", "117900 s"], ["08:00:00"], TEXTS, []]) {
    assert.deepEqual(shortenTimes(other), other);
  }
});

test("the schema says what kind of time a variable has", () => {
  const kind = AboutView.prototype.kind;
  const found = ["datetime", "time", "timedelta", null].map((unit) =>
    kind({ cuts: [1], ordered: true, unit }),
  );
  assert.deepEqual(found, ["date", "time of day", "duration", "numeric"]);
  const { values } = AboutView.prototype;
  assert.equal(values(read(TEXTS, CUTS)), `cut at ${TEXTS.join(", ")}`);
});
