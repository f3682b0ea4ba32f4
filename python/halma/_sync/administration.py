"""Keys, workspaces, models and prompts of a server, and what it has used."""

# Generated from `halma/_async/administration.py` by `generate.py`; do not edit.
from __future__ import annotations

from collections.abc import Mapping, Sequence

from halma import _requests, models
from halma._sync.connection import Connection
from halma._requests import Call, Metadata, of, part


class Administration(Connection):
    """What an administrator does; most of it needs a key with the scope ``admin``."""

    def health(self) -> models.Health:
        """Whether the server runs; needs no key."""
        return self._send(Call("GET", "/api/v1/health", of(models.Health)))

    def me(self) -> models.Me:
        """The workspace and the scopes of the key."""
        return self._send(Call("GET", "/api/v1/me", of(models.Me)))

    def usage(self, by: str | None = None) -> list[models.UsageLine]:
        """What questions and builds have used, by ``day``, ``key`` or ``strategy``."""
        read = of(list[models.UsageLine])
        return self._send(Call("GET", "/api/v1/usage", read, params=_requests.given(by=by)))

    def create_key(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        workspace: str | None = None,
        where: Metadata | None = None,
        expires: str | None = None,
        budget_per_day_usd: float | None = None,
        calls_per_day: int | None = None,
    ) -> models.CreatedKey:
        """Creates a key; ``where`` restricts it to the documents whose fields meet the conditions."""
        options = {
            "workspace": workspace,
            "expires": expires,
            "budget_per_day_usd": budget_per_day_usd,
            "calls_per_day": calls_per_day,
        }
        return self._send(_requests.new_key(name, scopes, options, where))

    def keys(self) -> list[models.Key]:
        """The keys, without their secrets."""
        return self._send(Call("GET", "/api/v1/keys", _requests.items_of(models.Key)))

    def revoke_key(self, key: str) -> None:
        """Revokes a key and closes its open streams."""
        self._send(Call("DELETE", f"/api/v1/keys/{part(key)}", _requests.nothing))

    def workspaces(self) -> list[models.WorkspaceLine]:
        """The workspaces of the server."""
        read = _requests.items_of(models.WorkspaceLine)
        return self._send(Call("GET", "/api/v1/workspaces", read))

    def create_workspace(self, name: str) -> models.WorkspaceLine:
        """Creates a workspace."""
        read = of(models.WorkspaceLine)
        return self._send(Call("POST", "/api/v1/workspaces", read, json={"name": name}))

    def delete_workspace(self, name: str) -> None:
        """Deletes a workspace with everything in it."""
        self._send(Call("DELETE", f"/api/v1/workspaces/{part(name)}", _requests.nothing))

    # Models and prompts

    def list_models(self) -> models.Models:
        """The models, and the one that has each role."""
        return self._send(Call("GET", "/api/v1/models", of(models.Models)))

    def assign_roles(self, roles: Mapping[str, str]) -> models.Models:
        """Gives roles to models by their names, such as ``{"reader": "small"}``, from the next question on."""
        body = {"roles": dict(roles)}
        return self._send(Call("PUT", "/api/v1/models/roles", of(models.Models), json=body))

    def model_servers(self) -> models.ModelServers:
        """The model servers on the machine of the server, with their models."""
        return self._send(Call("GET", "/api/v1/models/servers", of(models.ModelServers)))

    def try_model(self, url: str, model: str, *, key_env: str = "") -> models.Trial:
        """Asks a model that is not connected yet a small question: its speed, and what a question takes."""
        body = {"url": url, "model": model, "key_env": key_env}
        return self._send(Call("POST", "/api/v1/models/trial", of(models.Trial), json=body))

    def connect_model(
        self, name: str, url: str, model: str, *, key_env: str = "", reader_only: bool = False
    ) -> models.Models:
        """Adds a model to the configuration of the server; it is used from the next question on."""
        address = {"url": url, "model": model, "key_env": key_env}
        body = {"name": name, "address": address, "reader_only": reader_only}
        return self._send(Call("POST", "/api/v1/models", of(models.Models), json=body))

    def test_model(self, name: str) -> models.ModelTest:
        """Asks a model for a short reply, which is paid for as any other."""
        path = f"/api/v1/models/{part(name)}/test"
        return self._send(Call("POST", path, of(models.ModelTest)))

    def prompts(self) -> list[models.PromptLine]:
        """The prompts, and whether they differ from those that are shipped."""
        read = _requests.items_of(models.PromptLine)
        return self._send(Call("GET", "/api/v1/prompts", read))

    def prompt(self, name: str) -> models.PromptDetail:
        """A prompt with its text, such as ``kar3/select``."""
        path = f"/api/v1/prompts/{part(name)}"
        return self._send(Call("GET", path, of(models.PromptDetail)))

    def set_prompt(self, name: str, text: str) -> models.PromptDetail:
        """Uses another text for a prompt; one that lacks a variable is refused."""
        path = f"/api/v1/prompts/{part(name)}"
        return self._send(Call("PUT", path, of(models.PromptDetail), json={"text": text}))

    def reset_prompt(self, name: str) -> models.PromptDetail:
        """Uses the text that is shipped again."""
        path = f"/api/v1/prompts/{part(name)}"
        return self._send(Call("DELETE", path, of(models.PromptDetail)))
