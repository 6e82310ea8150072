"""Cited reports and the nuggets of their requests, judged sentence by sentence.

The way of an answer through the files: read.py (JSON and rows) over read_prose.py, what models write; citations.py,
what it cites; json_lines.py, files of rows; nuggets.py and rows.py (the metric's columns) make the types of types.py.
plan.py walks each sentence through the decision tree and asks a judge on the way; documents.py finds what is cited.
score.py makes a report's unit and its explanation from the outcomes, and results from units, and report_eval.py puts it
together; report_gen_eval.py does the same as the original program. data.py and task.py are the task and score files,
labels.py corrects judges by people's labels; the judges themselves are in judges/.
"""
