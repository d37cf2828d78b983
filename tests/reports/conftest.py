"""Pages hold plotly.js: its compression takes a third of a second, and is done once in a process instead of for each page."""

from functools import lru_cache

from momagames.reports.html import document

document.compress = lru_cache(2)(document.compress)
