"use strict";
// Model text is data: it is only ever set as the text of an element. Nothing here parses HTML or runs a text.
const data = JSON.parse(document.getElementById("data").textContent);
const state = { task: 0, run: 0, other: -1, document: 0, sort: "", down: false, words: "", most: "", even: false };
const SVG = "http://www.w3.org/2000/svg";
const STEP = 200;

function el(name, options = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function draw(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children.filter((child) => child));
}

const number = (value) => (value === null || value === undefined ? "NaN" : Number(value).toFixed(4));
const text = (value) => el("div", { class: "model", dir: "auto" }, value);

function segments(pieces) {
  return pieces.map(([piece, mark]) => (mark ? el("mark", { class: mark }, piece) : document.createTextNode(piece)));
}

const marked = (pieces) => el("p", { class: "model", dir: "auto" }, ...segments(pieces));

function panel(title, kind, ...children) {
  return el("div", { class: "panel" }, el("h3", { class: kind }, title), ...children);
}

function table(caption, heads, rows) {
  const headRow = el("tr", {}, ...heads.map(([label, kind]) => el("th", { scope: "col", class: kind }, label)));
  const body = rows.map((cells) => el("tr", {}, ...cells.map((cell, at) => el("td", { class: heads[at][1] }, cell))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption), el("thead", {}, headRow), el("tbody", {}, ...body)));
}

// ---- runs

const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

const headline = (task) => task.metrics.find((metric) => metric.higher) || task.metrics[0];

function overview() {
  const names = [...new Set(data.tasks.flatMap((task) => task.runs.map((run) => run.model)))];
  const cell = (task, name) => {
    const run = task.runs.find((run) => run.model === name);
    return el("td", { class: "number" }, run ? number(run.values[headline(task).key]) : "", run ? interval(run, headline(task).key) : null);
  };
  const heads = data.tasks.map((task) => el("th", { scope: "col", class: "number" }, task.name, el("div", { class: "soft small" }, headline(task).key)));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All runs by all tasks" },
    el("table", { id: "overview" }, el("caption", {}, `The first result of each task, with its 95% interval${doubt(data.tasks.flatMap((task) => task.runs))}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "run"), ...heads)),
      el("tbody", {}, ...names.map((name) => el("tr", {}, el("th", { scope: "row" }, name), ...data.tasks.map((task) => cell(task, name)))))));
}

function runsOf(task, at) {
  const shown = task.metrics.filter((metric) => metric.higher !== null);
  const order = task.order || { key: "", down: true };
  const runs = [...task.runs].sort((left, right) => compare(left.values[order.key], right.values[order.key], order.down));
  const head = shown.map((metric) => {
    const sorted = order.key === metric.key ? (order.down ? "descending" : "ascending") : "none";
    const act = () => {
      task.order = { key: metric.key, down: order.key === metric.key ? !order.down : true };
      fill("tasks", overview(), ...data.tasks.map(runsOf));
      document.querySelector(`[data-sort="${at}.${shown.indexOf(metric)}"]`).focus();
    };
    const button = el("button", { type: "button", "data-sort": `${at}.${shown.indexOf(metric)}`, on: { click: act } }, metric.key);
    return el("th", { scope: "col", class: "number", "aria-sort": sorted }, button);
  });
  const rows = runs.map((run) => el("tr", {},
    el("th", { scope: "row" }, run.model, el("div", { class: "soft small" }, `${run.documents.length} documents, ${run.data}`),
      run.effort ? el("div", { class: "soft small" }, run.effort) : null),
    ...shown.map((metric) => el("td", { class: "number" }, number(run.values[metric.key]), interval(run, metric.key)))));
  const problems = task.runs.flatMap((run) => run.problems).map((problem) => el("li", {}, problem));
  return el("article", {},
    el("h3", {}, task.name),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Runs of ${task.name}` },
      el("table", {}, el("caption", {}, `With 95% intervals over topics or documents${doubt(runs)}`),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "run"), ...head)), el("tbody", {}, ...rows))),
    problems.length ? el("ul", { class: "trouble" }, ...problems) : null,
    bars(task, runs),
    spread(task, runs),
    el("p", { class: "soft small" }, ...task.signatures.flatMap((line) => [el("code", {}, line), el("br")])));
}

