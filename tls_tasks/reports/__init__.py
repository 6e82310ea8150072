"""Cited reports and the nuggets of their requests, judged sentence by sentence.

An answer passes through these files in order. read.py (JSON and rows) and read_prose.py (text) read it, citations.py
resolves its citations; json_lines.py reads files of rows, nuggets.py requests, rows.py the metric's columns. All return
the types of types.py. plan.py walks each sentence through the decision tree and asks a judge on the way; documents.py
looks cited documents up. score.py builds a report's unit and its explanation from the outcomes, and results from units;
rubrics.py adds criteria about the whole report. report_eval.py puts it together; report_gen_eval.py does the same as
the original program. data.py and task.py are the task, runs.py judges files of reports, labels.py corrects judges by
people's labels; the judges themselves are in judges/.
"""
