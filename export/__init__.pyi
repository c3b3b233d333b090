from kerasbert.export.comparer import compare as compare
from kerasbert.export.comparison.comparison import (
    ModelComparison as ModelComparison,
)
from kerasbert.export.comparison.joined import (
    JoinedComparison as JoinedComparison,
    join_comparisons as join_comparisons,
)
from kerasbert.export.conversion import convert as convert
from kerasbert.export.measurement.benchmarking import (
    Benchmark as Benchmark,
    benchmark as benchmark,
)
from kerasbert.export.measurement.inspection import (
    Inspection as Inspection,
    inspect as inspect,
)
from kerasbert.export.reporting.report import write_html as write_html
from kerasbert.export.runtime.interpreters import open_model as open_model
from kerasbert.export.tflite.metadata import Metadata as Metadata
from kerasbert.export.tflite.model_file import TFLiteFile as TFLiteFile
from kerasbert.export.validation.checks import (
    Tolerance as Tolerance,
    ValidationReport as ValidationReport,
)
from kerasbert.export.validator import validate as validate