// What the dagger says, where there is one.
const doubt = (runs) => (runs.some((run) => run.doubtful.length)
  ? "; † unreliable interval: fewer than 8 topics or documents, or no variation" : "");

function interval(run, key) {
  const found = run.intervals[key];
  return found ? el("div", { class: "soft small" }, `[${number(found[0])}, ${number(found[1])}]${run.doubtful.includes(key) ? " †" : ""}`) : null;
}

// How the scores of the documents are distributed: a row of ten bars for each run.
function spread(task, runs) {
  const key = headline(task).key, bins = 10, width = 640, left = 200, row = 40;
  const scores = runs.map((run) => run.documents.map((one) => one.values[key]).filter((value) => typeof value === "number"));
  const all = scores.flat();
  if (all.length < 2) return null;
  const low = Math.min(0, ...all), high = Math.max(1, ...all), step = (width - left - 70) / bins;
  const counts = scores.map((own) => own.reduce((found, value) => {
    found[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))] += 1;
    return found;
  }, Array(bins).fill(0)));
  const height = runs.length * row + 40;
  const label = `Documents by ${key}, in ten steps from ${low} to ${high}: ` + runs.map((run, at) => `${run.model} ${counts[at].join(" ")}`).join("; ");
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "spread" });
  picture.append(draw("text", { x: 0, y: 14 }, `documents by ${key}`));
  runs.forEach((run, at) => {
    const floor = 20 + (at + 1) * row, most = Math.max(1, ...counts[at]);
    picture.append(draw("text", { x: 0, y: floor - 8 }, short(run.model)), draw("line", { class: "axis", x1: left, x2: left + bins * step, y1: floor, y2: floor }));
    counts[at].forEach((n, bin) => {
      const tall = ((row - 10) * n) / most;
      const bar = draw("rect", { class: "bar", x: left + bin * step + 1, y: floor - tall, width: step - 2, height: tall });
      bar.append(draw("title", {}, `${n} documents`));
      picture.append(bar);
    });
  });
  picture.append(draw("text", { x: left, y: height - 4 }, String(low)), draw("text", { x: left + bins * step - 8, y: height - 4 }, String(high)));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Distribution of ${task.name}` }, picture);
}

const short = (name) => (name.length > 28 ? name.slice(0, 27) + "…" : name);

function bars(task, runs) {
  const metric = task.metrics.find((metric) => metric.higher);
  if (!metric) return null;
  const width = 640, left = 200, row = 26, height = runs.length * row + 24;
  const most = Math.max(0.01, ...runs.map((run) => (run.intervals[metric.key] || [0, 0])[1] || 0, 0), ...runs.map((run) => run.values[metric.key] || 0));
  const x = (value) => left + ((width - left - 70) * (value || 0)) / most;
  const label = `Bars of ${metric.key}: ` + runs.map((run) => `${run.model} ${number(run.values[metric.key])}`).join(", ");
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  picture.append(draw("text", { x: 0, y: 14 }, metric.key));
  runs.forEach((run, at) => {
    const y = 24 + at * row, value = run.values[metric.key], range = run.intervals[metric.key];
    picture.append(draw("text", { x: 0, y: y + 15 }, short(run.model)),
      draw("rect", { class: "bar", x: left, y: y + 3, width: Math.max(0, x(value) - left), height: row - 8 }));
    if (range) picture.append(draw("line", { class: "whisker", x1: x(range[0]), x2: x(range[1]), y1: y + 12, y2: y + 12 }));
    picture.append(draw("text", { x: Math.max(x(value), x(range ? range[1] : 0)) + 6, y: y + 15 }, number(value)));
  });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Bars of ${task.name}` }, picture);
}

