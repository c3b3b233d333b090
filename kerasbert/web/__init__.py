"""A static site that runs `.tflite` files in the browser: its parts, its folder, and a server for this computer only."""
