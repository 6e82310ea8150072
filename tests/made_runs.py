"""Runs of the real harness whose files are written to disk, as ``lm_eval --output_path --log_samples`` writes them."""

import contextlib
import io
import warnings

from tests.conftest import ROOT


def make_run(folder, model, tasks, *, metadata=None, **options):
    """Run tasks here and write the harness's own files below ``folder``; returns the folder."""
    import lm_eval
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    tracker = EvaluationTracker(output_path=str(folder))
    manager = TaskManager(include_path=str(ROOT / "task_configs"), include_defaults=False, metadata=metadata)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        results = lm_eval.simple_evaluate(
            model=model,
            tasks=tasks,
            task_manager=manager,
            evaluation_tracker=tracker,
            log_samples=True,
            bootstrap_iters=100,  # of standard errors, which nothing here reads
            **options,
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
