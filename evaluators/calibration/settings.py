"""The settings of the `calibration` extension: which judges are known to agree with people."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from evaluators.calibration.record import Calibration, read_record


class CalibrationSettings(BaseModel):
    """Marks verdicts of judges that agree too little with people, or weren't measured, as uncalibrated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Path = Field(description="Record that `spanjudge calibrate --record` wrote.")
    min_kappa: float = Field(
        default=0.4,
        ge=-1.0,
        le=1.0,
        description="The least Cohen's kappa for a judge's verdicts to count as calibrated.",
    )

    @field_validator("file")
    @classmethod
    def _is_a_record(cls, value: Path) -> Path:
        read_record(value)
        return value

    def read(self) -> Calibration:
        """What is known of the judges. Raises ValueError if the file has changed for the worse since it was checked."""
        return Calibration(read_record(self.file).measured, self.min_kappa)
