"""The rebuilding of zoo models: texts, the teacher's vectors, the student and the stages of its training."""
