import json

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
    (["--split", "60/20/30"], "'60/20/30' is not three percentages that sum up to 100"),
    (["--split", "60/40"], "is not three percentages"),
    (["--split", "a/b/c"], "is not three percentages"),
    (["--split-seed", "1"], "--split-seed is the seed of --split"),
    (["--split", "0/50/50"], "the train split is empty"),
])
def test_refusals(options, message):
    result = train(*options)
    assert result.exit_code != 0 and message in result.output


def test_a_run_says_which_split_it_had(tmp_path):
    for name, options, split in (("own", [], "the data set's"),
                                 ("other", ["--split", "62.5/17.5/20", "--split-seed", "3"],
                                  "62.5/17.5/20, seed 3")):
        assert train("--run", str(tmp_path / name), *options).exit_code == 0
        run = json.loads((tmp_path / name / "run.json").read_text())
        assert run["facts"]["split"] == split
