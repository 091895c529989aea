# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Client for a Kubernetes API server: the few calls that this collection uses.

Each write names a field manager and asks the server to refuse unknown fields. Without that, a server whose definition
of a resource is older would drop such a field silently.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .._core.errors import DrError, LockedOut, Unreachable
from .._core.retriable import is_retriable_status
from .._http import Answer, HttpClient, NoAnswer, Peer, one_line, quoted
from .access import Access

__all__ = ["MANAGER", "Kind", "KubernetesApi", "KubernetesError", "Resource"]

#: The name under which this collection owns fields of a resource.
MANAGER = "switchback.kafka_dr"
PEER = Peer("Kubernetes", "kubernetes", "an API server", "https://host:6443")
_WRITE = f"?fieldManager={MANAGER}&fieldValidation=Strict"
_STRICT, _NO_PATH = "strict decoding error", "404 page not found"
# A server that was started again forbids this path too, for 0.1 s on a machine that has nothing else to do.
_FORBIDDEN_SECONDS = 5.0
_CODES = {403: "kubernetes_forbidden", 404: "kubernetes_not_found", 409: "kubernetes_conflict"}

#: A resource as the API server returns it.
Resource = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of namespaced resource."""

    #: API group and version, such as ``apps/v1``. The core group has only a version: ``v1``.
    version: str
    #: The plural name in paths, such as ``deployments``.
    plural: str

    @property
    def group(self) -> str:
        """The API group; "" for the core group."""
        return self.version.rpartition("/")[0]

    def path(self, namespace: str, name: str = "") -> str:
        """The path of one resource, or of all resources of the kind in ``namespace``."""
        root = "/apis" if self.group else "/api"
        return f"{root}/{self.version}" + quoted("namespaces", namespace, self.plural, *((name,) if name else ()))


class KubernetesError(DrError):
    """The API server refused a request. ``status``: HTTP status. ``text``: the server's whole message.

    A conflict (409) is retriable: the caller reads the resource again and repeats its change.
    """

    def __init__(self, status: int, text: str, doing: str, endpoint: str, hint: str) -> None:
        code = _CODES.get(status, "kubernetes_invalid" if status in (400, 422) else "kubernetes_error")
        # The server repeats the whole resource before the reason.
        reason = one_line(text[text.find(_STRICT) :] if _STRICT in text else text).rstrip(".")
        message = f'Kubernetes at "{endpoint}" refused {doing} ({status}): {reason}.'
        super().__init__(code, message, hint, endpoint, retriable=status == 409)
        self.status = status
        self.text = text


class KubernetesApi(HttpClient):
    """One API server. Secrets may be part of bodies: they are never part of messages or of ``requests``."""

    content_types: ClassVar[Mapping[str, str]] = {"PATCH": "application/merge-patch+json"}

    def __init__(
        self,
        access: Access,
        timeout: float,
        clock: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep),
    ) -> None:
        super().__init__(PEER, access.url, access.client, timeout, clock)
        self._access = access

    def credentials(self) -> Mapping[str, str]:
        """The bearer token, read for each request because service account tokens are renewed."""
        token = self._access.bearer()
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    # ---- calls

    def find(self, kind: Kind, namespace: str, name: str) -> Resource | None:
        """Return one resource. None: it does not exist."""
        try:
            return self.call("GET", kind.path(namespace, name))
        except KubernetesError as error:
            if error.status == 404:
                return None
            raise

    def find_all(self, kind: Kind, namespace: str, labels: str = "") -> list[Resource]:
        """Return the resources of a kind. ``labels``: a label selector such as ``app=x``."""
        query = "?labelSelector=" + quoted(labels)[1:] if labels else ""
        items: list[Resource] = self.call("GET", kind.path(namespace), query=query).get("items") or []
        return items

    def create(self, kind: Kind, namespace: str, body: Resource) -> Resource:
        """Create a resource."""
        return self.call("POST", kind.path(namespace), body, _WRITE)

    def replace(self, kind: Kind, namespace: str, name: str, body: Resource) -> Resource:
        """Replace a resource."""
        return self.call("PUT", kind.path(namespace, name), body, _WRITE)

    def patch(self, kind: Kind, namespace: str, name: str, body: Resource) -> Resource:
        """Merge ``body`` into a resource; null removes a field. A resourceVersion in it is a precondition."""
        return self.call("PATCH", kind.path(namespace, name), body, _WRITE)

    def delete(self, kind: Kind, namespace: str, name: str) -> None:
        """Delete a resource. It is no error if it does not exist."""
        try:
            self.call("DELETE", kind.path(namespace, name))
        except KubernetesError as error:
            if error.status != 404:
                raise

    def may(self, kind: Kind, namespace: str, verb: str, name: str = "") -> bool:
        """Whether this login may do ``verb`` (SelfSubjectAccessReview). Changes nothing. ``name``: "" means all."""
        place = {"resource": kind.plural, "namespace": namespace, "name": name}
        attributes = {"group": kind.group, "verb": verb, **place}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        answer = self.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
        return bool((answer.get("status") or {}).get("allowed"))

    def await_ready(self) -> None:
        """Wait until the server is ready, within the time-out. For a moment after its start it forbids everything.

        Source: https://kubernetes.io/docs/reference/using-api/health-checks/. Anyone may read this path, unless the
        option --authorization-always-allow-paths excludes it.
        """

        def again(seen: Answer | NoAnswer) -> float:
            if isinstance(seen, NoAnswer) or seen.status >= 500:
                return self.timeout
            return _FORBIDDEN_SECONDS if seen.status == 403 else 0.0

        self.exchange("GET", "/readyz", None, again)

    def call(self, method: str, path: str, body: Any = None, query: str = "") -> dict[str, Any]:
        """Send a request and return the JSON object of the response.

        Repeated within the time-out: a request that the server did not receive, and one that it asks to repeat (429,
        502, 503, 504). A read is also repeated after a lost connection and a 500. A request that is forbidden (403) is
        repeated once.
        """
        doing = f"{method} {path}"
        outcome = self.exchange(method, path + query, body, lambda seen: self._again(method, seen))
        if not isinstance(outcome, NoAnswer) and outcome.status == 403:
            self.await_ready()
            outcome = self.exchange(method, path + query, body, lambda seen: self._again(method, seen))
        if isinstance(outcome, NoAnswer):
            raise outcome
        answer = _object(outcome)
        if outcome.ok and answer is not None:
            return answer
        raise self._failure(outcome, answer, doing)

    def _again(self, method: str, outcome: Answer | NoAnswer) -> float:
        if isinstance(outcome, NoAnswer):
            kinds = ("refused", "dropped") if method == "GET" else ("refused",)
            return self.timeout if outcome.kind in kinds else 0.0
        temporary = is_retriable_status(outcome.status) or (outcome.status == 500 and method == "GET")
        return self.timeout if temporary else 0.0

    def _failure(self, outcome: Answer, answer: Mapping[str, Any] | None, doing: str) -> DrError:
        status = outcome.status
        # For a path that it does not serve, the API server answers with this text instead of JSON.
        own = outcome.text == _NO_PATH or (answer is not None and answer.get("kind") == "Status")
        full = str((answer or {}).get("message") or outcome.text)
        text = one_line(full) or "an empty body"
        if status == 401:
            return LockedOut(
                "kubernetes_not_authorized",
                f'Kubernetes at "{self.url}" refused these credentials ({status}): {text}',
                "The token may have expired. Correct token, token_file, client_cert or kubeconfig in the inventory.",
                self.url,
            )
        if own and status < 500 and status != 429:
            return KubernetesError(status, full, doing, self.url, _HINTS.get(status, _HINT))
        return Unreachable(
            "kubernetes_unexpected",
            f'"{self.url}" returned {status} to {doing}, wanted JSON of Kubernetes: {text}',
            "Check that the address is that of a Kubernetes API server, and that the server is healthy.",
            self.url,
            retriable=status >= 500 or status == 429,
        )


_HINT = "Correct what the message names, then start the same playbook again."
_HINTS = {
    403: "Grant the right with the Role in docs/kubernetes.md, then start the same playbook again.",
    404: "Check the namespace and the names in the inventory, and that the custom resource definitions are installed.",
    409: "Another program changed the resource at the same time. Start the same playbook again.",
}


def _object(outcome: Answer) -> dict[str, Any] | None:
    """The JSON object of a response; None if it is anything else, such as the HTML page of a proxy."""
    try:
        parsed = json.loads(outcome.text)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None
