// ---- what the page was given
// Model text is data: it is only ever set as the text of an element. Nothing here parses HTML or runs a text.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("index").textContent);
const state = {
  task: 0, run: 0, other: -1, at: 0, metric: "", sort: "value", down: false, words: "", bin: -1, only: "", side: "a",
  whole: false, keys: true, every: false, changes: false,
};
const ROW = matchMedia("(pointer: coarse)").matches ? 44 : 34; // pixels
const BINS = 20;
const TIE = 5e-9; // values are rounded to 8 digits
const REPORTED = 6; // results of a document that stand before the fold: tables begin with what one reports
const SVG = "http://www.w3.org/2000/svg";
const VIEWS = {
  timeline: timelineView, summary: summaryView, evidence: evidenceView, report: reportView, tree: treeView,
  text: textView,
};

// ---- elements

function put(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (![null, undefined, false].includes(value)) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => ![null, undefined, false].includes(child)));
  return node;
}

function choice(name, id, options, chosen, act) {
  const items = options.map(([value, shown]) => el("option", { value, selected: value === chosen }, shown));
  const select = el("select", { id, onchange: (event) => act(event.target.value) }, items);
  return el("label", {}, el("span", {}, name), select);
}

function table(kind, heads, rows, ...others) {
  return el("table", { class: kind }, others, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
}

const el = (name, attributes, ...children) => put(document.createElement(name), attributes, children);
const draw = (name, attributes, ...children) => put(document.createElementNS(SVG, name), attributes, children);
const fill = (id, ...children) => $(id).replaceChildren(...children.flat(Infinity).filter(Boolean));
const button = (label, act, attributes) => el("button", { type: "button", onclick: act, ...attributes }, label);
const fold = (title, ...children) => el("details", {}, el("summary", {}, title), ...children);
const bullets = (items, kind) => el("ul", { class: kind }, items.map((item) => el("li", {}, item)));
const soft = (...children) => el("span", { class: "soft" }, ...children);
const prose = (value, more) => el("div", { class: "prose", dir: "auto", ...more }, value);
const note = (kind, ...children) => el("p", { class: kind }, ...children);
const region = (name) => ({ tabindex: "0", role: "region", "aria-label": name });
const rawText = (name, value) => prose(value, { class: "prose raw", ...region(name) });
const label = (content, x, y, anchor, more) => draw("text", { x, y, "text-anchor": anchor, ...more }, content);
const means = (definition) => (definition ? { "data-means": definition } : {});
const marked = (pieces) => pieces.map(([piece, mark]) => (mark ? el("mark", { class: mark }, piece) : piece));
const isNumber = (value) => typeof value === "number" && !Number.isNaN(value);
const number = (value, digits = 3) => (isNumber(value) ? value.toFixed(digits) : "–");
const sign = (value) => (value > 0 ? "+" : value < 0 ? "−" : "");
const signed = (value) => (isNumber(value) ? sign(value) + number(Math.abs(value)) : "–");
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const short = (name, most = 24) =>  // the labels of two runs often differ at the end
  (name.length > most ? `${name.slice(0, most - 11)}…${name.slice(-10)}` : name);

// The definition of a metric below its name, while the pointer or the focus is on it, until Escape.
function defined({ target, type, key }) {
  const node = target.closest?.("[data-means]"), tip = $("definition");
  if (target === tip || (type === "keydown" && key !== "Escape")) return;
  document.querySelector("[aria-describedby=definition]")?.removeAttribute("aria-describedby");
  tip.hidden = !node || type === "keydown";
  if (tip.hidden) return;
  node.setAttribute("aria-describedby", "definition");
  tip.textContent = node.dataset.means;
  const { left, bottom } = node.getBoundingClientRect();
  tip.style.left = `${scrollX + Math.max(8, Math.min(left, document.body.clientWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${scrollY + bottom}px`;
}

// ---- the chosen task, runs and metric

const task = () => data.tasks[state.task];
const runA = () => task().runs[state.run];
const runB = () => task().runs[state.other];
const metricName = () => state.metric || task().headline;
const metricOf = (name, of = task()) => of.metrics.find((metric) => metric.key === name);
const meaning = (name, of) => metricOf(name, of)?.means || "";
const term = (name, of) => el("span", { ...means(meaning(name, of)), tabindex: meaning(name, of) ? 0 : null }, name);
const isLower = () => metricOf(metricName())?.higher === false;
const valueOf = (run, at, name = metricName()) => (run.columns[name] ? run.columns[name][at] : NaN);
const topicOf = (run, at) => (run.topics ? run.topics[at] : "");

const indices = new WeakMap();
function indexOf(run, id) {
  if (!indices.has(run)) indices.set(run, new Map(run.ids.map((own, at) => [own, at])));
  return indices.get(run).get(id) ?? -1;
}

// For each document of run A: its index in run B, and how far its score is above the score there.
let cachedPairs = {};
function pairs() {
  const key = JSON.stringify([state.task, state.run, state.other, metricName()]);
  if (cachedPairs.key === key) return cachedPairs;
  const a = runA(), b = runB();
  const partner = Int32Array.from(a.ids, (id) => (b ? indexOf(b, id) : -1));
  const above = Float64Array.from(partner, (other, at) => (other < 0 ? NaN : valueOf(a, at) - valueOf(b, other)));
  cachedPairs = { key, partner, above, n: { won: 0, tied: 0, lost: 0, "": 0 } };
  above.forEach((_, at) => { cachedPairs.n[outcome(at)] += 1; });
  return cachedPairs;
}

// The score in run B of a document of run A.
function valueOfB(at, name = metricName()) {
  return runB() && pairs().partner[at] >= 0 ? valueOf(runB(), pairs().partner[at], name) : NaN;
}

function outcome(at) {
  const above = pairs().above[at] * (isLower() ? -1 : 1);
  return Number.isNaN(above) ? "" : Math.abs(above) < TIE ? "tied" : above > 0 ? "won" : "lost";
}

// What `tls-tasks compare` says of runs A and B, from A's side.
function comparison() {
  const isFirst = state.run < state.other;
  const [left, right] = isFirst ? [state.run, state.other] : [state.other, state.run];
  const found = task().pairs[`${left}.${right}`]?.[metricName()];
  if (!found) return null;
  const [difference, low, high, p, wins, ties, losses, units, least] = found; // of the second run against the first
  const same = { p, tied: ties, units, least };
  if (!isFirst) return { difference, low, high, won: wins, lost: losses, ...same };
  return { difference: -difference, low: low && -high, high: low && -low, won: losses, lost: wins, ...same };
}

// ---- one axis for the plot, the scatter, the filter and the bars of the list

const axes = new Map();
function axisOf(name = metricName(), of = task()) {
  const known = metricOf(name, of)?.range, key = `${of.name} ${name}`;
  if (known && state.whole) return known;
  if (!axes.has(key)) axes.set(key, cutAxis(known, extremes(name, of)));
  return axes.get(key);
}

function extremes(name, of) {
  let low = Infinity, high = -Infinity;
  const take = (value) => {
    if (isNumber(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  };
  for (const run of of.runs) {
    [run.values[name], ...(run.intervals[name] || [])].forEach(take);
    (run.columns[name] || []).forEach(take);
  }
  take(of.among?.values[name]);
  return low > high ? [0, 1] : [low, high];
}

// A share has the axis 0 to 1; an empty end is cut where more than half of the axis would be empty.
function cutAxis(known, [least, high]) {
  if (known && least === high) return known;
  const low = least >= 0 && !(known && least > 0.5) ? 0 : least;
  const step = stepOf(low, high), ends = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  if (ends[0] === ends[1]) ends[1] += step;
  const isWide = known && ends[1] - ends[0] > (known[1] - known[0]) / 2;
  return isWide ? known : known ? [Math.max(known[0], ends[0]), Math.min(known[1], ends[1])] : ends;
}

function stepOf(low, high) {
  const rough = (high - low || 1) / 4, unit = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= rough * 0.999) * unit;
}

function ticks([low, high]) {
  const step = stepOf(low, high), n = Math.floor((high - low) / step + 1e-6);
  return Array.from({ length: n + 1 }, (_, at) => Math.ceil(low / step - 1e-9) * step + at * step);
}

const tickLabel = (value) => String(Number(value.toPrecision(3)));
const share = (value, [low, high]) => Math.max(0, Math.min(1, (value - low) / (high - low)));
const percent = (value, ends) => `${(100 * share(value, ends)).toFixed(2)}%`;
const binOf = (value, ends, n) => Math.min(n - 1, Math.floor(share(value, ends) * n));

function histogram(run, name, ends, n) {
  const counts = new Uint32Array(n);
  for (const value of run.columns[name] || []) if (isNumber(value)) counts[binOf(value, ends, n)] += 1;
  return counts;
}

// ---- the head: a sentence, and every run as a dot on its interval over a pile of its documents

// More runs than these are shown only when asked for: the best by the headline, and the chosen ones.
const FOLDED = 5;
function shownRuns(of, taskAt) {
  const sign = metricOf(of.headline, of)?.higher === false ? -1 : 1;
  const worth = (at) => {
    const value = of.runs[at].values[of.headline];
    return isNumber(value) ? sign * value : -Infinity;
  };
  const order = [...of.runs.keys()].sort((a, b) => worth(b) - worth(a) || a - b);
  const isChosen = (at) => taskAt === state.task && [state.run, state.other].includes(at);
  return state.every ? order : order.filter((at, rank) => rank < FOLDED || isChosen(at));
}

const tint = (at) => (at === state.run ? "a" : at === state.other ? "b" : "c");

function dot(kind, x, y) {
  if (kind !== "b") return draw("circle", { class: `dot ${kind}`, cx: x, cy: y, r: 5 });
  const square = { class: "dot b", x: -4.5, y: -4.5, width: 9, height: 9, transform: "rotate(45)" };
  return draw("svg", { x, y, overflow: "visible" }, draw("rect", square));
}

function line(kind, from, to, ends, y1, y2) {
  return draw("line", { class: kind, x1: percent(from, ends), x2: percent(to, ends), y1, y2 });
}

function runPlot(run, name, ends, kind) {
  const counts = histogram(run, name, ends, 40), most = Math.max(1, ...counts), interval = run.intervals[name];
  const pile = [...counts].map((n, at) => {
    const height = Math.max(1.5, (15 * n) / most);
    return n ? draw("rect", { class: "pile", x: `${at * 2.5 + 0.15}%`, width: "2.2%", y: 36 - height, height }) : null;
  });
  const whisker = `whisker ${kind}${run.doubtful.includes(name) ? " doubtful" : ""}`;
  return draw("svg", { class: "plot", "aria-hidden": "true" },
    ticks(ends).map((tick) => line("grid", tick, tick, ends, 0, "100%")), pile,
    interval && line(whisker, ...interval, ends, 11, 11),
    isNumber(run.values[name]) && dot(kind, percent(run.values[name], ends), 11));
}

function intervalText(run, name, digits) {
  const interval = run.intervals[name], doubt = run.doubtful.includes(name) ? " †" : "";
  return interval ? `${number(interval[0], digits)} to ${number(interval[1], digits)}${doubt}` : "";
}

function runRow(of, taskAt, runAt, common, isFirst, n) {
  const run = of.runs[runAt];
  const isHere = taskAt === state.task, name = isHere ? metricName() : of.headline, kind = isHere ? tint(runAt) : "c";
  const ends = common && metricOf(name, of)?.range ? common : axisOf(name, of);
  const ofTask = { scope: "rowgroup", rowspan: n + isNumber(of.among?.values[name]), class: "task" };
  const pressed = { "aria-pressed": String(isHere && runAt === state.run), class: kind };
  return el("tr", { class: isHere ? "here" : null },
    common && isFirst && el("th", ofTask, button(of.name, () => choose({ task: taskAt, run: 0 })), soft(term(name, of))),
    el("th", { scope: "row" }, button(run.model, () => choose({ task: taskAt, run: runAt }), pressed),
      soft(count(run.n, "document"))),
    el("td", { class: "cell" }, runPlot(run, name, ends, kind)),
    el("td", { class: "figure" }, el("b", {}, number(run.values[name])), soft(intervalText(run, name))));
}

// What people's references reach against each other, which no run has: a stroke without an interval.
function amongRow(of, taskAt, common) {
  const name = taskAt === state.task ? metricName() : of.headline, value = of.among?.values[name];
  const ends = common && metricOf(name, of)?.range ? common : axisOf(name, of);
  return isNumber(value) && el("tr", {}, el("th", { scope: "row", class: "soft" }, of.among.name, soft(of.among.about)),
    el("td", { class: "cell" }, draw("svg", { class: "plot", "aria-hidden": "true" },
      ticks(ends).map((tick) => line("grid", tick, tick, ends, 0, "100%")),
      line("mean", value, value, ends, "15%", "85%"))),
    el("td", { class: "figure" }, el("b", {}, number(value))));
}

function plot() {
  const isMany = data.tasks.length > 1, ends = isMany ? [0, 1] : axisOf();
  const rows = data.tasks.map((of, at) => {
    const shown = shownRuns(of, at);
    return [shown.map((runAt, rank) => runRow(of, at, runAt, isMany && ends, !rank, shown.length)),
      amongRow(of, at, isMany && ends)];
  });
  const isDoubtful = data.tasks.some((of) => of.runs.some((run) => run.doubtful.includes(of.headline)));
  const labels = ticks(ends).map((tick) => label(tickLabel(tick), percent(tick, ends), 12, "middle"));
  const names = [...(isMany ? ["task"] : []), "run", "plot", "value, interval"];
  const heads = names.map((name) => el("th", { scope: "col", class: "unseen" }, name));
  const doubt = " Dashed, †: unreliable interval: fewer than 8 topics or documents, or no variation.";
  const caption = isMany ? ["The headline result of each task with its 95 % interval."]
    : [term(metricName()), " with its 95 % interval; grey bars: documents by score."];
  const axis = el("tr", {}, isMany && el("td"), el("td"),
    el("td", { class: "cell" }, draw("svg", { class: "axis", "aria-hidden": "true" }, labels)), el("td"));
  const kind = `forest${isMany ? " dense" : ""}`;
  return table(kind, heads, rows, el("caption", {}, caption, isDoubtful && doubt), el("tfoot", {}, axis));
}

function sentence() {
  const a = runA(), b = runB(), name = metricName(), said = (run, kind) => el("b", { class: kind }, run.model);
  if (!isNumber(a.values[name]) || (b && !(pairs().n.won + pairs().n.tied + pairs().n.lost))) {
    const lacking = [a, b].filter((run) => run && !(run.columns[name] || []).some(isNumber)).map((run) => run.model);
    const have = lacking.length > 1 ? "have" : "has";
    const why = lacking.length ? `${lacking.join(" and ")} ${have} no document with a score`
      : "the runs have no document in common";
    const advice = task().judged && lacking.length ? ": run lm_eval with a judge, --metadata '{\"judge\": …}'" : "";
    return el("p", { class: "lead" }, `Nothing to ${b ? "compare" : "show"} on ${name}: ${why}${advice}.`);
  }
  if (!b) {
    const interval = a.intervals[name] ? ` (95 % interval ${intervalText(a, name)})` : "";
    return el("p", { class: "lead" }, said(a, "a"), " scores ", el("b", {}, number(a.values[name])),
      " on ", term(name), `${interval}, over ${count(a.n, "document")}.`);
  }
  const test = comparison(), n = test || pairs().n, above = test ? test.difference : a.values[name] - b.values[name];
  const order = above * (isLower() ? -1 : 1) > 0 ? " ahead of " : " behind ";
  const gap = Math.abs(above) < 5e-4 ? "level with " : [el("b", {}, number(Math.abs(above))), order];
  const cannot = test && test.p >= 0.05 && test.least >= 0.05
    ? ` ${count(test.units, task().unit)} are too few to show it: their p is never below ${number(test.least)}.` : "";
  const ends = test && isNumber(test.low) ? `${signed(test.low)} to ${signed(test.high)}` : "";
  const range = ends && `95 % interval of the difference ${ends}, `;
  const p = test ? ` (${range}p ${test.p < 0.001 ? "< 0.001" : `= ${number(test.p)}`})` : "";
  const all = count(n.won + n.tied + n.lost, "document");
  return el("p", { class: "lead" }, said(a, "a"), " is ", gap, said(b, "b"), " on ", term(name), `${p}: it wins ${n.won}, `
    + `ties ${n.tied} and loses ${n.lost} of ${all} with a score for both.${cannot}`, soft(` ${task().edition}`));
}

// Each document that both runs answered: A across, B up; above the diagonal B is higher.
function versus() {
  const isBinary = [runA(), runB()].every((run) => (run.columns[metricName()] || []).every((value) =>
    [0, 1].includes(value) || Number.isNaN(value)));
  return isBinary ? fourCells() : scatter();
}

// A binary metric: how many documents both, one or neither run got right.
function fourCells() {
  const cells = { "1 1": [], "1 0": [], "0 1": [], "0 0": [] };
  runA().ids.forEach((_, at) => cells[`${valueOf(runA(), at)} ${valueOfB(at)}`]?.push(at));
  const cell = (key) => el("td", { class: "figure" }, button(String(cells[key].length), () => open(cells[key][0]),
    { disabled: !cells[key].length, "aria-label": `${count(cells[key].length, "document")}, ${key}: open the first` }));
  const head = (text, scope, kind) => el("th", { scope, class: kind }, text);
  const [a, b] = [runA(), runB()].map((run) => short(run.model, 20));
  return table("cells", [el("td"), head(`◆ ${b}: 1`, "col", "b"), head(`◆ ${b}: 0`, "col", "b")],
    [el("tr", {}, head(`● ${a}: 1`, "row", "a"), cell("1 1"), cell("1 0")),
      el("tr", {}, head(`● ${a}: 0`, "row", "a"), cell("0 1"), cell("0 0"))],
    el("caption", {}, `Documents by ${metricName()} of both runs`));
}

function scatter() {
  const size = 208, ends = axisOf(), grain = runA().n > 1500 ? 5 : 0.1, spots = new Map();
  const near = (value) => Math.round((share(value, ends) * size) / grain) * grain;
  runA().ids.forEach((_, at) => {
    const spot = `${near(valueOf(runA(), at))} ${near(valueOfB(at))}`;
    if (outcome(at)) spots.set(spot, spots.get(spot) || []).get(spot).push(at);
  });
  const most = Math.max(1, ...[...spots.values()].map((members) => members.length));
  const points = [...spots].map(([spot, members]) => {
    const [x, y] = spot.split(" ").map(Number), first = members[0];
    const next = () => open(members[(members.indexOf(state.at) + 1) % members.length]);
    const more = members.length > 1 ? `, and ${members.length - 1} more` : "";
    const title = `${runA().ids[first]}: ${number(valueOf(runA(), first))} and ${number(valueOfB(first))}${more}`;
    const place = { cx: x, cy: size - y, r: 3 + 5 * Math.sqrt((members.length - 1) / most) };
    return draw("circle", { class: `point ${outcome(first)}`, ...place, onclick: next }, draw("title", {}, title));
  });
  const name = `Each document's ${metricName()}: ${runA().model} across, ${runB().model} up`;
  const turned = { class: "b", transform: `translate(-10,${size / 2}) rotate(-90)` }, [low, high] = ends.map(tickLabel);
  const frame = draw("g", { transform: "translate(26,8)" }, draw("rect", { class: "frame", width: size, height: size }),
    draw("line", { class: "grid", x1: 0, y1: size, x2: size, y2: 0 }), points,
    label(low, 0, size + 12, "start"), label(high, size, size + 12, "end"), label(high, -5, 8, "end"),
    label(`● ${short(runA().model, 20)} →`, size / 2, size + 14, "middle", { class: "a" }),
    label(`◆ ${short(runB().model, 20)} →`, 0, 0, "middle", turned));
  return draw("svg", { class: "scatter", viewBox: "0 0 242 242", role: "img", "aria-label": name }, frame);
}

function resultTable() {
  const { runs, name, signatures } = task();
  const metrics = task().metrics.filter(({ key }) => runs.some((run) => isNumber(run.values[key])));
  const pick = (key) =>
    button(key, () => choose({ metric: key }), { ...means(meaning(key)), "aria-pressed": String(key === metricName()) });
  const rows = metrics.map(({ key, higher }) => el("tr", {},
    el("th", { scope: "row" }, pick(key), soft({ true: " ↑", false: " ↓" }[higher] || "")),
    runs.map((run) => el("td", { class: "figure" }, number(run.values[key], 4),
      soft(" ", intervalText(run, key, 4))))));
  const models = runs.map((run, at) => el("th", { scope: "col", class: `figure ${tint(at)}` }, run.model));
  const heads = [el("th", { scope: "col" }, "metric"), ...models];
  const notes = runs.map((run) => [run.model, run.data].filter(Boolean).join(": "));
  return fold(`All ${metrics.length} results of ${name}, its settings and signatures`,
    el("div", { class: "wide", ...region("All results") }, table("results", heads, rows)),
    bullets([...notes, ...signatures.map((text) => el("code", {}, text))], "soft"));
}

function showHead() {
  const { runs } = task(), problems = runs.flatMap((run) => run.problems), isMany = runs.length > 1;
  const models = runs.map((run, at) => [at, run.model]), turn = () => choose({ whole: !state.whole });
  const others = [[-1, "no other run"], ...models.filter(([at]) => at !== state.run)];
  const metrics = task().metrics.map(({ key }) => [key, key]).filter(([key]) => runs.some((run) => run.columns[key]));
  const tasks = data.tasks.map((of, at) => [at, of.name]);
  fill("choices",
    tasks.length > 1 && choice("Task", "task", tasks, state.task, (at) => choose({ task: Number(at), run: 0 })),
    choice("Metric", "metric", metrics, metricName(), (metric) => choose({ metric })),
    isMany && choice("Run", "run", models, state.run, (at) => choose({ run: Number(at) })),
    isMany && choice("against", "other", others, state.other, (at) => choose({ other: Number(at) })),
    data.tasks.some((of) => of.runs.length > FOLDED) && button(state.every ? "Best runs only" : "Show all runs",
      () => choose({ every: !state.every })),
    metricOf(metricName())?.range && button(state.whole ? "Cut the axis" : "Axis 0 to 1", turn));
  document.body.classList.toggle("alone", runA().ids.length === 1);
  fill("headline", sentence(), plot());
  fill("versus", runB() && versus());
  const trouble = fold(`${count(problems.length, "problem")} of the logs`, bullets(problems, "trouble"));
  fill("results", resultTable(), problems.length > 0 && trouble,
    el("p", { class: "tools" },
      button("Copy Markdown", (event) => copy(event.target, markdown())),
      button("Copy LaTeX", (event) => copy(event.target, latex())),
      button("Copy CSV", (event) => copy(event.target, csv())),
      button("Copy picture", (event) => copyPicture(event.target)),
      button("Save SVG", (event) => save(event.target, svgBlob(), "svg"))));
}

// ---- the list of documents, of which only the visible rows are drawn

let listed = [];
const searched = new Map(); // id of a view -> all words of its document, in lower case
function wordsOf(at) {
  const key = `${state.task}.${state.run}.${at}`;
  if (!searched.has(key)) {
    const a = runA(), prompt = block(`prompt-${state.task}.${a.prompts[at]}`);
    const texts = [a.ids[at], topicOf(a, at), prompt, viewOf(a, at)];
    searched.set(key, texts.map(joinedText).join(" ").toLowerCase());
  }
  return searched.get(key);
}

// All texts in a value; of a marked piece the text without its mark.
function joinedText(value) {
  if (typeof value === "string") return value;
  if (!value || typeof value !== "object") return "";
  const isPiece = Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");
  const isText = Array.isArray(value) && value.every((part) => Array.isArray(part) && typeof part[0] === "string");
  return isPiece ? value[0] : Object.values(value).map(joinedText).join(isText ? "" : " ");
}

function chosenRows() {
  const words = state.words.toLowerCase(), ends = axisOf(), a = runA();
  let rows = [...a.ids.keys()];
  if (words) rows = rows.filter((at) => wordsOf(at).includes(words));
  if (state.bin >= 0) rows = rows.filter((at) => binOf(valueOf(a, at), ends, BINS) === state.bin); // never so of NaN
  if (state.only === "lost words") rows = rows.filter((at) => a.troubled.includes(at));
  else if (state.only === "unread") rows = rows.filter((at) => isUnread(at));
  else if (state.only) rows = rows.filter((at) => outcome(at) === state.only);
  if (state.sort === "order") return state.down ? rows.reverse() : rows;
  const of = state.sort === "difference" ? (at) => Math.abs(pairs().above[at]) : (at) => valueOf(a, at);
  const keys = new Map(rows.map((at) => [at, of(at)])), isLast = (value) => Number(Number.isNaN(value));
  return rows.sort((left, right) => {
    const [x, y] = [keys.get(left), keys.get(right)];
    return isLast(x) - isLast(y) || (state.down ? y - x : x - y) || left - right;
  });
}

const isUnread = (at) => ["parse_failures", "evidence_parse_failures", "empty_answers"].some(
  (key) => valueOf(runA(), at, key) > 0);

// How many documents have which score, on the axis of everything else; each bar is a filter.
function binFilter() {
  const ends = axisOf(), counts = histogram(runA(), metricName(), ends, BINS), most = Math.max(1, ...counts);
  const border = (at) => tickLabel(ends[0] + ((ends[1] - ends[0]) * at) / BINS);
  const bin = (name, at, child) => {
    const onchange = () => { state.bin = at; showList(); }, checked = state.bin === at;
    const radio = { type: "radio", name: "bin", value: at, class: "unseen", "aria-label": name, checked, onchange };
    return el("label", { class: at < 0 ? "every" : null }, el("input", radio), child);
  };
  const bars = [...counts].map((n, at) => {
    const bar = el("span");
    bar.style.height = n ? `${Math.max(2, (34 * n) / most)}px` : "0";
    return bin(`${count(n, "document")} from ${border(at)} to ${border(at + 1)}`, at, bar);
  });
  const labels = el("span", { class: "ends", "aria-hidden": "true" }, soft(border(0)), soft(border(BINS)));
  return el("fieldset", { class: "bins" }, el("legend", { class: "unseen" }, `Documents by ${metricName()}`),
    bin("all documents", -1, el("span", {}, "all")), bars, labels);
}

function showDocuments() {
  const set = (change) => { Object.assign(state, change); showDocuments(); }, troubled = runA().troubled.length;
  const filter = (only, n, tone) => button(`${only} ${n}`, () => set({ only: state.only === only ? "" : only }),
    { class: tone, "aria-pressed": String(state.only === only) });
  const outcomes = runB() ? [["won", "a"], ["tied", ""], ["lost", "b"]] : [];
  const filters = outcomes.map(([only, tone]) => filter(only, pairs().n[only], tone));
  const unread = [...runA().ids.keys()].filter(isUnread).length;
  if (troubled) filters.push(filter("lost words", troubled, "bad"));
  if (unread) filters.push(filter("unread", unread, "bad"));
  const sorts = [["value", `by ${metricName()}`], ["order", "in the log's order"]];
  if (runB()) sorts.unshift(["difference", "by size of difference"]);
  const sort = choice("", "sort", sorts, state.sort, (by) => set({ sort: by }));
  const turn = { "aria-label": state.down ? "highest first" : "lowest first" };
  const where = "Find words in answers, references and questions";
  const find = { type: "search", id: "words", value: state.words, "aria-label": where,
    placeholder: `Find words in ${count(runA().ids.length, "document")}` };
  fill("controls", el("input", { ...find, oninput: (event) => { state.words = event.target.value; showList(); } }),
    el("div", { class: "sort" }, sort, button(state.down ? "↓" : "↑", () => set({ down: !state.down }), turn)),
    filters.length > 0 && el("div", { class: "only" }, filters), binFilter());
  $("sort").setAttribute("aria-label", "Order of the documents");
  showList();
}

function showList() {
  listed = chosenRows();
  const n = runA().ids.length, all = count(n, "document");
  $("rows").style.height = `${listed.length * ROW}px`;
  $("count").textContent = listed.length === n ? all : `${listed.length} of ${all}`;
  if (listed.length && !listed.includes(state.at)) return open(listed[0]);
  scrollToCurrent();
  repaint();
  return writeAddress();
}

let paintedFrom = -1;
const painted = new Map(); // rank -> row
function paint() {
  const pane = $("list"), from = Math.max(0, Math.floor(pane.scrollTop / ROW) - 8);
  if (from === paintedFrom) return;
  paintedFrom = from;
  const to = Math.min(listed.length, from + Math.ceil(pane.clientHeight / ROW) + 18);
  for (const [rank, row] of painted) if (rank < from || rank >= to) painted.delete(rank) && row.remove();
  // A row that stays is not put in again: between a press and its release that would swallow the click.
  for (let rank = to - 1; rank >= from; rank -= 1) {
    if (painted.has(rank)) continue;
    painted.set(rank, documentRow(listed[rank], rank));
    $("rows").insertBefore(painted.get(rank), painted.get(rank + 1) ?? null);
  }
  pane.setAttribute("aria-activedescendant", $(`row-${state.at}`) ? `row-${state.at}` : "");
}

const resized = () => { paintedFrom = -1; paint(); };
const repaint = () => { painted.clear(); $("rows").replaceChildren(); resized(); };

function documentRow(at, rank) {
  const name = runA().ids[at], value = runB() ? signed(pairs().above[at]) : number(valueOf(runA(), at));
  const title = runA().titles?.[at] || "";
  const place = { "aria-selected": String(at === state.at), "aria-posinset": rank + 1, "aria-setsize": listed.length };
  const row = el("div", { class: "row", role: "option", id: `row-${at}`, ...place, onclick: () => open(at) },
    el("span", { class: "name", title: `${name} ${title}` }, el("span", {}, name || "(no name)"), soft(` ${title}`)),
    scoreBar(at, metricName()),
    el("span", { class: `figure ${runB() ? outcome(at) : ""}` }, value));
  row.style.transform = `translateY(${rank * ROW}px)`;
  return row;
}

// A bar from 0 for one run, a dumbbell for two; where the axis does not begin at 0 a dot.
function scoreBar(at, name, mean) {
  const ends = axisOf(name), value = valueOf(runA(), at, name), other = valueOfB(at, name);
  const isBar = !runB() && ends[0] === 0;
  return draw("svg", { class: "bar", "aria-hidden": "true" }, line("rail", ...ends, ends, 8, 8),
    isBar && isNumber(value) && line("fill", 0, value, ends, 8, 8),
    isNumber(value) && isNumber(other) && line("gap", value, other, ends, 8, 8),
    isNumber(mean) && line("mean", mean, mean, ends, 1, 15), isNumber(other) && dot("b", percent(other, ends), 8),
    !isBar && isNumber(value) && dot("a", percent(value, ends), 8));
}

function scrollToCurrent() {
  const pane = $("list"), top = listed.indexOf(state.at) * ROW;
  const isVisible = top >= pane.scrollTop && top + ROW <= pane.scrollTop + pane.clientHeight;
  if (top >= 0 && !isVisible) pane.scrollTop = Math.max(0, top - 3 * ROW);
}

function step(by) {
  const rank = listed.indexOf(state.at), next = rank < 0 ? 0 : Math.max(0, Math.min(listed.length - 1, rank + by));
  if (listed.length) open(listed[next]);
}

function open(at) {
  state.at = at;
  scrollToCurrent();
  repaint();
  showDocument();
}

// ---- one document

// A view or prompt; null where it stands in a part of the file that the browser has not read yet.
const block = (id) => ($(id) ? JSON.parse($(id).textContent) : null);
const viewOf = (run, at) => block(`view-${state.task}.${task().runs.indexOf(run)}.${at}`);

function pictureOf(view) {
  const problem = view.problem && `This document could not be explained: ${view.problem}`;
  return [problem && note("trouble", problem), VIEWS[view.kind]?.(view)];
}

const plain = (pieces) => pieces.map(([piece]) => piece).join("");

// What the model wrote, with the passages whose words are lost marked; or against the other run's, word by word.
function responseOf(run, view, other) {
  const against = state.changes && other ? wordDifference(plain(view.response), plain(other.response))[0] : null;
  const lost = view.lost.length ? `, ${count(view.lost.length, "passage")} not read` : "";
  const text = prose(against || marked(view.response), { class: "prose raw", ...region(`Response of ${run.model}`) });
  return el("details", { open: true }, el("summary", {}, `The response as the model wrote it${lost}`), text,
    view.cut && soft(view.cut));
}

function scoreCell(at, name) {
  const [low, high] = axisOf(name).map(tickLabel), value = number(valueOf(runA(), at, name));
  const other = runB() && el("b", { class: "b" }, "◆", number(valueOfB(at, name)));
  const values = other ? [el("b", { class: "a" }, "●", value), other] : el("b", {}, value);
  const scale = el("span", { class: "scale" }, soft(low), scoreBar(at, name, runA().values[name]), soft(high));
  return el("div", {}, el("dt", {}, term(name)), el("dd", {}, values, scale));
}

function scoreStrip(at) {
  const names = task().metrics.map(({ key }) => key).filter((key) => runA().columns[key]);
  const ranked = names.filter((key) => key !== metricName() && metricOf(key).higher !== null);
  const shown = [metricName(), ...ranked].slice(0, REPORTED), rest = names.filter((key) => !shown.includes(key));
  const cells = (names) => el("dl", { class: "scores" }, names.map((name) => scoreCell(at, name)));
  const title = `${count(rest.length, "more score")}. Upright tick: the mean of ${short(runA().model)}.`;
  return [cells(shown), rest.length ? fold(title, cells(rest)) : null];
}

function sideOf(run, at, kind) {
  const view = viewOf(run, at);
  if (!view) {
    document.addEventListener("DOMContentLoaded", showDocument, { once: true });
    return soft("The file is being read …");
  }
  const partner = kind === "a" ? [runB(), runB() ? pairs().partner[state.at] : -1] : [runA(), state.at];
  const other = partner[0] && partner[1] >= 0 ? viewOf(...partner) : null;
  const head = el("h3", { class: `who ${kind}` }, run.model);
  const answer = (view) => [responseOf(run, view, other), el("h4", {}, "What was read from it"), pictureOf(view)];
  const answers = [view, ...view.repeats].map((one) => el("div", {}, answer(one)));  // of a document asked repeatedly
  return el("section", { class: `side-${kind}`, "aria-label": run.model }, head,
    answers.length > 1 ? el("div", { class: "two" }, answers) : answers);
}

function showDocument() {
  const a = runA(), at = state.at, other = runB() ? pairs().partner[at] : -1, rank = listed.indexOf(at);
  if (!a.ids.length) return fill("view", el("p", {}, "This run has no documents."));
  const walk = (arrow, name, by) =>
    button(arrow, () => step(by), { "aria-label": name, disabled: rank < 0 || !(rank + by in listed) });
  const side = (kind, name) => button(name, () => { state.side = kind; showDocument(); },
    { class: kind, "aria-pressed": String(state.side === kind) });
  const both = [[a, at, "a"], [runB(), other, "b"]];
  const shown = other < 0 ? [both[0]] : both.filter(([, , kind]) => [kind, "both"].includes(state.side));
  const name = a.ids[at] || "(no name)", topic = topicOf(a, at);
  const prompt = block(`prompt-${state.task}.${a.prompts[at]}`) || "The log does not say what was asked.";
  writeAddress();
  return fill("view",
    el("div", { class: "bar-top" }, el("h2", {}, name, topic && topic !== name && soft(` ${topic}`)),
      el("div", { class: "walk" }, walk("‹", "Previous document", -1),
        soft(rank < 0 ? "filtered out" : `${rank + 1} of ${listed.length}`), walk("›", "Next document", 1)),
      el("p", { class: "tools" }, button("Copy link", (event) => copy(event.target, location.href)),
        button("Copy text", (event) => copy(event.target, documentText(shown))))),
    scoreStrip(at),
    other >= 0 && el("div", { class: "sides", role: "group", "aria-label": "Whose answer" },
      side("a", `● ${short(a.model)}`), side("b", `◆ ${short(runB().model)}`), side("both", "both"),
      el("kbd", {}, "x"), soft("to flip"), el("kbd", {}, "d"),
      button("differences", turnChanges, { "aria-pressed": String(state.changes) })),
    runB() && other < 0 && el("p", { class: "trouble" }, `${runB().model} has no document of this name.`),
    el("div", { class: shown.length > 1 ? "two" : null }, shown.map((own) => sideOf(...own))),
    fold("The prompt", rawText("The prompt", prompt)));
}

// A text beside its target: words that only one of them has are marked.
function textView(view) {
  const [left, right] = wordDifference(view.answer || plain(view.response), view.target || "");
  return el("div", { class: "pair" }, el("section", {}, el("h4", { class: "predicted" }, "Answer"), prose(left)),
    view.target && el("section", {}, el("h4", { class: "reference" }, "Target"), prose(right)));
}

const LONGEST_DIFFERENCE = 1500; // words; the table below has the product of both lengths
function wordDifference(answer, target) {
  const [a, b] = [answer, target].map((text) => text.split(/(?<=\s)(?=\S)/));
  if (!target || Math.max(a.length, b.length) > LONGEST_DIFFERENCE) return [[answer], [target]];
  const isSame = (i, j) => i < a.length && j < b.length && a[i].trim() === b[j].trim();
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i][j] = isSame(i, j) ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const left = [], right = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const isSpurious = j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1]), both = isSame(i, j);
    if (both || isSpurious) left.push([a[i++], both ? "" : "spurious"]);
    if (both || !isSpurious) right.push([b[j++], both ? "" : "miss"]);
  }
  return [marked(left), marked(right)];
}

