"""Tables that tests make, between two marks of a page."""

END = "<!-- end of the table -->\n"


def with_table(text, begin, table):
    """Return the text of a page with this table behind the mark `begin`."""
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(END)
    return f"{before}{begin}\n{table}\n{END}{after}"
