"""Evaluations on a server: questions with their answers, asked of several strategies."""

# Generated from `halma/_async/evaluations.py` by `generate.py`; do not edit.
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from halma import _requests, models
from halma._sync.connection import Connection
from halma._requests import Call, of, part


class Evaluations(Connection):
    """Runs evaluations and reads their results."""

    def evaluate(
        self, name: str, questions: Iterable[Mapping[str, Any]], strategies: Sequence[str]
    ) -> models.EvaluationRun:
        """Starts an evaluation: ``questions`` are ``{"question": …, "answers": […]}``."""
        lines = "\n".join(json.dumps(dict(question)) for question in questions)
        body = {"name": name, "questions": lines, "strategies": list(strategies)}
        call = Call("POST", "/api/v1/evaluation-runs", of(models.EvaluationRun), json=body)
        return self._send(call)

    def evaluation_runs(self) -> list[models.EvaluationRun]:
        """How far the evaluations are that were started since the server runs."""
        read = _requests.items_of(models.EvaluationRun)
        return self._send(Call("GET", "/api/v1/evaluation-runs", read))

    def cancel_evaluation(self, run: str) -> models.EvaluationRun:
        """Cancels an evaluation; what was answered is kept."""
        path = f"/api/v1/evaluation-runs/{part(run)}/cancel"
        return self._send(Call("POST", path, of(models.EvaluationRun)))

    def evaluations(self) -> list[models.EvaluationLine]:
        """The evaluations that have results, newest first."""
        read = _requests.items_of(models.EvaluationLine)
        return self._send(Call("GET", "/api/v1/evaluations", read))

    def evaluation(self, evaluation: str) -> dict[str, Any]:
        """The report of an evaluation, as ``report.json`` has it."""
        path = f"/api/v1/evaluations/{part(evaluation)}"
        return self._send(Call("GET", path, of(dict[str, Any])))

    def compare_runs(self, evaluation: str, a: str, b: str) -> models.Compared:
        """Compares two runs of an evaluation, by their labels, question by question."""
        path = f"/api/v1/evaluations/{part(evaluation)}/compare"
        params = {"a": a, "b": b}
        return self._send(Call("GET", path, of(models.Compared), params=params))
