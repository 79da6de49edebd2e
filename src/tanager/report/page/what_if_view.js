// Evidence in, posterior out: the controls of all features and what follows from them.

import { waterfall } from "./charts.js";
import { button, byId, el, percent, replace, select, shorten } from "./dom.js";
import { FlipsView } from "./flips_view.js";
import { argmax, runnerUp, softmax } from "./numerics.js";
import { nextQuestions } from "./information_gain.js";
import { isLeftOut } from "./variables.js";

const FIRST_CONTROLS = 15;
const MAX_BARS = 10;
const MAX_TERMS = 12;
const SLOW_MILLISECONDS = 40;

export class WhatIfView {
  constructor(app) {
    this.app = app;
    this.all = app.features.length <= FIRST_CONTROLS;
    this.filter = "";
    this.pair = null; // chosen classes of the waterfall, or null for the top two
    this.flips = new FlipsView(app);
    this.isSlow = false; // whether questions and flips wait for the posterior
    this.touched = new Set(); // features that the user has set one by one
    this.controls = new Map();
    this.makeTools();
    this.drawControls();
    this.update();
  }

  makeTools() {
    const search = el("input", {
      type: "search",
      placeholder: "Filter features",
      "aria-label": "Filter features",
      oninput: () => {
        this.filter = search.value.trim().toLowerCase();
        this.drawControls();
      },
    });
    replace(
      byId("evidence-tools"),
      search,
      button("Clear all", () => this.app.setCodes(this.app.nothing())),
    );
  }

  drawControls() {
    const { app } = this;
    const used = app.ranked.filter((j) => !isLeftOut(app.variables[j]));
    let shown = used.filter((j) =>
      app.variables[j].name.toLowerCase().includes(this.filter),
    );
    const n = shown.length;
    if (!this.all && !this.filter) {
      shown = shown.filter((j, i) => i < FIRST_CONTROLS || this.touched.has(j));
    }
    this.controls.clear();
    const rows = shown.slice(0, 600).map((j) => this.control(j));
    const more =
      n > shown.length ||
      (this.all && used.length > FIRST_CONTROLS && !this.filter)
        ? button(
            this.all ? "Show fewer features" : `Show all ${n} features`,
            () => {
              this.all = !this.all;
              this.drawControls();
            },
            { class: "wide", "data-key": "more features" },
          )
        : null;
    replace(byId("evidence"), ...rows, more);
  }

  control(j) {
    const variable = this.app.variables[j];
    const nValues = variable.states.length - (variable.missing_state ? 1 : 0);
    const name = el(
      "span",
      { class: "name", id: `name-${j}`, title: variable.name },
      shorten(variable.name, 34),
    );
    const parts =
      variable.ordered && nValues > 2
        ? this.slider(j, variable, nValues)
        : this.list(j, variable);
    const row = el(
      "div",
      { class: "control", role: "group", "aria-labelledby": `name-${j}` },
      name,
      ...parts.nodes,
    );
    this.controls.set(j, { row, show: parts.show });
    this.showControl(j);
    return row;
  }

  touch(j, code) {
    this.touched.add(j);
    this.app.setCode(j, code);
  }

  slider(j, variable, nValues) {
    const value = el("output", { class: "state" });
    const range = el("input", {
      type: "range",
      min: 0,
      max: nValues - 1,
      "aria-labelledby": `name-${j}`,
      "data-feature": j,
      oninput: () => this.touch(j, Number(range.value)),
    });
    const buttons = [
      button("unknown", () => this.touch(j, variable.states.length), {
        class: "small",
        "data-unknown": j,
      }),
    ];
    if (variable.missing_state) {
      buttons.push(
        button("missing", () => this.touch(j, nValues), {
          class: "small",
          "data-missing": j,
        }),
      );
    }
    const show = (code) => {
      const known = code < nValues;
      const text = known
        ? variable.states[code]
        : code < variable.states.length
          ? "missing"
          : "unknown";
      range.value = String(known ? code : Math.floor((nValues - 1) / 2));
      range.classList.toggle("idle", !known);
      range.setAttribute("aria-valuetext", String(text));
      // Lines break between dates, not within them.
      const shown = shorten(text, 48);
      value.textContent = variable.unit ? shown.replaceAll("-", "\u2011") : shown;
      buttons[0].setAttribute("aria-pressed", String(code >= variable.states.length));
      buttons[1]?.setAttribute("aria-pressed", String(code === nValues));
    };
    return { nodes: [range, value, ...buttons], show };
  }

