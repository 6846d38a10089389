def look_up(table, default):
    """A tensor contains no string: the table is a dict, whatever else is unknown about it."""
    if "key" in table:
        return table["key"]
    return default
