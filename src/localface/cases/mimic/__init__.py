"""The readiness-for-discharge cohort of MIMIC-III, extracted from the original tables.

>>> from localface.cases.mimic import Decisions, from_mimic
>>> Decisions().departures()[:2]
('errors_dropped', 'zeros_dropped')

``from_mimic(folder)`` needs five tables: ADMISSIONS, PATIENTS, ICUSTAYS, CALLOUT and
CHARTEVENTS. MIMIC-III is credentialed data; its users are bound by its agreement, and so
is what is written here. What comes out is correlational: decision support, not advice.
"""

from localface.cases.mimic.decisions import Decisions
from localface.cases.mimic.extract import Extraction, from_mimic
from localface.cases.mimic.flow import Count, Flow

__all__ = ["Count", "Decisions", "Extraction", "Flow", "from_mimic"]
