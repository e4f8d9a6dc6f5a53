"""The papers of a release: one report for the recipient, one for the file; each as HTML and PDF from the same content.

`content` says what is in the one for the file, `recipient` what is in the other, `pages` and `pdf` only set it.
"""

from .content import internal_report
from .pages import as_html
from .pdf import as_pdf
from .recipient import Papers, recipients_report
from .shared import Facts

__all__ = ["Facts", "Papers", "as_html", "as_pdf", "internal_report", "recipients_report"]
