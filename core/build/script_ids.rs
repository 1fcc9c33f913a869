//! Writes the table of scripts: which script each character belongs to.
//!
//! A script's number is its place in [`NAMES`] plus one; 0 stands for characters of no script yet.

use std::fmt::Write as _;
use std::path::Path;

use regex_syntax::hir::{Class, HirKind};

/// All scripts of Unicode 16; the first four are those that rules name.
const NAMES: &str = "Common Inherited Han Hiragana Katakana Adlam Ahom Anatolian_Hieroglyphs Arabic \
    Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese \
    Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Coptic \
    Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan \
    Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek \
    Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew \
    Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Kawi \
    Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu \
    Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen \
    Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao \
    Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu \
    Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian \
    Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya \
    Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan \
    Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese \
    Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut \
    Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho \
    Warang_Citi Yezidi Yi Zanabazar_Square";

/// Write `script_ids.rs` into a folder.
///
/// # Panics
/// When a script is unknown to regex-syntax, or assigned characters have none, or the file cannot be
/// written.
pub fn write_tables(out_dir: &Path) {
    let mut ranges: Vec<(u32, u32, u8)> = Vec::new();
    for (number, name) in NAMES.split_whitespace().enumerate() {
        let id = u8::try_from(number + 1).expect("there are fewer than 256 scripts");
        for (first, last) in of_class(&format!(r"\p{{Script={name}}}")) {
            ranges.push((first, last, id));
        }
    }
    ranges.sort_unstable();
    let covered: u32 = ranges.iter().map(|(first, last, _)| last - first + 1).sum();
    // Unassigned characters, private ones and surrogates are of no script.
    let assigned: u32 = of_class(r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{Cc}\p{Cf}]")
        .iter()
        .map(|(first, last)| last - first + 1)
        .sum();
    assert_eq!(covered, assigned, "a script is missing from the list");

    let mut out = String::from("/// (first, last, script) of ranges of characters, ascending.\n");
    writeln!(
        out,
        "static SCRIPTS: [(u32, u32, u8); {}] = {ranges:?};",
        ranges.len()
    )
    .expect("a String takes any text");
    let path = out_dir.join("script_ids.rs");
    std::fs::write(&path, out)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

fn of_class(pattern: &str) -> Vec<(u32, u32)> {
    let hir = regex_syntax::parse(pattern).expect("the pattern is ours");
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        panic!("{pattern} is not a class of characters");
    };
    class
        .iter()
        .map(|range| (u32::from(range.start()), u32::from(range.end())))
        .collect()
}
