"""How an option is declared, once, for the command line, the window, the Python interface and documents.

An option is a field of an `OptionGroup`, which is a frozen pydantic model::

    class SweepSettings(OptionGroup):
        title: ClassVar[str] = "Range of site numbers"
        range_reach: int = option(
            2,
            ge=0,
            soft_max=50,
            label="Steps to each side",
            help="Numbers of sites to try below and above the approximated one; 0 tries only that one.",
        )

The annotation is the type (`int`, `float`, `bool`, `str`, ``Literal[…]``, or one of `vbas_desktop.settings.codecs`;
with ``| None`` it may be left open), and pydantic's constraints (``ge``, ``gt``, ``le``, ``lt``) are its bounds. From
this declaration follow:

- the flag of `vbas`, ``--range-reach``: ``cli.arguments.add_options(parser, SweepSettings)`` adds the flags of a group
  under its title, and ``SweepSettings.from_dict(vars(namespace))`` reads what was parsed;
- the JSON key, which is the field's name, in run files and projects: `OptionGroup.as_dict`, `OptionGroup.from_dict`;
- the keyword of the Python interface, the label of an undo step, the line of a report, and the words of the command
  that repeats a run (`vbas_desktop.settings.generated`);
- the field of a form: ``ui.widgets.option_form.OptionForm(SweepSettings, parent)``.

A group may hold other groups as fields; their options are its options, and option names are unique in it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.text import format_count

from .codecs import INTEGER, NUMBER, SWITCH, TEXT, TextForm


class Level(Enum):
    """For whom a group of options, an option or an action is: everybody, those who choose approaches, or research.

    The window shows what is for research only if that is switched on.
    """

    MAIN = "main"
    APPROACHES = "approaches"
    RESEARCH = "research"


_MOST_LISTED = 10

_KINDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "text", tuple: "a list"}


@dataclass(frozen=True)
class Option:
    """The declaration of one option: what `option` was given, and what the field's name and annotation add to it.

    label, help: the words of forms; an ampersand in the label marks the key that leads to the field.
    flag: its spelling in `vbas`, made of the name unless it is given.
    command_help: the help of the flag; made of ``help`` unless it is given.
    default_text: what the help of the flag calls the default.
    metavar: what stands for the value in the help of the flag.
    unset_text: what an empty field of a form stands for, such as "Anyone".
    unit: shown behind the value, such as "%".
    soft_max: where a spin box ends; the flag may be given more.
    titles: names of values for people, in the order of a list to choose from.
    enabled_when: name of another option of the group, and what its value must be for this one to have an effect.
    choices_from: what a form offers to choose from, such as "record columns".
    affects_result: False if it makes no difference to the result.
    required: the flag must be given.
    bare_value: the value if the flag is given without one.
    is_repeatable: the flag may be given several times, with several names each.
    is_shorthand: scripts may write the value in place of the name of the approach whose parameter it is.
    level: for whom it is; that of its group unless it is given.
    """

    label: str
    help: str
    flag: str = ""
    command_help: str = ""
    default_text: str = ""
    metavar: str = ""
    unset_text: str = ""
    unit: str = ""
    soft_max: float | None = None
    titles: Mapping[Any, str] = field(default_factory=dict)
    enabled_when: tuple[str, Callable[[Any], bool]] | None = None
    choices_from: str = ""
    affects_result: bool = True
    required: bool = False
    bare_value: str | None = None
    is_repeatable: bool = False
    is_shorthand: bool = False
    level: Level | None = None
    name: str = ""
    default: Any = None
    value_type: Any = str
    """`bool`, `int`, `float`, `str`, or the origin of another type such as `tuple`."""
    choices: tuple[Any, ...] = ()
    form: TextForm = TEXT
    low: float | None = None
    high: float | None = None
    excludes_low: bool = False
    group: Any = None
    """The class that the option belongs to."""
    section: str = ""
    """Where the flag stands in the help."""

    def __call__(self, schema: dict[str, Any]) -> None:
        """Add nothing to the JSON schema of the field: pydantic calls this where it stands in a declaration."""

    @property
    def is_for_research(self) -> bool:
        """Tell whether forms show the option only if research is switched on, or if it is not left at its default."""
        return self.level is Level.RESEARCH

    @property
    def title(self) -> str:
        """Return the label without the mark of its key."""
        return self.label.replace("&", "")

    @property
    def allowed(self) -> str:
        """Say what may be entered."""
        if self.choices:
            return "one of " + ", ".join(map(str, self.choices))
        words = _KINDS.get(self.value_type, "given in another form")
        bounds = []
        if self.low is not None:
            bounds.append(f"{'above' if self.excludes_low else 'at least'} {self.low:,.12g}")
        if self.high is not None:
            bounds.append(f"at most {self.high:,.12g}")
        return f"{words} {' and '.join(bounds)}".strip()

    @property
    def flag_help(self) -> str:
        """Return the help of the flag; it follows the flag's name, so it has no capital letter and no full stop."""
        if self.command_help:
            return self.command_help
        text = format_flag_help(self.help)
        default = self.default_text
        if not default and not self.required and type(self.default) in (str, int, float):
            default = self.format(self.default)
        return f"{text} (default: {default})" if default else text

    def is_effective(self, values: Mapping[str, Any]) -> bool:
        """Tell whether the option has an effect, given the values of the other options of its group by name."""
        if self.enabled_when is None:
            return True
        other, condition = self.enabled_when
        return other not in values or condition(values[other])

    def parse(self, text: str) -> Any:
        """Read the value from what a person typed. Raises `ValueError` that says what would be allowed."""
        value = self.form.parse(text)
        if self.value_type in (int, float):
            self._check_bounds(value)
        if self.choices and self.value_type is str and value not in self.choices:
            raise ValueError(f"must be {self.allowed}")
        return (value,) if self.form.is_repeated else value

    @property
    def is_nested(self) -> bool:
        """Tell whether the value is a group of options itself, such as an approach that another one starts from."""
        return isinstance(self.value_type, type) and issubclass(self.value_type, OptionGroup)

    def read(self, value: Any) -> Any:
        """Validate a value and return it; a text is parsed first, a nested approach is left to its own group.

        Raises `InputError` that says what is allowed.
        """
        if self.is_nested:
            return value
        try:
            parsed = (
                self.parse(value) if isinstance(value, str) and self.value_type is not str else value
            )
        except ValueError:
            raise InputError(Finding("option", f"“{self.title}” must be {self.allowed}.")) from None
        try:
            return _adapt(self.group, self.name).validate_python(parsed)
        except ValidationError as error:
            raise InputError(
                _explain(self, error.errors(include_input=False, include_url=False)[0])
            ) from None

    def parse_item(self, text: str) -> Any:
        """Read one occurrence of the flag: the value, or one item of it. Raises `ValueError`."""
        return self.form.parse(text) if self.form.is_repeated else self.parse(text)

    def _check_bounds(self, number: float) -> None:
        if self.low is not None and self.value_type is int and number < self.low:
            raise ValueError(f"{number} is too low; the least is {self.low}")
        is_above = (
            self.low is None or number > self.low or (number == self.low and not self.excludes_low)
        )
        is_below = self.high is None or number <= self.high
        if not (is_above and is_below and abs(number) != float("inf")):
            raise ValueError(f"must be {self.allowed}")

    def format(self, value: Any) -> str:
        """Format a value as the text that `parse` reads."""
        return "" if value is None else self.form.join(value)

    def describe(self, value: Any) -> str:
        """Format a value for people."""
        return self.titles[value] if self.titles and value in self.titles else self.format(value)

    def summarise(self, value: Any) -> str:
        """Format a value for a line with others: a long list as its number of items."""
        if isinstance(value, tuple) and len(value) > _MOST_LISTED:
            return format_count(len(value), "entry", "entries")
        return self.describe(value)

    def to_argv(self, value: Any) -> list[str]:
        """Return the words of a command line that give this value."""
        if self.value_type is bool:
            return self._switch_argv(value)
        if value is None:
            return []
        return [word for text in self.form.format(value) for word in join_flag(self.flag, text)]

    @property
    def is_negated(self) -> bool:
        """Tell whether giving the flag means no (``--no-global-suppression``)."""
        return self.value_type is bool and self.flag.startswith("--no-")

    @property
    def has_both_flags(self) -> bool:
        """Tell whether there is a flag for yes and one for no (``--pdf`` and ``--no-pdf``)."""
        return self.value_type is bool and self.default is True and not self.is_negated

    def _switch_argv(self, value: bool) -> list[str]:
        if self.has_both_flags:
            return [self.flag if value else f"--no-{self.flag.removeprefix('--')}"]
        return [self.flag] if value is not self.is_negated else []


