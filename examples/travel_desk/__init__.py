"""A small travel assistant with a scripted model: good runs and faulty ones, the same every time."""
