"""alignment_rouge as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from tls_tasks.hosts import evaluate_module  # From: your/checkout/of/tls-tasks


class AlignmentRouge(evaluate_module.Module):
    """Alignment ROUGE of timelines (AR-1, AR-2).

    The dates of a prediction and a reference are aligned, and the texts of aligned dates are compared by ROUGE-1 and
    ROUGE-2. The counts equal those of tilse with ROUGE-1.5.5, without Perl.

    Examples:
        >>> alignment_rouge = evaluate.load("alignment_rouge")
        >>> results = alignment_rouge.compute(
        ...     predictions=["2011-01-25: Mass protests erupt in Cairo."],
        ...     references=[{"2011-01-25": ["Protests erupt across Egypt."], "2011-02-11": ["Mubarak resigns."]}],
        ... )
        >>> print(round(results["ar1_precision"], 4), round(results["ar1_recall"], 4), round(results["ar1_f1"], 4))
        0.5 0.4 0.4444
        >>> print(results["signature"])
        alignment_rouge|variant:align+m:1|engine:rouge155|refs:separate|agg:f_of_means|v:4
    """

    metric = "alignment_rouge"
    citation_text = """@inproceedings{martschat-markert-2017-improving,
    title = "Improving {ROUGE} for Timeline Summarization", author = "Martschat, Sebastian and Markert, Katja",
    booktitle = "Proceedings of the 15th Conference of the European Chapter of the Association for Computational
        Linguistics: Volume 2, Short Papers", year = "2017", pages = "285--290"}"""
    urls = ("https://github.com/smartschat/tilse",)