def join_flag(flag: str, text: str) -> list[str]:
    """Return ``--flag value``; a value that begins with a dash stays in one word with its flag."""
    return [flag, text] if text and not text.startswith("-") else [f"{flag}={text}"]


def format_flag_help(sentence: str) -> str:
    """Turn a sentence into the help of a flag: an acronym keeps its capital letters, the full stop goes."""
    start = sentence[:1] if sentence[1:2].isupper() else sentence[:1].lower()
    return (start + sentence[1:]).removesuffix(".")


_DECLARED = frozenset(item.name for item in fields(Option))


def option(default: Any, *, label: str, help: str, **details: Any) -> Any:
    """Declare a field of an `OptionGroup`.

    ``details`` are the fields of `Option` (``flag``, ``unit``, ``soft_max``, ``enabled_when``, …) and the constraints
    of `pydantic.Field` (``ge``, ``gt``, ``le``, ``validate_default``, …).
    """
    of_option = {name: value for name, value in details.items() if name in _DECLARED}
    constraints = {name: value for name, value in details.items() if name not in _DECLARED}
    declared = Option(label, help, **of_option)
    return Field(
        default, title=declared.title, description=help, json_schema_extra=declared, **constraints
    )


class OptionGroup(BaseModel):
    """Base of all groups of options: a frozen model; wrong values raise `InputError`, which never quotes them."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )
    title: ClassVar[str] = ""
    level: ClassVar[Level] = Level.MAIN
    has_flags: ClassVar[bool] = True
    """False if options have a flag only where one is declared."""

    @model_validator(mode="wrap")
    @classmethod
    def _explain_errors(cls, data: Any, handler: Callable[[Any], Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            raise InputError(list_findings(cls, error)) from None

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """List the options of the group and of the groups in it."""
        return _list_options(cls)

    @classmethod
    def option(cls, name: str) -> Option:
        """Return one option by its name."""
        return _options_by_name(cls)[name]

    def value_of(self, name: str) -> Any:
        """Return the value of an option of this group or of a group in it."""
        owner = _list_owners(type(self)).get(name)
        return getattr(self, name) if owner is None else getattr(self, owner).value_of(name)

    def option_values(self) -> dict[str, Any]:
        """Return the value of each option by its name."""
        return {item.name: self.value_of(item.name) for item in self.options()}

    def replaced(self, **values: Any) -> Self:
        """Return a copy with these values, validated; each goes to the group in it that owns its name.

        Raises `InputError` if a value is not allowed or if there is no such option.
        """
        owners = _list_owners(type(self))
        changed: dict[str, Any] = {}
        inner: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            if name in owners:
                inner.setdefault(owners[name], {})[name] = value
            else:
                changed[name] = value
        for owner, its_values in inner.items():
            changed[owner] = getattr(self, owner).replaced(**its_values)
        return type(self).model_validate({**dict(self), **changed})

    def as_dict(self) -> dict[str, Any]:
        """Return the value of each option as JSON data by its name; groups in the group are not nested."""
        flat = _flatten(type(self), self.model_dump(mode="json"))
        return {item.name: flat[item.name] for item in self.options()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make the group from JSON data, or from values, by name; other names are ignored, None means the default.

        Raises `InputError` if a value is not allowed.
        """
        owners = _list_owners(cls)
        values: dict[str, Any] = {}
        for item in cls.options():
            value = data.get(item.name)
            if value is None:
                continue
            owner = owners.get(item.name)
            if owner is None:
                values[item.name] = value
            else:
                values.setdefault(owner, {})[item.name] = value
        for owner in set(owners.values()) & set(values):
            values[owner] = _nested_groups(cls)[owner].from_dict(values[owner])
        return cls.model_validate(values)


