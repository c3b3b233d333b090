"""The number of calibration examples, without TensorFlow: Python and the commands share the default."""

CALIBRATION_ROWS = 512  # by default
FEW_ROWS = 100  # fewer deserve a note: TensorFlow's guide to post-training quantization takes 100 to 500
