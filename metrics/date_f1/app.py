import gradio as gr

from tls_tasks import date_f1

EXAMPLE = [
    "2011-01-25: Protests begin.\n2011-01-27: The internet is cut off.",
    '{"2011-01-25": ["Protests begin in Cairo."], "2011-01-28": ["Friday of Anger."]}',
]


def score(prediction: str, reference: str) -> dict[str, object]:
    return date_f1([prediction], [reference]).as_dict()


demo = gr.Interface(
    score, ["textarea"] * 2, "json", title="date_f1", examples=[EXAMPLE], flagging_mode="never", analytics_enabled=False
)
if __name__ == "__main__":
    demo.launch(show_error=True)
