// A log-linear network: the scores are a sum of small log tables.
// The interface is that of cpt_model.js.

import { missingVariances, shrinkScores } from "./missing_variance.js";

export class FactorModel {
  constructor({
    nStates,
    nValues = nStates,
    target,
    logPrior,
    factors,
    varianceScale = 0,
  }) {
    Object.assign(this, { nStates, nValues, target, factors, varianceScale });
    this.prior = Float64Array.from(logPrior);
    this.nClasses = nStates[target];
    this.hasDistribution = false; // of the features
    this.refused = null;
    this.canMarginalise = true;
    this.byFeature = nStates.map(() => []);
    this.frequencies = [];
    for (const factor of factors) {
      factor.shape = factor.bins.map((bins) => bins[bins.length - 1] + 1);
      factor.strides = factor.shape.map((_, i) =>
        factor.shape.slice(i + 1).reduce((n, size) => n * size, 1),
      );
      for (const j of factor.features) this.byFeature[j].push(factor);
    }
    this.nColumns = this.nClasses === 2 ? 1 : this.nClasses;
    this.changed();
  }

  // After an edit of weights.
  changed() {
    if (this.varianceScale === 0) return;
    for (const factor of this.factors) {
      factor.variances = missingVariances(factor, this.nClasses);
    }
  }

  // What a feature that is not observed means: its factors have a bin for it, the last,
  // with weights of its own, and the scores are shrunk by `shrink`.
  binOf(bins, code) {
    return bins[Math.min(code, bins.length - 1)];
  }

  cellOf(factor, codes) {
    let cell = 0;
    for (let i = 0; i < factor.features.length; i++) {
      cell += this.binOf(factor.bins[i], codes[factor.features[i]]) * factor.strides[i];
    }
    return cell;
  }

  addFactor(factor, codes, out) {
    const K = this.nClasses;
    const cell = this.cellOf(factor, codes);
    for (let c = 0; c < K; c++) out[c] += factor.weights[cell * K + c];
  }

  // Whether a feature has a value; the state for missing values is none.
  isKnown(codes, v) {
    return codes[v] < this.nValues[v];
  }

  logScores(codes) {
    const out = Float64Array.from(this.prior);
    for (const factor of this.factors) this.addFactor(factor, codes, out);
    if (this.varianceScale > 0) {
      shrinkScores(out, 0, this.prior, this.sumVariances(codes), 0, this.varianceScale);
    }
    return out;
  }

  // Variance of the weights of all features that are not observed, by column.
  sumVariances(codes) {
    const out = new Float64Array(this.nColumns);
    for (const factor of this.factors) {
      const at = this.cellOf(factor, codes) * this.nColumns;
      for (let c = 0; c < out.length; c++) out[c] += factor.variances[at + c];
    }
    return out;
  }

  // Whether the scores are a sum of entries, without marginalisation.
  isSum() {
    return true;
  }

  isImpossible() {
    return false;
  }

  leaveOneOut(codes) {
    const K = this.nClasses;
    const total = Float64Array.from(this.prior);
    for (const factor of this.factors) this.addFactor(factor, codes, total);
    const shrinks = this.varianceScale > 0;
    const variance = shrinks ? this.sumVariances(codes) : null;
    return this.nStates.map((n, j) => {
      const out = new Float64Array(n * K);
      if (j === this.target) return out;
      const base = Float64Array.from(total);
      for (const factor of this.byFeature[j]) {
        const { weights, bins, strides } = factor;
        const axis = factor.features.indexOf(j);
        const own = bins[axis];
        const step = strides[axis] * K;
        const cell = this.cellOf(factor, codes) * K;
        const first = cell - this.binOf(own, codes[j]) * step;
        for (let c = 0; c < K; c++) base[c] -= weights[cell + c];
        for (let v = 0, at = 0; v < n; v++) {
          for (let c = 0, k = first + own[v] * step; c < K; c++)
            out[at++] += weights[k + c];
        }
      }
      for (let v = 0, at = 0; v < n; v++) {
        for (let c = 0; c < K; c++) out[at++] += base[c];
      }
      if (shrinks) this.shrinkStates(j, codes, variance, out);
      return out;
    });
  }

