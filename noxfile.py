"""The checks in environments of their own: `nox` runs all, `nox -l` lists them.

`nox -t matrix` is the plugin matrix: what is installed has rules, what is not has none.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = False

MATRIX = {
    "core": [],
    "base": ["rules_base"],
    "nnlib": ["rules_nnlib"],
    "scipy": ["rules_scipy"],
    "all": ["rules_base", "rules_nnlib", "rules_scipy", "rules_torch", "rules_jax"],
}
DISTRIBUTIONS = ["rulescore", *MATRIX["all"], "zygote_lite"]
OF_HOSTS = ["rules_torch", "rules_jax"]  # whose rules answer in `interop`, which has the hosts
OF_HOSTS_PAGES = (
    "other_hosts or rules_torch or rules_jax or kinks or modules or from_ or dataframes"
)
WITH_THE_ENGINE = ["nnlib", "scipy", "all"]
OLDEST_SCIPY, NEWEST_SCIPY = "1.17", "1.18"  # the ends of the range that `rules_scipy` is for
THIRD_PARTY = "rules_haversine"
CLASHING = "rules_clashing"
NEW = "rules_new"
LIBRARIES = "requirements-libraries.txt"


def python_of_newest_scipy():
    """Return a Python that the newest SciPy runs on: the one that runs this, or a newer one."""
    minors = range(14, 11, -1)
    for name in (f"{sys.version_info[0]}.{sys.version_info[1]}", *(f"3.{m}" for m in minors)):
        asked = [f"python{name}", "-c", "import sys; sys.exit(sys.version_info < (3, 12))"]
        if shutil.which(asked[0]) and not subprocess.run(asked, capture_output=True).returncode:
            return name
    return "3.12"  # which nox says is missing


@nox.session(tags=["matrix"])
@nox.parametrize("environment", list(MATRIX), ids=list(MATRIX))
def matrix(session, environment):
    """Install the core and some plugins, ask which rules answer, and again without the plugins."""
    plugins = MATRIX[environment]
    engine = ["zygote_lite"] if environment in WITH_THE_ENGINE else []
    ours = [f"./{name}" for name in ("rulescore", *plugins, *engine)]
    session.install("pytest>=9", "pip", *ours)
    ask_which_rules_answer(session, plugins)
    if plugins:
        session.run("python", "-m", "pip", "uninstall", "-qy", *plugins)
        ask_which_rules_answer(session, [])


@nox.session(tags=["matrix"])
def third_party(session):
    """Build the example plugin as a wheel, find its rules by entry point, and see them go."""
    session.install("pytest>=9", "build", "hatchling", "pip", "./rulescore")
    wheels = Path(session.create_tmp())
    for wheel in wheels.glob("*.whl"):
        wheel.unlink()
    session.run("python", "-m", "build", "-nw", "-o", str(wheels), f"examples/{THIRD_PARTY}")
    session.install(*map(str, wheels.glob("*.whl")))
    ask_which_rules_answer(session, [THIRD_PARTY])
    session.run("pytest", f"tests/{THIRD_PARTY}")
    session.run("python", "-m", "pip", "uninstall", "-qy", THIRD_PARTY)
    ask_which_rules_answer(session, [])


@nox.session(tags=["matrix"])
def new_plugin(session):
    """Write a plugin by the command, build and install it, run its tests, and see its rules go."""
    session.install("pytest>=9", "build", "hatchling", "pip", "./rulescore")
    folder = Path(session.create_tmp())
    shutil.rmtree(folder / NEW, ignore_errors=True)
    session.run("python", "-m", "rulescore", "new", NEW, "--for", "math", "--in", str(folder))
    session.run("python", "-m", "build", "-nw", str(folder / NEW))
    session.install(*map(str, (folder / NEW / "dist").glob("*.whl")))
    with session.chdir(folder / NEW):
        session.run("pytest", "tests")
        session.run("python", "-m", "rulescore", "check", NEW)
    session.run("python", "-m", "pip", "uninstall", "-qy", NEW)
    ask_which_rules_answer(session, [])


@nox.session(tags=["matrix"])
def older_core(session):
    """Install plugins and engine that are one patch newer than the core: the pins take it."""
    session.install("pytest>=9", "build", "hatchling", "pip")
    folder = Path(session.create_tmp()) / "newer"
    shutil.rmtree(folder, ignore_errors=True)
    for name in DISTRIBUTIONS:
        shutil.copytree(name, folder / name)
        module = folder / name / "src" / name / "__init__.py"
        text = module.read_text(encoding="utf-8")
        older, patch = re.search(r'__version__ = "(\d+\.\d+)\.(\d+)"', text).groups()
        if name != "rulescore":
            newer = f'__version__ = "{older}.{int(patch) + 1}"'
            module.write_text(text.replace(f'__version__ = "{older}.{patch}"', newer), "utf-8")
        session.run("python", "-m", "build", "-nw", "-o", str(folder), str(folder / name))
    session.install(*map(str, folder.glob("*.whl")))
    session.run("python", "-m", "pip", "check")
    ask_which_rules_answer(session, MATRIX["all"])


@nox.session(tags=["matrix"])
def workflows(session):
    """Check the workflows, those of this repository and that of a new plugin.

    Their schema says whether they can be read, and zizmor whether they give away rights or secrets.
    """
    session.install("check-jsonschema", "zizmor", "./rulescore")
    folder = Path(session.create_tmp())
    shutil.rmtree(folder / NEW, ignore_errors=True)
    session.run("python", "-m", "rulescore", "new", NEW, "--for", "math", "--in", str(folder))
    places = (Path(".github/workflows"), folder / NEW / ".github/workflows")
    found = [str(path) for place in places for path in place.glob("*.yml")]
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *found)
    session.run("zizmor", "--offline", "--no-progress", "--config", ".github/zizmor.yml", *found)


@nox.session(tags=["matrix"])
def packages(session):
    """Build all seven, check what they hold and say; train the demo and test from wheels alone."""
    session.install("build", "hatchling", "pip", "twine", "check-wheel-contents")
    built = Path(session.create_tmp()) / "built"
    shutil.rmtree(built, ignore_errors=True)
    for name in DISTRIBUTIONS:
        session.run("python", "-m", "build", "-n", "-o", str(built), name)
    session.run("twine", "check", "--strict", *map(str, built.iterdir()))
    for path in built.iterdir():
        if lacking := {"LICENSE", "py.typed"} - files_in(path):
            session.error(f"{path.name} has no {' and no '.join(sorted(lacking))}")
    wheels = {path.name.partition("-")[0]: str(path) for path in built.glob("*.whl")}
    session.run("check-wheel-contents", *wheels.values())
    own = wheels.pop("zygote_lite")
    session.install(*wheels.values(), f"{own}[all,demo]")
    with session.chdir(built):  # away from the sources
        session.run("zygote-lite", "moons", "--epochs", "2", "--out", "moons.png")
        for package, code in (("zygote_lite", "ZL012"), ("rulescore", "RC011")):
            page = session.run("python", "-m", package, "error", code, silent=True)
            if not str(page).startswith(f"# {code}: "):
                session.error(f"the wheel of {package} has no page of {code}")
    session.install("pytest>=9", "pytest-xdist", "hypothesis")
    ask_which_rules_answer(session, MATRIX["all"])
    session.run("pytest", "tests/zygote_lite/promises")


def files_in(archive):
    """Return the names of the files in a wheel or an sdist, without their folders."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            paths = wheel.namelist()
    else:
        with tarfile.open(archive) as sdist:
            paths = sdist.getnames()
    return {path.rpartition("/")[2] for path in paths}


