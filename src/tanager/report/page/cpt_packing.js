// CPTs from their values, from levels, or from effects: mixed differences of the first
// class and of contrasts of the other classes with it. Of "contrasts" the values of the
// first class are zeros. The Python side is cpt_packing.py.

const EFFECT_STEP = 2 ** -40;

export function readTables({ tables, target }, arrays, nStates) {
  const nClasses = nStates[target];
  const places = { values: 0, levels: 0, effects: 0 };
  return tables.map(({ owner, axes, coding, normalised }) => {
    const shape = axes.filter((v) => v !== target).map((v) => nStates[v]);
    const n = shape.reduce((product, size) => product * size, 1);
    const K = axes.includes(target) ? nClasses : 1;
    const values = new Float64Array(n * K); // the class is the last axis
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
    if (normalised) normaliseRows(values, axes, owner, nStates);
    return { owner, axes, values };
  });
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

// Subtracts the log of the sum over the states of the owner, in place.
function normaliseRows(values, axes, owner, nStates) {
  const n = nStates[owner];
  const after = axes.slice(axes.indexOf(owner) + 1);
  const stride = after.reduce((product, v) => product * nStates[v], 1);
  for (let start = 0; start < values.length; start += n * stride) {
    for (let first = start; first < start + stride; first++) {
      const end = first + n * stride;
      let largest = -Infinity;
      for (let i = first; i < end; i += stride) {
        if (values[i] > largest) largest = values[i];
      }
      let sum = 0;
      for (let i = first; i < end; i += stride) sum += Math.exp(values[i] - largest);
      const logSum = largest + Math.log(sum);
      for (let i = first; i < end; i += stride) values[i] -= logSum;
    }
  }
}