  // Of very many states a text field picks one; others have a list.
  list(j, variable) {
    const unknown = variable.states.length;
    if (unknown > 300) {
      const byText = new Map(variable.states.map((state, v) => [String(state), v]));
      const input = el("input", {
        type: "text",
        placeholder: `unknown (one of ${unknown.toLocaleString("en")} states)`,
        "aria-labelledby": `name-${j}`,
        "data-feature": j,
        onchange: () => {
          const wanted = input.value.trim();
          const code = byText.get(wanted) ?? unknown;
          this.touch(j, code);
          const isUnknown = code === unknown && wanted !== "";
          input.setCustomValidity(
            isUnknown ? `No state is ${shorten(wanted, 40)}.` : "",
          );
          input.reportValidity();
        },
      });
      return {
        nodes: [input],
        show: (code) =>
          (input.value = code < unknown ? String(variable.states[code]) : ""),
      };
    }
    const node = select(
      [...variable.states.map(String), "unknown"],
      unknown,
      (code) => this.touch(j, code),
      {
        "aria-labelledby": `name-${j}`,
        "data-feature": j,
      },
    );
    return {
      nodes: [node],
      show: (code) => (node.value = String(Math.min(code, unknown))),
    };
  }

  showControl(j) {
    const found = this.controls.get(j);
    if (!found) return;
    found.show(this.app.codes[j]);
    found.row.classList.toggle("set", this.app.isSet(j));
  }

  // After any change of the evidence or of the model.
  update() {
    const { app } = this;
    const { model, codes } = app;
    const start = performance.now();
    for (const j of this.controls.keys()) this.showControl(j);
    if (!model.canMarginalise && !model.isComplete(codes)) {
      this.clearResults(
        `${model.refused} Set every feature to see the posterior, or load a sample without missing values.`,
      );
      return;
    }
    const scores = model.logScores(codes);
    const posterior = softmax(scores);
    this.drawPosterior(posterior, model.isImpossible(codes));
    const [a, b] = (this.current = this.pair ?? [
      argmax(posterior),
      runnerUp(posterior),
    ]);
    if (!model.canMarginalise && !model.isClassRoot) {
      for (const id of ["waterfall", "questions", "flips"])
        replace(byId(id), el("p", { class: "note" }, model.refused));
      return;
    }
    this.drawTerms(model.terms(codes, a, b), a, b);
    const { dataset } = byId("timing");
    delete dataset.total; // until the search for flips has ended
    clearTimeout(this.waiting);
    if (this.isSlow) this.waiting = setTimeout(() => this.answer(start));
    else this.answer(start);
  }

  // What follows from all single changes: the next question and the nearest flip. A
  // large model shows the posterior first.
  answer(start) {
    const { model, codes } = this.app;
    const begun = performance.now();
    const loo = model.leaveOneOut(codes);
    this.drawQuestions(nextQuestions(model, codes, loo));
    const now = performance.now();
    this.isSlow = now - begun > SLOW_MILLISECONDS;
    const { dataset } = byId("timing");
    dataset.milliseconds = (now - start).toFixed(2);
    byId("timing").textContent = `Exact inference in ${(now - start).toFixed(1)} ms.`;
    this.flips.draw(loo, () => {
      dataset.total = (performance.now() - start).toFixed(2);
    });
  }

  clearResults(message) {
    for (const id of ["waterfall", "questions", "flips"]) replace(byId(id));
    replace(byId("posterior"), el("p", { class: "warning" }, message));
    byId("timing").textContent = "";
  }

