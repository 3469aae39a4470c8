"""Names of values: the user's, the engine's own, those of attributes and of bodies of classes."""


def is_temporary(name: str) -> bool:
    """Return whether a name is the engine's own, and not the user's."""
    return name[:1] == "t" and name[1:].partition("@")[0].isdigit()


def stem_of(name: str) -> str:
    """Return what a value is named after: nothing, for a temporary; an attribute by its name."""
    stem = "" if is_temporary(name) else name.rpartition(".")[2].rpartition(" ")[2]
    return stem.partition("@")[0]


def elsewhere(name: str, number: int, is_ours: bool) -> str:
    """Return the name that a variable of a generator has in the function that walks over it."""
    return f"{name}@{'own' if is_ours else ''}{number}"


def is_ours_elsewhere(name: str) -> bool:
    """Return whether a variable of a generator has a name of the engine's own."""
    return "@own" in name


def is_place(name: str) -> bool:
    """Return whether a name stands for an attribute of an object made inside."""
    return "." in name


def of_body(number: str, name: str) -> str:
    """Return the name of what the body of a class binds, in the function around it."""
    return f"{number} {name}"


def is_of_body(name: str) -> bool:
    """Return whether a name stands for what the body of a class binds."""
    return " " in name
