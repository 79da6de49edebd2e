// The network as a picture: pan, zoom, search, and select a node.

import { button, byId, el, replace, shorten, svg } from "./dom.js";

const [NODE_WIDTH, NODE_HEIGHT] = [124, 30];
const [THIN, THICK] = [1, 4.5];

export class GraphView {
  constructor(app) {
    this.app = app;
    this.layouts = app.header.layouts;
    this.all = this.layouts.length === 1;
    this.selected = null;
    this.isDirected = app.header.parents !== undefined;
    this.draw();
    this.makeTools();
  }

  // The places come from Python: network_layout.py.
  draw() {
    const layout = this.layouts[this.all ? this.layouts.length - 1 : 0];
    this.points = new Map(layout.nodes.map(([v, x, y]) => [v, [x, y]]));
    this.arcs = layout.arcs.map(([a, b, strength, route]) => [
      [a, b],
      this.arc(strength, route),
    ]);
    const [cx, cy] = this.points.get(this.app.target);
    const faded = layout.class_children.map((v) => {
      const [x, y] = this.points.get(v);
      const d = `M${cx},${cy + NODE_HEIGHT / 2} L${x},${y - NODE_HEIGHT / 2}`;
      return svg("path", { d, class: "class-arc" });
    });
    this.nodes = new Map(layout.nodes.map(([v]) => [v, this.node(v)]));
    const marker = svg(
      "marker",
      {
        id: "arrow",
        viewBox: "0 0 8 8",
        refX: 8,
        refY: 4,
        markerWidth: 8,
        markerHeight: 8,
        markerUnits: "userSpaceOnUse",
        orient: "auto",
      },
      svg("path", { d: "M0,0 L8,4 L0,8 z", class: "arrow" }),
    );
    this.picture = svg(
      "svg",
      {
        class: "graph",
        tabindex: 0,
        role: "group",
        "aria-label":
          "Network. Arrow keys move, plus and minus zoom, tab goes to the nodes.",
        onkeydown: (event) => this.key(event),
        onwheel: (event) => this.wheel(event),
        onpointerdown: (event) => this.drag(event),
      },
      svg("defs", {}, marker),
      ...faded,
      ...this.arcs.map(([, line]) => line),
      ...this.nodes.values(),
    );
    replace(byId("graph"), this.picture);
    this.describe(layout);
    this.fit();
    this.mark();
  }

  // What is drawn, in words.
  describe({ arcs, n_arcs, class_children }) {
    const kind = this.isDirected ? "arcs" : "lines";
    const parts = [];
    if (class_children.length)
      parts.push(
        this.isDirected
          ? "Arcs of the class are faded."
          : "Lines of the class are faded.",
      );
    if (arcs.length < n_arcs)
      parts.push(`The strongest ${arcs.length} of ${n_arcs} ${kind} are drawn.`);
    if (arcs.length) parts.push(`Width of ${kind}: ${this.app.header.arc_measure}.`);
    byId("graph-note").textContent = parts.join(" ");
  }

  // A curve through the points of a route, vertical at each.
  arc(strength, route) {
    let d = `M${route[0]},${route[1]}`;
    for (let i = 2; i < route.length; i += 2) {
      const [x, y, nextX, nextY] = route.slice(i - 2, i + 2);
      const middle = (y + nextY) / 2;
      d += ` C${x},${middle} ${nextX},${middle} ${nextX},${nextY}`;
    }
    return svg("path", {
      d,
      class: "arc",
      "stroke-width": (THIN + (THICK - THIN) * strength).toFixed(1),
      "stroke-opacity": (0.5 + 0.5 * strength).toFixed(2),
      "marker-end": this.isDirected ? "url(#arrow)" : null,
    });
  }

