//! Writes the table of character classes that the scanners look up.
//!
//! The table has two stages, shaped like UTF-8: the last byte of a character chooses one of 64 entries
//! in a block, the bytes before it choose the block. The blocks of three-byte sequences that are
//! ill-formed (overlong, surrogates) hold zeros, so the look-up is the check as well.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use regex_syntax::hir::{Class, HirKind};

#[path = "../src/split/bits.rs"]
mod bits;
use bits::{LETTER, LOWER, NEWLINE, NUMBER, SPACE, SYMBOL, UPPER};

/// The version of the tables in the regex-syntax that the manifest pins; `check_version` proves it.
const UNICODE_VERSION: &str = "16.0.0";

/// How many code points there are.
pub const CODE_POINTS: usize = 0x11_0000;
const BLOCK: usize = 64;

type Block = [u8; BLOCK];

/// Write `unicode_tables.rs` into a folder.
///
/// # Panics
/// When the tables of regex-syntax are of another Unicode version, or the file cannot be written.
pub fn write_tables(out_dir: &Path) {
    println!("cargo::rerun-if-changed=src/split/bits.rs");
    let classes = classes();
    check_version(&classes);

    let mut blocks: Vec<Block> = vec![[0; BLOCK]];
    let mut numbers: HashMap<Block, usize> = HashMap::from([(blocks[0], 0)]);
    let mut number_of = |block: Block| {
        *numbers.entry(block).or_insert_with(|| {
            blocks.push(block);
            blocks.len() - 1
        })
    };
    let index: Vec<usize> = classes
        .chunks_exact(BLOCK)
        .map(|chunk| number_of(chunk.try_into().expect("chunks have the size of a block")))
        .collect();

    let well_formed =
        |i: usize| i >= 0x800 / BLOCK && !(0xD800 / BLOCK..0xE000 / BLOCK).contains(&i);
    let three: Vec<usize> = (0..1024)
        .map(|i| if well_formed(i) { index[i] } else { 0 })
        .collect();

    let mut out = String::new();
    let mut put = |text: std::fmt::Arguments| out.write_fmt(text).expect("a String takes any text");
    put(format_args!(
        "/// Version of the Unicode tables the scanners were built with.\n"
    ));
    put(format_args!(
        "pub const UNICODE_VERSION: &str = {UNICODE_VERSION:?};\n"
    ));
    put(format_args!(
        "static BYTES: [u8; 256] = {:?};\n",
        bytes(&classes)
    ));
    put(format_args!(
        "static TWO: [u16; 32] = {:?};\n",
        &index[..32]
    ));
    put(format_args!("static THREE: [u16; 1024] = {three:?};\n"));
    put(format_args!(
        "static FOUR: [u16; 16384] = {:?};\n",
        &index[1024..]
    ));
    put(format_args!(
        "static BLOCKS: [[u8; 64]; {}] = {blocks:?};\n",
        blocks.len()
    ));
    let path = out_dir.join("unicode_tables.rs");
    std::fs::write(&path, out)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// Give the class of every code point.
fn classes() -> Vec<u8> {
    let mut classes = vec![0; CODE_POINTS];
    let mut add = |pattern: &str, bits: u8| {
        for (first, last) in ranges(pattern) {
            for class in &mut classes[first as usize..=last as usize] {
                *class |= bits;
            }
        }
    };
    add(r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER);
    add(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER);
    add(r"\p{L}", LETTER);
    add(r"\p{N}", NUMBER);
    add(r"\s", SPACE);
    add(r"[\r\n]", NEWLINE);
    add(r"[^\s\p{L}\p{N}]", SYMBOL);
    classes
}

/// Give the classes of the bytes that are characters, and 0 for those that only begin or continue one.
fn bytes(classes: &[u8]) -> Vec<u8> {
    (0..256)
        .map(|byte| if byte < 0x80 { classes[byte] } else { 0 })
        .collect()
}

/// Give the ranges of characters that a bracket matches.
pub fn ranges(pattern: &str) -> Vec<(char, char)> {
    let hir = regex_syntax::parse(pattern).expect("the pattern is ours");
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        panic!("{pattern} is not a class of characters");
    };
    class
        .iter()
        .map(|range| (range.start(), range.end()))
        .collect()
}

/// Prove the version by a letter that 16.0 brought and one that it lacks.
fn check_version(classes: &[u8]) {
    let is_letter = |code_point: usize| classes[code_point] & LETTER != 0;
    assert!(
        is_letter(0x1C89),
        "regex-syntax is older than Unicode {UNICODE_VERSION}"
    );
    assert!(
        !is_letter(0xA7CE),
        "regex-syntax is newer than Unicode {UNICODE_VERSION}"
    );
    let spaces = classes.iter().filter(|&&class| class & SPACE != 0).count();
    assert_eq!(spaces, 25, "White_Space has 25 characters");
}