// ---- the address: a link to a document opens it again

function writeAddress() {
  const parts = { task: task().name, run: runA().model, document: runA().ids[state.at] ?? "" };
  if (runB()) parts.beside = runB().model;
  for (const key of ["metric", "words", "only"]) if (state[key]) parts[key] = state[key];
  try {
    history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
  } catch { /* a frame without an address, or a name with half a character in it */ }
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const at = data.tasks.findIndex((of) => of.name === parts.get("task")), { runs } = data.tasks[Math.max(0, at)];
  const run = Math.max(0, runs.findIndex((own) => own.model === parts.get("run")));
  const beside = runs.findIndex((own, place) => own.model === parts.get("beside") && place !== run);
  const other = at < 0 && runs.length === 2 ? 1 : beside;
  const asked = Object.fromEntries(["metric", "words", "only"].map((key) => [key, parts.get(key) || ""]));
  choose({ task: Math.max(0, at), run, other, metric: asked.metric, words: asked.words });
  if (asked.only) Object.assign(state, { only: asked.only }), showDocuments();
  const found = indexOf(runA(), parts.get("document"));
  if (found >= 0) open(found);
}

// Change what is chosen, and open the document that is first in the list: the worst, or where two runs differ most.
function choose(change) {
  const before = runA()?.ids[state.at], isOtherTask = "task" in change && change.task !== state.task;
  const isPair = data.tasks[change.task ?? state.task].runs.length === 2;
  Object.assign(state, isOtherTask ? { metric: "", other: isPair ? 1 : -1 } : {}, change, { bin: -1, only: "" });
  if (state.other === state.run) state.other = isPair ? 1 - state.run : -1;
  if (!metricOf(metricName())) state.metric = "";
  if (isOtherTask || "other" in change || "metric" in change) {
    Object.assign(state, runB() ? { sort: "difference", down: true } : { sort: "value", down: isLower() });
  }
  if (!runB()) state.side = "a";
  const kept = isOtherTask || "other" in change ? -1 : indexOf(runA(), before);
  state.at = kept >= 0 ? kept : chosenRows()[0] ?? 0;
  showHead();
  showDocuments();
  showDocument();
}

