"""Figures of the report: plotly_* for the HTML page (JSON for plotly.js), paper_* for papers (SVG and PNG by matplotlib)."""