// ---- list of documents

const theTask = () => data.tasks[state.task];
const theRun = () => theTask().runs[state.run];
const theOther = () => theTask().runs[state.other];
const DIFFERENCE = "difference";

// The same document in the other run, by name: the runs may have been made of parts of the data.
function counterpart(one) {
  const other = theOther();
  if (!other) return undefined;
  other.byName ||= new Map(other.documents.map((found) => [found.id, found]));
  return other.byName.get(one.id);
}

function difference(one) {
  const left = one.values[firstKey()], right = counterpart(one)?.values[firstKey()];
  return typeof left === "number" && typeof right === "number" ? left - right : null;
}

function compare(left, right, down) {
  const none = (value) => value === null || value === undefined;
  if (none(left) || none(right)) return Number(none(left)) - Number(none(right));
  const order = typeof left === "number" ? left - right : String(left).localeCompare(String(right), "en", { numeric: true });
  return down ? -order : order;
}

function chosen() {
  const words = state.words.toLowerCase(), most = state.most === "" ? Infinity : Number(state.most);
  const key = firstKey();
  let rows = theRun().documents.map((one, at) => ({ one, at }));
  if (words) rows = rows.filter(({ one }) => `${one.id} ${one.topic}`.toLowerCase().includes(words));
  if (most !== Infinity) rows = rows.filter(({ one }) => one.values[key] === null || one.values[key] <= most);
  if (state.sort) {
    const of = ({ one }) => {
      if (state.sort === DIFFERENCE) return difference(one) === null ? null : Math.abs(difference(one));
      return state.sort === "id" || state.sort === "topic" ? one[state.sort] : one.values[state.sort];
    };
    rows.sort((left, right) => compare(of(left), of(right), state.down));
  }
  return rows;
}

const firstKey = () => headline(theTask()).key;
// What is opened first is what went worst.
const worstFirst = () => ({ sort: firstKey(), down: !headline(theTask()).higher });

function control(label, node) {
  node.id = "control-" + label.replace(/\W+/g, "-");
  return el("div", {}, el("label", { for: node.id }, label), node);
}

function choice(names, current, act) {
  return el("select", { on: { change: (event) => act(event.target.selectedIndex) } },
    ...names.map((name, at) => el("option", { selected: at === current }, name)));
}

function showControls() {
  const input = (key, options) => el("input", { ...options, value: state[key],
    on: { input: (event) => { state[key] = event.target.value; showList(); } } });
  const parts = [
    control("Task", choice(data.tasks.map((task) => task.name), state.task, openTask)),
    control("Run", choice(theTask().runs.map((run) => run.model), state.run, (at) => move({ run: at, document: placeIn(at) }))),
    theTask().runs.length > 1
      ? control("Beside it", choice(["no other run", ...theTask().runs.map((run) => run.model)], state.other + 1,
        (at) => move({ other: at - 1, ...(at ? { sort: DIFFERENCE, down: true } : worstFirst()) })))
      : null,
    control("Name or topic has", input("words", { type: "search" })),
    control(`${firstKey()} at most`, input("most", { type: "number", step: "any", min: "0" }))];
  fill("controls", ...parts);
}

function openTask(at) {
  state.task = at;
  Object.assign(state, { run: 0, other: -1, ...worstFirst() });
  state.document = chosen()[0]?.at ?? 0;
  show();
}

// The place in another run of the document that is open.
function placeIn(run) {
  const id = theRun().documents[state.document]?.id, at = theTask().runs[run].documents.findIndex((one) => one.id === id);
  return Math.max(0, at);
}

