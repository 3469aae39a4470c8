"""Names of values: the user's, the engine's own, those of attributes and of bodies of classes."""


def is_temporary(name: str) -> bool:
    """Return whether a name is the engine's own, and not the user's."""
    return name[:1] == "t" and name[1:].isdigit()


def stem_of(name: str) -> str:
    """Return what a value is named after: nothing, for a temporary; an attribute by its name."""
    return "" if is_temporary(name) else name.rpartition(".")[2].rpartition(" ")[2]


def is_place(name: str) -> bool:
    """Return whether a name stands for an attribute of an object made inside."""
    return "." in name


def of_body(number: str, name: str) -> str:
    """Return the name of what the body of a class binds, in the function around it."""
    return f"{number} {name}"


def is_of_body(name: str) -> bool:
    """Return whether a name stands for what the body of a class binds."""
    return " " in name
