// The log loss of a model on the labelled samples of the page.

import { argmax, softmax } from "./numerics.js";

const LEAST = 2.220446049250313e-16;
const MAX_MILLISECONDS = 400;

export class Samples {
  constructor({ header, arrays }) {
    const nFeatures = header.variables.length - 1;
    const n = header.data.n_shown;
    this.nRandom = header.data.n_random;
    this.rows = Array.from({ length: n }, (_, r) => {
      const codes = Array.from(
        { length: nFeatures },
        (_, j) => arrays.samples[j * n + r],
      );
      // Counted from 1, as on the command line.
      const number = 1 + arrays.sample_rows_low[r] + 65536 * arrays.sample_rows_high[r];
      return { codes, number, label: arrays.sample_labels[r] };
    });
    this.scored = null;
  }

  isLabelled(model, row) {
    return row.label < model.nClasses;
  }

  codesOf(model, row) {
    return [...row.codes, model.nClasses];
  }

  // Posterior of every sample, for the list of samples; null where it is too costly.
  predictions(model) {
    const start = performance.now();
    return this.rows.map((row) => {
      if (performance.now() - start > MAX_MILLISECONDS) return null;
      return this.posterior(model, row);
    });
  }

  posterior(model, row) {
    const codes = this.codesOf(model, row);
    if (!model.canMarginalise && !model.isComplete(codes)) return null;
    return softmax(model.logScores(codes));
  }

  // Mean log loss and accuracy. The random part of the samples counts; those with
  // missing values are left out if they would take too long, the same ones each time.
  score(model) {
    if (this.scored === null) this.scored = this.affordable(model);
    let loss = 0;
    let nRight = 0;
    for (const row of this.scored) {
      const posterior = this.posterior(model, row);
      loss -= Math.log(Math.max(posterior[row.label], LEAST));
      if (argmax(posterior) === row.label) nRight++;
    }
    const n = this.scored.length;
    return { n, logLoss: loss / n, accuracy: nRight / n };
  }

  affordable(model) {
    const start = performance.now();
    return this.rows.slice(0, this.nRandom).filter((row) => {
      if (!this.isLabelled(model, row)) return false;
      if (model.isSum(this.codesOf(model, row))) return true;
      if (performance.now() - start > MAX_MILLISECONDS) return false;
      return this.posterior(model, row) !== null;
    });
  }
}
