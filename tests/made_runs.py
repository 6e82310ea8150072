"""Runs of the real harness whose files are written to disk, as ``lm_eval --output_path --log_samples`` writes them."""

import contextlib
import io
import warnings

from tests.harness_parts import manager


def make_run(folder, model, tasks, *, metadata=None, task_manager=None, **options):
    """Run tasks here and write the harness's own files below ``folder``; returns the folder."""
    import lm_eval
    from lm_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(folder))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        results = lm_eval.simple_evaluate(
            model=model,
            tasks=tasks,
            task_manager=task_manager or manager(**(metadata or {})),
            evaluation_tracker=tracker,
            log_samples=True,
            **{"bootstrap_iters": 100, **options},  # of standard errors, which nothing here reads
        )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name, rows in samples.items():
        tracker.save_results_samples(task_name=name, samples=rows)
    return folder


def with_noise(model, every=3):
    """A baseline that says nothing to every third prompt: another system, and one that fails at times."""
    answer, calls = model.answer, []

    def noisy(prompt):
        calls.append(prompt)
        return "I can't." if len(calls) % every == 0 else answer(prompt)

    model.answer = noisy
    return model
