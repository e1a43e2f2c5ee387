# SPDX-License-Identifier: BSD-2-Clause
"""The README as the package's page shows it, and benches; all else is in ``pyproject.toml``."""

import re
import tomllib
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.editable_wheel import editable_wheel

_ROOT = Path(__file__).parent
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n\n(\*[^*]*\*\n\n)?", re.MULTILINE)


def readme(text: str, repository: str | None) -> str:
    """A README whose links lead into a repository; without one, they are the names of files.

    Parameters
    ----------
    text : str
        Markdown with links relative to the repository's root.
    repository : str, optional
        Address of the repository on GitHub or a server like it.
    """
    def replaced(link: re.Match[str]) -> str:
        target = link["target"]
        if "://" in target or target.startswith("#"):
            return link[0]
        if repository:
            kind = "raw" if link["picture"] else "blob"
            return (f"{link['picture']}[{link['text']}]"
                    f"({repository.rstrip('/')}/{kind}/HEAD/{target})")
        file = target.partition("#")[0]
        return link["text"] if file == link["text"].strip("`") else f"{link['text']} (`{file}`)"

    return _LINK.sub(replaced, text if repository else _PICTURE.sub("", text))


class CheckoutInstallation(editable_wheel):
    """An editable installation of a checkout: it has the benches, which no wheel has."""

    def run(self) -> None:
        """List the packages of one more folder."""
        self.distribution.packages += ["hypercast.benches", *(
            f"hypercast.benches.{name}" for name in find_packages(str(_ROOT / "benches")))]
        self.distribution.package_dir["hypercast.benches"] = "benches"
        super().run()


if __name__ == "__main__":  # as what builds the package runs it
    _project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    setup(long_description=readme((_ROOT / "README.md").read_text(encoding="utf-8"),
                                  _project["urls"].get("Repository")),
          long_description_content_type="text/markdown",
          cmdclass={"editable_wheel": CheckoutInstallation})
