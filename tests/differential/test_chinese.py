"""Chinese by its characters: ids equal tiktoken's, before that begins, while it goes on, and where it is given up."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from tests.differential.rivals import compare_with_tiktoken
from tests.thorough import more

OFTEN = (
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小"
    "么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三己老从动两长知"
    "民样现分将外但身些与高意进法此实回二理美点月明其种声全工话儿者向情部正名定女问力机给等几很业最间新什"
    "打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别"
    "处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利"
    "受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论"
    "百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半"
    "候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始"
    "版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究"
    "包组造落视济喜离虽坏兴须切"
)
BETWEEN = ["，", "。", "。\n", "、", "：“", "”", "！", "？\n\n", " ", "AI", "2024年", "で", "한", "（", "\U00020000"]


def clauses(chance: Random, number: int) -> str:
    """Write clauses of often and of rare characters, with what stands between them."""
    parts = []
    for _ in range(number):
        common = chance.choices(OFTEN, k=chance.choice((1, 2, 3, 5, 8, 13, 40, 90)))
        rare = [chr(chance.randrange(0x4E00, 0xA000)) for _ in range(chance.choice((0, 0, 1, 3)))]
        chance.shuffle(both := common + rare)
        parts += [*both, chance.choice(BETWEEN)]
    return "".join(parts)


@cache
def texts() -> tuple[str, ...]:
    """Write short and long texts: of the longest several threads take parts."""
    chance = Random(20)
    return tuple(clauses(chance, size) for size in (3, more(6_000, 15_000), 200, 1, more(3_000, 7_000)))


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_ids_of_chinese_are_those_of_tiktoken(name):
    least = more(160_000, 400_000)
    assert sum(map(len, texts())) > least
    assert compare_with_tiktoken(name, texts()) > least
    assert compare_with_tiktoken(name, texts()[1:3]) > least // 2
