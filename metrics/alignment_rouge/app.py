import gradio as gr

from tls_tasks import alignment_rouge

EXAMPLE = [
    "2011-01-25: Mass protests erupt in Cairo.",
    '{"2011-01-25": ["Protests erupt across Egypt."], "2011-02-11": ["Mubarak resigns."]}',
]


def score(prediction: str, reference: str) -> dict[str, object]:
    return alignment_rouge([prediction], [reference]).as_dict()


demo = gr.Interface(
    score,
    ["textarea"] * 2,
    "json",
    title="alignment_rouge",
    examples=[EXAMPLE],
    flagging_mode="never",
    analytics_enabled=False,
)
if __name__ == "__main__":
    demo.launch(show_error=True)
