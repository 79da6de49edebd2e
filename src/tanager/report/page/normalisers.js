// Normalisers of families: what the log tables of a feature lack to be a CPT. The
// Python side is family_normalisers.py.

import { placesOf } from "./table_places.js";

const TINY = 1e-200; // products below this one are summed again in log space

// Fills the tables that are normalisers, adds what they subtract to the tables of
// parents, and normalises the rows of tables that are CPTs: children before parents.
export function normaliseFamilies(tables, entries, order, nStates, target) {
  const byOwner = nStates.map(() => []);
  tables.forEach((table, t) => byOwner[table.owner].push(t));
  for (const owner of [...order].reverse()) {
    const own = byOwner[owner];
    for (const t of own) {
      if (entries[t].normalised) {
        normaliseRows(tables[t].values, tables[t].axes, owner, nStates);
      }
      if (entries[t].coding !== "normaliser") continue;
      const others = own.filter((u) => u !== t).map((u) => tables[u]);
      const { axes, values } = tables[t];
      values.set(logSums(others, owner, axes, nStates, target));
      if (entries[t].up !== null) {
        const above = tables[entries[t].up];
        const places = placesOf(axes, above.axes, nStates);
        for (let k = 0; k < places.length; k++) above.values[k] += values[places[k]];
      }
      for (let k = 0; k < values.length; k++) values[k] = -values[k];
    }
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

// Log of the sum over the states of the owner of the exp of the sum of tables, for every
// cell over `axes`. Tables are matrices over (a part of `axes`, owner): their product
// for every class needs no more exponentials than they have cells. It is used where the
// parts have only the class in common.
function logSums(tables, owner, axes, nStates, target) {
  const n = nStates[owner];
  const groups = twoGroups(tables, owner, target).map((members) => {
    const scope = axes.filter((v) => members.some((table) => table.axes.includes(v)));
    const rows = sumTables(members, [...scope, owner], nStates);
    const highest = new Float64Array(rows.length / n);
    const weights = new Float64Array(rows.length);
    for (let row = 0, at = 0; row < highest.length; row++, at += n) {
      let most = -Infinity;
      for (let x = 0; x < n; x++) if (rows[at + x] > most) most = rows[at + x];
      highest[row] = most === -Infinity ? 0 : most;
      for (let x = 0; x < n; x++) weights[at + x] = Math.exp(rows[at + x] - highest[row]);
    }
    return { rows, highest, weights, places: placesOf(scope, axes, nStates) };
  });
  const [a, b = null] = groups;
  const out = new Float64Array(a.places.length);
  for (let k = 0; k < out.length; k++) {
    const first = a.places[k];
    const second = b === null ? 0 : b.places[k];
    const mass =
      b === null
        ? sumRow(a.weights, first * n, n)
        : multiplyRows(a.weights, first * n, b.weights, second * n, n);
    if (b === null || mass > TINY) {
      out[k] = a.highest[first] + (b === null ? 0 : b.highest[second]) + Math.log(mass);
    } else {
      out[k] = logSumOfPair(a.rows, first * n, b.rows, second * n, n);
    }
  }
  return out;
}

function sumRow(a, i, n) {
  let sum = 0;
  for (let x = 0; x < n; x++) sum += a[i + x];
  return sum;
}

function multiplyRows(a, i, b, j, n) {
  let sum = 0;
  for (let x = 0; x < n; x++) sum += a[i + x] * b[j + x];
  return sum;
}

function logSumOfPair(a, i, b, j, n) {
  let highest = -Infinity;
  for (let x = 0; x < n; x++) highest = Math.max(highest, a[i + x] + b[j + x]);
  let sum = 0;
  for (let x = 0; x < n; x++) sum += Math.exp(a[i + x] + b[j + x] - highest);
  return highest + Math.log(sum);
}

// The widest table and the others, or all together where these have more variables in
// common than the owner and the class.
function twoGroups(tables, owner, target) {
  const [first, ...rest] = [...tables].sort((a, b) => b.values.length - a.values.length);
  const isShared = (v) => v !== owner && v !== target && first.axes.includes(v);
  if (!rest.length || rest.some(({ axes }) => axes.some(isShared))) return [tables];
  return [[first], rest];
}

// The sum of tables over `axes`.
function sumTables(tables, axes, nStates) {
  const size = axes.reduce((product, v) => product * nStates[v], 1);
  const out = new Float64Array(size);
  for (const table of tables) {
    const places = placesOf(table.axes, axes, nStates);
    for (let k = 0; k < size; k++) out[k] += table.values[places[k]];
  }
  return out;
}
