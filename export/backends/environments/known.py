"""The environments of backends and tests, by name: what `kerasbert setup` makes."""

from kerasbert.export.backends.environments.arm64 import Arm64Environment
from kerasbert.export.backends.environments.debian import VulkanEnvironment
from kerasbert.export.backends.environments.environment import NodeEnvironment, PythonEnvironment

TFLITE_2_14 = PythonEnvironment(
    "tflite-2.14", "the last tflite-runtime, for `--on tflite-2.14`", ("tflite-runtime==2.14.0", "numpy==1.26.4")
)
WEB = NodeEnvironment(
    "web", "LiteRT.js, for `kerasbert web` and `--on web`", ("@litertjs/core@2.5.3", "playwright-core@1.65.1")
)
MEDIAPIPE = PythonEnvironment("mediapipe", "MediaPipe Tasks, for `--on mediapipe`", ("mediapipe==1.2.2",))
TASK_LIBRARY = PythonEnvironment(
    "task-library", "TFLite's Task Library, for `--on task-library`", ("tflite-support==0.4.4", "numpy==1.26.4")
)
LAVAPIPE = VulkanEnvironment(
    "lavapipe", "a Vulkan driver on the CPU that computes in 16 bits, for `--on gpu`", ("mesa-vulkan-drivers",)
)
ARM64 = Arm64Environment(
    "arm64", "the aarch64 runtime under QEMU, for `--on arm64`",
    (
        "ai-edge-litert==2.3.0", "numpy==2.4.6", "ml_dtypes==0.6.0", "flatbuffers==25.12.19", "backports.strenum==1.2.8", "tqdm==4.70.1",
        "typing_extensions==4.16.0", "protobuf==7.36.2",
    ),
)  # fmt: skip
ENVIRONMENTS = {
    environment.name: environment for environment in (TFLITE_2_14, WEB, LAVAPIPE, ARM64, MEDIAPIPE, TASK_LIBRARY)
}
