//! Writes the tables of scripts, punctuation and word characters that the pre-tokenizers look up.
//!
//! A table has two stages: the upper bits of a code point choose a block of 128, the lower ones an
//! entry in it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::unicode::{CODE_POINTS, ranges};

const BLOCK: usize = 128;

type Block = [u8; BLOCK];

/// The scripts of Unicode 16; `scripts` proves that none is missing. A script's number is one more
/// than its place here; 0 is a code point that is in none (unassigned, or of private use).
const SCRIPTS: &str = "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah \
    Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian \
    Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan \
    Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic \
    Garay Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Han \
    Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited \
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li \
    Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A \
    Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi \
    Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro \
    Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong \
    Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian \
    Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau \
    Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham \
    SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog \
    Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh \
    Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square";

/// Writes `category_tables.rs` into a folder.
///
/// # Panics
/// When a character has no script or two, or the file cannot be written.
pub fn write_tables(out_dir: &Path) {
    let mut out = String::new();
    for (place, name) in SCRIPTS.split_whitespace().enumerate() {
        if [
            "Common",
            "Han",
            "Hiragana",
            "Inherited",
            "Katakana",
            "Latin",
        ]
        .contains(&name)
        {
            let number = place + 1;
            writeln!(
                out,
                "/// The script {name}.\npub const {}: u8 = {number};",
                name.to_uppercase()
            )
            .expect("a String takes any text");
        }
    }
    let mut scripts = scripts();
    as_of_unicode_9(&mut scripts);
    write_table(&mut out, "SCRIPT", &scripts);
    write_table(&mut out, "FLAG", &flags());
    let path = out_dir.join("category_tables.rs");
    std::fs::write(&path, out)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// Gives the script of every code point.
fn scripts() -> Vec<u8> {
    let mut scripts = vec![0; CODE_POINTS];
    for (place, name) in SCRIPTS.split_whitespace().enumerate() {
        let number = u8::try_from(place + 1).expect("there are fewer than 256 scripts");
        for (first, last) in ranges(&format!(r"\p{{sc={name}}}")) {
            for script in &mut scripts[first as usize..=last as usize] {
                assert_eq!(*script, 0, "a character has one script");
                *script = number;
            }
        }
    }
    let mut without = vec![false; CODE_POINTS];
    without[0xD800..0xE000].fill(true);
    for pattern in [r"\p{Cn}", r"\p{Co}"] {
        for (first, last) in ranges(pattern) {
            without[first as usize..=last as usize].fill(true);
        }
    }
    for (code_point, (&script, without)) in scripts.iter().zip(without).enumerate() {
        assert_eq!(script == 0, without, "the script of U+{code_point:04X}");
    }
    scripts
}

/// Takes the scripts back to those of Unicode 9.0, which knew fewer characters and put four elsewhere.
fn as_of_unicode_9(scripts: &mut [u8]) {
    for (first, last) in ranges(r"\P{age:9.0}") {
        scripts[first as usize..=last as usize].fill(0);
    }
    for (character, like) in [
        ('\u{589}', '.'),
        ('\u{61C}', '.'),
        ('\u{953}', '\u{904}'),
        ('\u{954}', '\u{904}'),
    ] {
        scripts[character as usize] = scripts[like as usize];
    }
}

/// Gives the flags of every code point: 1 punctuation, 2 word character.
fn flags() -> Vec<u8> {
    let mut flags = vec![0; CODE_POINTS];
    let mut add = |pattern: &str, bit: u8| {
        for (first, last) in ranges(pattern) {
            for flag in &mut flags[first as usize..=last as usize] {
                *flag |= bit;
            }
        }
    };
    // ASCII's symbols and category P as Unicode 8.0 had it; two characters have left the category since.
    add(
        r"[[\p{P}&&\p{age:8.0}]!-/:-@\[-`{-~\x{166D}\x{111C9}]",
        PUNCTUATION,
    );
    add(r"\w", WORD);
    flags
}

const PUNCTUATION: u8 = 1;
const WORD: u8 = 2;

/// Writes the two stages of a table.
fn write_table(out: &mut String, name: &str, values: &[u8]) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut numbers: HashMap<Block, usize> = HashMap::new();
    let index: Vec<usize> = values
        .chunks_exact(BLOCK)
        .map(|chunk| {
            let block = chunk.try_into().expect("chunks have the size of a block");
            *numbers.entry(block).or_insert_with(|| {
                blocks.push(block);
                blocks.len() - 1
            })
        })
        .collect();
    writeln!(
        out,
        "static {name}_INDEX: [u16; {}] = {index:?};\nstatic {name}_BLOCKS: [[u8; {BLOCK}]; {}] = {blocks:?};",
        index.len(),
        blocks.len()
    )
    .expect("a String takes any text");
}
