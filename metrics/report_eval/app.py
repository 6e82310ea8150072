import json

import gradio as gr

from tls_tasks import report_eval

EXAMPLE = [
    '{"sentences": [{"text": "It rained on Monday.", "citations": ["d1"]}]}',
    '{"query_id": "7", "items": [{"question_text": "When did it rain?", "gold_answers": ["on Monday", "at night"]}]}',
    '{"d1": "Heavy rain fell on Monday."}',
    '{"judgments": [{"kind": "nugget_agreement", "sentence": "It rained on Monday.", "question": "When did it rain?", '
    '"answer": "on Monday", "verdict": "YES"}], "defaults": {"citation_support": "YES", "nugget_agreement": "NO"}}',
]


def score(prediction: str, reference: str, documents: str, verdicts: str) -> dict[str, object]:
    judge = json.loads(verdicts)  # nothing here asks a model: a question without a verdict is unscored, and counted
    return report_eval([prediction], [json.loads(reference)], json.loads(documents), judge=judge).as_dict()


demo = gr.Interface(
    score,
    ["textarea"] * 4,
    "json",
    title="report_eval",
    examples=[EXAMPLE],
    flagging_mode="never",
    analytics_enabled=False,
)
if __name__ == "__main__":
    demo.launch(show_error=True)
