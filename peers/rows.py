"""The rows of a comparison that may be cut short: each goes to its file at once, and the shapes share a budget of time."""

import csv
import time
from datetime import datetime, timezone
from pathlib import Path


class Rows:
    """Appends rows to a CSV file, or to none; all rows of one object have the same run. Raises ValueError if the file has other
    columns."""

    def __init__(self, path: Path | None, columns: str) -> None:
        self.path, self.columns = path, ["run", *columns.split(",")]
        self.run = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or not path.stat().st_size:
            self.write(self.columns, "w")
        else:
            with path.open(newline="", encoding="utf-8") as file:
                if next(csv.reader(file)) != self.columns:
                    raise ValueError(f"{path} has other columns; move it away [other-columns]")

    def add(self, *values) -> None:
        if len(values) + 1 != len(self.columns):
            raise ValueError(f"{len(values)} values for {len(self.columns) - 1} columns")
        if self.path:
            self.write([self.run, *values], "a")

    def write(self, row: list, mode: str) -> None:
        with self.path.open(mode, newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(row)


class Budget:
    """Seconds for all shapes; no shape is begun after them."""

    def __init__(self, seconds: float) -> None:
        self.deadline, self.left_out = time.monotonic() + seconds, 0

    def reaches(self, shape) -> bool:
        if time.monotonic() < self.deadline:
            return True
        self.left_out += 1
        print(f"{shape}: left out, the time budget is used up; raise --time-budget [out-of-time]")
        return False
