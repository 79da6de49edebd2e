// Samples of the data, to be loaded into the what-if panel: wrong predictions first.

import { byId, el, percent, replace, shorten } from "./dom.js";
import { argmax } from "./numerics.js";

export class SamplesView {
  constructor(app) {
    this.app = app;
    if (app.samples === null || app.model === null) {
      byId("samples-block").hidden = true;
      return;
    }
    const { states } = app.variables[app.target];
    const items = app.samples.predictions(app.model).map((posterior, r) => {
      const row = app.samples.rows[r];
      const isKnown = app.samples.isLabelled(app.model, row);
      const best = posterior === null ? null : argmax(posterior);
      const right = isKnown && posterior !== null ? posterior[row.label] : null;
      return {
        r,
        row,
        isKnown,
        best,
        right,
        isWrong: isKnown && best !== null && best !== row.label,
      };
    });
    items.sort(
      (a, b) => b.isWrong - a.isWrong || (a.right ?? 2) - (b.right ?? 2) || a.r - b.r,
    );
    const list = el(
      "select",
      {
        size: 6,
        id: "samples",
        "aria-label": "Samples, wrong predictions first",
        onchange: () => app.loadSample(Number(list.value)),
      },
      items.map(({ r, row, isKnown, best, right, isWrong }) => {
        const truth = isKnown ? shorten(states[row.label], 20) : "no label";
        const guess =
          best === null
            ? ""
            : isWrong
              ? `, predicted ${shorten(states[best], 20)}`
              : "";
        const p = right === null ? "" : ` (P = ${percent(right)})`;
        return el(
          "option",
          { value: r },
          `${isWrong ? "✗" : "✓"} row ${row.number}: ${truth}${guess}${p}`,
        );
      }),
    );
    const nWrong = items.filter(({ isWrong }) => isWrong).length;
    const { n_samples, n_shown } = app.header.data;
    const part =
      n_shown < n_samples
        ? `${n_shown.toLocaleString("en")} of ${n_samples.toLocaleString("en")} samples`
        : `${n_samples.toLocaleString("en")} samples`;
    replace(
      byId("samples-list"),
      list,
      el(
        "p",
        { class: "note" },
        `${part}, ${nWrong} of them misclassified, which come first. Rows are counted from 1, without the header.`,
      ),
    );
  }
}
