// Trees: a row a node, reference beside prediction; nodes that agree can be folded away.

const STATES = {
  same: ["=", "good"], near: ["≈", "reference"], wrong: ["≠", "bad"], type: ["≠", "bad"], missing: ["−", "bad"],
  extra: ["+", "bad"], absent: ["∅", "soft"], branch: ["", ""],
};

function treeView(view) {
  const head = (name) => el("th", { scope: "col", class: name }, name);
  const rows = table("tree", ["state", "key", "reference", "predicted", "score"].map(head), view.rows.map(treeRow));
  const n = (state) => view.rows.filter(([own]) => own === state).length;
  const counts = Object.entries(STATES).filter(([state]) => state !== "branch" && n(state))
    .map(([state, [mark, kind]]) => el("span", { class: kind }, `${mark} ${n(state)} ${state}`));
  const onchange = (event) => rows.classList.toggle("folded", event.target.checked);
  const only = el("label", { class: "check" }, el("input", { type: "checkbox", onchange }), "only what differs");
  return [el("p", { class: "chips" }, counts, n("same") + n("absent") > 0 && only), rows,
    view.source.length > 0 && fold("The document", prose(marked(view.source)))];
}

// A quote is [its text, whether it holds the value, where it begins and ends].
function treeQuote([text, holds, place]) {
  const where = place ? ` characters ${place[0]} to ${place[1]}` : " not in the document";
  return el("div", { class: `quote ${holds ? "good" : "bad"}` }, `“${text}”`, soft(where));
}

function treeRow([state, depth, name, reference, prediction, scores, quote]) {
  const key = el("th", { scope: "row" }, name);
  const mark = { near: "miss", wrong: "spurious", type: "spurious", extra: "spurious" }[state];
  key.style.paddingLeft = `${0.4 + 1.1 * depth}rem`;
  const predicted = mark && prediction !== null ? el("mark", { class: mark }, prediction) : prediction ?? soft("none");
  const brief = (metric) => ` ${metric.replace(/_(closeness|match|ratio)$/, "")}`;
  const score = ([metric, value]) => el("div", { title: metric }, number(value, 2), soft(brief(metric)));
  return el("tr", { class: state },
    el("td", { class: "state" }, el("span", { "aria-hidden": "true" }, STATES[state][0]),
      el("span", { class: "unseen" }, state)),
    key, el("td", { class: "reference", "data-label": "reference" }, reference ?? soft("none")),
    el("td", { class: "predicted", "data-label": "predicted" }, predicted, quote && treeQuote(quote)),
    el("td", { class: "figure" }, Object.entries(scores).map(score)));
}