function showList() {
  const task = theTask(), rows = chosen();
  const columns = [["id", "document", ""], ...(theOther() ? [[DIFFERENCE, "difference", "number"]] : []),
    ...task.metrics.map((metric) => [metric.key, metric.key, "number"]), ["topic", "topic", ""]];
  const head = columns.map(([key, label, kind]) => {
    const sorted = state.sort === key ? (state.down ? "descending" : "ascending") : "none";
    const act = () => {
      state.down = state.sort === key ? !state.down : false;
      state.sort = key;
      showList();
      document.querySelector(`[data-column="${key}"]`).focus();
    };
    return el("th", { scope: "col", class: kind, "aria-sort": sorted },
      el("button", { type: "button", "data-column": key, on: { click: act } }, label));
  });
  // The browser needs a second to lay out a table of thousands of rows: the rest is added on demand.
  const body = el("tbody", {}), more = el("button", { type: "button", on: { click: () => add() } }, "Show more documents");
  let n = 0;
  const add = () => {
    body.append(...rows.slice(n, n + STEP).map(({ one, at }) => documentRow(task, one, at)));
    n += STEP;
    more.hidden = n >= rows.length;
    showCurrent();
  };
  fill("list", el("table", {}, el("thead", {}, el("tr", {}, ...head)), body), el("p", { class: "walk" }, more));
  add();
  document.getElementById("count").textContent = `${rows.length} of ${theRun().documents.length} documents`;
}

function documentRow(task, one, at) {
  return el("tr", { "data-document": at },
    el("td", { class: "text" }, el("button", { type: "button", on: { click: () => open(at) } }, one.id)),
    theOther() ? el("td", { class: "number" }, difference(one) === null ? "" : number(difference(one))) : null,
    ...task.metrics.map((metric) => el("td", { class: "number" }, number(one.values[metric.key]))),
    el("td", { class: "text" }, one.topic));
}

const currentRow = () => document.querySelector(`#list tr[data-document="${state.document}"]`);

function showCurrent() {
  document.querySelector("#list tr[aria-current]")?.removeAttribute("aria-current");
  currentRow()?.setAttribute("aria-current", "true");
}

function open(at) {
  state.document = at;
  showCurrent();
  showDocument();
  document.getElementById("document").focus();
}

function move(change) {
  Object.assign(state, change);
  show();
}

function show() {
  showControls();
  showList();
  showDocument();
}

// ---- the address: a link to a document is one that opens it again

function writeAddress() {
  const other = theOther();
  const parts = { task: theTask().name, run: theRun().model, ...(other ? { beside: other.model } : {}), document: theRun().documents[state.document]?.id ?? "" };
  try {
    history.replaceState(null, "", "#" + new URLSearchParams(parts));
  } catch { /* a frame without an address of its own, or a name with half a character in it */ }
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const task = data.tasks.findIndex((task) => task.name === parts.get("task"));
  if (task < 0) return false;
  openTask(task);
  const run = theTask().runs.findIndex((run) => run.model === parts.get("run"));
  if (run < 0) return true;
  const at = theTask().runs[run].documents.findIndex((one) => one.id === parts.get("document"));
  const other = theTask().runs.findIndex((run) => run.model === parts.get("beside"));
  move({ run, other, document: Math.max(0, at), ...(other < 0 ? {} : { sort: DIFFERENCE, down: true }) });
  return true;
}

// ---- one document

function pictureOf(view) {
  return [view.problem ? el("p", { class: "trouble" }, `This document could not be explained: ${view.problem}`) : null,
    ...(VIEWS[view.kind] || (() => []))(view)];
}

