"""All mutants, room by room."""

from mutants.lists import (
    _auditing,
    _automatic,
    _classifiers,
    _evaluation,
    _grid,
    _ground,
    _importance,
    _linear,
    _mechanisms,
    _publishing,
    _release,
    _selection,
    _smooth,
    _tuning,
)

MODULES = (
    _ground,
    _mechanisms,
    _smooth,
    _selection,
    _classifiers,
    _linear,
    _grid,
    _publishing,
    _importance,
    _automatic,
    _evaluation,
    _tuning,
    _auditing,
    _release,
)
MUTANTS = [mutant for module in MODULES for mutant in module.MUTANTS]
