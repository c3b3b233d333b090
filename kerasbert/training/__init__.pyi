from kerasbert.losses import (
    ContrastiveLoss as ContrastiveLoss,
    CosineLoss as CosineLoss,
    CrossEntropy as CrossEntropy,
    InBatchNegatives as InBatchNegatives,
    balanced_weights as balanced_weights,
)
from kerasbert.optimizers.adamw import adamw as adamw
from kerasbert.optimizers.schedules import (
    WarmupConstant as WarmupConstant,
    WarmupCosineDecay as WarmupCosineDecay,
    WarmupLinearDecay as WarmupLinearDecay,
)
from kerasbert.optimizers.sgd import sgd as sgd
from kerasbert.tasks.freezing import (
    freeze as freeze,
    train_only as train_only,
    unfreeze as unfreeze,
)
from kerasbert.training.config import TrainConfig as TrainConfig
from kerasbert.training.distill_config import DistillConfig as DistillConfig
from kerasbert.training.pretrain_config import PretrainConfig as PretrainConfig
from kerasbert.training.pretraining import pretrain as pretrain
from kerasbert.training.result import (
    TrainResult as TrainResult,
)
from kerasbert.training.run_folder import RunFolder as RunFolder
from kerasbert.training.sequence_length import SequenceLength as SequenceLength, choose_length as choose_length
from kerasbert.training.trainer import (
    train as train,
)
from kerasbert.training.unfreezing import GradualUnfreezing as GradualUnfreezing
