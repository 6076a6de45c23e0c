"""The environments in which the recorded programs run: one per set of libraries, made when it is first needed.

They live in a cache folder outside the repository: `$SPANJUDGE_RECORDER_CACHE`, or else the user's cache folder. An
environment's folder is named for its requirements, so that changed requirements make a new one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
AGENTS = HERE / "agents"
_Install = Callable[[Path, Path], None]
_VERSION = re.compile(r"<([a-z0-9-]+)\.version>([^<]+)<")
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Environment:
    """An installed environment: its folder, and the versions of the packages that its requirements name."""

    folder: Path
    versions: dict[str, str]

    def command(self, program: str) -> list[str]:
        """The command that runs a program of `agents/`."""
        if program.endswith(".java"):
            _copy("java/*", self.folder / "src")
            main = f"-Dexec.mainClass=desk.{program.removesuffix('.java')}"
            return [*_maven(self.folder), "--offline", "compile", "exec:java", main]
        if program.endswith(".mjs"):
            _copy("*.mjs", self.folder)
            _copy("tools.json", self.folder)
            return ["node", str(self.folder / program)]
        return [str(self.folder / "bin" / "python"), str(AGENTS / program)]


def _copy(pattern: str, folder: Path) -> None:
    for source in AGENTS.glob(pattern):
        shutil.copyfile(source, folder / source.name)


def _maven(folder: Path) -> list[str]:
    return ["mvn", "-q", "-B", "-f", str(folder), f"-Dmaven.repo.local={folder / 'repository'}"]


def cache() -> Path:
    """The folder that holds the environments."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "spanjudge-recorder"
    return Path(os.environ.get("SPANJUDGE_RECORDER_CACHE", default))


def prepare(name: str) -> Environment:
    """Make an environment, unless it is there already."""
    node = HERE / "environments" / name / "package.json"
    if node.exists():
        folder = _made(name, node, _install_node)
        wanted = json.loads(node.read_text(encoding="utf-8"))["dependencies"]
        installed = {
            package: json.loads((folder / "node_modules" / package / "package.json").read_text())["version"]
            for package in wanted
        }
        return Environment(folder, installed)
    pom = HERE / "environments" / name / "pom.xml"
    if pom.exists():
        wanted = _VERSION.findall(pom.read_text(encoding="utf-8"))
        return Environment(_made(name, pom, _install_java), dict(wanted))
    requirements = HERE / "environments" / f"{name}.txt"
    folder = _made(name, requirements, _install_python)
    wanted = _PINNED.findall(requirements.read_text(encoding="utf-8"))
    script = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {wanted!r}}}))"
    found = subprocess.run([folder / "bin" / "python", "-c", script], check=True, capture_output=True)
    return Environment(folder, json.loads(found.stdout))


def _made(name: str, requirements: Path, install: _Install) -> Path:
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:10]
    folder = cache() / f"{name}-{digest}"
    stamp = folder / ".installed"
    if not stamp.exists():
        print(f"making the environment {name} in {folder}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        install(requirements, folder)
        stamp.touch()
    return folder


def _install_python(requirements: Path, folder: Path) -> None:
    uv = shutil.which("uv")
    python = folder / "bin" / "python"
    if uv:
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder], check=True)
        pip: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "-r", requirements], check=True)


def _install_node(requirements: Path, folder: Path) -> None:
    shutil.copyfile(requirements, folder / "package.json")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=True)


def _install_java(requirements: Path, folder: Path) -> None:
    shutil.copyfile(requirements, folder / "pom.xml")
    (folder / "src").mkdir(exist_ok=True)
    _copy("java/*", folder / "src")
    # What a run needs of Maven's plugins is fetched by all of a run but its program.
    subprocess.run([*_maven(folder), "compile", "exec:java", "-Dexec.mainClass=none", "-Dexec.skip=true"], check=True)
