"""Knowledge distillation: trains a student towards a teacher's outputs, hidden states and attention."""

from kerasbert.training.distillation.attention import AttentionRelations, Attentions
from kerasbert.training.distillation.augmentation import augment
from kerasbert.training.distillation.bilstm import bilstm_student
from kerasbert.training.distillation.distiller import Distiller
from kerasbert.training.distillation.dual_vocabulary import DualVocabulary
from kerasbert.training.distillation.layer_maps import layer_map
from kerasbert.training.distillation.no_norm import no_norm_student
from kerasbert.training.distillation.objective import LayerObjective, Objective
from kerasbert.training.distillation.outputs import Logits, SoftLabels
from kerasbert.training.distillation.perturbation import perturb
from kerasbert.training.distillation.registry import OBJECTIVES, parse_objectives
from kerasbert.training.distillation.small_vocabulary import small_vocabulary_student
from kerasbert.training.distillation.stages import Stage, progressive_stages
from kerasbert.training.distillation.states import CosineHidden, FeatureMaps, HiddenStates, PatientStates
from kerasbert.training.distillation.student_training import StudentTraining
from kerasbert.training.distillation.students import student_from
from kerasbert.training.distillation.theseus import Theseus
from kerasbert.training.replacement import Replacement

__all__ = [
    "OBJECTIVES",
    "AttentionRelations",
    "Attentions",
    "CosineHidden",
    "Distiller",
    "DualVocabulary",
    "FeatureMaps",
    "HiddenStates",
    "LayerObjective",
    "Logits",
    "Objective",
    "PatientStates",
    "Replacement",
    "SoftLabels",
    "Stage",
    "StudentTraining",
    "Theseus",
    "augment",
    "bilstm_student",
    "layer_map",
    "no_norm_student",
    "parse_objectives",
    "perturb",
    "progressive_stages",
    "small_vocabulary_student",
    "student_from",
]
