import json

import gradio as gr

from tls_tasks import tree_eval

EXAMPLE = [
    'Here you are: {"name": "Wham", "tempo": 81, "instruments": ["drums", "bass"]}',
    '{"name": "Wham!", "tempo": 81, "instruments": ["bass", "drums"]}',
    '{"name": "string", "tempo": "integer", "instruments": ["string"]}',
]


def score(prediction: str, reference: str, schema: str) -> dict[str, object]:
    return tree_eval([prediction], [json.loads(reference)], json.loads(schema)).as_dict()


demo = gr.Interface(
    score,
    ["textarea"] * 3,
    "json",
    title="tree_eval",
    examples=[EXAMPLE],
    flagging_mode="never",
    analytics_enabled=False,
)
if __name__ == "__main__":
    demo.launch(show_error=True)
