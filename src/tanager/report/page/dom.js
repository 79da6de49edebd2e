// Elements from plain values. Text is always a text node, never HTML.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "width%") node.style.width = `${value}%`;
    else if (name === "left%") node.style.left = `${value}%`;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

// Put new children into an element. The keyboard focus stays where it was, although the
// element that had it is a new one.
export function replace(node, ...children) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && focusKey(focused);
  const index = focused ? focusable(node).indexOf(focused) : -1;
  node.replaceChildren(...children.flat().filter((child) => child !== null));
  if (index < 0) return;
  const all = focusable(node);
  const same = all.find((other) => focusKey(other) === key);
  const next = same ?? all[Math.min(index, all.length - 1)] ?? node;
  if (next === node) node.tabIndex = -1; // nothing is left: the next tab goes on from here
  next.focus({ preventScroll: true });
}

function focusable(node) {
  const kinds = "a[href], button, input, select, textarea, [tabindex]";
  return [...node.querySelectorAll(kinds)].filter((other) => !other.disabled);
}

function focusKey(node) {
  const { tagName, id, textContent } = node;
  if (node.dataset.key) return node.dataset.key;
  const label = node.getAttribute("aria-label") ?? node.closest("label")?.firstChild;
  const name = id || (label?.textContent ?? label ?? textContent);
  return `${tagName} ${name}`;
}

export function byId(id) {
  return document.getElementById(id);
}

export function shorten(text, length) {
  const whole = String(text);
  return whole.length <= length ? whole : `${whole.slice(0, length - 1)}…`;
}

export function percent(p, digits = 1) {
  if (p > 0 && p < 0.5 * 10 ** -(digits + 2))
    return `<${(10 ** -digits).toFixed(digits)} %`;
  return `${(100 * p).toFixed(digits)} %`;
}

export function signed(value, digits = 2) {
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : value < 0 ? "−∞" : "–";
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

export function plain(value, digits = 4) {
  if (typeof value !== "number") return value === null ? "–" : String(value);
  return Number.isInteger(value)
    ? value.toLocaleString("en")
    : value.toPrecision(digits);
}

export function table(head, rows, attributes = {}) {
  return el(
    "div",
    {
      class: "scroll",
      tabindex: 0,
      role: "group",
      "aria-label": attributes["aria-label"],
    },
    el(
      "table",
      attributes,
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((text) => el("th", { scope: "col" }, text)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell, i) =>
              i === 0
                ? el("th", { scope: "row" }, cell)
                : el(
                    "td",
                    {
                      class:
                        typeof cell === "string" && isNumber(cell) ? "number" : null,
                    },
                    cell,
                  ),
            ),
          ),
        ),
      ),
    ),
  );
}

function isNumber(text) {
  return /^[−+<]?\d[\d,]*(\.\d+)?(e[-+]\d+)?( %)?( to [\d.]+ %)?$/.test(text);
}

export function select(options, value, onchange, attributes = {}) {
  const node = el(
    "select",
    { ...attributes, onchange: () => onchange(Number(node.value)) },
    options.map((text, i) => el("option", { value: i }, shorten(text, 60))),
  );
  node.value = String(value);
  return node;
}

// What is wrong with the text of a number; empty if nothing is.
export function numberProblem(text, low, high) {
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= low && value <= high ? "" : `Enter a number from ${low} to ${high}.`;
}

// A form with the field of one number, which is passed on only if it is in range. The
// texts before and after are those next to the field.
export function numberForm(
  { value, low, high, label, before, after, onset },
  ...pickers
) {
  const check = () => input.setCustomValidity(numberProblem(input.value, low, high));
  const input = el("input", {
    type: "number",
    step: "any",
    value,
    "aria-label": label,
    oninput: check,
  });
  const onsubmit = (event) => {
    event.preventDefault();
    check();
    if (input.reportValidity()) onset(Number(input.value));
  };
  // The browser's own check would come first, with the message of an older text.
  const form = { class: "editor", novalidate: true, onsubmit };
  return el(
    "form",
    form,
    ...pickers,
    el("label", {}, before, input, after),
    el("button", { type: "submit" }, "Set"),
  );
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", ...attributes, onclick }, text);
}
