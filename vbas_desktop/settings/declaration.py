"""How a setting is declared: a field of a frozen dataclass with its label, help, default, bounds and option."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from vbas_desktop.model.errors import UsageError

from .forms import Form

_KEY = "vbas_setting"


@dataclass(frozen=True)
class Setting:
    """The declaration of one setting.

    ``label`` and ``help`` are what forms show. The help of the option is made of ``help``, with ``usual`` in place of
    a default that says nothing, or is ``in_command`` as it stands. ``titles`` names values for people, in the order of
    a list to choose from. Settings with the same ``group`` stand together. ``decides`` is False for what makes no
    difference to the result; ``without_value`` is what the option means if it is named without a value.
    """

    name: str
    default: Any
    label: str
    help: str
    option: str
    group: str
    form: Form
    choices: tuple[str, ...] = ()
    titles: Mapping[Any, str] = dataclasses.field(default_factory=dict)
    usual: str = ""
    in_command: str = ""
    required: bool = False
    decides: bool = True
    without_value: str | None = None
    repeatable: bool = False

    @property
    def key(self) -> str:
        """The name in ``run.json`` and among the parsed options."""
        return self.option.lstrip("-").replace("-", "_")

    @property
    def title(self) -> str:
        """The label without the marks of keys."""
        return self.label.replace("&", "")

    def in_words(self, plain: Any) -> str:
        """A value, as plain data, for people."""
        value = self.form.value(plain)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return self.titles.get(value, "") if self.titles and value in self.titles else self.form.text(plain)

    @property
    def plain_default(self) -> Any:
        """The default as plain data."""
        return self.form.plain(self.default)

    @property
    def schema(self) -> dict[str, Any]:
        """What its data in a document are, as JSON schema. What may be left open is null in a document."""
        form = dict(self.form.schema)
        if self.choices:
            allowed = {"enum": list(self.choices)}
            form = {**form, "items": allowed} if form["type"] == "array" else allowed
        if self.required:
            form |= {"minItems": 1} if form["type"] == "array" else {"minLength": 1}
        return {"anyOf": [form, {"type": "null"}]} if self.default in (None, (), {}) and not self.required else form

    @property
    def option_help(self) -> str:
        """The help of the option."""
        if self.in_command:
            return self.in_command
        text = as_option_help(self.help)
        told = isinstance(self.default, str | int | float) and not isinstance(self.default, bool) and not self.required
        usual = self.usual or (str(self.default) if told else "")
        return f"{text} (default: {usual})" if usual else text


def as_option_help(sentence: str) -> str:
    """A sentence of a form as the help of an option: it goes on after the name, so it neither begins nor ends."""
    return (sentence[:1].lower() + sentence[1:]).removesuffix(".")


def setting(default: Any, *, label: str, help: str, form: Form | None = None, **more: Any) -> Any:
    """Declare a field of `Settings`; a default that is a mapping is made anew for each instance.

    Its ``option`` is called as the field and its ``group`` is that of the class, unless they are given.
    """
    metadata = {_KEY: {"label": label, "help": help, "form": form or Form(), **more}}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: dict(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def settings_of(kind: type[Any]) -> tuple[Setting, ...]:
    """The fields of a dataclass that are declared as settings, in their order."""
    return tuple(
        Setting(name=field.name, default=_default(field), **field.metadata[_KEY])
        for field in dataclasses.fields(kind)
        if _KEY in field.metadata
    )


def schemas_of(kind: type[Any]) -> dict[str, dict[str, Any]]:
    """What the options of these settings are in ``run.json``, as JSON schema by their names there."""
    return {each.key: each.schema for each in settings_of(kind)}


def setting_of(kind: type[Any], name: str) -> Setting:
    """One declared field by its name."""
    return next(declared for declared in settings_of(kind) if declared.name == name)


def _value(declared: Setting, plain: Any) -> Any:
    try:
        return declared.form.value(plain)
    except ValueError as error:
        raise UsageError(f"{declared.option}: {error}.") from None


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


@dataclass(frozen=True)
class Settings:
    """Base of the dataclasses whose fields are settings."""

    def __init_subclass__(cls, group: str = "") -> None:
        for name, value in vars(cls).items():
            if isinstance(value, dataclasses.Field) and _KEY in value.metadata:
                declared = value.metadata[_KEY]
                declared.setdefault("option", f"--{name.replace('_', '-')}")
                declared.setdefault("group", group)

    def options(self) -> dict[str, Any]:
        """Every setting as plain data, by the names of the command line: part of the options in ``run.json``."""
        return {each.key: each.form.plain(getattr(self, each.name)) for each in settings_of(type(self))}

    @classmethod
    def values_from(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The fields from such options; what is null or not there (earlier versions wrote less) is as usual."""
        said = [each for each in settings_of(cls) if options.get(each.key) is not None]
        return {each.name: _value(each, options[each.key]) for each in said}

    def kept(self) -> dict[str, Any]:
        """Every setting as JSON data, by the names of the fields: part of the choices in a project."""
        return {each.name: each.form.kept(getattr(self, each.name)) for each in settings_of(type(self))}

    @classmethod
    def values_from_kept(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The fields from such data; what is null or not there is as usual."""
        said = [each for each in settings_of(cls) if data.get(each.name) is not None]
        return {each.name: each.form.from_kept(data[each.name]) for each in said}

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """The settings from such options."""
        return cls(**cls.values_from(options))

    def part(self, kind: type[Settings]) -> dict[str, Any]:
        """The values of the settings that another class declares too."""
        return {each.name: getattr(self, each.name) for each in settings_of(kind)}