@nox.session(tags=["matrix"])
@nox.parametrize(
    "python,version",
    [(None, OLDEST_SCIPY), (python_of_newest_scipy(), NEWEST_SCIPY)],
    ids=[OLDEST_SCIPY, NEWEST_SCIPY],
)
def scipy(session, version):
    """Run the tests of `rules_scipy` with the oldest and the newest SciPy that it is for.

    The newest needs Python 3.12: where there is none, that session is skipped.
    """
    ours = [f"./{name}" for name in ("rulescore", "rules_base", "rules_nnlib", "rules_scipy")]
    session.install("pytest>=9", "mpmath", *ours, "./zygote_lite", f"scipy=={version}.*")
    session.run("pytest", "tests/rules_scipy")


@nox.session(tags=["matrix"])
def clash(session):
    """Install a plugin with a rule that `rules_base` has too: that one raises, others answer."""
    ours = [f"./{name}" for name in ("rulescore", "rules_base", "zygote_lite")]
    session.install("pytest>=9", "pip", *ours, f"./tests/matrix/{CLASHING}")
    session.run("pytest", "-W", "ignore:the rules of", "tests/matrix/test_clash.py")
    session.run("python", "-m", "pip", "uninstall", "-qy", CLASHING)
    ask_which_rules_answer(session, ["rules_base"])


