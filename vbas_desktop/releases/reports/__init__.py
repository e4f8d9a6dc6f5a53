"""The reports of a release: one for the recipient, one internal; each as HTML and PDF from the same content.

`internal` and `recipient` build the content; `html` and `pdf` set it, and `pdf` is imported when a PDF is wanted.
"""

from .html import render_html
from .internal import InternalFacts, build_internal_report
from .recipient import RecipientReportFacts, build_recipient_report

__all__ = [
    "InternalFacts",
    "RecipientReportFacts",
    "build_internal_report",
    "build_recipient_report",
    "render_html",
]
