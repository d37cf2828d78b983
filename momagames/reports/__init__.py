"""Reports on results: comparisons, tables for the terminal, the HTML page, figures for papers."""

from momagames.reports.report import report

__all__ = ["report"]
