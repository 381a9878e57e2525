"""What scripts have go on in threads of its own."""

import threading


class Task(threading.Thread):
    """Does its `step` again and again; the first that fails is its last."""

    # Seconds between two steps.
    pause = 0

    def __init__(self):
        super().__init__(daemon=True)
        self.ends, self.failure = threading.Event(), None

    def run(self):
        try:
            while not self.ends.wait(self.pause):
                self.step()
        except Exception as error:
            self.failure = error


class Waiting(threading.Thread):
    """Asks beside what else is done."""

    def __init__(self, ask):
        super().__init__(daemon=True)
        self.ask, self.failure = ask, None
        self.start()

    def run(self):
        try:
            self.found = self.ask()
        except Exception as error:
            self.failure = error

    def answer(self):
        self.join()
        if self.failure:
            raise self.failure
        return self.found


def finish(tasks):
    """Ends all of them, each after its step, and raises what one of them has failed with."""
    for task in tasks:
        task.ends.set()
    for task in tasks:
        task.join()
        if task.failure:
            raise task.failure
