// The cheapest change of two or three features that changes the class of a sum of
// terms, by branch and bound. The Python side is explain/change_search.py, whose notes
// give the bounds.
//
// A term is {features, lookup, weights}: lookup[axis][code] is what a code adds to the
// cell, and weights[cell * nClasses + c] the log weight of class c.

import { argmax } from "./numerics.js";

// Log odds by which the new class must exceed all others.
export const MARGIN = 1e-9;

// A change is cheaper than another one if it costs this much less.
const PRECISION = 1e-9;
const N_MULTIPLIERS = 24;

export class ChangeSearch {
  // `moves` has for every feature that may change {feature, codes, costs}.
  constructor({ terms, scores, codes, moves }) {
    Object.assign(this, { terms, scores, codes });
    this.moves = moves.filter((move) => move.codes.length > 0);
    this.current = argmax(scores);
    this.bounds = new Map(); // by the new class
    const place = new Map(this.moves.map(({ feature }, k) => [feature, k]));
    // Terms by the features that may change, as sorted positions in `moves`.
    this.shared = new Map();
    for (const term of terms) {
      const own = term.features.map((j) => place.get(j) ?? -1);
      const free = own.filter((k) => k >= 0).sort((a, b) => a - b);
      for (const group of subsets(free)) {
        const key = group.join();
        if (!this.shared.has(key)) this.shared.set(key, { group, terms: [] });
        this.shared.get(key).terms.push(term);
      }
    }
  }

  // A generator: yields between steps, and returns the cheapest change of `size`
  // features after which `target` is predicted, or the incumbent.
  *best(size, target, incumbent) {
    if (this.moves.length < size) return incumbent;
    if (!this.bounds.has(target))
      this.bounds.set(target, new ChangeBounds(this, target));
    const bounds = this.bounds.get(target);
    for (const sets of bounds.blocks(size)) {
      yield;
      sets.sort((a, b) => a.bound - b.bound);
      for (const { bound, group } of sets) {
        if (incumbent && bound >= incumbent.cost - PRECISION) break;
        incumbent = this.solve(group, target, bounds, incumbent) ?? incumbent;
        yield;
      }
    }
    return incumbent;
  }

  // The cheapest change of one set of features, if cheaper than the incumbent.
  solve(group, target, bounds, incumbent) {
    const limit = incumbent ? incumbent.cost - PRECISION : Infinity;
    const parts = subsets(group.map((_, i) => i))
      .filter((part) => part.length > 1)
      .map((part) => ({ part, table: bounds.table(part.map((i) => group[i])) }))
      .filter(({ table }) => table !== null);
    const axes = group.map((k, i) =>
      this.candidates(i, k, group, parts, bounds, limit),
    );
    if (!axes.every((axis) => axis.length)) return null;
    const most = axes.map((axis) => Math.max(...axis.map(({ gain }) => gain)));
    const least = axes.map((axis) => axis[0].cost);
    let best = null;
    const chosen = [];
    const visit = (depth, cost, odds) => {
      // What interactions of features that are not chosen yet may add.
      let [open, after] = [0, 0];
      const ending = []; // interactions of this feature with those before it
      for (const { part, table } of parts) {
        const last = part.length - 1;
        if (part[last] >= depth) open += Math.max(0, table.highest);
        if (part[last] !== depth) continue;
        let start = 0;
        for (let axis = 0; axis < last; axis++)
          start += table.kinds[axis][chosen[part[axis]].place] * table.strides[axis];
        ending.push({ values: table.values, kinds: table.kinds[last], start });
      }
      for (let i = depth + 1; i < group.length; i++) {
        open += most[i];
        after += least[i];
      }
      for (const candidate of axes[depth]) {
        const total = cost + candidate.cost;
        if (total + after >= (best ? best.cost + 1e-12 : limit)) break; // others cost more
        if (odds + candidate.gain + open <= 0) continue;
        chosen[depth] = candidate;
        let next = odds + candidate.gain;
        for (const { values, kinds, start } of ending)
          next += values[start + kinds[candidate.place]];
        if (depth + 1 < group.length) {
          visit(depth + 1, total, next);
          continue;
        }
        if (!(next > MARGIN)) continue;
        const margin = this.margin(group, chosen, target, next);
        if (!(margin > MARGIN)) continue;
        if (best && total >= best.cost - 1e-12 && margin <= best.margin) continue;
        const changes = group.map((k, i) => [this.moves[k].feature, chosen[i].code]);
        best = { changes, cost: total, margin };
      }
    };
    visit(0, 0, bounds.start);
    return best;
  }

