"""Settings for all tests."""

from hypothesis import settings

settings.register_profile("spanjudge", deadline=None)  # how long an example takes says more of the machine than of us
settings.load_profile("spanjudge")
