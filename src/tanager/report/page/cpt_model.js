// A Bayesian network classifier: exact posteriors for any evidence.
//
// Models share an interface. `codes` has one entry per variable; a code of at least
// nStates[v] means that v is not observed. States from nValues[v] on stand for missing
// values: they are evidence, but the value of the feature is not known.
//   logScores(codes)     log P(class, evidence) up to a constant, for every class
//   leaveOneOut(codes)   for every feature i an array [v * nClasses + c]: the scores
//                        if feature i had the state v
//   terms(codes, a, b)   the log odds of class a against b as a sum of terms
//   stateWeights(j, codes, loo)  probability of every value of a feature not known
//   additiveTerms(codes) tables whose sum gives the scores of all samples with the same
//                        observed features, or null (see change_search.js)

import { Elimination } from "./elimination.js";
import { findForest, forestTerms } from "./forest_terms.js";
import { logSumExp } from "./numerics.js";

export class CptModel {
  // `refused` is why incomplete evidence has no answer, if that is known already.
  constructor({
    nStates,
    nValues = nStates,
    target,
    parents,
    order,
    tables,
    refused = null,
  }) {
    Object.assign(this, { nStates, nValues, target, parents, order, tables, refused });
    this.nClasses = nStates[target];
    for (const table of tables) table.strides = this.strides(table.axes);
    this.aboveClass = this.ancestors(target);
    this.hasDistribution = true; // of the features
    this.forest = findForest(this);
    this.elimination = null;
    if (refused !== null) return;
    try {
      this.elimination = new Elimination(nStates, target, tables);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.refused = error.message;
    }
  }

  // After an edit of tables.
  changed() {
    this.elimination?.reset();
    this.forest = findForest(this);
  }

  get canMarginalise() {
    return this.refused === null;
  }

  // Whether contributions and flips of complete evidence can be computed in any case.
  get isClassRoot() {
    return this.parents[this.target].length === 0;
  }

  // Distance of neighbours along every axis; the last axis is the fastest.
  strides(axes) {
    const after = (i) => axes.slice(i + 1).reduce((n, v) => n * this.nStates[v], 1);
    return axes.map((_, i) => after(i));
  }

  ancestors(variable) {
    const found = new Set();
    const open = [...this.parents[variable]];
    while (open.length) {
      const next = open.pop();
      if (found.has(next)) continue;
      found.add(next);
      open.push(...this.parents[next]);
    }
    return found;
  }

  isObserved(codes, v) {
    return codes[v] < this.nStates[v];
  }

  // Whether a feature has a value; the state for missing values is none.
  isKnown(codes, v) {
    return codes[v] < this.nValues[v];
  }

  isComplete(codes) {
    return codes.every((code, v) => v === this.target || code < this.nStates[v]);
  }

  // Whether the scores are a sum of entries, without marginalisation.
  isSum(codes) {
    return this.isComplete(codes);
  }

  // The entries of one table that agree with the codes, for every class.
  addTable(table, codes, out) {
    let place = 0;
    let step = 0;
    table.axes.forEach((v, i) => {
      if (v === this.target) step = table.strides[i];
      else place += codes[v] * table.strides[i];
    });
    for (let c = 0; c < this.nClasses; c++) out[c] += table.values[place + c * step];
  }

  rawScores(codes) {
    if (!this.isComplete(codes)) return this.elimination.forward(codes);
    const out = new Float64Array(this.nClasses);
    for (const table of this.tables) this.addTable(table, codes, out);
    return out;
  }

  logScores(codes) {
    const out = this.rawScores(codes);
    return out.every((value) => value === -Infinity) ? this.logPrior() : out;
  }

  // Whether the evidence has probability zero; then the prior is the answer.
  isImpossible(codes) {
    return this.rawScores(codes).every((value) => value === -Infinity);
  }

  logPrior() {
    if (!this.isClassRoot) return this.elimination.forward(this.nStates);
    const out = new Float64Array(this.nClasses);
    for (const table of this.tables)
      if (table.owner === this.target) this.addTable(table, this.nStates, out);
    return out;
  }