// ---- to take away

// The results that one reports, of each run, with intervals: for a table of a paper.
function reported() {
  const { runs, metrics } = task();
  const isRanked = ({ key, higher }) => higher !== null && runs.some((run) => isNumber(run.values[key]));
  const ranked = metrics.filter(isRanked).map(({ key }) => key);
  const keys = [...new Set([metricName(), ...(task().reported.length ? task().reported : ranked.slice(0, 4))])];
  return { keys, rows: runs.map((run) => [run, keys.map((key) => [run.values[key], run.intervals[key]])]) };
}

function latex() {
  const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  const safe = (text) => String(text).replace(/[\\&%$#_{}~^]/g, (sign) => special[sign] || `\\${sign}`);
  const range = (ends) => (ends ? ` {\\scriptsize [${ends.map((end) => number(end)).join(", ")}]}` : "");
  const { keys, rows } = reported(), line = (cells) => `${cells.join(" & ")} \\\\`;
  const of = ([run, cells]) => line([safe(run.model), ...cells.map(([value, ends]) => number(value) + range(ends))]);
  return ["% \\usepackage{booktabs}", ...[task().edition, ...task().signatures].map((text) => `% ${text}`),
    `\\begin{tabular}{l${"r".repeat(keys.length)}}`, "\\toprule", line(["run", ...keys.map(safe)]), "\\midrule",
    ...rows.map(of), "\\bottomrule", "\\end{tabular}"].join("\n");
}

// Text that a spreadsheet would take for a formula begins with an apostrophe.
function csv() {
  const text = (value) => `"${String(value).replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
  const raw = (value) => (isNumber(value) ? String(value) : ""), { keys, rows } = reported();
  const numbers = (cells) => cells.flatMap(([value, ends]) => [raw(value), raw(ends?.[0]), raw(ends?.[1])]);
  const heads = ["run", ...keys.flatMap((key) => [key, `${key}_low`, `${key}_high`]), "data", "signatures"];
  const last = [text(task().edition), text(task().signatures.join(" "))];
  const lines = rows.map(([run, cells]) => [text(run.model), ...numbers(cells), ...last]);
  return [heads, ...lines].map((row) => row.join(",")).join("\n");
}

function markdown() {
  const safe = (value) => String(value).replace(/[\\|`*_<>[\]]/g, "\\$&").replace(/\s+/g, " "), { runs } = task();
  const names = reported().keys;
  const range = (run, name) => (run.intervals[name] ? ` (${intervalText(run, name, 4)})` : "");
  const cells = (run) => names.map((name) => number(run.values[name], 4) + range(run, name)).join(" | ");
  return [`**${safe(task().name)}**. ${safe($("headline").querySelector(".lead").textContent)}`, "",
    `| run | ${names.map(safe).join(" | ")} |`, `|---|${names.map(() => "---:|").join("")}`,
    ...runs.map((run) => `| ${safe(run.model)} | ${cells(run)} |`), "",
    `${safe(task().edition)}. 95 % intervals in brackets.`, "",
    ...task().signatures.map((text) => `\`${text}\``)].join("\n");
}

