import evaluate
from evaluate.utils import launch_gradio_widget

module = evaluate.load("evidence_extraction")
launch_gradio_widget(module)