function showDocument() {
  if (data.view) { fill("view", ...pictureOf(data.view)); return; }
  const one = theRun().documents[state.document];
  if (!one) { fill("view", el("p", {}, "No document.")); return; }
  const other = counterpart(one);
  const rows = chosen().map(({ at }) => at), place = rows.indexOf(state.document);
  const step = (label, to) => el("button", { type: "button", disabled: to < 0 || to >= rows.length || place < 0,
    on: { click: () => { open(rows[to]); currentRow()?.scrollIntoView({ block: "nearest" }); } } }, label);
  fill("view",
    el("p", { class: "walk" }, step("Previous document", place - 1), step("Next document", place + 1)),
    el("h3", {}, `${one.id}`, el("span", { class: "soft" }, ` ${theTask().name}, ${theRun().model}`)),
    theOther() && !other ? el("p", { class: "trouble" }, `${theOther().model} has no document of this name.`) : null,
    other
      ? el("div", { class: "beside" }, el("div", {}, el("h4", {}, theRun().model), ...documentView(one)), el("div", {}, el("h4", {}, theOther().model), ...documentView(other)))
      : el("div", {}, ...documentView(one)),
    el("details", {}, el("summary", {}, "All scores of this document"),
      table("Scores", [["metric", ""], ["value", "number"], ...(other ? [["other run", "number"]] : [])],
        theTask().metrics.map((metric) => [metric.key, number(one.values[metric.key]), ...(other ? [number(other.values[metric.key])] : [])]))),
    el("details", {}, el("summary", {}, "The prompt"), el("div", { class: "panel" }, text(theTask().prompts[one.prompt] || "The log does not say what was asked."))));
  // Both columns have the same parts, and each region needs a name of its own.
  document.querySelectorAll("#view .beside > div").forEach((column, at) => column.querySelectorAll("[aria-label]").forEach(
    (node) => node.setAttribute("aria-label", `${node.getAttribute("aria-label")}, ${[theRun(), theOther()][at].model}`)));
  writeAddress();
}

function documentView(one) {
  const view = JSON.parse(one.view);
  return [
    el("p", {}, el("strong", {}, `${firstKey()} ${number(one.values[firstKey()])}`)),
    ...pictureOf(view),
    view.target ? panel("The target", "reference", text(view.target)) : null,
    el("details", { open: view.kind === "text" }, el("summary", {}, "The answer as the model wrote it"),
      el("div", { class: "panel" }, text(view.answer || "")),
      view.answer_cut ? el("p", { class: "soft" }, `${view.answer_cut} more characters are left out here.`) : null),
  ].filter((node) => node);
}

// ---- timelines

const dayNumber = (day) => Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1, Number(day.slice(8, 10))) / 864e5;

function timelineView(view) {
  return [dateAxis(view), pairTable("Predicted dates, each with the reference date that it is aligned with (precision)", view.precision),
    pairTable("Reference dates, each with the predicted date that it is aligned with (recall)", view.recall),
    el("p", { class: "legend small" }, el("mark", {}, "marked"), " words that an aligned date on the other side has too"),
    el("div", { class: "pair" }, panel("Predicted timeline", "predicted", days(view.predicted)), panel("Reference timeline", "reference", days(view.reference)))];
}

function days(rows) {
  return rows.length ? el("ul", { class: "days" }, ...rows.map(([day, sentences]) => el("li", {}, el("h4", {}, day), ...sentences.map(marked)))) : el("p", {}, "No dates.");
}

function pairTable(caption, pairs) {
  return el("details", {}, el("summary", {}, caption),
    table(caption, [["predicted", ""], ["reference", ""], ["weight", "number"], ["words in common", "number"]],
      pairs.map(([left, right, weight, hits]) => [left, right, number(weight), String(hits)])));
}