function documentText(sides) {
  return [`${task().name}, ${runA().ids[state.at]}`, ...sides.map(([run, at]) => {
    const score = `${metricName()} ${number(valueOf(run, at), 4)}`;
    return `\n${run.model}: ${score}\n\n${plain(viewOf(run, at)?.response || [])}`;
  })].join("\n");
}

// The head as a picture by itself, in the light colours, for a paper or an issue.
function figure() {
  const { runs } = task(), ends = axisOf(), name = metricName(), height = 40 * runs.length + 70;
  const x = (value) => 200 + 380 * share(value, ends), tints = { a: "#0b57c4", b: "#8430ad", c: "#57606a" };
  const font = { fill: "#15181c", "font-size": 12, "font-family": "Helvetica, Arial, sans-serif" };
  const text = (content, at, y, anchor, weight) => label(content, at, y, anchor, { ...font, "font-weight": weight });
  const axis = ticks(ends).map((tick) => [text(tickLabel(tick), x(tick), height - 10, "middle"),
    draw("line", { x1: x(tick), x2: x(tick), y1: 40, y2: height - 26, stroke: "#e3e6ea" })]);
  const rows = runs.map((run, at) => {
    const y = 56 + 40 * at, color = tints[tint(at)], interval = run.intervals[name], middle = x(run.values[name]);
    const dashes = run.doubtful.includes(name) ? "3 3" : "none";
    const stroke = { y1: y, y2: y, stroke: color, "stroke-width": 2, "stroke-dasharray": dashes };
    const mark = tint(at) === "b" ? draw("path", { d: `M${middle - 6},${y}l6,-6l6,6l-6,6z`, fill: color })
      : draw("circle", { cx: middle, cy: y, r: 5, fill: color });
    return [interval && draw("line", { x1: x(interval[0]), x2: x(interval[1]), ...stroke }),
      isNumber(run.values[name]) && mark, text(short(run.model), 16, y + 4, "start", 600),
      text(number(run.values[name]), 630, y + 4, "end", 700), text(intervalText(run, name), 744, y + 4, "end")];
  });
  const size = { width: 760, height }, title = `${task().name}: ${name}, 95 % intervals; ${task().edition}`;
  return draw("svg", { xmlns: SVG, ...size, viewBox: `0 0 760 ${height}` }, draw("rect", { ...size, fill: "#fff" }),
    text(title, 16, 26, "start", 700), axis, rows);
}

