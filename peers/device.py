"""Properties of the GPU, its peaks by the rules of common/runner/device.c, and its SM clock."""

import ctypes
import re
from dataclasses import dataclass

# enum cudaDeviceAttr
CLOCK_RATE, MEMORY_CLOCK_RATE, MEMORY_BUS_WIDTH, L2_BYTES, SHARED_BYTES = 13, 36, 37, 38, 97
NVML_CLOCK_SM = 1


@dataclass
class Device:
    name: str
    sm_count: int
    compute_capability: int  # 90 for sm_90
    l2_bytes: int
    shared_bytes: int  # maximum per block
    clock_hz: float  # maximum SM clock
    peak_tflops: dict[str, float]  # per element type; 0 if the tensor cores do not support the type
    peak_gb_per_s: float
    cuda: str


def gpu_folder(name: str) -> str:
    """The folder of a GPU in results/: nvidia-h200 for NVIDIA H200."""
    return re.sub(r"[^a-z0-9]", "-", name.lower())


def tensor_operations(capability: int, dtype: str) -> int:
    """Dense operations per clock of the tensor cores of one SM; the same as tensor_operations() in common/runner/device.c."""
    if capability < 70 or dtype == "bf16" and capability < 80:
        return 0
    return {80: 2048, 90: 4096, 100: 8192, 103: 8192}.get(capability, 1024)


def open_device(torch, runtime: ctypes.CDLL) -> Device:
    """Properties of device 0. runtime: a library that exports the CUDA runtime or is linked with it."""

    def attribute(attribute_id: int) -> int:
        value = ctypes.c_int()
        status = runtime.cudaDeviceGetAttribute(ctypes.byref(value), attribute_id, 0)
        if status:
            raise RuntimeError(f"cudaDeviceGetAttribute({attribute_id}) returned {status}")
        return value.value

    properties = torch.cuda.get_device_properties(0)
    capability = 10 * properties.major + properties.minor
    # fp32 additions or multiplications per clock and SM (CUDA C++ Programming Guide).
    operations = {"fp32": 2 * (64 if capability in (60, 70, 72, 75, 80) else 128)}
    operations |= {dtype: tensor_operations(capability, dtype) for dtype in ("fp16", "bf16")}
    clock_hz = 1e3 * attribute(CLOCK_RATE)
    version = ctypes.c_int()
    runtime.cudaRuntimeGetVersion(ctypes.byref(version))
    return Device(
        name=properties.name,
        sm_count=properties.multi_processor_count,
        compute_capability=capability,
        l2_bytes=attribute(L2_BYTES),
        shared_bytes=attribute(SHARED_BYTES),
        clock_hz=clock_hz,
        peak_tflops={
            dtype: properties.multi_processor_count * count * clock_hz * 1e-12 for dtype, count in operations.items()
        },
        peak_gb_per_s=2e3 * attribute(MEMORY_CLOCK_RATE) * attribute(MEMORY_BUS_WIDTH) / 8 * 1e-9,
        cuda=f"{version.value // 1000}.{version.value % 1000 // 10}",
    )


class Clocks:
    """Reads the SM clock through NVML; 0 if NVML is not available."""

    def __init__(self, runtime: ctypes.CDLL) -> None:
        bus = ctypes.create_string_buffer(32)
        self.gpu = ctypes.c_void_p()
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            failed = (
                self.nvml.nvmlInit_v2()
                or runtime.cudaDeviceGetPCIBusId(bus, len(bus), 0)
                or self.nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(self.gpu))
            )
        except (OSError, AttributeError):
            failed = True
        if failed:
            self.nvml = None

    def sm_mhz(self) -> int:
        mhz = ctypes.c_uint()
        if not self.nvml or self.nvml.nvmlDeviceGetClockInfo(self.gpu, NVML_CLOCK_SM, ctypes.byref(mhz)):
            return 0
        return mhz.value

    def driver(self) -> str:
        version = ctypes.create_string_buffer(32)
        if not self.nvml or self.nvml.nvmlSystemGetDriverVersion(version, len(version)):
            return ""
        return version.value.decode()
