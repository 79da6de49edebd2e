// Global view: importance of features or factors, their curves and pairs.

import { button, byId, el, plain, replace, shorten } from "./dom.js";
import { curveChart, pairChart } from "./curve_view.js";

const FIRST_BARS = 20;
const FIRST_CURVES = 6;

export class FactorsView {
  constructor(app) {
    this.app = app;
    this.nBars = FIRST_BARS;
    this.nCurves = FIRST_CURVES;
    this.draw();
  }

  draw() {
    const { app } = this;
    const items = app.importance;
    const most = Math.max(1e-12, ...items.map(({ value }) => value));
    const unit = app.header.kind === "factors" ? "" : " nats";
    const bars = items.slice(0, this.nBars).map(({ features, value }) =>
      el(
        "div",
        { class: "bar" },
        button(
          features.map((j) => shorten(app.variables[j].name, 30)).join(" × "),
          () => app.selectNode(features[0]),
          { class: "link bar-name" },
        ),
        el(
          "span",
          { class: "track" },
          el("span", { class: "fill", "width%": (100 * value) / most }),
        ),
        el("span", { class: "bar-value" }, `${plain(value, 3)}${unit}`),
      ),
    );
    const note =
      app.header.kind === "factors"
        ? "Root mean square of the log weights of every factor over the training samples."
        : "Mutual information of every feature and the class in the network: what the feature alone says about the class.";
    replace(
      byId("importance"),
      el("h3", {}, "Importance"),
      el("p", { class: "note" }, note),
      ...bars,
      items.length > this.nBars
        ? button(`Show all ${items.length}`, () => {
            this.nBars = items.length;
            this.draw();
          })
        : null,
    );
    if (app.header.kind === "factors") this.drawCurves();
    else byId("curves").hidden = true;
  }

  drawCurves() {
    const { app } = this;
    const ranked = app.importance.map(({ factor }) => factor);
    const curves = ranked.filter(({ features }) => features.length === 1);
    const pairs = ranked.filter(({ features }) => features.length === 2);
    const figure = (content, factor) =>
      el(
        "figure",
        {},
        content,
        el(
          "figcaption",
          {},
          factor.features.map((j) => shorten(app.variables[j].name, 36)).join(" × "),
        ),
      );
    const more =
      Math.max(curves.length, pairs.length) > this.nCurves
        ? button("Show more", () => {
            this.nCurves *= 3;
            this.drawCurves();
          })
        : null;
    replace(
      byId("curves"),
      el("h3", {}, "Curves"),
      app.legend(),
      el(
        "div",
        { class: "gallery" },
        curves
          .slice(0, this.nCurves)
          .map((factor) => figure(curveChart(app, factor), factor)),
      ),
      pairs.length ? el("h3", {}, "Pairs") : null,
      pairs.length
        ? el(
            "p",
            { class: "note" },
            `Log odds of ${app.classPairText()}; the first feature runs downwards, the second to the right; the dots show the number of training samples.`,
          )
        : null,
      el(
        "div",
        { class: "gallery" },
        pairs
          .slice(0, this.nCurves)
          .map((factor) => figure(pairChart(app, factor, ...app.classPair()), factor)),
      ),
      more,
    );
  }
}
