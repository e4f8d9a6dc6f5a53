"""The Python interface: functions that take paths or data frames, and return the results of `vbas_desktop.results`.

Everything here is reached as ``import vbas_desktop as vbas``; all else in the package is private and may change.
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.analysis.minimal_uniques.recoding_loop import (
    GENTLE,
    NUMBER_RECODINGS,
    STRATEGIES,
    RecodingPlan,
)
from vbas_desktop.analysis.minimal_uniques.write import (
    RECODED_FILES,
    search_as_dict,
    session_as_dict,
    write_recoded,
)
from vbas_desktop.analysis.outliers.treatments import list_treatments
from vbas_desktop.analysis.representability.report import RepresentabilityOptions
from vbas_desktop.analysis.representability.requirement import parse_requirement, read_requirement
from vbas_desktop.app.appointments import PlanRequest
from vbas_desktop.app.appointments import plan_appointments as make_plan
from vbas_desktop.app.compare import CompareRequest, compare_combinations, plan_of
from vbas_desktop.app.data import LoadRequest, load_data, read_groups
from vbas_desktop.app.frames import FrameFiles, hash_file, replace_flags
from vbas_desktop.app.outliers import OutlierRequest, treat_outliers
from vbas_desktop.app.release import ExportRequest, ReleaseRequest, export_run, release_solution
from vbas_desktop.app.representability import (
    Generalisation,
    RepresentabilityRequest,
    measure_representability,
)
from vbas_desktop.app.risky import RiskyRequest, describe_unsearched_columns, start_recoding
from vbas_desktop.app.run import RunRequest, run_configuration
from vbas_desktop.app.search import SearchRequest, search_release
from vbas_desktop.app.text_progress import progress_from
from vbas_desktop.app.verify import VerifyRequest, verify_file
from vbas_desktop.appointments.inputs import PeopleColumns, load_people, load_slots
from vbas_desktop.appointments.outputs import PLAN_FILES, require_ids, write_plan
from vbas_desktop.approaches.selection import (
    ApproachResolver,
    list_flag_parameters,
    settings_from_options,
)
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.io.documents.hierarchies import check_hierarchies
from vbas_desktop.io.output import check_target
from vbas_desktop.model.findings import Finding, InputError, Severity, UsageError, VerificationFailed
from vbas_desktop.results import (
    Appointments,
    Comparison,
    Data,
    Outliers,
    Release,
    Representability,
    RiskyCombinations,
    Run,
    Search,
    Solution,
)
from vbas_desktop.settings.codecs import parse_name_list
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.option import Option, OptionGroup
from vbas_desktop.settings.reading import ReadingSettings, RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import (
    COMPONENTS,
    GENERALISED,
    ColumnRoles,
    ExecutionSettings,
    PrivacySettings,
    SweepSettings,
    check_columns,
)
from vbas_desktop.settings.sensitive import SensitiveSettings, check_sensitive, sensitive_columns
from vbas_desktop.settings.writing import RecordWriting

if TYPE_CHECKING:
    from vbas_desktop.model.progress import Progress

__all__ = [
    "Appointments",
    "Comparison",
    "Data",
    "FindingWarning",
    "InputError",
    "Outliers",
    "Release",
    "Representability",
    "RiskyCombinations",
    "Run",
    "Search",
    "Solution",
    "UsageError",
    "VerificationFailed",
    "compare",
    "export",
    "outliers",
    "plan_appointments",
    "read",
    "release",
    "representability",
    "risky",
    "run",
    "search",
    "verify",
]

Groups = Mapping[str, Mapping[str, str]] | str | PathLike[str]
"""Column → value → group, or a file with column, value and group."""

_RUN_OPTIONS = (PrivacySettings, RegionConstraints, SensitiveSettings, SweepSettings, ExecutionSettings)
_COARSENING = {
    "strategy": "strategy",
    "suppress": "suppression_share",
    "numbers": "numbers",
    "trim_divisor": "trim_divisor",
}
"""Keywords of coarsening, and the fields of a plan that they set."""


class FindingWarning(UserWarning):
    """Warns of something in the data that a person should know about."""


def read(
    records: Any,
    regions: Any,
    *,
    region_column: str,
    quasi_identifiers: Any,
    identifiers: Any = (),
    sensitive: Any = (),
    groups: Groups | None = None,
    progress: Any = None,
    **reading: Any,
) -> Data:
    """Read both files.

    Parameters
    ----------
    records, regions
        Paths, or data frames; regions may be a GeoDataFrame or anything else with a ``__geo_interface__``.
    region_column, quasi_identifiers, identifiers, sensitive
        Which columns of the records are what; several names as a list or as text with commas.
    groups
        Categories that are grouped: column → value → group, or a file with column, value and group.
    progress
        None shows a line on a terminal, False nothing; or a function of stage and fraction.
    reading
        Any setting of reading: ``delimiter``, ``encoding``, ``category_counts``, ``coordinates``, ``id_column``, …

    Returns
    -------
    Data
        What `run`, `compare` and `search` work on.

    Raises
    ------
    InputError
        With all problems that were found. Of a data frame they name the keyword and the row, counted from 0.
    """
    roles = {
        "region_column": region_column,
        "quasi_identifiers": quasi_identifiers,
        "identifiers": identifiers,
        "sensitive": sensitive,
    }
    options = _read_keywords({**reading, **roles}, ReadingSettings, ColumnRoles)
    files = FrameFiles()
    request = LoadRequest(
        files.path_of(records, "records"),
        files.path_of(regions, "regions"),
        ReadingSettings.from_dict(options),
        required_columns=tuple(options["identifiers"]),
        region_column=region_column,
    )
    with _calling(files, progress) as progress_sink:
        loaded = load_data(request, progress_sink)
        for name in (region_column, *options["quasi_identifiers"], *options["sensitive"]):
            loaded.table.check_name(name)
        data = Data(loaded, options, files)
        groupings = _read_groups(groups, data)
    _warn((*loaded.table.findings, *loaded.regions.findings), files)
    return Data(loaded, {**options, "groupings": groupings}, files)


def run(
    data: Data,
    *,
    groups: Groups | None = None,
    requirement: Any = None,
    progress: Any = None,
    **settings: Any,
) -> Run:
    """Run one combination of approaches over its range of site numbers and rate the solutions.

    Parameters
    ----------
    data
        The result of `read`.
    groups
        Categories that are grouped in this run, in place of those of ``data``.
    requirement
        A file with what a researcher needs, or its content: `Run.chosen` is then one that meets it.
    progress
        None shows a line on a terminal, False nothing; or a function of stage and fraction.
    settings
        ``k``, ``range_reach``, ``random_seed``, …; ``site_number``, ``site_location``, …; their parameters by the
        names of their options (``sites=40``), all others as ``parameters={"balanced-density": {"variant": "paper"}}``.
    """
    _check_type("data", data, Data)
    with _calling(data._files, progress) as progress_sink:
        chosen = _read_run_settings(data, groups, settings)
        outcome = run_configuration(
            RunRequest(chosen, data._loaded, requirement=_read_need(requirement)), progress_sink
        )
    _warn(_skip_known(data, (*outcome.problem.findings, *outcome.result.findings)), data._files)
    return Run(data, outcome)


def compare(
    data: Data,
    *,
    k: int | Iterable[int] = 5,
    out: str | PathLike[str] | None = None,
    generalised: str = "no",
    groups: Groups | None = None,
    progress: Any = None,
    **settings: Any,
) -> Comparison:
    """Run every combination of the approaches that are listed (``site_location=["density", "adc"]``) and values of k.

    ``out`` receives the tables, a summary and charts. ``generalised`` says whether the groups are used: no, yes or
    both. All other settings are those of `run`.
    """
    _check_type("data", data, Data)
    _check_choice("generalised", generalised, GENERALISED)
    listed = {name: settings.pop(name) for name in COMPONENTS if name in settings}
    with _calling(data._files, progress) as progress_sink:
        options = _read_keywords(settings, *_RUN_OPTIONS, approaches=True)
        groupings = data._options["groupings"] if groups is None else _read_groups(groups, data)
        chosen, _ = settings_from_options({**data._options, **options, "groupings": groupings})
        resolver = ApproachResolver(options)
        approaches = {
            component: tuple(
                resolver.create(component, name)
                for name in _as_list(listed.get(component, chosen.approaches[component]))
            )
            for component in COMPONENTS
        }
        plan = plan_of(
            chosen,
            (chosen.quasi_identifiers,),
            tuple(map(_read_k, _as_list(k))),
            approaches,
            generalised,
        )
        request = CompareRequest(plan, data._loaded, _as_path(out), identifiers=chosen.identifiers)
        comparison = compare_combinations(request, progress_sink).comparison
    _warn(_skip_known(data, comparison.findings), data._files)
    return Comparison(comparison)


def search(
    data: Data,
    *,
    levels: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
    pin: Mapping[str, int] | None = None,
    minimum: Mapping[str, int] | None = None,
    out: str | PathLike[str] | None = None,
    progress: Any = None,
    **settings: Any,
) -> Search:
    """Find the finest regions within the allowed loss for every combination of levels of the quasi-identifiers.

    Parameters
    ----------
    data
        The result of `read`; its groups are not used.
    levels
        Column → for each level above the values, value → group. Other columns get levels made up from their values.
    pin, minimum
        Column → the level that is kept, and the fewest categories that must remain.
    out
        Folder for the tables and the groups of the best combinations.
    settings
        Those of `run`, without ``site_number``.
    """
    _check_type("data", data, Data)
    with _calling(data._files, progress) as progress_sink:
        chosen = _read_run_settings(data, {}, {**settings, "site_number": "limit"})
        request = SearchRequest(
            chosen, data._loaded, levels or {}, pin or {}, minimum or {}, _as_path(out)
        )
        outcome = search_release(request, progress_sink)
    _warn(_skip_known(data, outcome.finest.problem.findings), data._files)
    return Search(outcome)


def release(
    solution: Run | Solution,
    out: str | PathLike[str],
    *,
    requirement: Any = None,
    progress: Any = None,
    **options: Any,
) -> Release:
    """Write the release of a solution (of a run: the chosen one) to a folder, verified by reading it back.

    ``options`` are the settings of a release: ``columns``, ``renames``, ``format``, ``policy``, …
    """
    solution = solution.chosen if isinstance(solution, Run) else solution
    _check_type("solution", solution, Solution)
    made = solution._run
    with _calling(made._data._files, progress) as progress_sink:
        identifiers = list(made._outcome.settings.identifiers)
        chosen = ReleaseOptions.from_dict(
            {"identifiers": identifiers, **_read_keywords(options, ReleaseOptions)}
        )
        request = ReleaseRequest(made._outcome, solution.id, chosen, Path(out), _read_need(requirement))
        report = release_solution(request, progress_sink)
    _warn(report.findings, made._data._files)
    return Release(report)


def export(
    folder: str | PathLike[str],
    out: str | PathLike[str],
    *,
    solution: int | None = None,
    progress: Any = None,
    **options: Any,
) -> Release:
    """Repeat an earlier run from the folder that it left behind and release one of its solutions."""
    files = FrameFiles()
    with _calling(files, progress) as progress_sink:
        request = ExportRequest(
            Path(folder), Path(out), solution, _read_keywords(options, ReleaseOptions)
        )
        report = export_run(request, progress_sink)
    _warn(report.findings, files)
    return Release(report)


def verify(
    records: Any,
    *,
    quasi_identifiers: Any,
    region_column: str,
    k: int = 5,
    sensitive: Any = (),
    progress: Any = None,
    **settings: Any,
) -> dict[str, Any]:
    """Say whether a file or a data frame is k-anonymous, as `vbas verify` does: ``["ok"]`` is the verdict.

    ``settings`` are those of reading, and ``benign`` values and ``criteria`` of the sensitive columns.
    """
    files = FrameFiles()
    with _calling(files, progress) as progress_sink:
        options = _read_keywords(settings, RecordReading, SensitiveSettings)
        protection = SensitiveSettings.from_dict(options)
        columns = _as_names(sensitive)
        check_sensitive(columns, protection)
        request = VerifyRequest(
            files.path_of(records, "records"),
            _as_names(quasi_identifiers),
            region_column,
            _read_k(k),
            RecordReading.from_dict(options),
            sensitive_columns(columns, protection),
        )
        result = verify_file(request, progress_sink)
    _warn(result.findings, files)
    return result.as_dict()


def risky(
    records: Any,
    *,
    columns: Any = (),
    k: int = 3,
    max_size: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: Any = None,
    **settings: Any,
) -> RiskyCombinations:
    """Find the minimal combinations of values that fewer than k records share.

    Parameters
    ----------
    records
        A path or a data frame.
    columns
        The columns to search; all by default.
    max_size
        Only combinations of at most so many columns are searched.
    out
        Folder: the records are coarsened until none is at risk, written there, read back and recounted.
    settings
        ``strategy`` (gentle, cover, paper), ``suppress`` (share of records), ``numbers`` (null, pairs) and
        ``trim_divisor`` of the coarsening; the settings of reading and of writing records.
    """
    coarsening = {_COARSENING[name]: settings.pop(name) for name in _COARSENING if name in settings}
    files = FrameFiles()
    with _calling(files, progress) as progress_sink:
        options = _read_keywords(settings, RecordReading, RecordWriting)
        writing = RecordWriting.from_dict(options)
        path = files.path_of(records, "records")
        target = _as_path(out)
        if target is not None:
            check_target(target, RECODED_FILES, [path])
        table = load_records_at(path, RecordReading.from_dict(options), progress_sink)
        header = table.file_format.header
        searched = _as_names(columns) or tuple(
            name for name in header if name not in writing.identifiers
        )
        coarsening.setdefault("strategy", GENTLE)
        _check_choice("strategy", coarsening["strategy"], STRATEGIES)
        if "numbers" in coarsening:
            _check_choice("numbers", coarsening["numbers"], NUMBER_RECODINGS)
        if coarsening["strategy"] == GENTLE:
            coarsening.setdefault("suppression_share", 0.01)
        plan = RecodingPlan(_read_k(k), **coarsening)
        session = start_recoding(RiskyRequest(table, searched, plan), progress_sink)
        if target is None:
            result = session.search(progress_sink, max_size, first_level_only=False)
        else:
            session.run(progress_sink)
            if not session_as_dict(session)["k_anonymous"]:
                raise VerificationFailed(
                    "Nothing was written: the searched columns would not be k-anonymous."
                )
            log = write_recoded(session, table, target, writing, progress_sink)
    _warn(table.findings, files)
    if target is None:
        return RiskyCombinations(search_as_dict(session.state.table, k, result))
    unsearched = describe_unsearched_columns(header, {*searched, *writing.identifiers})
    if unsearched:
        warnings.warn(replace_flags(unsearched), FindingWarning, stacklevel=2)
    file = target / "anonymized.csv"
    return RiskyCombinations(log, file, hash_file(file))


def outliers(
    records: Any,
    *,
    quasi_identifiers: Any,
    k: int = 5,
    handle: str = "delete",
    hierarchies: str | PathLike[str] | None = None,
    key: str = "",
    sensitive: Any = (),
    out: str | PathLike[str] | None = None,
    replace: bool = False,
    progress: Any = None,
    **settings: Any,
) -> Outliers:
    """Count the classes of fewer than k records; with ``out``, handle them and write the records to a file.

    Parameters
    ----------
    records
        A path or a data frame.
    handle
        ``delete``, ``generalise`` (by ``hierarchies``), ``merge`` or ``fabricate``.
    hierarchies
        Folder with COLUMN.csv (value;level1;level2…).
    key, sensitive
        For made-up records: the column that gets a new key, and the columns that get values.
    out
        The file to write, which is read back and counted. An existing one is replaced only with ``replace``.
    settings
        Those of reading and of writing records.
    """
    _check_choice("handle", handle, list_treatments())
    files = FrameFiles()
    target = _as_path(out)
    with _calling(files, progress) as progress_sink:
        options = _read_keywords(settings, RecordReading, RecordWriting)
        path = files.path_of(records, "records")
        if target is not None:
            check_target(target, inputs=[path], replace=replace)
        request = OutlierRequest(
            path,
            RepresentabilityOptions(_read_k(k), key, _as_names(quasi_identifiers), _as_names(sensitive)),
            list_treatments()[handle](),
            target,
            Generalisation(_as_path(hierarchies)),
            RecordWriting.from_dict(options),
            RecordReading.from_dict(options),
            replace=replace,
        )
        outcome = treat_outliers(request, progress_sink)
    _warn(outcome.findings, files)
    return Outliers(outcome) if target is None else Outliers(outcome, target, hash_file(target))


def representability(
    original: Any,
    anonymised: Any,
    *,
    key: str,
    quasi_identifiers: Any,
    sensitive: Any = (),
    k: int = 5,
    weights: Mapping[str, float] | None = None,
    hierarchies: str | PathLike[str] | None = None,
    requirement: Any = None,
    progress: Any = None,
    **reading: Any,
) -> Representability:
    """Say how an anonymised file differs from its original: what a researcher can still expect of it.

    Parameters
    ----------
    original, anonymised
        Paths or data frames.
    key
        The column that names a record in both.
    weights
        Column → weight of a quasi-identifier; they add up to 1.
    hierarchies
        Folder with COLUMN.csv (value;level1;level2…).
    requirement
        A file with what a researcher needs, or its content.
    reading
        The settings of reading, for both files.
    """
    files = FrameFiles()
    with _calling(files, progress) as progress_sink:
        record_reading = RecordReading.from_dict(_read_keywords(reading, RecordReading))
        request = RepresentabilityRequest(
            files.path_of(original, "original"),
            files.path_of(anonymised, "anonymised"),
            RepresentabilityOptions(
                _read_k(k), key, _as_names(quasi_identifiers), _as_names(sensitive), weights or {}
            ),
            Generalisation(_as_path(hierarchies)),
            requirement=_read_need(requirement),
            reading=record_reading,
            anonymised_reading=record_reading,
        )
        outcome = measure_representability(request, progress_sink)
    _warn(outcome.findings, files)
    return Representability(outcome)


def plan_appointments(
    people: Any,
    slots: Any,
    *,
    quasi_identifiers: Any,
    id_column: str | None = None,
    planner: str = "heuristic",
    time_limit: float | None = None,
    random_seed: int = 0,
    out: str | PathLike[str] | None = None,
    progress: Any = None,
    **reading: Any,
) -> Appointments:
    """Plan screening appointments that keep people anonymous.

    Parameters
    ----------
    people, slots
        Paths or data frames; slots have centre, time and capacity.
    id_column
        The column that names a person.
    planner
        The name of a planner, as in `vbas appointments --planner`.
    time_limit
        Seconds after which a planner that improves its plan stops.
    out
        Folder for the plan.
    reading
        The settings of reading, for the people.
    """
    files = FrameFiles()
    target = _as_path(out)
    with _calling(files, progress) as progress_sink:
        record_reading = RecordReading.from_dict(_read_keywords(reading, RecordReading))
        people_path = files.path_of(people, "people")
        slots_path = files.path_of(slots, "slots")
        if target is not None:
            check_target(target, PLAN_FILES, [people_path, slots_path])
        columns = PeopleColumns(_as_names(quasi_identifiers), id_column)
        table = load_people(people_path, columns, record_reading, progress_sink)
        request = PlanRequest(
            table,
            load_slots(slots_path),
            planner=planner,
            time_limit=time_limit,
            random_seed=random_seed,
        )
        assessment = make_plan(request, progress_sink)
        if target is not None:
            require_ids(table)
            write_plan(assessment, table, target, progress_sink)
    return Appointments(assessment, table)


@contextmanager
def _calling(files: FrameFiles, progress: Any) -> Iterator[Progress]:
    """Yield a progress; errors that leave the block name frames and keywords, not files and flags."""
    with files.explaining_errors(), progress_from(progress) as progress_sink:
        yield progress_sink


def _warn(findings: Iterable[Finding], files: FrameFiles) -> None:
    """Give each warning among the findings as a Python warning of the caller's caller."""
    for finding in files.describe(dict.fromkeys(findings)):
        if finding.severity is not Severity.HINT:
            warnings.warn(str(finding), FindingWarning, stacklevel=3)