  drawPosterior(posterior, isImpossible) {
    const { states } = this.app.variables[this.app.target];
    const order = Array.from(posterior.keys());
    if (posterior.length > MAX_BARS) order.sort((a, b) => posterior[b] - posterior[a]);
    const bars = order
      .slice(0, MAX_BARS)
      .map((c) =>
        el(
          "div",
          { class: c === argmax(posterior) ? "bar best" : "bar" },
          el(
            "span",
            { class: "bar-name", title: String(states[c]) },
            shorten(states[c], 22),
          ),
          el(
            "span",
            { class: "track" },
            el("span", { class: "fill", "width%": 100 * posterior[c] }),
          ),
          el("span", { class: "bar-value" }, percent(posterior[c])),
        ),
      );
    if (posterior.length > MAX_BARS) {
      const rest = order.slice(MAX_BARS).reduce((sum, c) => sum + posterior[c], 0);
      bars.push(
        el(
          "p",
          { class: "note" },
          `${posterior.length - MAX_BARS} other classes: ${percent(rest)}`,
        ),
      );
    }
    if (isImpossible) {
      bars.push(
        el(
          "p",
          { class: "warning" },
          "This evidence has probability zero under every class; these are the prior probabilities.",
        ),
      );
    }
    replace(byId("posterior"), ...bars);
    byId("posterior").dataset.probabilities = JSON.stringify(Array.from(posterior));
    const best = argmax(posterior);
    byId("spoken").textContent =
      `Most probable: ${states[best]}, ${percent(posterior[best])}.`;
  }

  drawTerms(terms, a, b) {
    const { app } = this;
    const { states } = app.variables[app.target];
    const [prior, ...every] = terms;
    const others = every.filter(({ value }) => value !== 0);
    others.sort((s, t) => Math.abs(t.value) - Math.abs(s.value));
    const shown = others.slice(0, MAX_TERMS);
    const rest = others.slice(MAX_TERMS).reduce((sum, { value }) => sum + value, 0);
    const width = Math.max(300, Math.min(470, byId("waterfall").clientWidth));
    const word = (j) =>
      width < 400 ? shorten(app.variables[j].name, 22) : app.describe(j);
    const names = [
      "before any feature",
      ...shown.map(({ features }) => features.map(word).join(" × ")),
    ];
    const values = [prior.value, ...shown.map(({ value }) => value)];
    if (others.length > MAX_TERMS) {
      const n = others.length - MAX_TERMS;
      names.push(n === 1 ? "1 other" : `${n} others`);
      values.push(rest);
    }
    const total = terms.reduce((sum, { value }) => sum + value, 0);
    byId("waterfall").dataset.total = String(total);
    const pick = (place) => (c) => {
      const next = [a, b];
      next[place] = c;
      if (next[0] !== next[1]) this.pair = next;
      this.app.refresh();
    };
    const labels = states.map(String);
    replace(
      byId("waterfall"),
      el(
        "p",
        { class: "pickers" },
        el("label", {}, "for ", select(labels, a, pick(0))),
        el("label", {}, " against ", select(labels, b, pick(1))),
      ),
      waterfall({
        width,
        label: `Contributions to the log odds of ${states[a]} against ${states[b]}`,
        names,
        values,
      }),
    );
  }

  drawQuestions(every) {
    const { app } = this;
    const questions = every.filter(({ feature }) => !isLeftOut(app.variables[feature]));
    if (!questions.length) {
      replace(byId("questions"), el("p", { class: "note" }, "Every feature is known."));
      return;
    }
    const most = Math.max(questions[0].gain, 1e-12);
    const rows = questions.slice(0, 5).map(({ feature, gain }) =>
      el(
        "div",
        { class: "bar" },
        button(shorten(app.variables[feature].name, 24), () => this.focus(feature), {
          class: "link bar-name",
        }),
        el(
          "span",
          { class: "track" },
          el("span", { class: "fill", "width%": (100 * gain) / most }),
        ),
        el("span", { class: "bar-value" }, `${gain.toFixed(3)} nats`),
      ),
    );
    replace(byId("questions"), ...rows);
    byId("questions").dataset.first = String(questions[0].feature);
    byId("questions").dataset.gain = String(questions[0].gain);
  }

  focus(j) {
    if (!this.controls.has(j)) {
      this.all = true;
      this.filter = "";
      this.drawControls();
    }
    this.controls.get(j).row.querySelector("input, select").focus();
  }
}
