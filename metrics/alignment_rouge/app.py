import evaluate
from evaluate.utils import launch_gradio_widget

module = evaluate.load("alignment_rouge")
launch_gradio_widget(module)
