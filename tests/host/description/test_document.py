# SPDX-License-Identifier: BSD-2-Clause
"""Files of descriptions: TOML and YAML say the same, damaged ones are refused with their line."""

import pytest

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import load_description
from hypercast.host.description.document import SUFFIXES, read_document

TOML = """\
[graph]
source = "karate"

[recipe]
learning_rate = [1e-3, 2.5e-3]
schedule = [[5, 0.5]]
epochs = 12
"""
YAML = """\
graph:
  source: karate

recipe:  # like Recipe
  learning_rate: [1e-3, 2.5e-3]
  schedule:
    - [5, 0.5]
  epochs: 12

model:
"""


def written(tmp_path, text, suffix=".yaml"):
    path = tmp_path / f"training{suffix}"
    path.write_text(text)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_yaml_says_the_same_as_toml(tmp_path, suffix):
    found, expected = (load_description(written(tmp_path, text, kind))
                       for text, kind in ((YAML, suffix), (TOML, ".toml")))
    assert found.recipe.learning_rates == (1e-3, 2.5e-3)
    assert found.sections() == expected.sections()


def test_changes_count_more(tmp_path):
    path = written(tmp_path, YAML)
    found = load_description(path, {"recipe": {"epochs": 2}, "model": {"hidden": 4}})
    assert (found.recipe.epochs, found.model.hidden) == (2, (4,))


@pytest.mark.parametrize("text", [TOML, YAML])
def test_places(tmp_path, text):
    place = read_document(written(tmp_path, text, ".toml" if text == TOML else ".yaml")).place
    assert place("graph", "source") == ", line 2"
    assert place("recipe", "schedule") == ", line 6"
    assert place("recipe", "") == place("recipe", "seed") == ", line 4"
    assert place("device", "name") == ""


@pytest.mark.parametrize(("old", "new", "message"), [
    ("epochs:", "epoch:", r"training\.yaml, line 8: \[recipe\] has no epoch; did you mean epochs"),
    ("recipe:", "receipt:", r"line 4: there is no section \[receipt\]; did you mean \[recipe\]"),
    ("model:", "model: 3", r"line 10: model must be a section"),
    ("epochs: 12", 'epochs: "12"', r"line 8: \[recipe\] epochs must be a whole number, not '12'"),
    ("epochs: 12", "schedule: []", r"training\.yaml, line 8: the key schedule is there twice"),
    ("model:", "graph:", r"line 10: the key graph is there twice"),
    ("epochs:", "12:", r"line 8: the key 12 is no text"),
    ("model:", "12:", r"line 10: the key 12 is no text"),
    ("[5, 0.5]", "[5, 0.5", r"line 8: did not find expected ',' or '\]'|line 8: expected ',' or"),
    ("source: karate", "source: &a karate\n  split: *a",
     r"training\.yaml, line 3: \*a refers to another value; write it out"),
    ("model:", "--- {}", r"line 10: but found another document"),
    ("source: karate", "source: !!python/name:os.system x", r"line 2: could not determine a const"),
    (YAML, "- graph", r"training\.yaml: it holds \['graph'\] where sections like"),
    (YAML, "karate", r"it holds 'karate' where"),
    (YAML, "# graph", r"it holds nothing where"),
])
def test_refusals(tmp_path, old, new, message):
    assert old in YAML
    with pytest.raises(DescriptionError, match=message):
        load_description(written(tmp_path, YAML.replace(old, new)))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_cannot_be_read(tmp_path, suffix):
    path = tmp_path / f"training{suffix}"
    with pytest.raises(DescriptionError, match=r"training\.\w+ does not exist; check the path"):
        load_description(path)
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(DescriptionError, match=r"training\.\w+, line 1: byte 0 is 0xff, which"):
        load_description(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(DescriptionError, match="is a folder, not a regular file"):
        load_description(path)


def test_a_change_of_what_is_no_section(tmp_path):
    with pytest.raises(DescriptionError, match="model must be a section"):
        load_description(written(tmp_path, "model = 3", ".toml"), {"model": {"hidden": 4}})


@pytest.mark.parametrize("value", ["!!bool x", "!!int x", "!!float x", "!!timestamp x",
                                   "!!binary '\xe4'", "!!int ''"])
def test_values_that_are_not_what_their_tags_say(tmp_path, value):
    path = written(tmp_path, f"graph:\n  source: karate\nrecipe:\n  seed: {value}\n")
    with pytest.raises(DescriptionError, match=r"training\.yaml, line 4: .*; correct the file"):
        read_document(path)