  node(v) {
    const { app } = this;
    const [x, y] = this.points.get(v);
    const name = app.variables[v].name;
    const select = () => app.selectNode(v);
    return svg(
      "g",
      {
        class: v === app.target ? "node target" : "node",
        transform: `translate(${x},${y})`,
        tabindex: 0,
        role: "button",
        "aria-label": v === app.target ? `class ${name}` : `feature ${name}`,
        "data-variable": v,
        onclick: select,
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            select();
          }
        },
      },
      svg("rect", {
        x: -NODE_WIDTH / 2,
        y: -NODE_HEIGHT / 2,
        width: NODE_WIDTH,
        height: NODE_HEIGHT,
        rx: v === app.target ? 15 : 5,
      }),
      svg("text", { y: 4, "text-anchor": "middle" }, shorten(name, 16)),
      svg("title", {}, name),
    );
  }

  makeTools() {
    const { app } = this;
    const search = el("input", {
      type: "search",
      list: "variable-names",
      placeholder: "Find a variable",
      "aria-label": "Find a variable",
      onchange: () => this.find(search.value),
      onkeydown: (event) => event.key === "Enter" && this.find(search.value),
    });
    const tools = [
      search,
      button("+", () => this.zoom(0.8), { "aria-label": "Zoom in" }),
      button("−", () => this.zoom(1.25), { "aria-label": "Zoom out" }),
      button("Fit", () => this.fit()),
    ];
    if (this.layouts.length > 1) {
      this.more = button("", () => this.showAll(!this.all));
      tools.push(this.more);
    }
    replace(byId("graph-tools"), ...tools);
    if (this.more) this.labelMore();
    const names = app.variables.map(({ name }) => el("option", { value: name }));
    replace(byId("variable-names"), ...names);
  }

  showAll(all) {
    this.all = all;
    this.labelMore();
    this.draw();
  }

  labelMore() {
    const nFirst = this.layouts[0].nodes.length - 1;
    this.more.textContent = this.all
      ? `Show the ${nFirst} most important`
      : `Show all ${this.app.features.length} features`;
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    const names = this.app.variables.map(({ name }) => name.toLowerCase());
    let v = names.indexOf(wanted);
    if (v < 0) v = names.findIndex((name) => name.includes(wanted));
    if (v < 0) return;
    this.app.selectNode(v);
    this.centre(v);
  }

  centre(v) {
    const [x, y] = this.points.get(v);
    this.view = [x - 250, y - 150, 500, 300];
    this.show();
  }

  select(v) {
    this.selected = v;
    if (!this.points.has(v)) {
      this.showAll(true);
      this.centre(v);
    }
    this.mark();
  }

  mark() {
    const { codes, model } = this.app;
    for (const [[a, b], line] of this.arcs) {
      line.classList.toggle("near", a === this.selected || b === this.selected);
    }
    this.nodes.forEach((node, v) => {
      node.classList.toggle("selected", v === this.selected);
      node.classList.toggle(
        "observed",
        v !== this.app.target && model !== null && codes[v] < model.nStates[v],
      );
    });
  }

  fit() {
    const xs = [...this.points.values()].map(([x]) => x);
    const ys = [...this.points.values()].map(([, y]) => y);
    const [left, top] = [Math.min(...xs) - 70, Math.min(...ys) - 30];
    this.view = [left, top, Math.max(...xs) + 70 - left, Math.max(...ys) + 40 - top];
    this.show();
  }

  show() {
    this.picture.setAttribute("viewBox", this.view.map((v) => v.toFixed(1)).join(" "));
  }

  zoom(factor, cx = 0.5, cy = 0.5) {
    const [x, y, w, h] = this.view;
    this.view = [
      x + w * cx * (1 - factor),
      y + h * cy * (1 - factor),
      w * factor,
      h * factor,
    ];
    this.show();
  }

  move(dx, dy) {
    this.view[0] += dx * this.view[2];
    this.view[1] += dy * this.view[3];
    this.show();
  }

  key(event) {
    const steps = {
      ArrowLeft: [-0.1, 0],
      ArrowRight: [0.1, 0],
      ArrowUp: [0, -0.1],
      ArrowDown: [0, 0.1],
    };
    if (event.key in steps) this.move(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(0.8);
    else if (event.key === "-") this.zoom(1.25);
    else return;
    event.preventDefault();
  }

  // Without a modifier the page scrolls.
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.picture.getBoundingClientRect();
    const place = [
      (event.clientX - box.left) / box.width,
      (event.clientY - box.top) / box.height,
    ];
    this.zoom(event.deltaY < 0 ? 0.85 : 1.18, ...place);
  }

  drag(event) {
    if (event.target.closest(".node")) return;
    const box = this.picture.getBoundingClientRect();
    let [x, y] = [event.clientX, event.clientY];
    const move = (next) => {
      this.move((x - next.clientX) / box.width, (y - next.clientY) / box.height);
      [x, y] = [next.clientX, next.clientY];
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  }
}
