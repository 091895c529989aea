# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which entries are refused before a call, and which calls are made."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.entries import cover_of, warnings_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.listing import FlowList, Listing
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.planning import (
    DesiredLists,
    check_desired,
    plan,
    result_of,
)

THERE = FlowList("topics", "P", "B")
BACK = FlowList("topics", "B", "P")
REVERSE = FlowList("reverse_checkpointed_topics", "B", "P")


def desired(where: FlowList, *entries: str, **more: object) -> DesiredLists:
    return replace(DesiredLists(where, entries), **more)  # type: ignore[arg-type]


def refusal(made: DesiredLists) -> str:
    with pytest.raises(DrError) as refused:
        check_desired(made)
    assert refused.value.code == "srm_entries_invalid"
    return refused.value.message


# ---- refused


@pytest.mark.parametrize(
    ("entry", "message_part"),
    [
        ("a,b", "comma or a blank"),
        ("a b", "comma or a blank"),
        ("a{1,3}", "comma or a blank"),
        (" a", "comma or a blank"),
        ("", "empty"),
        ("--list", "takes it for an option"),
        ("Done.", "could not be distinguished"),
        ("Whitelist:", "could not be distinguished"),
    ],
)
@pytest.mark.parametrize("where", [THERE, FlowList("groups", "P", "B"), REVERSE])
def test_an_entry_that_the_tool_would_split_is_refused(where: FlowList, entry: str, message_part: str) -> None:
    assert message_part in refusal(desired(where, entry))
    assert message_part in refusal(DesiredLists(where, None, denied=(entry,), state="absent"))


@pytest.mark.parametrize("where", [THERE, BACK])
@pytest.mark.parametrize("entry", ["P.Payments", "B.Payments", r"P\.Payments", "P[.]Payments", r"P\..*", "P.Pay.*"])
def test_a_replica_in_a_topics_list_is_refused_with_the_reason(where: FlowList, entry: str) -> None:
    text = refusal(desired(where, entry))
    assert "looks like a replica" in text
    assert "its offsets are not translated back" in text
    assert f'"{where.target}.' in text


def test_the_former_workaround_is_refused_with_the_list_where_the_entry_belongs() -> None:
    assert '"P.Payments" in the reverse_checkpointed_topics list' in refusal(desired(BACK, "P.Payments"))


@pytest.mark.parametrize(
    ("entry", "message_part"),
    [
        ("P__Payments", 'is not the name of a replica on "B" and matches no topic. Did you mean "P.Payments"?'),
        ("Payments", 'is not a replica on "B" and matches no topic. Did you mean "P.Payments"?'),
        ("p.Payments", 'Did you mean "P.Payments"?'),
        ("PPayments", 'Did you mean "P.PPayments"?'),
        ("B.Payments", 'Did you mean "P.Payments" here, or this entry in the list of P->B?'),
    ],
)
def test_a_topic_that_is_not_a_replica_is_refused_in_a_reverse_list(entry: str, message_part: str) -> None:
    assert message_part in refusal(desired(REVERSE, entry))
    check_desired(desired(REVERSE, entry, state="absent"))


@pytest.mark.parametrize("entry", ["P.Payments", r"P\.Pay.*", "P[.]x", ".*"])
def test_replicas_and_patterns_are_accepted_in_a_reverse_list(entry: str) -> None:
    check_desired(desired(REVERSE, entry))


def test_another_separator_changes_replica_names_and_is_reported() -> None:
    check_desired(desired(REVERSE, "P__Payments", separator="__"))
    check_desired(desired(BACK, "P.Payments", separator="__"))
    assert 'Did you mean "P__Payments"?' in refusal(desired(REVERSE, "P.Payments", separator="__"))
    assert "looks like a replica" in refusal(desired(BACK, "P__Payments", separator="__"))
    assert "replication.policy.separator" in warnings_of(REVERSE, ("P__Payments",), "__")[0]


def test_every_reason_is_reported_at_once() -> None:
    text = refusal(DesiredLists(FlowList("topics", "", "a b"), ("x y", "-z")))
    assert all(message_part in text for message_part in ('source alias ""', 'target alias "a b"', '"x y"', '"-z"'))
    assert 'the same alias "P"' in refusal(DesiredLists(FlowList("topics", "P", "P"), ("x",)))
    assert "for the allowlist and for the denylist" in refusal(desired(THERE, "x", denied=("x",)))


@pytest.mark.parametrize("kind", ["topics", "reverse_checkpointed_topics"])
def test_group_names_are_never_taken_for_replicas(kind: str) -> None:
    check_desired(desired(FlowList("groups", "P", "B"), "P.settlement", "B.settlement"))
    with pytest.raises(DrError):
        check_desired(desired(FlowList(kind, "P", "B"), "P.settlement"))


# ---- patterns


@pytest.mark.parametrize("entry", [".*Payments", ".+Payments", r".*\.Payments", "[A-Z].Payments", "[^.]*.Payments"])
def test_a_pattern_that_also_matches_replicas_gives_a_warning(entry: str) -> None:
    expected = entry != "[A-Z].Payments"
    assert bool(warnings_of(BACK, (entry,), ".")) == expected


def test_names_that_start_with_an_alias_are_no_replicas_but_a_pattern_for_them_matches_some() -> None:
    check_desired(desired(BACK, "P.*", "Payments", "P.+x"))
    assert len(warnings_of(BACK, ("P.*", "Payments", "P.+x"), ".")) == 2
    assert warnings_of(THERE, ("P.*",), ".") == []


def test_a_pattern_for_everything_gives_no_warning_and_an_invalid_pattern_gives_one() -> None:
    assert warnings_of(BACK, (".*", "Payments", "Pay.*"), ".") == []
    assert "can be checked" in warnings_of(BACK, ("(a",), ".")[0]
    assert 'does not begin with "P."' in warnings_of(REVERSE, (".*Payments",), ".")[0]