  // Shrink the scores of all states of one feature.
  shrinkStates(j, codes, variance, out) {
    const C = this.nColumns;
    const n = this.nStates[j];
    const sums = new Float64Array(n * C);
    for (let k = 0; k < sums.length; k++) sums[k] = variance[k % C];
    for (const { features, bins, strides, variances } of this.byFeature[j]) {
      const axis = features.indexOf(j);
      let cell = 0;
      features.forEach((i, a) => (cell += this.binOf(bins[a], codes[i]) * strides[a]));
      const first = cell - this.binOf(bins[axis], codes[j]) * strides[axis];
      for (let v = 0, at = 0; v < n; v++) {
        const k = (first + bins[axis][v] * strides[axis]) * C;
        for (let c = 0; c < C; c++)
          sums[at++] += variances[k + c] - variances[cell * C + c];
      }
    }
    for (let v = 0; v < n; v++) {
      shrinkScores(out, v * this.nClasses, this.prior, sums, v * C, this.varianceScale);
    }
  }

  terms(codes, a, b) {
    const K = this.nClasses;
    const found = [{ features: [], value: this.prior[a] - this.prior[b] }];
    const shrinks = this.varianceScale > 0;
    const sums = shrinks ? this.sumVariances(codes) : new Float64Array(this.nColumns);
    const divisor = (c) => Math.sqrt(1 + this.varianceScale * sums[K === 2 ? 0 : c]);
    const [ofA, ofB] = [divisor(a), divisor(b)];
    for (const factor of this.factors) {
      const at = this.cellOf(factor, codes) * K;
      let mean = 0;
      for (let c = 0; c < K; c++) mean += factor.weights[at + c] / K;
      const value =
        (factor.weights[at + a] - mean) / ofA - (factor.weights[at + b] - mean) / ofB;
      if (value !== 0) found.push({ features: factor.features, value });
    }
    return found;
  }

  // The factors, divided where the model shrinks the scores of a sample that lacks some
  // features; null if the divisors depend on observed features. See change_search.js.
  additiveTerms(codes) {
    const sums =
      this.varianceScale > 0 ? this.sumVariances(codes) : new Float64Array(1);
    const shrinks = sums.some((variance) => variance > 0);
    const isMissing = (j) => codes[j] >= this.nStates[j];
    const isMixed = ({ features }) =>
      features.some(isMissing) && !features.every(isMissing);
    if (shrinks && this.factors.some(isMixed)) return null;
    return this.factors.map(({ features, bins, strides, weights }) => ({
      features,
      lookup: features.map((j, axis) =>
        Int32Array.from(
          { length: this.nStates[j] + 1 },
          (_, code) => this.binOf(bins[axis], code) * strides[axis],
        ),
      ),
      weights: shrinks ? this.divideWeights(weights, sums) : weights,
    }));
  }

  // Log weights less their mean over the classes, divided by class.
  divideWeights(weights, sums) {
    const K = this.nClasses;
    const out = new Float64Array(weights.length);
    for (let at = 0; at < out.length; at += K) {
      let mean = 0;
      for (let c = 0; c < K; c++) mean += weights[at + c] / K;
      for (let c = 0; c < K; c++) {
        const variance = sums[K === 2 ? 0 : c];
        out[at + c] =
          (weights[at + c] - mean) / Math.sqrt(1 + this.varianceScale * variance);
      }
    }
    return out;
  }

  // Frequencies in training data: the factors have no distribution of the features.
  stateWeights(j) {
    return (this.frequencies[j] ??= this.measureFrequencies(j));
  }

  // Fractions of the training samples in the states of values, from the factor that
  // knows the most bins of the feature; the states of a bin divide its support equally.
  measureFrequencies(j) {
    const n = this.nValues[j];
    let found = new Float64Array(n).fill(1 / n);
    let nBins = 0;
    for (const factor of this.byFeature[j]) {
      const axis = factor.features.indexOf(j);
      const size = factor.shape[axis];
      if (size <= nBins) continue;
      const bins = factor.bins[axis].slice(0, n);
      const totals = new Float64Array(size);
      const members = new Float64Array(size);
      factor.support.forEach((weight, cell) => {
        totals[Math.floor(cell / factor.strides[axis]) % size] += weight;
      });
      for (const bin of bins) members[bin]++;
      const own = Float64Array.from(bins, (bin) => totals[bin] / members[bin]);
      const sum = own.reduce((total, weight) => total + weight, 0);
      if (sum > 0) [found, nBins] = [own.map((weight) => weight / sum), size];
    }
    return found;
  }
}
