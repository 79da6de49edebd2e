// The page: reads the data, makes the views and passes changes between them.

import { AboutView } from "./about_view.js";
import { CurveView } from "./curve_view.js";
import { button, byId, el, percent, plain, replace, shorten } from "./dom.js";
import { Edits } from "./edits.js";
import { FactorsView } from "./factors_view.js";
import { GraphView } from "./graph_view.js";
import { MetricsView } from "./metrics_view.js";
import { readModel } from "./model.js";
import { modelDocument } from "./network_document.js";
import { readPayload } from "./payload.js";
import { mutualInformation } from "./information_gain.js";
import { Samples } from "./sample_loss.js";
import { SamplesView } from "./samples_view.js";
import { TableView } from "./table_view.js";
import { isLeftOut } from "./variables.js";
import { WhatIfView } from "./what_if_view.js";

class App {
  constructor(payload) {
    const { header } = payload;
    this.header = header;
    this.model = readModel(payload);
    this.variables = header.variables;
    this.target = header.target;
    this.features = this.variables.map((_, v) => v).filter((v) => v !== this.target);
    this.samples = header.data && this.model ? new Samples(payload) : null;
    this.codes = this.nothing();
    this.marginals = null; // P(class, feature) of a network with CPTs
    this.importance = this.measureImportance();
    this.ranked = this.rank();
    this.edits = new Edits(() => this.changed());
    this.baseline = null;
    this.node = null; // the view of the selected node, if it can be edited
  }

  nothing() {
    return this.variables.map(({ states }) => states.length);
  }

  isSet(j) {
    return this.codes[j] < this.variables[j].states.length;
  }

  // A feature with its state, in words.
  describe(j) {
    const { name, states } = this.variables[j];
    const state = this.isSet(j) ? states[this.codes[j]] : "unknown";
    return `${shorten(name, 17)} = ${shorten(state, 13)}`;
  }

  measureImportance() {
    const { model } = this;
    if (model === null || !model.canMarginalise) return []; // the ranks are known
    if (this.header.kind !== "factors") {
      this.marginals = model.leaveOneOut(model.nStates);
      return mutualInformation(model, this.marginals)
        .filter(({ feature }) => !isLeftOut(this.variables[feature]))
        .map(({ feature, gain }) => ({ features: [feature], value: gain }));
    }
    const K = model.nClasses;
    const found = model.factors.map((factor) => {
      let [sum, total] = [0, 0];
      factor.support.forEach((weight, cell) => {
        let squares = 0;
        for (let c = 0; c < K; c++) squares += factor.weights[cell * K + c] ** 2 / K;
        sum += weight * squares;
        total += weight;
      });
      return {
        features: factor.features,
        value: total > 0 ? Math.sqrt(sum / total) : 0,
        factor,
      };
    });
    return found.sort((a, b) => b.value - a.value);
  }

  // Features, the most important first.
  rank() {
    const seen = new Set(this.importance.flatMap(({ features }) => features));
    return [...seen, ...this.header.ranked.filter((j) => !seen.has(j))];
  }

  classPair() {
    return this.model.nClasses === 2 ? [1, 0] : (this.whatIf?.current ?? [0, 1]);
  }

  classPairText() {
    const { states } = this.variables[this.target];
    const [a, b] = this.classPair();
    return `${shorten(states[a], 24)} against ${shorten(states[b], 24)}`;
  }

  legend() {
    const { states } = this.variables[this.target];
    if (states.length === 2) return null;
    const shown = states
      .slice(0, 8)
      .map((state, c) =>
        el("li", {}, el("span", { class: `swatch class-${c}` }), shorten(state, 24)),
      );
    if (states.length > 8)
      shown.push(el("li", {}, `the first 8 of ${states.length} classes`));
    return el("ul", { class: "legend" }, shown);
  }

  setCode(j, code) {
    this.codes[j] = code;
    this.refresh();
  }

  setCodes(codes) {
    this.codes = Array.from(codes);
    this.whatIf.touched.clear();
    this.whatIf.drawControls();
    this.refresh();
  }

  loadSample(r) {
    const row = this.samples.rows[r];
    this.setCodes(this.samples.codesOf(this.model, row));
  }

  // A model that needs complete evidence begins with a sample that has it.
  loadFirst() {
    const { model, samples } = this;
    const r = samples?.rows.findIndex((row) =>
      model.isComplete(samples.codesOf(model, row)),
    );
    if (r >= 0) this.loadSample(r);
  }

  hide(id) {
    byId(id).hidden = true;
    document.querySelector(`nav a[href="#${id}"]`).hidden = true;
  }

  refresh() {
    this.whatIf.update();
    this.graph.mark();
  }

