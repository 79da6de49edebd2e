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
  let place = 0;
  const axes = header.axes.map(readBins);
  return header.factors.map((packed) => {
    const entry = { ...packed, bins: packed.bins.map((i) => axes[i]) };
    const nCells = entry.bins.reduce((n, bins) => n * (bins[bins.length - 1] + 1), 1);
    const support = arrays.support.slice(place, place + nCells);
    const weights = byCell(arrays.weights, place, nCells, nClasses, -1);
    const errors = arrays.errors && byCell(arrays.errors, place, nCells, nClasses, 1);
    place += nCells;
    return { ...entry, weights, support, errors: errors ?? null };
  });
}

// From classes of cells to cells of classes; of two classes only the second is stored.
function byCell(values, place, nCells, nClasses, sign) {
  const out = new Float64Array(nCells * nClasses);
  const nStored = nClasses === 2 ? 1 : nClasses;
  const start = place * nStored;
  for (let cell = 0; cell < nCells; cell++) {
    for (let c = 0; c < nStored; c++) {
      const value = values[start + c * nCells + cell];
      if (nClasses === 2) {
        out[2 * cell] = sign * value;
        out[2 * cell + 1] = value;
      } else {
        out[cell * nClasses + c] = value;
      }
    }
  }
  return out;
}