  // The states of one feature that may be part of a change, the cheapest first. Of two
  // classes a state is left out if another one interacts alike, costs no more and adds
  // no less.
  candidates(i, k, group, parts, bounds, limit) {
    const { codes, costs } = this.moves[k];
    const gains = bounds.gains[k];
    const others = group.filter((other) => other !== k);
    const least = others.reduce((sum, other) => sum + bounds.least[other], 0);
    const reach =
      others.reduce((sum, other) => sum + bounds.most[other], 0) +
      bounds.start +
      parts.reduce((sum, { table }) => sum + Math.max(0, table.highest), 0);
    const found = [];
    for (let place = 0; place < codes.length; place++) {
      if (gains[place] + reach > 0 && costs[place] + least < limit)
        found.push({
          place,
          code: codes[place],
          cost: costs[place],
          gain: gains[place],
        });
    }
    found.sort((a, b) => a.cost - b.cost || b.gain - a.gain);
    if (this.scores.length > 2) return found;
    const tables = parts.filter(({ part }) => part.includes(i));
    const seen = new Map();
    return found.filter(({ place, gain }) => {
      const alike = tables
        .map(({ part, table }) => table.kinds[part.indexOf(i)][place])
        .join();
      const isBetter = !(gain <= (seen.get(alike) ?? -Infinity));
      if (isBetter) seen.set(alike, gain);
      return isBetter;
    });
  }

  // By how much the new class exceeds all others; `odds` are those against the present.
  margin(group, chosen, target, odds) {
    const K = this.scores.length;
    if (K === 2) return odds;
    const changed = Array.from(this.codes);
    group.forEach((k, i) => (changed[this.moves[k].feature] = chosen[i].code));
    const totals = Float64Array.from(this.scores);
    const touched = new Set(group.flatMap((k) => this.shared.get(`${k}`)?.terms ?? []));
    for (const term of touched) {
      const [before, after] = [cellOf(term, this.codes), cellOf(term, changed)];
      for (let c = 0; c < K; c++)
        totals[c] += term.weights[after * K + c] - term.weights[before * K + c];
    }
    let other = -Infinity;
    for (let c = 0; c < K; c++) if (c !== target) other = Math.max(other, totals[c]);
    return totals[target] - other;
  }
}

// Upper bounds on log odds and lower bounds on costs of sets of features, for one new
// class. Features are counted among those that may change.
class ChangeBounds {
  constructor(search, target) {
    const { moves, scores, current } = search;
    Object.assign(this, { search, target });
    this.start = scores[target] - scores[current];
    this.tables = new Map();
    this.gains = moves.map((move, k) => this.singleGains(move, k));
    this.most = this.gains.map((own) => Math.max(...own));
    this.least = moves.map(({ costs }) => Math.min(...costs));
    this.triples = new Map();
    const n = moves.length;
    this.pairs = new Float64Array(n * n);
    for (const { group } of search.shared.values()) {
      const [a, b] = group;
      if (group.length === 2) {
        const { highest } = this.table(group);
        this.pairs[a * n + b] = this.pairs[b * n + a] = highest;
      } else if (group.length === 3)
        this.triples.set(group.join(), this.table(group).highest);
    }
    this.multipliers = this.chooseMultipliers();
    this.dual = this.multipliers.map((lambda) =>
      Float64Array.from(this.gains, (own, k) => {
        const { costs } = moves[k];
        let lowest = Infinity;
        for (let i = 0; i < own.length; i++)
          lowest = Math.min(lowest, costs[i] - lambda * own[i]);
        return lowest;
      }),
    );
  }

  odds(term, cell) {
    const K = this.search.scores.length;
    return (
      term.weights[cell * K + this.target] -
      term.weights[cell * K + this.search.current]
    );
  }

  // What changes of one feature add to the log odds.
  singleGains({ feature, codes }, k) {
    const out = new Float64Array(codes.length);
    for (const term of this.search.shared.get(`${k}`)?.terms ?? []) {
      const own = term.lookup[term.features.indexOf(feature)];
      const now = own[this.search.codes[feature]];
      const cell = cellOf(term, this.search.codes);
      const before = this.odds(term, cell);
      for (let i = 0; i < out.length; i++)
        out[i] += this.odds(term, cell - now + own[codes[i]]) - before;
    }
    return out;
  }

  // The interactions of a group: what a change of all of it adds beyond changes of some
  // of it; null where no term has all of it.
  table(group) {
    const shared = this.search.shared.get(group.join());
    if (shared === undefined) return null;
    const key = group.join();
    if (!this.tables.has(key)) this.tables.set(key, new Interaction(this, shared));
    return this.tables.get(key);
  }

