"""Codes of languages as files have them: ISO 639-1, 639-2 and 639-3, BCP 47 with script and country, English names."""

from __future__ import annotations

import re

_THREE = """
aa:aar ab:abk ae:ave af:afr ak:aka,fat am:amh an:arg ar:ara,aeb,apc,arb,arz,ary,ars as:asm av:ava ay:aym,ayr
az:aze,azb,azj ba:bak be:bel bg:bul bi:bis bm:bam bn:ben bo:bod,tib br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre
cs:ces,cze,cz cu:chu cv:chv cy:cym,wel da:dan de:deu,ger dv:div dz:dzo ee:ewe el:ell,gre en:eng eo:epo es:spa et:est,ekk
eu:eus,baq fa:fas,per,pes,prs ff:ful,fuv fi:fin fj:fij fo:fao fr:fra,fre fy:fry ga:gle gd:gla gl:glg gn:grn,gug gu:guj
gv:glv ha:hau he:heb,iw hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye,arm hz:her ia:ina id:ind,in ie:ile ig:ibo ii:iii
ik:ipk io:ido is:isl,ice it:ita iu:iku ja:jpn,jp jv:jav ka:kat,geo kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan
ko:kor kr:kau,knc ks:kas ku:kur,kmr kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub
lv:lav,lvs mg:mlg,plt mh:mah mi:mri,mao mk:mkd,mac ml:mal mn:mon,khk mr:mar ms:msa,may,zsm mt:mlt my:mya,bur na:nau
nb:nob nd:nde ne:nep,npi ng:ndo nl:nld,dut nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm,gaz or:ori,ory os:oss
pa:pan,pnb pi:pli pl:pol,plk ps:pus,pbt pt:por qu:que,quy rm:roh rn:run ro:ron,rum,mol ru:rus rw:kin sa:san sc:srd
sd:snd se:sme sg:sag si:sin sk:slk,slo sl:slv sm:smo sn:sna so:som sq:sqi,alb,als sr:srp ss:ssw st:sot su:sun sv:swe
sw:swa,swh ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl,fil tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah
ug:uig uk:ukr ur:urd uz:uzb,uzn ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid,ydd yo:yor za:zha zh:zho,chi,cmn,cn
zu:zul
"""
_NAMES = {
    "czech": "cs", "english": "en", "french": "fr", "german": "de", "hungarian": "hu", "russian": "ru", "spanish": "es",
    "chinese": "zh", "japanese": "ja", "ukrainian": "uk", "croatian": "hr", "hebrew": "he", "hindi": "hi",
    "icelandic": "is",
}  # fmt: skip
_BARE = {
    code: two
    for two, codes in (entry.split(":") for entry in _THREE.split())
    for code in (two, *codes.split(","))
} | _NAMES  # fmt: skip
CODE = r"[A-Za-z]{2,3}(?:_[A-Za-z]{4})?(?:_[A-Za-z]{2}|_[0-9]{3})?"
"""A code with its script and country, with underscores, as in the names and ids of files."""
_PAIR = re.compile(rf"({CODE})(?:-{{1,3}}|2)({CODE})")


def bare(code: str) -> str:
    """The two-letter code of a language, without script and country; a language without one keeps its code.

    >>> [bare(code) for code in ("deu_Latn", "zh-Hant-TW", "en_US", "Czech", "jpn", "bho_Deva")]
    ['de', 'zh', 'en', 'cs', 'ja', 'bho']
    """
    language = re.split("[_-]", code.strip().lower())[0]
    return _BARE.get(language, language)


def is_known(code: str) -> bool:
    """Whether this is a code of a language that has one of two letters.

    >>> is_known("de"), is_known("deu"), is_known("set")
    (True, True, False)
    """
    return code in _BARE


def three(code: str) -> str:
    """The three-letter code of a language (ISO 639-3), or its code.

    >>> three("de"), three("lij")
    ('deu', 'lij')
    """
    return next((each[3:].split(",")[0] for each in _THREE.split() if each.startswith(f"{code}:")), code)


def name(code: str) -> str:
    """The English name of a language, or its code.

    >>> name("de"), name("lij")
    ('German', 'lij')
    """
    return next((english.capitalize() for english, two in _NAMES.items() if two == code), code)


def pair(text: str) -> tuple[str, str] | None:
    """The two languages of a pair, bare; None if the text is no pair.

    >>> pair("cs-de_DE"), pair("ces_Latn---deu_Latn"), pair("deen")
    (('cs', 'de'), ('cs', 'de'), None)
    """
    match = _PAIR.fullmatch(text)
    return (bare(match[1]), bare(match[2])) if match else None
