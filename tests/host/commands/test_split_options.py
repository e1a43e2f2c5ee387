# SPDX-License-Identifier: BSD-2-Clause
import json
import tomllib

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main


def train(*options):
    return CliRunner().invoke(main, ["train", "karate", "--epochs", "1", "--json", *options])


def accuracies(*options):
    result = train(*options)
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout.splitlines()[-1])
    return {name: record[f"{name}_accuracy"] for name in ("train", "validation", "test")}


def test_split():
    """Accuracies are whole numbers of vertices of the split that was asked for."""
    found = accuracies("--split", "50/50/0")
    assert found["test"] is None
    assert all(found[name] * 17 == pytest.approx(round(found[name] * 17))
               for name in ("train", "validation"))
    assert accuracies("--split", "50/50/0", "--split-seed", "0") == found
    assert any(accuracies("--split", "50/50/0", "--split-seed", str(seed)) != found
               for seed in (1, 2, 3))


@pytest.mark.parametrize(("options", "message"), [
    (["--split", "60/20/30"], "[graph] split must be three percentages that sum up to 100, not "
                              "[60.0, 20.0, 30.0]"),
    (["--split", "60/40"], "[graph] split must be a list of 3: a number, not [60.0, 40.0]"),
    (["--split", "a/b/c"], "'a/b/c' is not a number or a list like 3/2"),
    (["--split-seed", "1"], "[graph] split_seed is the seed of split; give that as well"),
    (["--split", "0/50/50"], "the train split is empty"),
])
def test_refusals(options, message):
    result = train(*options)
    assert result.exit_code != 0 and message in result.output


def test_a_run_says_which_split_it_had(tmp_path):
    for name, options, split in (
            ("own", [], {}),
            ("other", ["--split", "62.5/17.5/20", "--split-seed", "3"],
             {"split": [62.5, 17.5, 20], "split_seed": 3})):
        assert train("--run", str(tmp_path / name), *options).exit_code == 0
        run = tomllib.loads((tmp_path / name / "run.toml").read_text())
        assert run["graph"] == {"source": "karate", **split}