function tell(node, said) {
  const before = node.dataset.label || (node.dataset.label = node.textContent);
  node.textContent = said;
  $("told").textContent = said;
  setTimeout(() => { node.textContent = before; }, 1200);
}

function copy(node, said) {
  const copied = navigator.clipboard?.writeText(said) || Promise.reject();
  copied.then(() => tell(node, "Copied"), () => tell(node, "Not allowed here"));
}

const svgBlob = () => new Blob([new XMLSerializer().serializeToString(figure())], { type: "image/svg+xml" });

function save(node, blob, kind) {
  const link = el("a", { href: URL.createObjectURL(blob), download: `${task().name}.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  tell(node, "Saved");
}

function copyPicture(node) {
  const image = new Image(), address = URL.createObjectURL(svgBlob());
  image.onload = () => {
    const canvas = el("canvas", { width: image.width * 2, height: image.height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => {
      const copied = navigator.clipboard?.write?.([new ClipboardItem({ "image/png": blob })]) || Promise.reject();
      copied.then(() => tell(node, "Copied"), () => save(node, blob, "png"));
    });
  };
  image.src = address;
}

// ---- start

function flip() {
  if (!runB() || pairs().partner[state.at] < 0) return;
  state.side = state.side === "a" ? "b" : "a";
  showDocument();
}

function turnChanges() {
  if (runB() && pairs().partner[state.at] >= 0) Object.assign(state, { changes: !state.changes }), showDocument();
}

const KEYS = {
  j: () => step(1), k: () => step(-1), x: flip, d: turnChanges, "/": () => $("words").focus(),
  Home: () => step(-Infinity), End: () => step(Infinity),
};
const LIST_KEYS = {
  ArrowDown: KEYS.j, ArrowUp: KEYS.k, Home: KEYS.Home, End: KEYS.End, PageDown: () => step(10), PageUp: () => step(-10),
  Enter: () => $("document").focus(),
};

function pressed(event) {
  const isTyping = event.target.closest("input:not([type=radio]):not([type=checkbox]), select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const act = (event.target.id === "list" && LIST_KEYS[event.key]) || (state.keys && KEYS[event.key]);
  if (!act) return;
  event.preventDefault();
  act();
}

function start() {
  const n = data.tasks.reduce((sum, of) => sum + of.runs.length, 0);
  const runs = `${count(n, "run")} of ${count(data.tasks.length, "task")}`;
  $("about").textContent = `${runs}, scored by tls-tasks ${data.version}`;
  document.documentElement.style.setProperty("--row", `${ROW}px`);
  for (const { columns } of data.tasks.flatMap((of) => of.runs)) {
    for (const key of Object.keys(columns)) columns[key] = Float64Array.from(columns[key], (value) => value ?? NaN);
  }
  addEventListener("keydown", pressed);
  for (const event of ["pointerover", "focusin", "keydown"]) document.addEventListener(event, defined);
  $("list").addEventListener("scroll", paint, { passive: true });
  $("keys").addEventListener("change", (event) => { state.keys = event.target.checked; });
  new ResizeObserver(resized).observe($("list"));
  addEventListener("hashchange", readAddress);
  // The documents stand behind this script: words of a link are looked for once all are read.
  document.addEventListener("DOMContentLoaded", () => { searched.clear(); if (state.words) readAddress(); });
  return data.tasks.length ? readAddress() : undefined;
}

start();
