// CPTs from their values, from levels, or from effects: mixed differences of the first
// class and of contrasts of the other classes with it. Of "contrasts" the values of the
// first class are zeros. A "normaliser" follows from the other tables of its family. The
// Python side is cpt_packing.py.

import { normaliseFamilies } from "./normalisers.js";

const EFFECT_STEP = 2 ** -40;

export function readTables({ tables, order, target }, arrays, nStates) {
  const nClasses = nStates[target];
  const places = { values: 0, levels: 0, effects: 0 };
  const found = tables.map(({ owner, axes, coding }) => {
    const shape = axes.filter((v) => v !== target).map((v) => nStates[v]);
    const n = shape.reduce((product, size) => product * size, 1);
    const K = axes.includes(target) ? nClasses : 1;
    const values = new Float64Array(n * K); // the class is the last axis
    if (coding === "normaliser") return { owner, axes, values };
    const first = coding === "contrasts" ? 1 : 0;
    for (let c = first; c < K; c++) {
      if (coding === "values") {
        const from = places.values;
        for (let i = 0; i < n; i++) values[i * K + c] = arrays.tables[from + i];
        places.values += n;
      } else if (coding === "levels") {
        const codes = arrays.level_codes.subarray(places.levels, places.levels + n);
        for (let i = 0; i < n; i++) values[i * K + c] = arrays.levels[codes[i]];
        places.levels += n;
      } else {
        const sums = arrays.effects.slice(places.effects, places.effects + n);
        sumAlongAxes(sums, shape);
        for (let i = 0; i < n; i++) {
          const base = c > 0 ? values[i * K] : 0;
          values[i * K + c] = base + sums[i] * EFFECT_STEP;
        }
        places.effects += n;
      }
    }
    return { owner, axes, values };
  });
  normaliseFamilies(found, tables, order, nStates, target);
  return found;
}

// Cumulative sums along every axis, in place.
function sumAlongAxes(values, shape) {
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const block = stride * shape[axis];
    for (let start = 0; start < values.length; start += block) {
      for (let i = start + stride; i < start + block; i++) {
        values[i] += values[i - stride];
      }
    }
    stride = block;
  }
}
