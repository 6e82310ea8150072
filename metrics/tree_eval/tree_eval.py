"""tree_eval as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from tls_tasks.hosts import evaluate_module  # From: your/checkout/of/tls-tasks


class TreeEval(evaluate_module.Module):
    """Structured output (JSON trees) against reference trees: leaf by leaf, and node by node.

    A schema says what each leaf is and how it is scored; lists are compared in any order; precision, recall and F1 of
    nodes and leaves stand beside the scores of the leaves.

    Examples:
        >>> tree_eval = evaluate.load("tree_eval")
        >>> results = tree_eval.compute(
        ...     predictions=['The tree: {"name": "baroo", "tempo": 81, "instruments": ["drums", "bass"]}'],
        ...     references=[{"name": "bar", "tempo": 81, "instruments": ["bass", "drums"]}],
        ...     schema={"name": "string", "tempo": "integer", "instruments": ["string"]},
        ... )
        >>> print(results["leaves"])
        {'name': {'indel_ratio': 0.75}, 'tempo': {'exact_match': 1.0}, 'instruments': {'indel_ratio': 1.0}}
        >>> print(results["treeval_score"], results["f1_node"])
        0.9375 1.0
    """

    metric = "tree_eval"
    urls = ("https://github.com/NuMindAI/Treeval",)
    citation_text = """@software{treeval, title = "treeval", author = "Fradet, Nathan and Cripwell, Liam",
    organization = "NuMind", url = "https://github.com/NuMindAI/Treeval"}"""
