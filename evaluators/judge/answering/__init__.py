"""The form an answer must have, and what of a reply has it."""
