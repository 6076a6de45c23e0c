"""The settings of the `calibration` extension: which judges are known to agree with people."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from evaluators.calibration.record import Calibration, Record, read_record


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

    _record: Record = PrivateAttr()

    @model_validator(mode="after")
    def _read(self) -> Self:
        # Read once: what was checked is what counts, whatever becomes of the file.
        self._record = read_record(self.file)
        return self

    @property
    def calibration(self) -> Calibration:
        """What is known of the judges."""
        return Calibration(self._record.measured, self.min_kappa)
