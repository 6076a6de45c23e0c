"""How far verdicts agree with what people say: the measures, and what was measured of whom."""
