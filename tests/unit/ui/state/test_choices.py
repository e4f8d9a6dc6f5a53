"""Choices are frozen, and have one region column."""

from __future__ import annotations

import pytest

from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Role
from vbas_desktop.ui.state.choices import Choices, changed_fields, describe_choices


def test_a_new_region_column_makes_the_old_one_plain():
    choices = Choices(roles={"a": Role.REGION, "b": Role.AS_IS}).with_role("b", Role.REGION)
    assert dict(choices.roles) == {"a": Role.AS_IS, "b": Role.REGION}
    assert choices.region_column == "b"


def test_a_guess_is_undecided_until_somebody_chooses_or_confirms_it():
    guessed = Choices(
        roles={"a": Role.AS_IS, "b": Role.AS_IS, "c": Role.QUASI_IDENTIFIER, "d": Role.REGION}
    )
    assert guessed.undecided == ("a", "b")
    chosen = guessed.with_role("a", Role.AS_IS)
    assert chosen.undecided == ("b",)
    assert chosen.with_decided(chosen.undecided).undecided == ()
    # Roles that columns lose because of another choice were decided by nobody.
    assert chosen.with_role("b", Role.REGION).undecided == ("d",)
    assert chosen.with_role("c", Role.QUASI_IDENTIFIER).with_quasi_identifiers(["b"]).undecided == ("c",)
    assert guessed.same_run(chosen)


def test_quasi_identifiers_keep_the_order_of_the_file():
    choices = Choices(roles={"a": Role.AS_IS, "b": Role.QUASI_IDENTIFIER})
    assert choices.with_role("a", Role.QUASI_IDENTIFIER).quasi_identifiers == ("a", "b")


def test_the_combination_is_told_in_the_titles_of_the_menus():
    assert describe_choices(Choices().approaches) == "Allowed loss · Balanced density · Voronoi"


def test_an_approach_that_is_not_installed_is_called_by_its_name():
    assert (
        describe_choices(Choices().with_approach("site_location", "theirs").approaches).split(" · ")[1]
        == "theirs"
    )


def test_parameters_are_remembered_for_each_approach():
    choices = (
        Choices()
        .with_parameter("site_number", "fixed", "sites", 12)
        .with_approach("site_number", "fixed")
    )
    assert choices.create_approach("site_number").settings()["sites"] == 12
    assert (
        choices.with_approach("site_number", "maxcombs").create_approach("site_number").metadata.name
        == "maxcombs"
    )


def test_a_parameter_out_of_bounds_is_refused_with_what_is_allowed():
    choices = Choices().with_parameter("site_number", "limit", "allowed_loss_percent", 103.0)
    with pytest.raises(InputError, match="at most 100"):
        choices.create_approach("site_number")


def test_changed_fields_are_named():
    assert changed_fields(Choices(), Choices(k=7, random_seed=2)) == ("k", "random_seed")
