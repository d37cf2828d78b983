"""Metadata of a dataset in the Croissant format, with the fields of its extension for responsible AI, in croissant.json.

Source: Croissant 1.0 and Croissant RAI 1.0 of MLCommons.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from momagames.datasets.manifest import Manifest
from momagames.files.writing import write_file_atomically
from momagames.registry import format_id

CROISSANT, ENCODING = "croissant.json", "application/x-parquet"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
# column -> type, whether it is a list, description
COLUMNS = {
    "episode": ("sc:Integer", False, "Number of the episode in the dataset."),
    "seed": ("sc:Integer", False, "Seed of the start position."),
    "length": ("sc:Integer", False, "Number of environment steps."),
    "policies": ("sc:Integer", True, "Number of the policy of each agent, see dataset.json."),
    "preferences": ("sc:Float", True, "Weights of the objectives of each agent's policy, agents x objectives; NaN without."),
    "returns": ("sc:Float", True, "Sums of the rewards, agents x objectives."),
    "actions": ("sc:Integer", True, "Actions, steps x actors x parts of an action."),
}


def write_croissant(folder: Path, manifest: Manifest) -> None:
    """Write croissant.json atomically."""
    write_file_atomically(folder / CROISSANT, json.dumps(make_croissant(manifest), indent=1) + "\n")


def make_croissant(manifest: Manifest) -> dict[str, Any]:
    """Return the metadata as JSON-LD: files with checksums, and a file set and a record set for each part."""
    recipe = manifest.recipe
    names = [_name_part(manifest, i) for i in range(len(recipe.parts))]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": recipe.name,
        "description": recipe.description,
        "license": recipe.license,
        "version": "1.0.0",
        "creator": {"@type": "sc:Organization", "name": f"momagames {manifest.version}"},
        "distribution": [
            *(
                {
                    "@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": ENCODING,
                    "includes": f"data/part-{i:03d}/*.parquet",
                }
                for i, name in enumerate(names)
            ),
            *(
                {
                    "@type": "cr:FileObject", "@id": one.file, "name": one.file, "contentUrl": one.file,
                    "encodingFormat": ENCODING, "contentSize": f"{one.bytes} B", "sha256": one.sha256,
                }
                for one in manifest.shards
            ),
        ],
        "recordSet": [_describe_records(name) for name in names],
        **_describe_use(manifest),
    }  # fmt: skip


def _name_part(manifest: Manifest, number: int) -> str:
    part = manifest.recipe.parts[number]
    return f"{number}-{part.game.id}-{part.tier}"


def _describe_records(part: str) -> dict[str, Any]:
    fields = []
    for column, (kind, is_list, description) in COLUMNS.items():
        name = f"{part}-episodes/{column}"
        field: dict[str, Any] = {
            "@type": "cr:Field", "@id": name, "name": name, "description": description, "dataType": kind,
            "source": {"fileSet": {"@id": part}, "extract": {"column": column}},
        }  # fmt: skip
        fields.append({**field, "repeated": True} if is_list else field)
    return {"@type": "cr:RecordSet", "@id": f"{part}-episodes", "name": f"{part}-episodes", "field": fields}


def _describe_use(manifest: Manifest) -> dict[str, Any]:
    """Return the fields for responsible AI: how the data were made, what they are for, and what they are not."""
    games = dict.fromkeys(format_id(part.game.id, part.game.params) for part in manifest.recipe.parts)
    behavior = "; ".join(
        f"{part.tier} on {part.game.id}: {', '.join(dict.fromkeys(one.method for one in policies))}"
        for part, policies in zip(manifest.recipe.parts, manifest.policies, strict=True)
    )
    return {
        "rai:dataCollection": (
            f"Programs played simulated games ({', '.join(games)}) with momagames {manifest.version}. The recipe in "
            "dataset.json names games, policies, numbers of episodes and seeds, and determines every byte of the episodes."
        ),
        "rai:dataCollectionType": "Software Collection",
        "rai:dataCollectionRawData": "None: the episodes are simulated, and nothing was measured or downloaded.",
        "rai:dataCollectionMissingData": "None: an episode is played to its end. Preferences are NaN for policies without.",
        "rai:dataPreprocessingProtocol": (
            "None. The files have actions and start seeds; observations, masks and rewards are computed by the rules."
        ),
        "rai:dataAnnotationProtocol": "None: rewards and legal actions are those of the rules.",
        "rai:dataUseCases": (
            "Offline multi-objective and multi-agent reinforcement learning, imitation learning, and tests of their methods."
        ),
        "rai:dataBiases": (
            f"Actions are those of the listed policies ({behavior}). States that these policies avoid are rare or absent, and "
            "the tiers differ in which states they visit."
        ),
        "rai:dataLimitations": (
            "Games are not models of real tasks. In games with hidden information the start seeds and the actions of all "
            "agents together determine what is hidden: learners that are compared must use the observations alone."
        ),
        "rai:dataSocialImpact": "No known impact: board and grid games played by programs.",
        "rai:personalSensitiveInformation": "None.",
        "rai:dataReleaseMaintenancePlan": (
            "The data of an id and a version of momagames do not change. New rules have a new id, see its version history."
        ),
    }
