// Variable elimination with a fixed order, forward and backward, in log space.
//
// P(class, evidence) is a multilinear function of indicators l[i][v], one for every
// feature i and state v: 1 for states that agree with the evidence, 0 for others. The
// forward pass computes its logarithm for every class; the backward pass its
// derivatives by all indicators at once, which are P(class, x_i = v, evidence on the
// other features). Both are exact (Darwiche 2003, A differential approach to inference
// in Bayesian networks).

import { placesOf } from "./table_places.js";

export const MAX_CELLS = 3e6;

// Order of elimination that adds few edges (min-fill); ties go to the lowest index.
export function minFillOrder(nVariables, scopes, keep) {
  const near = Array.from({ length: nVariables }, () => new Set());
  for (const scope of scopes) {
    for (const a of scope) for (const b of scope) if (a !== b) near[a].add(b);
  }
  const remaining = new Set();
  for (let v = 0; v < nVariables; v++) if (v !== keep) remaining.add(v);
  for (const set of near) set.delete(keep);
  const fills = new Map();
  const fill = (v) => {
    const own = [...near[v]];
    let missing = 0;
    for (let i = 0; i < own.length; i++) {
      for (let j = i + 1; j < own.length; j++) {
        if (!near[own[i]].has(own[j])) missing++;
      }
    }
    return missing;
  };
  for (const v of remaining) fills.set(v, fill(v));
  const order = [];
  while (remaining.size) {
    let best = -1;
    for (const v of remaining) {
      if (best < 0 || fills.get(v) < fills.get(best)) best = v;
      if (fills.get(best) === 0) break;
    }
    order.push(best);
    remaining.delete(best);
    const own = [...near[best]];
    const changed = new Set(own);
    for (const a of own) {
      near[a].delete(best);
      for (const b of own) if (a !== b) near[a].add(b);
      for (const b of near[a]) changed.add(b);
    }
    for (const v of changed) if (remaining.has(v)) fills.set(v, fill(v));
  }
  return order;
}

// The buckets of an elimination. Tables are {axes, values}: axes are variables in
// memory order, the last fastest. Throws RangeError if there are too many cells.
export class Elimination {
  constructor(nStates, target, tables, maxCells = MAX_CELLS) {
    this.nStates = nStates;
    this.target = target;
    this.nClasses = nStates[target];
    this.order = minFillOrder(
      nStates.length,
      tables.map((table) => table.axes),
      target,
    );
    const rank = new Map(this.order.map((v, i) => [v, i]));
    const members = this.order.map(() => []);
    // Put a factor into a bucket; returns its number, or -1 if it has no feature.
    const place = (factor) => {
      const ranks = factor.axes.filter((v) => v !== target).map((v) => rank.get(v));
      const bucket = ranks.length ? Math.min(...ranks) : -1;
      (bucket < 0 ? this.last : members[bucket]).push(factor);
      return bucket;
    };
    this.last = []; // factors of the class alone, or of nothing
    this.nCells = 0;
    this.known = null; // the codes of the last forward pass
    tables.forEach(({ axes, values }) => place({ axes, values, isTable: true }));
    this.buckets = this.order.map((variable, i) => {
      const own = members[i];
      const scope = new Set(own.flatMap((factor) => factor.axes));
      scope.delete(variable);
      // Outer variables first, then the class, the eliminated variable fastest.
      const rest = [...scope].filter((v) => v !== target).sort((a, b) => a - b);
      if (scope.has(target)) rest.push(target);
      const axes = [...rest, variable];
      const size = axes.reduce((product, v) => product * nStates[v], 1);
      this.nCells += size;
      if (this.nCells > maxCells) {
        throw new RangeError(
          `Exact inference needs more than ${maxCells.toLocaleString("en")} cells.`,
        );
      }
      const message = { axes: rest, values: null };
      return { variable, own, axes, size, message, next: place(message) };
    });
    // Memory only once it is known to suffice.
    for (const bucket of this.buckets) {
      const { variable, own, axes, size, message } = bucket;
      bucket.places = own.map((factor) => placesOf(factor.axes, axes, nStates));
      message.values = new Float64Array(size / nStates[variable]);
      bucket.total = new Float64Array(size);
      bucket.nZeros = new Int32Array(size);
    }
    this.lastPlaces = this.last.map((f) => placesOf(f.axes, [target], nStates));
  }

  // After a change of tables.
  reset() {
    this.known = null;
  }