def _skip_known(data: Data, findings: Iterable[Finding]) -> list[Finding]:
    """List the findings of which `read` did not warn already."""
    known = {*data._loaded.table.findings, *data._loaded.regions.findings}
    return [finding for finding in findings if finding not in known]


def _read_run_settings(data: Data, groups: Groups | None, settings: Mapping[str, Any]) -> Any:
    """Build the `RunSettings` of keywords. Raises `TypeError` for those without effect."""
    options = _read_keywords(settings, *_RUN_OPTIONS, approaches=True)
    groupings = data._options["groupings"] if groups is None else _read_groups(groups, data)
    chosen, unused = settings_from_options({**data._options, **options, "groupings": groupings})
    if unused:
        raise TypeError(f"{replace_flags(', '.join(unused))}: no effect on the chosen approaches")
    check_columns(chosen)
    return chosen


def _read_groups(groups: Groups | None, data: Data) -> dict[str, dict[str, str]]:
    """Return column → value → group, read from a file if one is named."""
    if isinstance(groups, str | PathLike):
        path = str(Path(groups))
        check_hierarchies([path], data._loaded.table, data._options["quasi_identifiers"])
        groups = read_groups([path])
    return {
        column: {str(value): group for value, group in mapping.items()}
        for column, mapping in (groups or {}).items()
    }


