"""Files with damage of any kind are read, or refused in one line that names them."""

import os
import random
import shutil

import pytest

from tests.host.readers import READERS

_WORDS = [b"-1", b"1.0", b"nan", b"1e999", b"0", b"99999999999999999999", b"null", b"true", b"[]",
          b"{", b"]", b"\"", b"\xff", b"\x00", b"\n", b",", b"-", b"1_0", b"\xef\xbb\xbf", b"&a *a"]


def damaged(content, generator):
    """``content`` with one to three damages."""
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(len(content) + 1)
        end = min(len(content), place + generator.choice([1, 1, 4, 16, 200]))
        word, start, rest = generator.choice(_WORDS), content[:place], content[end:]
        flipped = bytes(byte ^ 1 << generator.randrange(8) for byte in content[place:place + 1])
        content = generator.choice([
            start, start + rest, content[:end] + content[place:],  # a part is missing, or twice
            start + generator.randbytes(end - place) + rest, start + word + content[place:],
            start + word + rest, start + flipped + content[place + 1:]])
    return content


@pytest.fixture(scope="module", params=READERS)
def example(request, tmp_path_factory):
    """A reader, and a folder with its sound example."""
    folder = tmp_path_factory.mktemp("sound")
    READERS[request.param].write(folder)
    READERS[request.param].read(folder)
    return READERS[request.param], folder


@pytest.mark.timeout(120)
@pytest.mark.parametrize("cases", [100, pytest.param(3000, marks=pytest.mark.slow)])
def test_damaged_files(example, tmp_path, cases):
    reader, sound = example
    files = sorted(path.relative_to(sound) for path in sound.rglob("*") if path.is_file())
    shutil.copytree(sound, tmp_path / "damaged")
    for seed in range(cases):
        generator = random.Random(seed)
        name = generator.choice(files)
        path = tmp_path / "damaged" / name
        path.write_bytes(damaged((sound / name).read_bytes(), generator))
        try:
            reader.read(tmp_path / "damaged")
        except ValueError as error:
            assert str(tmp_path / "damaged") in str(error), (seed, name)
            assert len(str(error).splitlines()) == 1 and len(str(error)) < 2000, (seed, name)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {name}: {type(error).__name__}") from error
        shutil.copyfile(sound / name, path)


@pytest.mark.timeout(60)
def test_files_that_are_none(example, tmp_path):
    reader, sound = example
    for name in sorted(path.relative_to(sound) for path in sound.rglob("*") if path.is_file()):
        for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero"),
                     lambda path: path.symlink_to(path), lambda path: None):
            folder = tmp_path / "other"
            shutil.copytree(sound, folder)
            (folder / name).unlink()
            make(folder / name)
            try:
                reader.read(folder)
            except ValueError as error:
                assert str(folder) in str(error), name
            shutil.rmtree(folder)
