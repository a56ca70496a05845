"""The test suites by name."""

from __future__ import annotations

from collections.abc import Mapping

from pronmetric.lab.suites import cai_xiong, consistency, contrapro, ctxpro, discevalmt
from pronmetric.lab.suites.contrastive import Suite

SUITES: Mapping[str, Suite] = {
    suite.ABOUT.name: suite for suite in (contrapro, discevalmt, consistency, ctxpro, cai_xiong)
}