def _read_keywords(
    keywords: Mapping[str, Any], *groups: type[OptionGroup], approaches: bool = False
) -> dict[str, Any]:
    """Return keywords as options, with ``approaches`` those of a configuration too.

    Raises `TypeError` for unknown names and `InputError` for wrong values.
    """
    declared = {option.name: option for group in groups for option in group.options()}
    others = {*COMPONENTS, *list_flag_parameters()} if approaches else set()
    options: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in declared:
            options[name] = _read_value(declared[name], value)
        elif name in others:
            options[name] = value
        elif name != "parameters" or not approaches:
            similar = difflib.get_close_matches(name, [*declared, *others], 1)
            raise TypeError(
                f"there is no setting “{name}”{f'; did you mean {similar[0]}?' if similar else ''}"
            )
    if keywords.get("parameters"):
        options["set"] = _format_parameters(keywords["parameters"])
    return options


def _format_parameters(parameters: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Return parameters of approaches as values of ``--set``. Raises `TypeError` if they are not nested."""
    settings = []
    for approach, values in parameters.items():
        if not isinstance(values, Mapping):
            raise TypeError(f"parameters[{approach!r}] must be a dict of parameters and values")
        settings += [f"{approach}.{name}={value}" for name, value in values.items()]
    return settings


def _read_value(option: Option, value: Any) -> Any:
    """Return a value of an option; a text is read as it would be on the command line. Raises `InputError`."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, PathLike):
        value = os.fspath(value)
    if value is None:
        return None
    if isinstance(value, str) and not option.choices:
        try:
            return option.parse(value)
        except ValueError as error:
            raise InputError(Finding("option", f"“{option.name}”: {error}.")) from None
    return replace(option, label=option.name).read(value)


def _check_choice(keyword: str, value: Any, choices: Iterable[str]) -> None:
    """Raise `UsageError` if a value is none of the choices."""
    allowed = list(choices)
    if value not in allowed:
        raise UsageError(f"{keyword} cannot be “{value}”; it is one of {', '.join(allowed)}")


def _check_type(keyword: str, value: Any, kind: type) -> None:
    """Raise `TypeError` if a value was not returned by the function that makes this kind of result."""
    if not isinstance(value, kind):
        raise TypeError(f"{keyword} must be a {kind.__name__}, not a {type(value).__name__}")


def _read_k(k: Any) -> int:
    """Return k. Raises `InputError` if it is not a whole number of at least 1."""
    number: int = _read_value(PrivacySettings.option("k"), k)
    return number


def _read_need(requirement: Any) -> Any:
    """Return a requirement that is given as a file or as its content."""
    if requirement is None:
        return None
    return (
        parse_requirement(requirement)
        if isinstance(requirement, Mapping)
        else read_requirement(requirement)
    )


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _as_names(names: Any) -> tuple[str, ...]:
    """Return names that are given as a list or as text with commas."""
    return tuple(parse_name_list(names) if isinstance(names, str) and names else names)


def _as_path(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