  // Log P(class, evidence) for every class. codes[v] >= nStates[v]: not observed. Only
  // buckets whose evidence, or that of an earlier one, has changed are computed again.
  forward(codes) {
    const isStale = new Uint8Array(this.buckets.length);
    this.buckets.forEach((bucket, b) => {
      const { variable, next } = bucket;
      const code = Math.min(codes[variable], this.nStates[variable]);
      if (this.known && this.known[b] === code && !isStale[b]) return;
      this.collect(bucket, codes);
      if (next >= 0) isStale[next] = 1;
    });
    this.known = this.buckets.map(({ variable }) =>
      Math.min(codes[variable], this.nStates[variable]),
    );
    const out = new Float64Array(this.nClasses);
    this.last.forEach((factor, f) => {
      for (let c = 0; c < out.length; c++)
        out[c] += factor.values[this.lastPlaces[f][c]];
    });
    return out;
  }

  collect({ variable, own, places, size, message, total, nZeros }, codes) {
    total.fill(0);
    nZeros.fill(0);
    for (let f = 0; f < own.length; f++) {
      const { values } = own[f];
      const place = places[f];
      for (let cell = 0; cell < size; cell++) {
        const value = values[place[cell]];
        if (value === -Infinity) nZeros[cell]++;
        else total[cell] += value;
      }
    }
    const n = this.nStates[variable];
    const code = codes[variable];
    const out = message.values;
    for (let row = 0, cell = 0; row < out.length; row++, cell += n) {
      if (code < n) {
        out[row] = nZeros[cell + code] ? -Infinity : total[cell + code];
        continue;
      }
      let highest = -Infinity;
      for (let v = 0; v < n; v++) {
        if (!nZeros[cell + v] && total[cell + v] > highest) highest = total[cell + v];
      }
      if (highest === -Infinity) {
        out[row] = -Infinity;
        continue;
      }
      let sum = 0;
      for (let v = 0; v < n; v++) {
        if (!nZeros[cell + v]) sum += Math.exp(total[cell + v] - highest);
      }
      out[row] = highest + Math.log(sum);
    }
  }

  // After `forward`: for every feature i an array [v * nClasses + c] of
  // log P(class c, x_i = v, evidence on the other features).
  backward(codes) {
    const K = this.nClasses;
    const found = this.nStates.map((n) => new Float64Array(n * K).fill(-Infinity));
    for (let c = 0; c < K; c++) this.backwardOfClass(codes, c, found);
    return found;
  }

  backwardOfClass(codes, c, found) {
    const K = this.nClasses;
    // Derivatives of the last factors: the sum of the others.
    this.last.forEach((factor, f) => {
      let sum = 0;
      this.last.forEach((other, g) => {
        if (g !== f) sum += other.values[this.lastPlaces[g][c]];
      });
      factor.derivative = new Float64Array(factor.values.length).fill(-Infinity);
      factor.derivative[this.lastPlaces[f][c]] = sum;
    });
    for (let b = this.buckets.length - 1; b >= 0; b--) {
      const { variable, own, places, size, message, total, nZeros } = this.buckets[b];
      const n = this.nStates[variable];
      const code = codes[variable];
      const given = message.derivative;
      const out = found[variable];
      const sums = new LogSums(n);
      const parts = own.map((factor) =>
        factor.isTable ? null : new LogSums(factor.values.length),
      );
      for (let row = 0, cell = 0; row < given.length; row++, cell += n) {
        if (given[row] === -Infinity) continue;
        for (let v = 0; v < n; v++) {
          const k = cell + v;
          if (!nZeros[k]) sums.add(v, given[row] + total[k]);
          if (code < n && v !== code) continue; // its indicator is 0
          for (let f = 0; f < own.length; f++) {
            if (parts[f] === null) continue;
            const place = places[f][k];
            const value = own[f].values[place];
            const zero = value === -Infinity;
            if (nZeros[k] > (zero ? 1 : 0)) continue;
            parts[f].add(place, given[row] + total[k] - (zero ? 0 : value));
          }
        }
      }
      for (let v = 0; v < n; v++) out[v * K + c] = sums.value(v);
      own.forEach((factor, f) => {
        if (parts[f] !== null) factor.derivative = parts[f].values();
      });
    }
  }
}

// Running sums of exponentials, each relative to its largest term.
class LogSums {
  constructor(size) {
    this.highest = new Float64Array(size).fill(-Infinity);
    this.sums = new Float64Array(size);
  }

  add(place, value) {
    const highest = this.highest[place];
    if (value <= highest) {
      this.sums[place] += Math.exp(value - highest);
    } else if (value !== -Infinity) {
      this.sums[place] = this.sums[place] * Math.exp(highest - value) + 1;
      this.highest[place] = value;
    }
  }

  value(place) {
    return this.highest[place] + Math.log(this.sums[place]);
  }

  values() {
    return this.highest.map((_, place) => this.value(place));
  }
}
