"""Rows of results/<GPU>/attention.csv, attention-eager.csv and softmax.csv, with the columns of common/host/results.c, and of
libraries.csv, which has the version of each library that a run timed."""

import fcntl
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from peers.device import Device, gpu_folder
from peers.shapes import Attention, Matrix

ATTENTION_COLUMNS = (
    "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,"
    "sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s,date,"
    "commit,cache,noise,layout,lse"
)
# Older files lack the last two columns, and new rows in them lack these columns too. Without the columns a row has the layout
# bhnd and no lse; all rows of peers do.
OLDER_ATTENTION_COLUMNS = ATTENTION_COLUMNS.removesuffix(",layout,lse")
SOFTMAX_COLUMNS = (
    "run,lesson,device,sm_count,driver,cuda,dtype,rows,columns,median_us,min_us,p95_us,repeats,"
    "sm_clock_before_mhz,sm_clock_after_mhz,gb_per_s,bytes,max_rel_error,copy_gb_per_s,date,commit,noise"
)
LIBRARY_COLUMNS = "run,lesson,device,version,date"


@dataclass
class Timing:
    """Times of one launch, in microseconds."""

    median: float
    minimum: float
    p95: float
    repeats: int
    clock_before: int = 0  # MHz; 0: unknown
    clock_after: int = 0
    noisy: bool = False


@dataclass
class Run:
    """One interleaved run: the fields that all its rows share."""

    folder: Path | None  # None: nothing is recorded
    commit: str
    driver: str
    gpu: Device

    def __post_init__(self) -> None:
        now = time.time()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
        self.name = f"{stamp}-{int(now * 1e6) % 1000000}-{os.getpid()}"
        self.date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))

    def path(self, name: str) -> Path:
        """results/nvidia-h200/NAME: each character of the device name that is not a letter or digit is replaced by a hyphen."""
        return Path(self.folder) / gpu_folder(self.gpu.name) / name

    def common_fields(self, lesson: str, dtype: str) -> dict:
        return {
            "run": self.name,
            "lesson": csv_field(lesson),
            "device": csv_field(self.gpu.name),
            "sm_count": self.gpu.sm_count,
            "driver": self.driver,
            "cuda": self.gpu.cuda,
            "dtype": dtype,
            "date": self.date,
            "commit": self.commit,
        }

    def add_attention(
        self,
        lesson: str,
        shape: Attention,
        dtype: str,
        element_bytes: int,
        cache: str,
        timing: Timing,
        error: float,
        file: str = "attention.csv",
    ) -> None:
        """Appends a row to attention.csv or attention-eager.csv; error is the relative RMS error."""
        row = self.common_fields(lesson, dtype) | timing_fields(timing)
        row |= {"B": shape.batch, "H": shape.heads, "Hkv": shape.heads, "Nq": shape.nq, "Nk": shape.nk}
        row |= {"D": shape.head_dim, "causal": int(shape.causal), "cache": cache, "layout": "bhnd", "lse": 0}
        row |= {
            "tflops": f"{shape.flops() / timing.median * 1e-6:.4f}",
            "bytes": f"{shape.bytes(element_bytes):.0f}",
            "gb_per_s": f"{shape.bytes(element_bytes) / timing.median * 1e-3:.2f}",
            "rel_rms_error": f"{error:.3e}",
            "peak_tflops": f"{self.gpu.peak_tflops[dtype.removesuffix('-inexact')]:.2f}",
            "peak_gb_per_s": f"{self.gpu.peak_gb_per_s:.1f}",
        }
        self.append(file, ATTENTION_COLUMNS, row)

    def add_softmax(self, lesson: str, dtype: str, matrix: Matrix, timing: Timing, error: float, copy_gb_per_s: float) -> None:
        """Appends a row to softmax.csv; error is the largest relative error, copy_gb_per_s the rate of a copy in the same run."""
        row = self.common_fields(lesson, dtype) | timing_fields(timing)
        row |= {
            "rows": matrix.rows,
            "columns": matrix.columns,
            "gb_per_s": f"{matrix.bytes() / timing.median * 1e-3:.2f}",
            "bytes": f"{matrix.bytes():.0f}",
            "max_rel_error": f"{error:.3e}",
            "copy_gb_per_s": f"{copy_gb_per_s:.1f}",
        }
        self.append("softmax.csv", SOFTMAX_COLUMNS, row)

    def add_library(self, lesson: str, version: str) -> None:
        """version: names and versions of the library and of its dependencies that affect the timing, separated by commas."""
        row = self.common_fields(lesson, "") | {"version": csv_field(version.replace(", ", "; "))}
        self.append("libraries.csv", LIBRARY_COLUMNS, row)

    def append(self, name: str, columns: str, row: dict) -> None:
        """Appends a row with a single write under a file lock. Raises ValueError, and leaves the file unchanged, if its columns differ."""
        if self.folder is None:
            return
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            header = file.readline().removesuffix("\n")
            if header == OLDER_ATTENTION_COLUMNS and columns == ATTENTION_COLUMNS:
                columns = header
            if header and header != columns:
                raise ValueError(f"{path} has other columns than this version writes; move the file away [other-columns]")
            line = ",".join(str(row[column]) for column in columns.split(",")) + "\n"
            file.write(line if header else columns + "\n" + line)


def csv_field(text: str) -> str:
    """Replaces the characters that are special in CSV by hyphens."""
    return re.sub(r'[,"\x00-\x1f]', "-", text)


def timing_fields(timing: Timing) -> dict:
    return {
        "median_us": f"{timing.median:.3f}",
        "min_us": f"{timing.minimum:.3f}",
        "p95_us": f"{timing.p95:.3f}",
        "repeats": timing.repeats,
        "sm_clock_before_mhz": timing.clock_before,
        "sm_clock_after_mhz": timing.clock_after,
        "noise": "noisy" if timing.noisy else "steady",
    }
