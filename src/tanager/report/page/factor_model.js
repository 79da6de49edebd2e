// A log-linear network: the scores are a sum of small log tables.
// The interface is that of cpt_model.js.

export class FactorModel {
  constructor({ nStates, target, logPrior, factors }) {
    Object.assign(this, { nStates, target, factors });
    this.prior = Float64Array.from(logPrior);
    this.nClasses = nStates[target];
    this.refused = null;
    this.canMarginalise = true;
    this.byFeature = nStates.map(() => []);
    for (const factor of factors) {
      factor.shape = factor.bins.map((bins) => bins[bins.length - 1] + 1);
      factor.strides = factor.shape.map((_, i) =>
        factor.shape.slice(i + 1).reduce((n, size) => n * size, 1),
      );
      for (const j of factor.features) this.byFeature[j].push(factor);
    }
  }

  // The one place that says what a feature that is not observed means: its factors
  // have a bin for it, the last, whose weights are zero unless training data had it.
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

  addFactor(factor, codes, out, at = 0) {
    const K = this.nClasses;
    const cell = this.cellOf(factor, codes);
    for (let c = 0; c < K; c++) out[at + c] += factor.weights[cell * K + c];
  }

  isObserved(codes, v) {
    return codes[v] < this.nStates[v];
  }

  logScores(codes) {
    const out = Float64Array.from(this.prior);
    for (const factor of this.factors) this.addFactor(factor, codes, out);
    return out;
  }

  isImpossible() {
    return false;
  }

  leaveOneOut(codes) {
    const K = this.nClasses;
    const total = this.logScores(codes);
    const changed = Array.from(codes);
    return this.nStates.map((n, j) => {
      if (j === this.target) return new Float64Array(n * K);
      const base = Float64Array.from(total);
      const own = new Float64Array(K);
      for (const factor of this.byFeature[j]) this.addFactor(factor, codes, own);
      const out = new Float64Array(n * K);
      for (let v = 0; v < n; v++) {
        changed[j] = v;
        for (let c = 0; c < K; c++) out[v * K + c] = base[c] - own[c];
        for (const factor of this.byFeature[j]) {
          this.addFactor(factor, changed, out, v * K);
        }
      }
      changed[j] = codes[j];
      return out;
    });
  }

  terms(codes, a, b) {
    const K = this.nClasses;
    const found = [{ features: [], value: this.prior[a] - this.prior[b] }];
    for (const factor of this.factors) {
      const at = this.cellOf(factor, codes) * K;
      const value = factor.weights[at + a] - factor.weights[at + b];
      if (value !== 0) found.push({ features: factor.features, value });
    }
    return found;
  }

  // Frequencies in training data: the factors have no distribution of the features.
  stateWeights(j) {
    const n = this.nStates[j];
    const out = new Float64Array(n);
    const factor = this.byFeature[j][0];
    if (factor === undefined) return out.fill(1 / n);
    const axis = factor.features.indexOf(j);
    const bins = factor.bins[axis];
    const totals = new Float64Array(factor.shape[axis]);
    const members = new Float64Array(factor.shape[axis]);
    factor.support.forEach((weight, cell) => {
      totals[Math.floor(cell / factor.strides[axis]) % factor.shape[axis]] += weight;
    });
    for (let v = 0; v < n; v++) members[bins[v]]++;
    let sum = 0;
    for (let v = 0; v < n; v++) sum += out[v] = totals[bins[v]] / members[bins[v]];
    return sum > 0 ? out.map((weight) => weight / sum) : out.fill(1 / n);
  }
}