@pytest.mark.parametrize(
    ("entry", "others", "by"),
    [
        ("Payments", ["Pay.*"], "Pay.*"),
        ("Payments", ["Payments", "Pay"], None),
        ("orders.eu", ["orders.eu"], None),
        ("orders-eu", ["orders.eu"], None),  # The dot of a name means a dot.
        ("Pay.*", [".*"], ".*"),
        ("pay.*", ["pay.."], None),  # Matches the text, but not all names.
        (".*", [".+", ".*"], None),
        ("Payments", ["pay.*", "(", r"\p{Upper}.*"], None),
    ],
)
def test_which_entries_a_wider_pattern_covers(entry: str, others: list[str], by: str | None) -> None:
    assert cover_of(entry, others) == by


# ---- planned calls


def steps(made: DesiredLists, seen: Listing | None) -> list[tuple[str, str, str]]:
    return [(step.half, step.action, step.entry) for step in plan(made, seen).steps]


SEEN = Listing(("a", "b"), ("__.*",))


def test_merge_adds_and_exact_also_removes_and_absent_only_removes() -> None:
    add, remove = ("allowed", "add", "c"), ("allowed", "remove", "b")
    assert steps(desired(THERE, "a", "c"), SEEN) == [add]
    assert steps(desired(THERE, "a", "c", state="exact"), SEEN) == [add, remove]
    assert steps(desired(THERE, "b", "c", state="absent"), SEEN) == [remove]
    assert steps(desired(THERE, state="exact"), SEEN) == [("allowed", "remove", "a"), remove]
    assert steps(DesiredLists(THERE, None, denied=("x",), state="exact"), SEEN) == [("denied", "add", "x")]


def test_lists_are_compared_as_text() -> None:
    assert steps(desired(THERE, "A", r"a\.b"), Listing(("a", "a.b"), ())) == [
        ("allowed", "add", "A"),
        ("allowed", "add", r"a\.b"),
    ]


def test_a_covered_name_is_added_unless_accepted() -> None:
    seen = Listing(("Pay.*",), ())
    made = plan(desired(THERE, "Payments"), seen)
    assert (len(made.steps), made.covered) == (1, {"Payments": "Pay.*"})
    accepted = desired(THERE, "Payments", accept_covered=True)
    assert plan(accepted, seen).steps == ()
    assert plan(replace(accepted, state="exact"), seen).covered == {}
    both = desired(THERE, "Payments", "Pay.*", accept_covered=True, state="exact")
    assert steps(both, Listing((), ())) == [("allowed", "add", "Pay.*")]
    assert steps(both, Listing(("Payments", "Pay.*"), ())) == []


def test_exact_keeps_the_entries_that_exclude_internal_names() -> None:
    seen = Listing((), (r".*[\-\.]internal", "__.*", "connect-.*", "heartbeats", "Secret.*"))
    made = plan(DesiredLists(THERE, None, denied=(), state="exact"), seen)
    assert [step.entry for step in made.steps] == ["Secret.*"]
    assert made.kept == seen.denied[:-1] if seen.denied else False
    assert steps(DesiredLists(THERE, None, denied=("__.*",), state="absent"), seen) == [("denied", "remove", "__.*")]


@pytest.mark.parametrize("rule", ["Payments", "Pay.*", ".*"])
@pytest.mark.parametrize("state", ["merge", "exact"])
def test_a_wanted_entry_that_is_denied_is_an_error(rule: str, state: str) -> None:
    with pytest.raises(DrError) as refused:
        plan(desired(THERE, "Payments", state=state), Listing(("Payments",), (rule,)))
    assert refused.value.code == "srm_entry_denied"
    assert f'"Payments" by "{rule}"' in refused.value.message
    plan(desired(THERE, "Payments", denied=(), state="exact"), Listing((), ("Payments",)))


def test_a_list_that_cannot_be_shown_is_sent_completely_or_refused() -> None:
    assert steps(desired(REVERSE, "P.a"), None) == [("allowed", "add", "P.a")]
    assert steps(desired(REVERSE, "P.a", state="absent"), None) == [("allowed", "remove", "P.a")]
    for made, seen in (
        (desired(REVERSE, "P.a", state="exact"), None),
        (DesiredLists(REVERSE, None, denied=("P.a",)), Listing((), None)),
    ):
        with pytest.raises(DrError) as refused:
            plan(made, seen)
        assert refused.value.code == "srm_list_unknown"


NAMES = st.lists(st.sampled_from(["a", "b", "c.d", "c.*", ".*", "__.*", "x|y"]), unique=True, max_size=5).map(tuple)
MAYBE = st.one_of(st.none(), NAMES)


@example((), (), ("c.d", "c.*", ".*"), None, "merge", True)
@given(NAMES, NAMES, MAYBE, MAYBE, st.sampled_from(["merge", "exact", "absent"]), st.booleans())
def test_after_a_plan_nothing_is_left_to_plan(
    allowed: tuple[str, ...],
    denied: tuple[str, ...],
    entries: tuple[str, ...] | None,
    unwanted: tuple[str, ...] | None,
    state: str,
    accept: bool,
) -> None:
    made = DesiredLists(THERE, entries, unwanted, state, accept)
    try:
        check_desired(made)
        first = plan(made, Listing(allowed, denied))
    except DrError:
        event("refused")
        return
    after = result_of(Listing(allowed, denied), first.steps)
    assert plan(made, after).steps == ()
    assert len(set(first.steps)) == len(first.steps)
    if state != "absent":
        # An existing entry covers each entry that was left out.
        assert all(entry in after.allowed or first.covered[entry] in after.allowed for entry in entries or ())
