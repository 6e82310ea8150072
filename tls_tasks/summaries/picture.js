// Summaries: the words of the longest common subsequence, of which the k-th lights up on both sides.

function summaryView(view) {
  const side = (kind, title, pieces) => {
    let k = 0;
    const word = (text) => (text.trim() ? el("mark", { "data-k": k++ }, text) : text);
    const words = pieces.map(([piece, mark]) => (mark ? piece.split(/(\s+)/).map(word) : piece));
    return el("section", {}, el("h4", { class: kind }, title), prose(words));
  };
  const box = el("div", { class: "pair" }, side("predicted", "Predicted", view.predicted),
    side("reference", view.others.length ? "Best reference" : "Reference", view.reference));
  box.addEventListener("mouseover", ({ target }) => {
    for (const mark of box.querySelectorAll("mark")) mark.classList.toggle("on", mark.dataset.k === target.dataset.k);
  });
  const legend = " the longest common subsequence: words of both sides in the same order. Other words cost precision "
    + "(left) or recall (right).";
  return [view.query && el("p", { class: "query", dir: "auto" }, view.query), box,
    el("p", { class: "legend" }, el("mark", {}, "marked"), legend),
    view.others.map((other) => fold("Another reference", prose(other))),
    view.source && fold("The document", prose(view.source))];
}
