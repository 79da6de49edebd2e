// The model of a page, from its header and arrays. The Python side is model_data.py.

import { readTables } from "./cpt_packing.js";
import { CptModel } from "./cpt_model.js";
import { FactorModel } from "./factor_model.js";
import { countValues, readVariables } from "./variables.js";

// Puts the variables with all their states into the header.
export function readModel({ header, arrays }) {
  header.variables = readVariables(header, arrays);
  if (header.kind === "none") return null;
  const nStates = header.variables.map((variable) => variable.states.length);
  const nValues = header.variables.map(countValues);
  const common = { nStates, nValues, target: header.target };
  if (header.kind === "factors") {
    return new FactorModel({
      ...common,
      logPrior: header.log_prior,
      varianceScale: header.variance_scale,
      factors: readFactors(header, arrays, nStates[header.target]),
    });
  }
  const tables = readTables(header, arrays, nStates);
  return new CptModel({
    ...common,
    parents: header.parents,
    order: header.order,
    refused: header.complete_only ?? null,
    tables,
  });
}

function readBins({ identity, runs, bins }) {
  if (identity !== undefined) return Array.from({ length: identity }, (_, i) => i);
  return bins ?? runs.flatMap((length, i) => new Array(length).fill(i));
}

function readFactors(header, arrays, nClasses) {
  let [place, errorPlace] = [0, 0];
  const axes = header.axes.map(readBins);
  return header.factors.map((packed) => {
    const entry = { ...packed, bins: packed.bins.map((i) => axes[i]) };
    const nCells = entry.bins.reduce((n, bins) => n * (bins[bins.length - 1] + 1), 1);
    const support = arrays.support.slice(place, place + nCells);
    const weights = byCell(arrays.weights, place, nCells, nClasses, header.centred);
    place += nCells;
    let errors = null; // those of two classes are equal
    if (arrays.errors && entry.bins.length === 1) {
      errors = Float64Array.from(
        { length: 2 * nCells },
        (_, k) => arrays.errors[errorPlace + (k >> 1)],
      );
      errorPlace += nCells;
    }
    return { ...entry, weights, support, errors };
  });
}

// From classes of cells to cells of classes. Of centred weights those of the first class
// are not stored: the sum over the classes is zero.
function byCell(values, place, nCells, nClasses, isCentred) {
  const out = new Float64Array(nCells * nClasses);
  const first = isCentred ? 1 : 0;
  const start = place * (nClasses - first);
  for (let cell = 0; cell < nCells; cell++) {
    for (let c = first; c < nClasses; c++) {
      const value = values[start + (c - first) * nCells + cell];
      out[cell * nClasses + c] = value;
      if (isCentred) out[cell * nClasses] -= value;
    }
  }
  return out;
}
