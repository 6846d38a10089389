class Counter:
    def __init__(self):
        self.seen = 0

    def count(self, flag: bool):
        if flag:
            return None
        self.seen += 1
        return self.seen
