"""What people say of answers and teach a base."""

# `halma/_sync/feedback.py` is generated from this file: see `generate.py`.
from __future__ import annotations

from collections.abc import Iterable, Sequence

from halma import _requests, models
from halma._async.connection import AsyncConnection
from halma._requests import Call, Page, Sample, of, part


class AsyncFeedback(AsyncConnection):
    """Feedback on answers, what of it becomes knowledge, and tags that are learned from questions."""

    async def give_feedback(
        self,
        run: str,
        verdict: models.Verdict | str,
        *,
        correction: str | None = None,
        note: str | None = None,
    ) -> models.Feedback:
        """Says whether the answer of a run is ``right``, ``wrong`` or ``incomplete``.

        ``run`` is the ``id`` of a reply. ``candidates`` of the result may be accepted as knowledge.
        """
        body = _requests.given(run=run, verdict=verdict, correction=correction, note=note)
        call = Call("POST", "/api/v1/feedback", of(models.Feedback), json=body)
        return await self._send(call)

    async def feedback_page(
        self,
        *,
        run: str | None = None,
        by: str | None = None,
        about: str | None = None,
        verdict: models.Verdict | str | None = None,
        state: models.CandidateState | str | None = None,
        contradicted: bool | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[models.Feedback]:
        """A page of the feedback, newest first; ``about`` is a part of its texts."""
        params = _requests.given(
            run=run,
            by=by,
            about=about,
            verdict=verdict,
            state=state,
            contradicted=contradicted,
            limit=limit,
            after=after,
        )
        read = _requests.page_of(models.Feedback)
        return await self._send(Call("GET", "/api/v1/feedback", read, params=params))

    async def feedback(self, feedback: str) -> models.Feedback:
        """Feedback with its candidates."""
        path = f"/api/v1/feedback/{part(feedback)}"
        return await self._send(Call("GET", path, of(models.Feedback)))

    async def accept_feedback(
        self, feedback: str, candidates: Sequence[int] | None = None, *, despite: bool = False
    ) -> models.Feedback:
        """Accepts candidates, by their numbers, or all: the next search finds them.

        ``despite`` accepts them although other feedback says otherwise.
        """
        return await self._send(_requests.decide(feedback, "accept", candidates, despite))

    async def reject_feedback(
        self, feedback: str, candidates: Sequence[int] | None = None
    ) -> models.Feedback:
        """Rejects candidates, or all; what was accepted of them is taken back."""
        return await self._send(_requests.decide(feedback, "reject", candidates))

    async def undo_feedback(
        self, feedback: str, candidates: Sequence[int] | None = None
    ) -> models.Feedback:
        """Takes back what was accepted, without a trace in the base."""
        return await self._send(_requests.decide(feedback, "undo", candidates))

    async def verify_feedback(self, feedback: str) -> models.VerifiedFeedback:
        """Lets the verifying model accept what the documents support; ``deferred`` is left to a person."""
        path = f"/api/v1/feedback/{part(feedback)}/verify"
        return await self._send(Call("POST", path, of(models.VerifiedFeedback)))

    async def delete_feedback(self, feedback: str) -> None:
        """Deletes feedback with everything that was accepted of it."""
        path = f"/api/v1/feedback/{part(feedback)}"
        await self._send(Call("DELETE", path, _requests.nothing))

    # Tags

    async def estimate_tags(self, samples: Iterable[Sample]) -> models.BuildEstimate:
        """What ``learn_tags`` would cost."""
        body = _requests.given(samples=list(samples))
        path = "/api/v1/tags/learn/estimate"
        return await self._send(Call("POST", path, of(models.BuildEstimate), json=body))

    async def learn_tags(
        self, samples: Iterable[Sample], *, replace: bool = False
    ) -> models.BuildStatus:
        """Learns how the words of questions map to tags of the documents, as a build.

        Each sample has a ``question`` and an ``answer``, ``answers``, or ``documents`` that answer it.
        ``replace`` forgets what was learned from other samples.
        """
        body = _requests.given(samples=list(samples), replace=replace or None)
        call = Call("POST", "/api/v1/tags/learn", of(models.BuildStatus), json=body)
        return await self._send(call)
