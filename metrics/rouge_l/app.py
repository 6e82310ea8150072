import gradio as gr

from tls_tasks import rouge_l

EXAMPLE = ["The budget was approved by the committee.", "The committee approved the budget."]


def score(prediction: str, reference: str) -> dict[str, object]:
    return rouge_l([prediction], [reference]).as_dict()


demo = gr.Interface(
    score, ["textarea"] * 2, "json", title="rouge_l", examples=[EXAMPLE], flagging_mode="never", analytics_enabled=False
)
if __name__ == "__main__":
    demo.launch(show_error=True)