function dateAxis(view) {
  const all = [...view.predicted, ...view.reference].map(([day]) => dayNumber(day));
  if (!all.length) return el("p", {}, "Neither timeline has a date.");
  const steps = [...new Set(all)].sort((left, right) => left - right), first = steps[0], last = steps[steps.length - 1];
  const height = 190, width = state.even ? Math.max(960, 60 + 18 * steps.length) : 960, rank = new Map(steps.map((day, at) => [day, at]));
  const share = (day) => (state.even ? rank.get(day) / Math.max(1, steps.length - 1) : (day - first) / Math.max(1, last - first));
  const x = (day) => 30 + (width - 60) * share(dayNumber(day));
  const same = new Set(view.same);
  const label = `${view.predicted.length} predicted and ${view.reference.length} reference dates on one axis, ${view.same.length} dates in both; lines join aligned dates.`;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  for (const [y, name] of [[50, "predicted"], [140, "reference"]]) {
    picture.append(draw("line", { class: "axis", x1: 20, x2: width - 20, y1: y, y2: y }), draw("text", { x: 20, y: y === 50 ? 20 : 182, class: name }, name));
  }
  for (const [kind, pairs] of [["precision", view.precision], ["recall", view.recall]]) {
    for (const [left, right, weight, hits] of pairs) {
      const line = draw("line", { class: kind, x1: x(left), y1: 50, x2: x(right), y2: 140, "stroke-width": Math.min(7, 1 + hits / 2), "stroke-opacity": 0.15 + 0.85 * weight });
      line.append(draw("title", {}, `${left} with ${right} (${kind}): weight ${number(weight)}, ${hits} words in common`));
      picture.append(line);
    }
  }
  for (const [y, kind, rows] of [[50, "predicted", view.predicted], [140, "reference", view.reference]]) {
    for (const [day] of rows) {
      picture.append(draw("circle", { class: same.has(day) ? kind : `free ${kind}`, cx: x(day), cy: y, r: 5 }, draw("title", {}, `${day}, ${kind}${same.has(day) ? ", in both" : ""}`)));
    }
  }
  const iso = (day) => new Date(day * 864e5).toISOString().slice(0, 10);
  picture.append(draw("text", { x: 110, y: 20 }, `${iso(first)} …`), draw("text", { x: width - 90, y: 20 }, iso(last)));
  const even = el("input", { type: "checkbox", class: "even", checked: state.even,
    on: { change: (event) => { state.even = event.target.checked; showDocument(); document.querySelector(".even").focus(); } } });
  return el("div", {},
    el("label", {}, even, " equal steps instead of a time scale"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Both timelines on one date axis" }, picture),
    el("p", { class: "small soft" }, "Solid lines join each predicted date to its reference date (precision), dashed lines each reference date to its predicted date (recall). Wide lines: many words in common; pale lines: dates far apart. Filled dots: dates in both."));
}

// ---- summaries

function summaryView(view) {
  return [
    view.query ? el("p", {}, el("strong", {}, "Query: "), view.query) : null,
    el("p", { class: "legend small" }, el("mark", {}, "marked"), " the longest common subsequence of words"),
    el("div", { class: "pair" }, panel("Predicted summary", "predicted", marked(view.predicted)), panel("Best reference", "reference", marked(view.reference))),
    ...view.others.map((other) => el("details", {}, el("summary", {}, "Another reference"), text(other))),
    view.source ? el("details", {}, el("summary", {}, "The document"), text(view.source)) : null,
  ].filter((node) => node);
}

// ---- extraction

function evidenceView(view) {
  const said = (value) => (value === null || value === undefined ? "(none)" : String(value));
  const wrong = (attributes) => Object.entries(attributes).filter(([, pair]) => !pair.right)
    .map(([name, pair]) => `${name}: ${said(pair.predicted)}, not ${said(pair.reference)}`);
  const problems = (extra) => [...extra.issues, ...(extra.grounded ? [] : ["not in the text"])];
  return [
    el("p", { class: "legend small" }, el("mark", { class: "hit" }, "hit"), " found ", el("mark", { class: "miss" }, "miss"),
      " not found ", el("mark", { class: "spurious" }, "spurious"), " predicted, but not in the reference"),
    panel("The document with its spans", "", marked(view.source)),
    table("Matches", [["domain", ""], ["reference", "text"], ["predicted", "text"], ["overlap", "number"], ["wrong attributes", "text"]],
      view.matches.map((match) => [said(match.reference.domain), said(match.reference.span), said(match.prediction.span),
        number(match.overlap), wrong(match.attributes).join("; ") || "none"])),
    table("Misses: in the reference, but not predicted", [["domain", ""], ["span", "text"]], view.misses.map((miss) => [said(miss.domain), said(miss.span)])),
    table("Spurious: predicted, but not matched", [["domain", ""], ["span", "text"], ["problem", "text"]],
      view.spurious.map((extra) => [said(extra.domain), said(extra.span), problems(extra).join("; ")])),
  ];
}

// ---- cited reports

function reportView(view) {
  const words = (step) => step.replaceAll("_", " ");
  const outcome = (score) => (score === null ? ["unscored", "bad"] : score > 0 ? [`rewarded ${score}`, "good"] : score < 0 ? ["penalised", "bad"] : ["ignored", "soft"]);
  const asked = ({ question, answer, doc_id }) => (question ? `, nugget: ${question} ${answer ?? ""}`.trimEnd() : doc_id ? `, citation of ${doc_id}` : "");
  const citation = ({ doc_id, supports, known }) => {
    const said = !known ? "is unknown" : supports === null ? "was not judged" : supports ? "supports it" : "does not support it";
    return el("li", { class: known && supports ? "good" : "bad" }, `${doc_id} ${said}`);
  };
  return [
    view.request ? el("p", { dir: "auto" }, view.request) : null,
    el("ol", {}, ...view.sentences.map((one) => {
      const [said, kind] = outcome(one.score);
      return el("li", { class: "sentence" },
        text(one.text),
        el("p", { class: "path small" }, ...one.path.flatMap((step) => [el("span", { class: "step" }, words(step)), " → "]), el("strong", { class: kind }, said)),
        one.citations.length ? el("ul", { class: "small" }, ...one.citations.map(citation)) : null,
        one.matched.length ? el("ul", { class: "small" }, ...one.matched.map((nugget) => el("li", {}, `${nugget.question} `, el("mark", { class: "hit" }, nugget.answer)))) : null,
        one.verdicts.length ? el("ul", { class: "small bad" }, ...one.verdicts.map((verdict) => el("li", {}, `no verdict (${words(verdict.kind)}${asked(verdict)}): ${verdict.reason}`))) : null);
    })),
  ];
}

// ---- trees

function treeView(view) {
  const marks = { same: "", near: "miss", wrong: "spurious", type: "spurious", missing: "miss", extra: "spurious" };
  const cell = (value, state) => (value === null ? el("span", { class: "soft" }, "(none)") : marks[state] ? el("mark", { class: marks[state] }, value) : document.createTextNode(value));
  const rows = view.rows.map(([state, depth, label, reference, prediction, scores]) => {
    const key = el("td", { class: "text" }, label);
    key.style.paddingLeft = `${0.6 + 1.2 * depth}rem`;
    return el("tr", {}, key, el("td", { class: "text" }, cell(reference, "")), el("td", { class: "text" }, cell(prediction, state)),
      el("td", {}, state), el("td", { class: "number" }, Object.entries(scores).map(([name, score]) => `${name} ${number(score)}`).join(", ")));
  });
  const heads = ["key", "reference", "predicted", "state", "scores"].map((head) => el("th", { scope: "col" }, head));
  return [
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Both trees side by side" },
      el("table", { class: "trees" }, el("caption", {}, "Both trees side by side"), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))),
    view.source ? el("details", {}, el("summary", {}, "The document"), text(view.source)) : null,
  ];
}

const VIEWS = { timeline: timelineView, summary: summaryView, evidence: evidenceView, report: reportView, tree: treeView };

// ---- start

function start() {
  if (data.view) {  // one document alone: its picture under the heading, and nothing else
    document.querySelectorAll(".skip, #about, #runs, #documents, #document-title").forEach((node) => node.remove());
    document.getElementById("document").removeAttribute("aria-labelledby");
    showDocument();
    return;
  }
  const n = data.tasks.reduce((sum, task) => sum + task.runs.length, 0);
  document.getElementById("about").textContent = `${count(data.tasks.length, "task")}, ${count(n, "run")}, scored by tls-tasks ${data.version}.`;
  fill("tasks", data.tasks.length ? overview() : null, ...data.tasks.map(runsOf));
  if (data.tasks.length && !readAddress()) openTask(0);
  addEventListener("hashchange", readAddress);
}

start();