def changed_options(before: OptionGroup, after: OptionGroup) -> tuple[Option, ...]:
    """List the options in which two groups of one class differ."""
    return tuple(
        item for item in after.options() if before.value_of(item.name) != after.value_of(item.name)
    )


def list_findings(group: type[OptionGroup], error: ValidationError) -> list[Finding]:
    """Turn a validation error of a group into findings, which quote no value."""
    findings = []
    declared = _options_by_name(group)
    for detail in error.errors(include_input=False, include_url=False):
        name = str(detail["loc"][0]) if detail["loc"] else ""
        if detail["type"] == "extra_forbidden":
            allowed = ", ".join(declared) or "none"
            findings.append(
                Finding("option", f"{group.title} has no option “{name}”.", f"Its options: {allowed}.")
            )
        elif name not in declared:
            findings.append(Finding("option", f"{group.title}: a part is missing or has another form."))
        else:
            findings.append(_explain(declared[name], detail))
    return list(dict.fromkeys(findings))


def _explain(option: Option, detail: Any) -> Finding:
    """Say what is wrong with the value of one option, from one entry of `ValidationError.errors`."""
    if detail["type"] == "value_error":
        return Finding("option", f"“{option.title}”: {detail['ctx']['error']}.")
    return Finding("option", f"“{option.title}” must be {option.allowed}.")


