"""Cited reports and the nuggets of their requests, judged sentence by sentence.

The way of an answer through the files: read.py, nuggets.py, rows.py (rows and columns) and read_text.py with
read_lines.py and read_marks.py (model text) make the types of types.py. plan.py finds out what a judge must be asked
and where each sentence comes out of the decision tree. score.py makes a unit of that, details.py an explanation, and
report_eval.py a score; report_gen_eval.py does the same as the original program. task.py and data.py are the task,
runs.py scores files, agreement.py compares judges; the judges themselves are in judges/.
"""
