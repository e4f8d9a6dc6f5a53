"""Writing a release: the anonymised file with its papers, verified by reading it back, then put in place as a whole.

May use everything below it (``files``, ``engine``, ``assessment``, …) and is used by ``session``, ``cli`` and ``ui``.
"""

from vbas_desktop.domain.errors import Check, VerificationFailed
from vbas_desktop.settings.policies import POLICIES, Policy
from vbas_desktop.settings.release import CLASS_SIZE, ReleaseOptions

from .folder import check_target
from .summary import ReleaseReport
from .telltales import TELLTALE
from .write import write_release

__all__ = [
    "CLASS_SIZE",
    "POLICIES",
    "TELLTALE",
    "Check",
    "Policy",
    "ReleaseOptions",
    "ReleaseReport",
    "VerificationFailed",
    "check_target",
    "write_release",
]
