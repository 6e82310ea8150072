import gradio as gr

from tls_tasks import evidence_extraction

EXAMPLE = [
    '[{"domain": "food", "evidence_span": "Had tea twice", "polarity": "present", "time_bucket": "today"}]',
    '[{"domain": "food", "evidence_span": "had tea", "polarity": "present", "time_bucket": "today"}]',
    "Had tea twice.",
]


def score(prediction: str, reference: str, source: str) -> dict[str, object]:
    return evidence_extraction([prediction], [reference], [source]).as_dict()


demo = gr.Interface(
    score,
    ["textarea"] * 3,
    "json",
    title="evidence_extraction",
    examples=[EXAMPLE],
    flagging_mode="never",
    analytics_enabled=False,
)
if __name__ == "__main__":
    demo.launch(show_error=True)
