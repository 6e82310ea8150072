"""evidence_extraction as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from tls_tasks.hosts import evaluate_module  # From: your/checkout/of/tls-tasks


class EvidenceExtraction(evaluate_module.Module):
    """Evidence-grounded extraction: objects without canonical labels, with a domain, a quoted span and attributes.

    Objects are matched one to one by domain and by the words that their spans share; attributes are judged on matches,
    and evidence coverage says how many predicted quotes occur in the text at all.

    Examples:
        >>> evidence_extraction = evaluate.load("evidence_extraction")
        >>> tea = {"domain": "food", "evidence_span": "had tea", "polarity": "present", "time_bucket": "today"}
        >>> results = evidence_extraction.compute(
        ...     predictions=['[{"domain": "food", "evidence_span": "Had tea twice", "polarity": "present", '
        ...                  '"intensity_bucket": "low", "time_bucket": "today"}]'],
        ...     references=[[tea]],
        ...     sources=["Had tea twice."],
        ... )
        >>> print(results["f1"], results["polarity_accuracy"], results["bucket_accuracy"], results["evidence_coverage"])
        1.0 1.0 0.0 1.0
        >>> print(results["signature"])
        evidence_extraction|schema:journal|overlap:jaccard|tok:whitespace|threshold:0.5|matching:greedy|agg:micro|v:4
    """

    metric = "evidence_extraction"
    citation_text = """@misc{ashwam-exercise-a,
    title = "Ashwam Exercise A: Evidence-Grounded Extraction & Evaluation",
    note = "Section 3: Designed Evaluation Method"}"""