  selectNode(v) {
    this.graph.select(v);
    const place = byId("node");
    this.node = null;
    const why = this.header.too_large ?? this.header.complete_only;
    if (why) {
      replace(place, el("h3", {}, this.variables[v].name), el("p", {}, why));
    } else if (this.header.kind === "factors") {
      if (v === this.target) {
        const { name, states } = this.variables[v];
        const rows = states
          .slice(0, 40)
          .map((state, c) =>
            el(
              "li",
              {},
              `${shorten(state, 40)}: log weight ${plain(this.model.prior[c])}`,
            ),
          );
        replace(place, el("h3", {}, name), el("ul", {}, rows));
      } else this.node = new CurveView(this, v, place);
    } else this.node = new TableView(this, v, place);
  }

  // After an edit of the model.
  changed() {
    this.model.changed();
    this.importance = this.measureImportance();
    this.refresh();
    this.node?.draw();
    this.factorsView?.draw();
    this.showEdits();
  }

  showEdits() {
    const place = byId("edits");
    const { done } = this.edits;
    const parts = [];
    if (
      this.samples &&
      this.samples.rows.some((row) => this.samples.isLabelled(this.model, row))
    ) {
      this.baseline ??= this.samples.score(this.model);
      const now = done.length ? this.samples.score(this.model) : this.baseline;
      const change = now.logLoss - this.baseline.logLoss;
      const word = change > 1e-12 ? "worse" : change < -1e-12 ? "better" : "unchanged";
      parts.push(
        el(
          "p",
          {
            id: "edit-loss",
            "data-loss": now.logLoss,
            "data-baseline": this.baseline.logLoss,
          },
          `Log loss on ${now.n.toLocaleString("en")} samples of this file: ${this.baseline.logLoss.toFixed(4)}`,
          done.length
            ? ` → ${now.logLoss.toFixed(4)} (${word}); accuracy ${percent(this.baseline.accuracy)} → ${percent(now.accuracy)}.`
            : ".",
        ),
      );
    }
    const shown = done.slice(-20).map(({ description }) => el("li", {}, description));
    parts.push(
      done.length
        ? el("ol", {}, shown)
        : el(
            "p",
            { class: "note" },
            "Nothing is edited. Select a node of the network and change an entry.",
          ),
    );
    parts.push(
      el(
        "p",
        { class: "pickers" },
        button("Undo last", () => this.edits.undo(), { disabled: !done.length }),
        button("Undo all", () => this.edits.undoAll(), { disabled: !done.length }),
        button("Export model (JSON)", () => this.exportModel(), {
          id: "export",
          disabled: !this.header.can_export,
        }),
        this.header.can_export
          ? null
          : "A state is a whole number above 2^53, which a page would round.",
      ),
    );
    replace(place, ...parts);
  }

  exportModel() {
    const text = JSON.stringify(modelDocument(this.header, this.model));
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const link = el("a", { href: address, download: "model.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  start() {
    const { header } = this;
    byId("title").textContent = header.title;
    const { name, states } = this.variables[this.target];
    const sizes = header.summary.map(
      ([what, n]) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`,
    );
    byId("subtitle").textContent =
      `Class variable “${shorten(name, 60)}” with ${states.length} classes, ${this.features.length} features, ${sizes.join(", ")}.`;
    byId("theme").addEventListener("click", () => {
      const root = document.documentElement;
      const isDark = root.style.colorScheme
        ? root.style.colorScheme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.style.colorScheme = isDark ? "light" : "dark";
    });
    this.graph = new GraphView(this);
    const why = header.too_large ?? header.complete_only;
    if (why) replace(byId("notice"), el("p", { class: "warning" }, why));
    if (this.model === null) {
      this.hide("what-if");
      document.querySelector(".skip").setAttribute("href", "#network");
      document.querySelector(".skip").textContent = "Skip to the network";
    } else {
      new SamplesView(this);
      this.whatIf = new WhatIfView(this);
    }
    if (this.importance.length) this.factorsView = new FactorsView(this);
    else this.hide("effects");
    if (why) this.hide("edit");
    else this.showEdits();
    if (this.model?.refused) this.loadFirst();
    this.selectNode(this.ranked[0] ?? this.target);
    new MetricsView(this);
    new AboutView(this);
    performance.mark("ready");
    document.documentElement.dataset.ready = "true";
  }
}

try {
  const app = new App(await readPayload(byId("data").textContent));
  window.tanagerReport = { app }; // for tests and measurements
  app.start();
} catch (error) {
  const message = `This page could not be shown: ${error.message}. It needs a browser of 2024 or later.`;
  byId("notice").append(message);
  throw error;
}
