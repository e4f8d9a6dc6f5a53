"""The papers of a release: one report for the recipient, one for the file; each as HTML and PDF from the same content.

`content` says what is in them, `disclosure` what the recipient may learn, `pages` and `pdf` only set it.
"""

from .content import report
from .facts import Facts
from .pages import as_html
from .pdf import as_pdf

__all__ = ["Facts", "as_html", "as_pdf", "report"]