@cache
def _adapt(group: type[OptionGroup], name: str) -> TypeAdapter[Any]:
    """Build the validator of one option, for values outside a group."""
    config = ConfigDict(strict=True, allow_inf_nan=False)
    info = group.model_fields[name]
    annotation: Any = Annotated[(info.annotation, Field(), *info.metadata)]
    return TypeAdapter(annotation, config=config)


def _nested_groups(group: type[OptionGroup]) -> dict[str, type[OptionGroup]]:
    """Map the fields of a group that hold other groups to these."""
    return {
        name: info.annotation
        for name, info in group.model_fields.items()
        if not isinstance(info.json_schema_extra, Option)
        and isinstance(info.annotation, type)
        and issubclass(info.annotation, OptionGroup)
    }


@cache
def _list_options(group: type[OptionGroup]) -> tuple[Option, ...]:
    nested = _nested_groups(group)
    listed: list[Option] = []
    for name, info in group.model_fields.items():
        if name in nested:
            listed += nested[name].options()
        elif isinstance(info.json_schema_extra, Option):
            listed.append(_resolve(info.json_schema_extra, group, name))
    return tuple(listed)


@cache
def _options_by_name(group: type[OptionGroup]) -> dict[str, Option]:
    return {item.name: item for item in group.options()}


@cache
def _list_owners(group: type[OptionGroup]) -> dict[str, str]:
    """Map each option of a group in this one to the field that holds that group."""
    nested = _nested_groups(group).items()
    return {item.name: owner for owner, kind in nested for item in kind.options()}


def _flatten(group: type[OptionGroup], dumped: Mapping[str, Any]) -> dict[str, Any]:
    nested = _nested_groups(group)
    flat: dict[str, Any] = {}
    for name, value in dumped.items():
        flat |= _flatten(nested[name], value) if name in nested else {name: value}
    return flat


def _find_owner(group: type[OptionGroup], name: str) -> type[OptionGroup]:
    """Find the class that declares a field."""
    return next(base for base in reversed(group.__mro__) if name in getattr(base, "__annotations__", ()))


def _resolve(declared: Option, group: type[OptionGroup], name: str) -> Option:
    """Complete a declaration by the field's name, type and bounds."""
    info = group.model_fields[name]
    annotation, metadata = _strip(info.annotation)
    metadata = [*info.metadata, *metadata]
    literals = _list_literals(annotation)
    value_type = (
        str if literals and get_origin(annotation) is Literal else get_origin(annotation) or annotation
    )
    forms = [item for item in metadata if isinstance(item, TextForm)]
    form = forms[0] if forms else {int: INTEGER, float: NUMBER, bool: SWITCH}.get(value_type, TEXT)
    above = _bound(metadata, "gt")
    return replace(
        declared,
        name=name,
        group=group,
        level=declared.level or group.level,
        flag=declared.flag or (f"--{name.replace('_', '-')}" if group.has_flags else ""),
        default=info.get_default(call_default_factory=True),
        value_type=value_type,
        choices=declared.choices or literals,
        form=form,
        metavar=declared.metavar or ("PERCENT" if declared.unit == "%" else form.metavar),
        low=_bound(metadata, "ge") if above is None else above,
        high=_bound(metadata, "le"),
        excludes_low=above is not None,
        section=_find_owner(group, name).title.lower(),
    )


def _strip(annotation: Any) -> tuple[Any, list[Any]]:
    """Split ``Annotated[T, …] | None`` into T and its annotations."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(part for part in get_args(annotation) if part is not types.NoneType)
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
        return annotation, metadata
    return annotation, []


def _list_literals(annotation: Any) -> tuple[Any, ...]:
    """List the values of a Literal, or of a tuple of one."""
    if get_origin(annotation) is tuple:
        annotation = get_args(annotation)[0]
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _bound(metadata: Iterable[Any], name: str) -> float | None:
    """Find one bound among the constraints of a field."""
    return next((getattr(item, name) for item in metadata if hasattr(item, name)), None)
