// The model as the JSON document that tanager.load reads.

import { placesOf } from "./table_places.js";

const NETWORK_VERSION = 1;
const SUMS_VERSION = 3;
const MISSING_VERSION = 5;
const FACTORS_VERSION = 7;
const FACTOR_VARIANCES_VERSION = 9;
const UNITS_VERSION = 10;

export function modelDocument(header, model) {
  const hasMissing = header.variables.some((variable) => variable.missing_state);
  const names = header.variables.map((variable) => variable.name);
  let version = FACTORS_VERSION;
  let content;
  if (header.kind === "factors") {
    content = {
      log_prior: Array.from(model.prior),
      factors: model.factors.map((factor) => factorEntry(factor, names)),
    };
    if (model.varianceScale > 0) {
      version = FACTOR_VARIANCES_VERSION;
      content.variance_scale = model.varianceScale;
    }
  } else {
    const tables = Object.fromEntries(
      names.map((name, owner) => [name, tableEntry(model, owner, names)]),
    );
    const hasSums = Object.values(tables).some((entry) => "log_tables" in entry);
    version = hasMissing ? MISSING_VERSION : hasSums ? SUMS_VERSION : NETWORK_VERSION;
    content = { tables };
  }
  if (header.variables.some((variable) => variable.unit)) version = UNITS_VERSION;
  return {
    format: "tanager-model",
    schema_version: version,
    written_by: header.written_by,
    target: names[header.target],
    variables: header.variables.map((variable) => {
      const { name, states, ordered, cuts, missing_state } = variable;
      const fields = { name, states, ordered, cuts };
      if (version >= MISSING_VERSION) fields.missing_state = missing_state;
      if (version >= UNITS_VERSION) fields.unit = variable.unit ?? null;
      return fields;
    }),
    ...content,
    classifier: header.classifier ?? null,
  };
}

// Without standard errors: those of the fit do not hold for an edited table.
function factorEntry(factor, names) {
  return {
    features: factor.features.map((j) => names[j]),
    bins: factor.bins,
    ordered: factor.ordered,
    strength: factor.strength,
    weights: Array.from(factor.weights),
    support: Array.from(factor.support),
  };
}

function tableEntry(model, owner, names) {
  const parents = model.parents[owner];
  const family = [...parents, owner];
  const own = model.tables.filter((table) => table.owner === owner);
  const entry = { parents: parents.map((p) => names[p]) };
  if (own.length === 1 && own[0].axes.length === family.length) {
    entry.log_probabilities = rowsOf(model, own[0], family);
    return entry;
  }
  entry.log_tables = own.map((table) => {
    const axes = family.filter((v) => table.axes.includes(v));
    return { variables: axes.map((v) => names[v]), values: rowsOf(model, table, axes) };
  });
  return entry;
}

// Rows over the last of `axes`, the last but one fastest; log 0 is null.
export function rowsOf(model, table, axes) {
  const places = placesOf(table.axes, axes, model.nStates);
  const n = model.nStates[axes[axes.length - 1]];
  const rows = [];
  for (let start = 0; start < places.length; start += n) {
    const row = Array.from(places.subarray(start, start + n), (k) => table.values[k]);
    rows.push(row.map((value) => (value === -Infinity ? null : value)));
  }
  return rows;
}
