import evaluate
from evaluate.utils import launch_gradio_widget

module = evaluate.load("rouge_l")
launch_gradio_widget(module)
