"""The test suites by name."""

from __future__ import annotations

from collections.abc import Mapping

from pronmetric.lab.suites import (
    aces,
    cai_xiong,
    consistency,
    contrapro,
    ctxpro,
    dip,
    discevalmt,
    mt_geneval,
    pair_table,
    protest,
    winobias,
    winomt,
)
from pronmetric.lab.suites.contrastive import Suite

SUITES: Mapping[str, Suite] = {
    suite.ABOUT.name: suite
    for suite in (
        contrapro,
        discevalmt,
        consistency,
        ctxpro,
        cai_xiong,
        aces,
        winomt,
        mt_geneval,
        protest,
        dip,
        winobias,
        pair_table,
    )
}
