// Metrics with intervals, confusion matrix, calibration and errors by slice.

import { calibrationChart } from "./charts.js";
import { byId, el, percent, replace, select, shorten, table } from "./dom.js";

const MAX_CLASSES = 14;
const MAX_LISTED = 12;

export class MetricsView {
  constructor(app) {
    this.app = app;
    this.found = app.header.data?.assessment ?? null;
    if (this.found === null) {
      const why = app.header.data
        ? "The samples have no labels, so there are no metrics."
        : "The report was made without data, so there are no metrics.";
      replace(byId("metrics"), el("p", { class: "note" }, why));
      return;
    }
    this.feature = this.worst()[0]?.feature ?? 0;
    replace(
      byId("metrics"),
      this.cards(),
      el(
        "p",
        { class: "note" },
        "Metrics of the samples given to the report; those of training samples are optimistic.",
      ),
      el("div", { class: "columns" }, this.confusion(), this.calibration()),
      this.slices(),
    );
  }

  cards() {
    const { accuracy, log_loss, brier, n_samples } = this.found;
    const card = (name, value, range) =>
      el(
        "div",
        { class: "card" },
        el("span", { class: "card-name" }, name),
        el("span", { class: "card-value" }, value),
        el("span", { class: "note" }, range),
      );
    const range = ({ low, high }) => `95 %: ${low.toFixed(3)} to ${high.toFixed(3)}`;
    return el(
      "div",
      { class: "cards" },
      card("Samples", n_samples.toLocaleString("en"), "with labels"),
      card(
        "Accuracy",
        percent(accuracy.value),
        `95 %: ${percent(accuracy.low)} to ${percent(accuracy.high)}`,
      ),
      card("Log loss", log_loss.value.toFixed(3), range(log_loss)),
      card("Brier score", brier.value.toFixed(3), range(brier)),
    );
  }

  confusion() {
    const { app } = this;
    const classes = app.variables[app.target].states.map((state) => shorten(state, 18));
    const K = classes.length;
    let content;
    if (K <= MAX_CLASSES) {
      const counts = Array.from({ length: K }, () => new Array(K).fill(0));
      for (const [right, predicted, n] of this.found.confusion)
        counts[right][predicted] = n;
      const cell = (n, i, j) => {
        const total = counts[i].reduce((a, b) => a + b, 0) || 1;
        const kind = i === j ? "hit" : "miss";
        const node = el(
          "td",
          { class: `number heat ${n ? kind : ""}` },
          n.toLocaleString("en"),
        );
        node.style.setProperty("--heat", String(n / total));
        return node;
      };
      content = el(
        "div",
        {
          class: "scroll",
          tabindex: 0,
          role: "group",
          "aria-label": "Confusion matrix",
        },
        el(
          "table",
          {},
          el("caption", {}, "Rows: right class. Columns: predicted class."),
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              el("td", {}),
              classes.map((name) => el("th", { scope: "col" }, name)),
            ),
          ),
          el(
            "tbody",
            {},
            counts.map((row, i) =>
              el(
                "tr",
                {},
                el("th", { scope: "row" }, classes[i]),
                row.map((n, j) => cell(n, i, j)),
              ),
            ),
          ),
        ),
      );
    } else {
      const worst = this.found.confusion.filter(([a, b]) => a !== b).slice(0, 20);
      content = table(
        ["right class", "predicted", "samples"],
        worst.map(([a, b, n]) => [classes[a], classes[b], n.toLocaleString("en")]),
        { "aria-label": "Most frequent confusions" },
      );
    }
    return el(
      "div",
      {},
      el("h3", {}, K <= MAX_CLASSES ? "Confusion matrix" : "Most frequent confusions"),
      content,
    );
  }

  calibration() {
    const { app } = this;
    const classes = app.variables[app.target].states;
    const what =
      classes.length === 2 ? `of ${shorten(classes[1], 24)}` : "of the predicted class";
    return el(
      "div",
      {},
      el("h3", {}, "Calibration"),
      calibrationChart(
        this.found.calibration,
        `Calibration: predicted and observed frequency ${what}`,
      ),
      el(
        "p",
        { class: "note" },
        `Observed frequency ${what}, with 95 % intervals; points on the diagonal are calibrated.`,
      ),
    );
  }

  // Slices whose error rate is surely above the mean, by the lower end of the interval.
  worst() {
    const mean = 1 - this.found.accuracy.value;
    return this.found.slices
      .filter(({ error }) => error.value > mean)
      .sort((a, b) => b.error.low - a.error.low)
      .slice(0, MAX_LISTED);
  }

  slices() {
    const { app } = this;
    const row = ({ feature, states, n_samples, error }) => [
      shorten(app.variables[feature].name, 30),
      shorten(states, 30),
      n_samples.toLocaleString("en"),
      percent(error.value),
      `${percent(error.low)} to ${percent(error.high)}`,
    ];
    const head = ["feature", "states", "samples", "errors", "95 % interval"];
    const worst = this.worst();
    const own = el("div", {});
    const show = () => {
      const found = this.found.slices.filter(({ feature }) => feature === this.feature);
      const most = Math.max(1e-9, ...found.map(({ error }) => error.high));
      replace(
        own,
        el(
          "div",
          { class: "slices" },
          found.map(({ states, n_samples, error }) => {
            const whisker = el("span", {
              class: "whisker",
              "left%": (100 * error.low) / most,
              "width%": (100 * (error.high - error.low)) / most,
            });
            return el(
              "div",
              { class: "bar" },
              el("span", { class: "bar-name" }, shorten(states, 24)),
              el(
                "span",
                { class: "track" },
                el("span", {
                  class: "fill against",
                  "width%": (100 * error.value) / most,
                }),
                whisker,
              ),
              el(
                "span",
                { class: "bar-value" },
                `${percent(error.value)} of ${n_samples.toLocaleString("en")}`,
              ),
            );
          }),
        ),
      );
    };
    show();
    const picker = select(
      app.features.map((j) => app.variables[j].name),
      app.features.indexOf(this.feature),
      (i) => {
        this.feature = app.features[i];
        show();
      },
      { id: "slice-feature" },
    );
    return el(
      "div",
      { class: "columns" },
      el(
        "div",
        {},
        el("h3", {}, "Slices with the most errors"),
        worst.length
          ? table(head, worst.map(row), { "aria-label": "Slices with the most errors" })
          : el("p", { class: "note" }, "No sample is misclassified."),
      ),
      el(
        "div",
        {},
        el("h3", {}, "Errors by feature"),
        el("label", {}, "Feature ", picker),
        own,
      ),
    );
  }
}
