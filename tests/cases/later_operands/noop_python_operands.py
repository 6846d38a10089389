def plain(n: int):
    if n > 2 and (m := n * 2) > 5:
        return m
    return n
