"""Print the licenses of the packages in a CycloneDX file as a table. Standard library only.

python .ci/list_licenses.py SBOM
"""

import json
import sys
from pathlib import Path


def describe_licenses(component: dict) -> str:
    """Return the licenses of a component by SPDX id, expression or name."""
    found = []
    for one in component.get("licenses", []):
        license = one.get("license", {})
        name = one.get("expression") or license.get("id") or license.get("name", "")
        if not name.startswith("declared license "):  # the text of a file
            found.append(name.splitlines()[0].rpartition(" :: ")[2] if name else "unnamed")
    return "; ".join(dict.fromkeys(found)) or "not stated"


def main() -> None:
    components = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["components"]
    print("# Packages that momagames needs\n\n| package | version | license |\n|---|---|---|")
    for component in sorted(components, key=lambda one: one["name"].lower()):
        if component["name"] not in ("pip", "setuptools"):
            print(f"| {component['name']} | {component['version']} | {describe_licenses(component)} |")


if __name__ == "__main__":
    main()
