from vbas_desktop.api import Comparison as Comparison
from vbas_desktop.api import Data as Data
from vbas_desktop.api import Run as Run
from vbas_desktop.api import Solution as Solution
from vbas_desktop.api import compare as compare
from vbas_desktop.api import export as export
from vbas_desktop.api import read as read
from vbas_desktop.api import run as run
from vbas_desktop.api import verify as verify

__version__: str
