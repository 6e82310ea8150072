// Cited reports: each sentence with its path through the decision tree, the nuggets that no sentence gives, and criteria.

const REWARDS = {
  good: ["+", "rewarded"], bad: ["−", "penalised"], none: ["·", "ignored"], open: ["?", "unscored"],
};
const rewardOf = (score) => (score === null ? "open" : score > 0 ? "good" : score < 0 ? "bad" : "none");
const inWords = (step) => step.replaceAll("_", " ");

const MET = { 1: ["good", "✓ met"], 0: ["bad", "✗ not met"], null: ["open", "? no verdict"] };

// A criterion with negative points names a fault: to meet it is bad.
function criterionView({ text, points, value }) {
  const [kind, said] = MET[value], swapped = { good: "bad", bad: "good" };
  return el("li", {}, el("b", { class: points < 0 ? swapped[kind] ?? kind : kind }, said),
    ` [${points > 0 ? "+" : ""}${points}] ${text}`);
}

function reportView(view) {
  const list = el("ol", { class: "report" }, view.sentences.map(sentenceView));
  const kinds = view.sentences.map((sentence) => rewardOf(sentence.score));
  const beads = kinds.map((kind, at) => {
    const [mark, name] = REWARDS[kind], act = () => list.children[at].scrollIntoView({ block: "center" });
    return button(mark, act, { class: `bead ${kind}`, "aria-label": `Sentence ${at + 1}, ${name}` });
  });
  const counts = Object.entries(REWARDS).map(([kind, [, name]]) => [kinds.filter((own) => own === kind).length, name]);
  const title = `${count(view.nuggets.length, "nugget")} that no sentence gives (recall)`;
  const missed = el("section", { class: "missed" }, el("h4", { class: "bad" }, title), bullets(view.nuggets));
  return [view.request && el("p", { class: "query", dir: "auto" }, view.request),
    el("div", { class: "beads" }, beads, soft(counts.filter(([n]) => n).map(([n, name]) => `${n} ${name}`).join(", "))),
    list, view.nuggets.length > 0 && missed,
    view.report && view.sentences.length === 0 && prose(view.report),
    view.criteria && el("section", {}, el("h4", {}, `${view.criteria.length} criteria`),
      el("ul", {}, view.criteria.map(criterionView)))];
}

function sentenceView({ text, score, path, citations, matched, verdicts }) {
  const kind = rewardOf(score), said = score > 0 ? `rewarded ${score}` : REWARDS[kind][1];
  const how = ({ supports, known }) => (!known ? "is unknown"
    : supports === null ? "was not judged" : supports ? "supports it" : "does not support it");
  const chip = (isGood, ...parts) => el("span", { class: isGood ? "good" : "bad" }, isGood ? "✓ " : "✗ ", parts);
  const asked = ({ question, answer, doc_id }) => (question ? `, nugget: ${question} ${answer ?? ""}`.trimEnd()
    : doc_id ? `, citation of ${doc_id}` : "");
  const chips = [...citations.map((own) => chip(own.known && own.supports, `${own.doc_id} ${how(own)}`)),
    ...matched.map((own) => chip(true, `${own.question} `, el("b", { class: "nugget" }, own.answer))),
    ...verdicts.map((own) => chip(false, `no verdict (${inWords(own.kind)}${asked(own)}): ${own.reason}`))];
  const steps = path.flatMap((step) => [el("span", { class: "step" }, inWords(step)), " › "]);
  const end = el("b", { class: kind }, said);
  return el("li", { class: `said ${kind}` }, prose(text), el("p", { class: "path" }, steps, end),
    chips.length > 0 && el("p", { class: "chips" }, chips));
}
