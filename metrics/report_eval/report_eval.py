"""report_eval as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from tls_tasks.hosts import evaluate_module  # From: your/checkout/of/tls-tasks


class ReportEval(evaluate_module.Module):
    """Cited reports: whether the cited documents support each sentence, and which nuggets a report gives.

    Nuggets are questions about its request, with their answers. Yes/no questions are put to a judge: recorded
    judgments, a function, or a model. What the judge does not answer is unscored and counted, never a no.

    Examples:
        >>> report_eval = evaluate.load("report_eval")
        >>> sentence = "It rained on Monday."
        >>> nugget = {"question_text": "When?", "gold_answers": ["on Monday", "at night"]}
        >>> results = report_eval.compute(
        ...     predictions=[{"sentences": [{"text": sentence, "citations": ["d1"]}]}],
        ...     references=[{"query_id": "7", "items": [nugget]}],
        ...     documents={"d1": "Heavy rain fell on Monday."},
        ...     judge=[
        ...         {"kind": "citation_support", "sentence": sentence, "doc_id": "d1", "verdict": "YES"},
        ...         {"kind": "nugget_agreement", "sentence": sentence, "question": "When?", "answer": "on Monday",
        ...          "verdict": "YES"},
        ...         {"kind": "nugget_agreement", "sentence": sentence, "question": "When?", "answer": "at night",
        ...          "verdict": "NO"},
        ...     ],
        ... )
        >>> print(results["recall"], results["precision"], results["nugget_coverage"])
        1.0 1.0 1.0
        >>> print(results["signature"])
        report_eval|agg:macro|judge:recorded#59676aed|v:4
    """

    metric = "report_eval"
    urls = ("https://arxiv.org/abs/2405.00982",)
    citation_text = """@inproceedings{mayfield-etal-2024-evaluation,
    title = "On the Evaluation of Machine-Generated Reports",
    author = "Mayfield, James and Yang, Eugene and Lawrie, Dawn and MacAvaney, Sean and McNamee, Paul and
        Oard, Douglas W. and Soldaini, Luca and Soboroff, Ian and Weller, Orion and Kayi, Efsun and Sanders, Kate and
        Mason, Marc and Hibbler, Noah", booktitle = "Proceedings of SIGIR", year = "2024"}"""
