"""date_f1 as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from tls_tasks.hosts import evaluate_module  # From: your/checkout/of/tls-tasks


class DateF1(evaluate_module.Module):
    r"""Precision, recall and F1 of the dates that a timeline selects, as tilse's evaluate_dates computes them.

    A date is right if the reference has it too; a tolerance in days is an option.

    Examples:
        >>> date_f1 = evaluate.load("date_f1")
        >>> results = date_f1.compute(
        ...     predictions=["2011-01-25: Protests begin.\n2011-01-27: The internet is cut off."],
        ...     references=[{"2011-01-25": ["Protests begin in Cairo."], "2011-01-28": ["Friday of Anger."]}],
        ... )
        >>> print(results["date_precision"], results["date_recall"], results["date_f1"])
        0.5 0.5 0.5
        >>> print(results["signature"])
        date_f1|days:0|refs:separate|agg:f_of_means|v:4
    """

    metric = "date_f1"
    citation_text = """@inproceedings{martschat-markert-2018-temporally,
    title = "A Temporally Sensitive Submodularity Framework for Timeline Summarization",
    author = "Martschat, Sebastian and Markert, Katja",
    booktitle = "Proceedings of the 22nd Conference on Computational Natural Language Learning", year = "2018",
    pages = "230--240"}"""
    urls = ("https://github.com/smartschat/tilse",)