def ask_which_rules_answer(session, plugins):
    """Run the tests that hold in every environment."""
    session.run(
        "pytest", "tests/matrix/test_environment.py", env={"EXPECTED_PLUGINS": " ".join(plugins)}
    )


@nox.session
def tests(session):
    """Run all tests, with everything installed."""
    session.install("-r", "requirements.txt")
    session.run("pytest", *session.posargs)


@nox.session
def every_case(session):
    """Run all cases of the tests of which the whole suite runs a sample."""
    session.install("-r", "requirements.txt")
    session.run("pytest", "--every-case", "-m", "sampled", *session.posargs)


@nox.session
def fuzz(session):
    """Differentiate 20,000 random programs of each fuzzer, or as many as given.

    The first compares with the complex step, the second transformed code with the tape, the third
    forward mode with reverse, and both with forward over reverse. A tenth as many carry a value
    somewhere and write to it, and the first runs a tenth as many without a file: the engine has
    their code, and no text. Then the tangents of all examples of rules are held to their
    cotangents.
    """
    session.install("-r", "requirements.txt")
    programs = session.posargs or ["20000"]
    for fuzzer in ("fuzzer", "specialized_fuzzer", "forward_fuzzer"):
        session.run("python", "-m", f"tests.zygote_lite.fuzz.{fuzzer}", *programs)
    rules = ("rules_base", "rules_nnlib", "rules_scipy")
    session.run("python", "-m", "tests.zygote_lite.fuzz.tangents_of_examples", *rules)
    count, *first = programs
    fewer = (str(max(int(count) // 10, 1)), *first)
    session.run("python", "-m", "tests.zygote_lite.fuzz.carried_fuzzer", *fewer)
    without = {"FUZZ_WITHOUT_FILE": "1"}
    session.run("python", "-m", "tests.zygote_lite.fuzz.fuzzer", *fewer, env=without)


@nox.session
def mutants(session):
    """Change the engine in 100 places, one at a time, or as many as given: a test has to fail.

    Which tests reach the places is recorded first, which takes a run of all tests.
    """
    session.install("-r", "requirements.txt")
    session.run("python", "-m", "tests.mutants", *session.posargs, "--record")
    session.run("python", "-m", "tests.mutants", *session.posargs)


@nox.session
def distributions(session):
    """Differentiate all methods of all distributions of SciPy, or of those with such names."""
    session.install("-r", "requirements.txt")
    session.run("python", "-m", "tests.rules_scipy.sweep", *session.posargs)


@nox.session
def second_derivatives(session):
    """Differentiate all examples of `scipy.special` and `scipy.linalg` twice."""
    session.install("-r", "requirements.txt")
    session.run("python", "-m", "tests.rules_scipy.second", *session.posargs)


@nox.session
def choices(session):
    """Compare gradients by numbers at all places of calls of SciPy with differences."""
    session.install("-r", "requirements.txt")
    session.run("python", "-m", "tests.rules_scipy.choices", *session.posargs)


@nox.session
def hard_points(session):
    """Compare derivatives of `scipy.special` with mpmath's, at random points far out."""
    session.install("-r", "requirements.txt")
    session.run("python", "-m", "tests.rules_scipy.hard_points", *session.posargs)


@nox.session
def peers(session):
    """Compare gradients of SciPy's functions with those of JAX and autograd, on what they have."""
    session.install("-r", "requirements.txt", "jax", "autograd")
    session.run("python", "-W", "ignore", "-m", "tests.rules_scipy.peers")


@nox.session
def library(session):
    """Differentiate other people's libraries; compare with their own scores, or differences."""
    session.install("-r", "requirements.txt", "-r", LIBRARIES)
    session.run("pytest", "-rs", "tests/zygote_lite/libraries", *session.posargs)


@nox.session
def library_benchmark(session):
    """Time value and gradient of formulas of other people's libraries, without Numba."""
    session.install("-r", LIBRARIES, *(f"./{name}" for name in DISTRIBUTIONS))
    session.run("python", "-m", "benchmarks.libraries", *session.posargs)


@nox.session
def docs(session):
    """Build the site of the documentation: a link that leads nowhere is an error."""
    session.install("-r", "requirements-docs.txt")
    session.run("mkdocs", "build", "--strict", *session.posargs)


@nox.session
def eyes(session):
    """Build the site, and open each page in Chromium: narrow and wide, light and dark.

    Screenshots go into the folder that is named. Chromium is that of the system, or else the one
    that Playwright fetches.
    """
    session.install("-r", "requirements-docs.txt", "playwright")
    if not shutil.which("chromium"):
        session.run("playwright", "install", "--with-deps", "chromium")
    site = str(Path(session.create_tmp()) / "site")
    session.run("mkdocs", "build", "--strict", "--site-dir", site)
    session.run("python", "website/eyes.py", site, *session.posargs)


@nox.session
def interop(session):
    """Check functions exported to PyTorch, JAX and autograd, by these, and pages that need them."""
    session.install("-r", "requirements-interop.txt", "pip")
    hosts = ["tests/interop", "tests/rulescore/test_interop.py", "tests/rulescore/test_errors.py"]
    session.run("pytest", "-rs", "-n", "auto", *(session.posargs or hosts))
    session.run("pytest", "-W", "default", "tests/test_pages.py", "-k", OF_HOSTS_PAGES)
    if not session.posargs:
        session.run("python", "-m", "benchmarks.exported")  # times alone fail nothing
        # what is not installed has no rules
        ask_which_rules_answer(session, MATRIX["all"])
        session.run("python", "-m", "pip", "uninstall", "-qy", *OF_HOSTS)
        ask_which_rules_answer(session, [p for p in MATRIX["all"] if p not in OF_HOSTS])


@nox.session
def notebook(session):
    """Execute a notebook with cells that are changed, modules that are reloaded, and an error."""
    session.install("-r", "requirements.txt", "nbclient", "ipykernel")
    session.run("pytest", "-rs", "tests/zygote_lite/interface/test_notebook.py")


@nox.session
def distributed(session):
    """Add up gradients by dask.distributed, kill a worker meanwhile, and run the page about it."""
    session.install("-r", "requirements-distributed.txt")
    session.run("pytest", "-rs", *(session.posargs or ["tests/distributed"]))
    session.run(
        "pytest", "-W", "default", "tests/test_pages.py", "-k", "several_machines or modules"
    )


@nox.session
def out_of_core(session):
    """Fit a logistic regression of 10,000,000 rows in chunks from disk, in 1 GB of memory."""
    session.install("-r", "requirements-distributed.txt")
    folder = str(Path(session.create_tmp()) / "data")
    session.run("python", "-m", "benchmarks.out_of_core", folder, *session.posargs)
    shutil.rmtree(folder)


@nox.session
def gpu(session):
    """Differentiate arrays of CuPy and modules of PyTorch on a GPU; skip what is not there."""
    session.install("-r", "requirements-interop.txt", "cupy-cuda13x")
    session.run("pytest", "-rs", "tests/interop/test_gpu.py", *session.posargs)


@nox.session
def figures(session):
    """Hold what tapes, first gradients and solvers cost to their limits, with all plugins."""
    session.install("-r", LIBRARIES, *(f"./{name}" for name in DISTRIBUTIONS))
    session.run("python", "-m", "benchmarks.tape_cost")
    session.run("python", "-m", "benchmarks.first_calls")
    session.run("python", "-m", "benchmarks.solutions")


@nox.session
def library_first_calls(session):
    """Time first gradients of functions and models of other people's libraries: a second each."""
    session.install("-r", LIBRARIES, *(f"./{name}" for name in DISTRIBUTIONS))
    session.run("python", "-m", "benchmarks.library_first_calls", *session.posargs)


@nox.session
def lint(session):
    """Check style and formatting."""
    session.install("ruff")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def types(session):
    """Check the types of the core and of the engine by mypy, and of uses by pyright too.

    pyright runs on Node.js, which its package fetches where there is none. Where that cannot be
    had, it says so, and what mypy has found stands.
    """
    session.install("mypy", "pyright", "./rulescore", "./zygote_lite")
    uses = "tests/zygote_lite/interface/typed_uses.py"
    session.run("mypy", "--strict", "rulescore/src", "zygote_lite/src", uses)
    found = session.run("pyright", "--version", silent=True, success_codes=range(256))
    if "pyright 1." not in str(found):
        session.skip("pyright cannot get Node.js here; mypy has found no error")
    session.run("pyright")
