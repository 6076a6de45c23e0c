"""From what was said of a case to what stands on spans: several verdicts to one, roll-ups, marks, and bytes."""
