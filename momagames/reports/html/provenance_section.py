"""The provenance of the page: versions, machines, settings, the suite, and the commands that reproduce it."""

from __future__ import annotations

import html
import json

from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Suite
from momagames.reports.data.run_facts import collect_run_facts, reproduction_commands
from momagames.reports.html.parts import render_facts

COPY_BUTTON = '<button type="button" class="copy" data-copy="{id}">copy</button>'


def provenance_section(store: Store, suite: Suite, command: str) -> str:
    """Return the provenance of the finished runs; `command` made the report."""
    facts = collect_run_facts(store, suite)
    if command:
        facts.append(("command", command))
    content = html.escape(json.dumps(suite.model_dump(mode="json"), indent=1))
    commands = html.escape(reproduction_commands(store, suite))
    return f"""<section id="provenance"><h2>Provenance</h2>
<details><summary>Versions, machines, settings and commands</summary>{render_facts(facts)}
<h4>Reproduction</h4>
<p>Save the suite below as <code>{html.escape(suite.name)}.yaml</code> and run:</p>
{COPY_BUTTON.format(id="commands")}<pre id="commands">{commands}</pre>
<details><summary>Suite</summary>{COPY_BUTTON.format(id="suite")}<pre id="suite">{content}</pre></details></details>
</section>"""
