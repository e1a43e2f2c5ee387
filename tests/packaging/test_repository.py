# SPDX-License-Identifier: BSD-2-Clause
"""What people look for in a repository: where links lead, how to cite, how it is tested."""

import datetime
import os
import re
import runpy

import pytest
import yaml

import hypercast
from tests.packaging.source_tree import FOLDERS, ROOT

README = (ROOT / "README.md").read_text()
readme = runpy.run_path(str(ROOT / "setup.py"))["readme"]


def test_links_of_the_package_page_lead_into_the_repository():
    text = readme(README, "https://example.org/us/hypercast/")
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]*)\)", text)
    assert len(links) > 20
    for picture, target in links:
        kind = "raw" if picture else "blob"
        path = re.fullmatch(rf"https://example\.org/us/hypercast/{kind}/HEAD/([^#]+)(#.*)?", target)
        assert target.startswith(("https://arxiv.org/", "https://amaranth-lang.org")) \
            or (ROOT / path[1]).exists(), target


def test_without_a_repository_there_are_names_instead_of_links():
    text = readme(README, None)
    assert not re.search(r"\]\((?!https://)", text) and "![" not in text
    assert "tutorial (`docs/tutorial.md`)" in text and "See CONTRIBUTING.md." in text
    assert len(text) > 0.8 * len(README)


@pytest.mark.parametrize(("text", "repository", "expected"), [
    ("[a](b.md#c)", "https://x/y", "[a](https://x/y/blob/HEAD/b.md#c)"),
    ("[a](b.md#c)", None, "a (`b.md`)"), ("[b.md](b.md)", None, "b.md"),
    ("[`b/`](b/)", None, "`b/`"), ("[a](#c)", None, "[a](#c)"),
    ("[a](http://z)", "https://x/y", "[a](http://z)"),
    ("![a](b.svg)", "https://x/y", "![a](https://x/y/raw/HEAD/b.svg)")])
def test_one_link(text, repository, expected):
    assert readme(text, repository) == expected


def test_the_citation_is_of_this_version():
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= found.keys()  # what the format needs
    assert found["version"] == hypercast.__version__ and found["license"] == "BSD-2-Clause"
    [paper] = found["references"]
    assert paper["url"] in README and len(paper["authors"]) == 5
    assert paper["year"] <= datetime.date.today().year


def test_every_source_says_its_licence():
    line = re.compile(r"(#!.*\n)?(#|//) SPDX-License-Identifier: BSD-2-Clause\n")
    sources = [path for folder in (*FOLDERS, "docs", "examples", "tests")
               for suffix in ("py", "c", "h", "cpp")
               for path in (ROOT / folder).rglob(f"*.{suffix}")
               if not {"build", "generated"} & {*path.relative_to(ROOT).parts}]
    assert len(sources) > 1000
    missing = [path for path in (*sources, ROOT / "setup.py")
               if (text := path.read_text(encoding="utf-8")) and not line.match(text)]
    assert not missing


def test_the_workflow_runs_what_any_machine_runs():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    [job] = yaml.safe_load(text)["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    least = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    assert f'python-version: "{least}"' in text