  // Of complete evidence: sums of entries.
  changeOne(codes) {
    const K = this.nClasses;
    const entry = ({ axes, strides, values }, i, v, c) => {
      let place = 0;
      for (let a = 0; a < axes.length; a++) {
        const code = axes[a] === this.target ? c : axes[a] === i ? v : codes[axes[a]];
        place += code * strides[a];
      }
      return values[place];
    };
    const sums = new Float64Array(K);
    const nZeros = new Int32Array(K);
    const found = this.nStates.map((n) => new Float64Array(n * K));
    const count = (table, c, sign) => {
      const value = entry(table, -1, 0, c);
      if (value === -Infinity) nZeros[c] += sign;
      else sums[c] += sign * value;
    };
    for (const table of this.tables) for (let c = 0; c < K; c++) count(table, c, 1);
    for (let i = 0; i < found.length; i++) {
      if (i === this.target) continue;
      const own = this.tables.filter(({ axes }) => axes.includes(i));
      for (let c = 0; c < K; c++) {
        for (const table of own) count(table, c, -1);
        for (let v = 0; v < this.nStates[i]; v++) {
          let total = nZeros[c] ? -Infinity : sums[c];
          for (const table of own) total += entry(table, i, v, c);
          found[i][v * K + c] = total;
        }
        for (const table of own) count(table, c, 1);
      }
    }
    return found;
  }

  leaveOneOut(codes) {
    if (this.elimination === null) return this.changeOne(codes);
    this.elimination.forward(codes);
    return this.elimination.backward(codes);
  }

  // The prior and one term for every observed feature, parents before their children:
  // log P(x_i | x_1 ... x_{i-1}, a) - log P(x_i | x_1 ... x_{i-1}, b). With all parents
  // observed this is a difference of two entries of the CPT.
  terms(codes, a, b) {
    const known = Array.from(this.nStates);
    const prior = this.logPrior();
    let odds = prior[a] - prior[b];
    const found = [{ features: [], value: odds }];
    const inForest = this.forest && forestTerms(this.forest, this, codes);
    for (const v of this.order) {
      if (v === this.target || !this.isObserved(codes, v)) continue;
      known[v] = codes[v];
      let value;
      if (this.isFamilyKnown(v, known)) {
        const own = new Float64Array(this.nClasses);
        for (const table of this.tables) {
          if (table.owner === v) this.addTable(table, known, own);
        }
        value = own[a] - own[b];
        odds += value;
      } else if (inForest) {
        const own = inForest.get(v);
        value = own[a] - own[b];
      } else {
        const scores = this.elimination.forward(known);
        value = scores[a] - scores[b] - odds;
        odds = scores[a] - scores[b];
      }
      found.push({ features: [v], value });
    }
    return found;
  }

  // Tables whose sum gives the scores of all samples with these observed features, up
  // to a constant; null where an observed feature depends on one that is not, or a
  // probability is zero. See change_search.js.
  additiveTerms(codes) {
    const found = [];
    for (const { owner, axes, strides, values } of this.tables) {
      if (owner !== this.target && !this.isObserved(codes, owner)) continue;
      const parents = this.parents[owner].filter((p) => p !== this.target);
      if (!parents.every((p) => this.isObserved(codes, p))) return null;
      if (values.includes(-Infinity)) return null;
      const place = axes.indexOf(this.target);
      if (place < 0) continue;
      if (strides[place] !== 1) throw new Error("the class must be the last axis");
      const features = axes.filter((v) => v !== this.target);
      const lookup = features.map((v, axis) =>
        Int32Array.from({ length: this.nStates[v] }, (_, code) =>
          Math.round((code * strides[axis]) / this.nClasses),
        ),
      );
      found.push({ features, lookup, weights: values });
    }
    return found;
  }

  isFamilyKnown(v, known) {
    if (this.aboveClass.has(v)) return false;
    return this.parents[v].every((p) => p === this.target || this.isObserved(known, p));
  }

  stateWeights(j, codes, loo, n = this.nValues[j]) {
    const K = this.nClasses;
    const logs = new Float64Array(n);
    for (let v = 0; v < n; v++) logs[v] = logSumExp(loo[j], v * K, v * K + K);
    const total = logSumExp(logs);
    return logs.map((value) => Math.exp(value - total));
  }
}