  // Sets of features that may suffice, with lower bounds on their costs.
  *blocks(size) {
    const n = this.most.length;
    if (size === 2) {
      const sets = [];
      for (let a = 0; a < n; a++)
        for (let b = a + 1; b < n; b++) this.add(sets, [a, b], this.pairs[a * n + b]);
      yield sets;
      return;
    }
    // The members of a triple by decreasing maxima: first, later, later.
    const order = Array.from(this.most.keys());
    order.sort((a, b) => this.most[b] - this.most[a] || a - b);
    const highest =
      Math.max(0, ...this.triples.values()) +
      3 * this.pairs.reduce((top, value) => Math.max(top, value), 0);
    for (let place = 0; place + 2 < n; place++) {
      const first = order[place];
      const top = this.start + highest + this.most[first] + this.most[order[place + 1]];
      const later = order.slice(place + 1).filter((k) => top + this.most[k] > 0);
      const sets = [];
      for (let i = 0; i < later.length; i++) {
        for (let j = i + 1; j < later.length; j++) {
          const [a, b] = [later[i], later[j]];
          const extra =
            this.pairs[first * n + a] +
            this.pairs[first * n + b] +
            this.pairs[a * n + b];
          if (this.triples.size) {
            const group = [first, a, b].sort((x, y) => x - y);
            this.add(sets, group, extra + (this.triples.get(group.join()) ?? 0));
          } else this.add(sets, [first, a, b], extra);
        }
      }
      if (sets.length) yield sets;
    }
  }

  // Add a set unless it cannot suffice.
  add(sets, members, extra) {
    let odds = this.start + extra;
    for (const k of members) odds += this.most[k];
    if (!(odds > 0)) return;
    const need = -this.start - extra;
    let bound = -Infinity;
    for (let m = 0; m < this.dual.length; m++) {
      let sum = this.multipliers[m] * need;
      for (const k of members) sum += this.dual[m][k];
      if (sum > bound) bound = sum;
    }
    bound -= 1e-12 * (1 + Math.abs(bound)); // rounding errors
    sets.push({ bound, group: members.sort((a, b) => a - b) });
  }

  // Zero and a geometric grid between the least and the greatest cost per gain.
  chooseMultipliers() {
    const rates = [];
    this.gains.forEach((own, k) =>
      own.forEach((gain, i) => {
        const rate = this.search.moves[k].costs[i] / gain;
        if (gain > 0 && rate > 0 && Number.isFinite(rate)) rates.push(rate);
      }),
    );
    if (!rates.length) return [0];
    rates.sort((a, b) => a - b);
    const low = rates[0];
    const high = rates[Math.floor(0.9 * (rates.length - 1))] + low;
    const step = (high / low) ** (1 / (N_MULTIPLIERS - 1));
    return [0, ...Array.from({ length: N_MULTIPLIERS }, (_, i) => low * step ** i)];
  }
}

// A table over kinds of states: those that no shared term tells apart are one kind.
class Interaction {
  constructor(bounds, { group, terms }) {
    const { moves, codes } = bounds.search;
    const representatives = [];
    this.kinds = group.map((k, axis) => {
      const { feature, codes: own } = moves[k];
      const numbers = new Map();
      representatives[axis] = [];
      return Int32Array.from(own, (code) => {
        const key = terms
          .map(({ features, lookup }) => lookup[features.indexOf(feature)][code])
          .join();
        if (!numbers.has(key)) {
          numbers.set(key, numbers.size);
          representatives[axis].push(code);
        }
        return numbers.get(key);
      });
    });
    this.strides = representatives.map((_, axis) =>
      representatives.slice(axis + 1).reduce((n, { length }) => n * length, 1),
    );
    const size = representatives.reduce((n, { length }) => n * length, 1);
    this.values = new Float64Array(size);
    const members = group.map((k) => moves[k].feature);
    for (const term of terms)
      this.addTerm(bounds, term, members, representatives, codes);
    this.highest = this.values.reduce((top, value) => Math.max(top, value), -Infinity);
  }

  // Add the alternating sum over all subsets of the members that change.
  addTerm(bounds, term, members, representatives, codes) {
    const n = members.length;
    const lookups = members.map((j) => term.lookup[term.features.indexOf(j)]);
    const now = members.map((j, axis) => lookups[axis][codes[j]]);
    const rest = cellOf(term, codes) - now.reduce((sum, step) => sum + step, 0);
    const steps = representatives.map((own, axis) => own.map((c) => lookups[axis][c]));
    const then = new Int32Array(n);
    for (let cell = 0; cell < this.values.length; cell++) {
      for (let axis = 0; axis < n; axis++) {
        const own = steps[axis];
        then[axis] = own[Math.floor(cell / this.strides[axis]) % own.length];
      }
      for (let changed = 0; changed < 1 << n; changed++) {
        let place = rest;
        let sign = 1;
        for (let axis = 0; axis < n; axis++) {
          const isChanged = (changed >> axis) & 1;
          place += isChanged ? then[axis] : now[axis];
          if (!isChanged) sign = -sign;
        }
        this.values[cell] += sign * bounds.odds(term, place);
      }
    }
  }
}

function cellOf({ features, lookup }, codes) {
  let cell = 0;
  for (let axis = 0; axis < features.length; axis++)
    cell += lookup[axis][codes[features[axis]]];
  return cell;
}

// The subsets of up to three of some sorted numbers, without the empty one.
function subsets(numbers) {
  const found = [];
  const visit = (start, chosen) => {
    for (let i = start; i < numbers.length; i++) {
      const next = [...chosen, numbers[i]];
      found.push(next);
      if (next.length < 3) visit(i + 1, next);
    }
  };
  visit(0, []);
  return found;
}
