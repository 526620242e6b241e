"""A run as one page of HTML: `Result.report(path)` and `python -m halfopen report TIMELINE -o PAGE`."""

from halfopen.report.page import page

__all__ = ["page"]
