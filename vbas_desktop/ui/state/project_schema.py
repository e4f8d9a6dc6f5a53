"""The shape of a project file. More fields than these are allowed and kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from vbas_desktop.model.records import Role

FORMAT = 1

Groups = dict[str, dict[str, str]]
"""Column → value → group."""

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
RoleOfColumn = Annotated[tuple[str, Annotated[Role, Field(strict=False)]], Field(strict=False)]


class Part(BaseModel):
    """An object of the file; values are never converted, and fields that are not declared may be there."""

    model_config = ConfigDict(extra="allow", strict=True)


class PackedArray(Part):
    """An array as text."""

    type: Literal["int32", "float64"]
    shape: list[Count]
    data: str


class InputFile(Part):
    """A record or region file."""

    path: Name
    size_bytes: Count = 0
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] = ""


class StoredPartition(Part):
    """Aggregated regions before they were refined."""

    owner: PackedArray
    sites: PackedArray | None = None


class StoredSolution(Part):
    """A solution of a run; ``number`` is the one in the list of all runs."""

    number: Positive
    id: int
    site_count: Positive
    approximated_sites: Positive
    owner: PackedArray
    measures: dict[str, float | None]
    seconds: float
    sites: PackedArray | None = None
    unrefined: StoredPartition | None = None
    suppressed_global: int = 0
    suppressed_local: int = 0
    pareto: bool = False
    pinned: bool = False


class StoredSensitive(Part):
    """A sensitive column."""

    column: str
    benign: list[str]
    criteria: list[str]


class StoredProblem(Part):
    """What was counted for a run."""

    region_column: str
    quasi_identifiers: Annotated[list[str], Field(min_length=1)]
    unknown_regions: Literal["stop", "suppress"]
    k: Positive
    groupings: Groups = {}
    sensitive: list[StoredSensitive] = []


class StoredChoices(Part):
    """What was chosen; options of a run are declared with their groups."""

    roles: list[RoleOfColumn] = []
    decided: list[str] = []
    groupings: Groups = {}
    approaches: dict[str, str] = {}
    parameters: dict[str, dict[str, dict[str, Any]]] = {}


class StoredRun(Part):
    """A run with its solutions."""

    id: Positive
    title: str
    problem: StoredProblem
    choices: StoredChoices
    solutions: list[StoredSolution]
    records_sha256: str | None = None
    region_ids_sha256: str = ""


class StoredExport(Part):
    """What the checklist knows of the latest export."""

    shuffle: bool = False
    renames: Count = 0
    record_key: bool = False
    aggregated: Count = 0


class StoredPolicy(Part):
    """Policy and checklist."""

    choices: dict[str, str] = {}
    notes: dict[str, str] = {}
    signed_by: str = ""
    signed_on: str = ""
    policy: str = ""
    population: str = ""
    export: StoredExport = StoredExport()


class StoredLayer(Part):
    """A context layer of the map."""

    path: Name
    colour: str = ""
    visible: bool = True
    land: bool = False


class StoredMap(Part):
    """Style of the map."""

    names: str | None = None
    labels: str | None = None
    outlines: list[str] = []
    context: list[StoredLayer] = []


class StoredView(Part):
    """Colouring, layers and chart that were shown."""

    coloured_by: str | None = None
    layers: list[str] | None = None
    chart: str | None = None


class StoredSelection(Part):
    """The selected solution and region."""

    solution: int | None = None
    region: int | None = None


class InputFiles(Part):
    """The files of the project."""

    records: InputFile
    regions: InputFile


class ProjectDocument(Part):
    """The content of a project file."""

    format: Literal[1]
    files: InputFiles
    choices: StoredChoices
    runs: list[StoredRun]
    program: str = ""
    requirement: dict[str, Any] = {}
    policy: StoredPolicy = StoredPolicy()
    map: StoredMap = StoredMap()
    view: StoredView = StoredView()
    selection: StoredSelection = StoredSelection()
