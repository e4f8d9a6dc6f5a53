from .api import Comparison as Comparison
from .api import Data as Data
from .api import Run as Run
from .api import Solution as Solution
from .api import compare as compare
from .api import export as export
from .api import read as read
from .api import run as run
from .api import verify as verify

__version__: str
