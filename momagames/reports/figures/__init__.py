"""Figures of a report: plotly for the page, matplotlib for papers."""
