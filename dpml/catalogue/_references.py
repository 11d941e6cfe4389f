"""Names of the papers that the catalogue cites by key. docs/reference/references.md has the whole list."""

import re

KEY = re.compile(r"\[((?:[a-z]+-)*[a-z]+(?:\d{4})?)\]")
NAMES = {
    "antonova2016": "Antonova 2016",
    "zafarani-clifton2021": "Zafarani and Clifton 2021",
    "stoddard2014": "Stoddard et al. 2014",
    "su2018": "Su et al. 2018",
    "awan-slavkovic2021": "Awan and Slavković 2021",
    "balle-wang2018": "Balle and Wang 2018",
    "bassily2014": "Bassily et al. 2014",
    "bernstein-sheldon2018": "Bernstein and Sheldon 2018",
    "bun-steinke2019": "Bun and Steinke 2019",
    "canonne2020": "Canonne et al. 2020",
    "chaudhuri-vinterbo2013": "Chaudhuri and Vinterbo 2013",
    "chaudhuri2011": "Chaudhuri et al. 2011",
    "ding2021": "Ding et al. 2021",
    "dong2020": "Dong et al. 2020",
    "dong2022": "Dong et al. 2022",
    "durfee-rogers2019": "Durfee and Rogers 2019",
    "dwork-feldman2018": "Dwork and Feldman 2018",
    "dwork-roth2014": "Dwork and Roth 2014",
    "friedman-schuster2010": "Friedman and Schuster 2010",
    "geng-viswanath2014": "Geng and Viswanath 2014",
    "ghosh2012": "Ghosh et al. 2012",
    "gillenwater2022": "Gillenwater et al. 2022",
    "hardt-talwar2010": "Hardt and Talwar 2010",
    "hay2010": "Hay et al. 2010",
    "jagannathan2012": "Jagannathan et al. 2012",
    "ji-elkan2013": "Ji and Elkan 2013",
    "iyengar2019": "Iyengar et al. 2019",
    "kaplan2022": "Kaplan et al. 2022",
    "kifer2012": "Kifer et al. 2012",
    "korolova2009": "Korolova et al. 2009",
    "lee-clifton2014": "Lee and Clifton 2014",
    "liu-talwar2019": "Liu and Talwar 2019",
    "lyu2017": "Lyu et al. 2017",
    "mckenna-sheldon2020": "McKenna and Sheldon 2020",
    "mckenna2021": "McKenna et al. 2021",
    "mckenna2022": "McKenna et al. 2022",
    "mohammed2011": "Mohammed et al. 2011",
    "nissim2007": "Nissim et al. 2007",
    "papernot-steinke2022": "Papernot and Steinke 2022",
    "qiao2021": "Qiao et al. 2021",
    "smith2011": "Smith 2011",
    "vaidya2013": "Vaidya et al. 2013",
    "vinterbo2012": "Vinterbo 2012",
    "xiao2011": "Xiao et al. 2011",
    "zhang2012": "Zhang et al. 2012",
    "zhang2013": "Zhang et al. 2013",
    "zhang2014": "Zhang et al. 2014",
}


def named(text: str) -> str:
    """Return the text with each key in brackets replaced by the paper's name."""
    return KEY.sub(lambda match: NAMES.get(match[1], match[0]), text)
