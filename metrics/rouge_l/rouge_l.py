"""rouge_l as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from tls_tasks.hosts import evaluate_module  # From: your/checkout/of/tls-tasks


class RougeL(evaluate_module.Module):
    """ROUGE-L of summaries: precision, recall and F1 of the longest common subsequence of words.

    The tokeniser is an option (words between blanks, rouge_score's, words of any script), and the score is the exact
    mean over the rows.

    Examples:
        >>> rouge_l = evaluate.load("rouge_l")
        >>> results = rouge_l.compute(
        ...     predictions=["The budget was approved by the committee."],
        ...     references=["The committee approved the budget."],
        ... )
        >>> print(results["rouge_l_recall"], results["rouge_l_f1"])
        0.6 0.5
        >>> print(results["signature"])
        rouge_l|read:text|types:rougeL|tok:whitespace|stem:no|empty:one|refs:best|agg:mean_f|v:1
    """

    metric = "rouge_l"
    citation_text = """@inproceedings{lin-2004-rouge,
    title = "{ROUGE}: A Package for Automatic Evaluation of Summaries", author = "Lin, Chin-Yew",
    booktitle = "Text Summarization Branches Out", year = "2004", pages = "74--81"}"""
