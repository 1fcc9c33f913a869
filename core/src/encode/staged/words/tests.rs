//! The way over words, held to the way over stages.
//!
//! Length: each kind of tokenizer needs a small one of its own, and texts that hurt it.

use std::sync::{Arc, OnceLock};

use proptest::prelude::*;

use super::plan::INSIDE;
use super::shrink::shrink;
use crate::documents::Documents;
use crate::encode::encoded::Part;
use crate::encode::workers::tests::budgets_are_heeded;
use crate::encode::{Encoder, Staged};
use crate::models::build::build;
use crate::models::model::Tables;
use crate::normalize::{charsmap, table_of};
use crate::stages::Stages;
use crate::tables::TokenTable;
use crate::text::Text;

/// One of each kind of character that a normalizer, a pre-tokenizer or a model tells apart.
const CHARACTERS: [&[u8]; 25] = [
    b"a",
    b" ",
    b".",
    "\u{301}".as_bytes(),
    "▁".as_bytes(),
    b"\n",
    "好".as_bytes(),
    b"5",
    "é".as_bytes(),
    b"\xE5",
    "\u{3000}".as_bytes(),
    b"&",
    // The rest comes in shorter texts only.
    b"B",
    b"\xA5",
    b"\r",
    b"\x01",
    "。".as_bytes(),
    "ﬁ".as_bytes(),
    "🙂".as_bytes(),
    "\u{302E}".as_bytes(),
    "≠".as_bytes(),
    "\u{37E}".as_bytes(),
    "\u{200D}".as_bytes(),
    "\u{600}".as_bytes(),
    "각".as_bytes(),
];
const MOST: usize = 12;

const WORDS: &str = r#"{"normalizers": [{"type": "BertNormalizer", "clean_text": true,
    "handle_chinese_chars": true, "strip_accents": null, "lowercase": true}],
    "pre_tokenizers": [{"type": "BertPreTokenizer"}]}"#;
const CASED_WORDS: &str = r#"{"normalizers": [{"type": "BertNormalizer", "clean_text": false,
    "handle_chinese_chars": false, "strip_accents": false, "lowercase": false}],
    "pre_tokenizers": [{"type": "BertPreTokenizer"}]}"#;
const MARKS: &str = r#"{"normalizers": [{"type": "SpaceMarks", "add_dummy_prefix": true,
    "remove_extra_whitespaces": false, "escape_whitespaces": true, "treat_whitespace_as_suffix": false}]}"#;
const FEW_MARKS: &str = r#"{"normalizers": [{"type": "SpaceMarks", "add_dummy_prefix": true,
    "remove_extra_whitespaces": true, "escape_whitespaces": true, "treat_whitespace_as_suffix": false}]}"#;
const REPLACED: &str = r#"{"normalizers": [{"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}"#;

/// As CLIP's: of what an expression matches, the rest is removed.
const REMOVED: &str = r#"{"normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
    {"type": "Lowercase"}], "pre_tokenizers": [{"type": "Split",
    "pattern": {"Regex": "<\\|aaa\\|>|'a|'b|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"}, "behavior": "Removed",
    "invert": true}, {"type": "ByteLevel"}]}"#;
/// As Falcon's: several stages that cut.
const CUT_AGAIN: &str = r#"{"pre_tokenizers": [{"type": "Punctuation", "behavior": "Contiguous"}, {"type": "Split",
    "pattern": {"Regex": "'a| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated",
    "invert": false}, {"type": "Digits", "individual_digits": false},
    {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": false}]}"#;

/// A table of rules, then marks.
fn mapped(rules: &str) -> String {
    before_marks(&charsmap(rules).unwrap())
}

fn before_marks(table: &[u8]) -> String {
    use base64::Engine as _;
    let table = base64::engine::general_purpose::STANDARD.encode(table);
    FEW_MARKS.replace(
        r#""normalizers": ["#,
        &format!(r#""normalizers": [{{"type": "Charsmap", "precompiled_charsmap": "{table}"}}, "#),
    )
}

/// The same over clusters of characters, then words with marks.
fn mapped_words(rules: &str) -> String {
    use base64::Engine as _;
    let table = base64::engine::general_purpose::STANDARD.encode(charsmap(rules).unwrap());
    format!(
        r#"{{"normalizers": [{{"type": "Precompiled", "precompiled_charsmap": "{table}"}}],
        "pre_tokenizers": [{{"type": "WhitespaceSplit"}},
        {{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}}]}}"#
    )
}

const WORD_PIECE: &str = r###"{"type": "WordPiece", "unk_id": 0, "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100}"###;
const SCORED: &str = r#"{"type": "ScoredPairs", "unk_id": 0, "byte_fallback": true}"#;
const SCORED_UNKNOWN: &str = r#"{"type": "ScoredPairs", "unk_id": 0, "byte_fallback": false}"#;
const SINGLE: &str = r#"{"type": "Unigram", "unk_id": 0, "byte_fallback": false, "fuse_unk": true,
    "single_precision": true}"#;
const DOUBLE: &str = r#"{"type": "Unigram", "unk_id": 0, "byte_fallback": false, "fuse_unk": true,
    "single_precision": false}"#;
const BY_MERGES: &str = r#"{"type": "CharacterPairs", "unk_id": 0, "fuse_unk": true, "byte_fallback": true,
    "ignore_merges": false, "continuing_subword_prefix": "", "end_of_word_suffix": "",
    "separate_suffix": false}"#;

/// A tokenizer of a few tokens, whose scores fall, and of the 256 bytes.
fn pipeline(stages: &str, model: &str) -> Encoder<Staged> {
    let subwords = ["##a", "##b", "##é", "##5", "##好", "##fi", "##e"];
    let texts = [
        "▁", "a", "b", "▁a", "aa", "▁▁", "▁aa", "ab", "5", ".", "a.", "好", "é", "e", "fi", "\n",
        "▁.", "..", "▁好", "B", "aB", "e\u{301}",
    ];
    let mut tokens = vec!["<unk>".to_owned()];
    tokens.extend(texts.iter().map(|&text| text.to_owned()));
    if model == WORD_PIECE {
        tokens.extend(subwords.iter().map(|&text| text.to_owned()));
    }
    let plain = tokens.len();
    if model.contains("Pairs") {
        tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>")));
    }
    let ends = tokens.iter().scan(0, |end, token| {
        *end += token.len() as u32;
        Some(*end)
    });
    let ends: Vec<u32> = ends.collect();
    let id = |text: &str| tokens.iter().position(|token| token == text).unwrap() as u32;
    let merges = [
        "▁ a", "a a", "▁ ▁", "▁ aa", "a b", "a .", "▁ .", ". .", "▁ 好", "a B",
    ];
    let merges = merges.iter().map(|merge| {
        let (left, right) = merge.split_once(' ').unwrap();
        [left, right, &format!("{left}{right}")].map(id)
    });
    let kind = |number: usize| match number {
        0 => 2,
        _ if number < plain => 1,
        _ => 6,
    };
    let tables = Tables {
        // Steps that are no short fractions, so that sums are rounded.
        scores: (0..tokens.len())
            .map(|number| -2.3 - 0.1 * f64::from(number as u32).sqrt())
            .collect(),
        kinds: (0..tokens.len()).map(kind).collect(),
        merges: merges.collect(),
        tokens: TokenTable::new(tokens.concat().into_bytes().into(), ends.into()).unwrap(),
    };
    let stages = Arc::new(Stages::from_json(stages).unwrap());
    Encoder::staged(
        stages,
        build(serde_json::from_str(model).unwrap(), tables).unwrap(),
    )
}

/// Both ways of one tokenizer.
struct Ways {
    name: String,
    fast: Encoder<Staged>,
    slow: Encoder<Staged>,
}

impl Ways {
    fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Ways>> = OnceLock::new();
        ALL.get_or_init(Self::make)
    }

    fn make() -> Vec<Self> {
        let (few, folded) = (mapped("nmt_nfkc"), mapped("nmt_nfkc_cf"));
        let kept = few.replace(
            r#""}, "#,
            r#"", "user_defined": ["a5B", "a.\u0301", "Bé", "a"]}, "#,
        );
        let words = mapped_words("nmt_nfkc");
        // Rules of a user's own: a mark and no space for other white space, a blank behind a character, no letter left.
        let own = before_marks(&table_of(&[("\n", "▁"), ("5", "5 "), ("B", " B")]));
        let no_letter = before_marks(&table_of(&[("a", "好")])).replace(
            r#""remove_extra_whitespaces": true"#,
            r#""remove_extra_whitespaces": false"#,
        );
        [
            (WORDS, WORD_PIECE),
            (CASED_WORDS, WORD_PIECE),
            (WORDS, DOUBLE),
            (MARKS, SCORED),
            (MARKS, SCORED_UNKNOWN),
            (FEW_MARKS, SCORED),
            (REPLACED, BY_MERGES),
            (&few, SINGLE),
            (&few, DOUBLE),
            (&few, SCORED),
            (&folded, SINGLE),
            (&kept, SINGLE),
            (&words, DOUBLE),
            (&own, SINGLE),
            (&own, SCORED),
            (&no_letter, SINGLE),
            (&no_letter, SCORED),
            (MARKS, SINGLE),
            (MARKS, DOUBLE),
            (REMOVED, BY_MERGES),
            (REMOVED, WORD_PIECE),
            (CUT_AGAIN, SCORED),
            (CUT_AGAIN, DOUBLE),
        ]
        .into_iter()
        .map(|(stages, model)| {
            let mut slow = pipeline(stages, model);
            slow.way.plan = None;
            let fast = pipeline(stages, model);
            let name = format!("{} {model}", stages.get(..200).unwrap_or(stages));
            assert!(fast.way.plan.is_some(), "no plan: {name}");
            Self { name, fast, slow }
        })
        .collect()
    }

    /// Encodes documents both ways.
    fn hold(&self, documents: &[Vec<u8>], continued: bool) {
        let text = documents.concat();
        let ends = documents.iter().scan(0, |end, document| {
            *end += document.len() as u64;
            Some(*end)
        });
        let ends: Vec<u64> = ends.collect();
        let documents = Documents {
            text: &text,
            ends: &ends,
            continued,
        };
        let encode = |pipeline: &Encoder<Staged>| pipeline.encode(&documents, None, 1).unwrap();
        let (fast, slow) = (encode(&self.fast), encode(&self.slow));
        if fast == slow {
            let counts = self.fast.count(&documents, None, 1).unwrap();
            assert_eq!(counts.iter().sum::<u64>(), fast.ids.len() as u64);
            return;
        }
        let ids = |encoded: &crate::encode::encoded::Encoded, number: usize| {
            let start = number
                .checked_sub(1)
                .map_or(0, |before| encoded.ends[before]);
            encoded.ids[start as usize..encoded.ends[number] as usize].to_vec()
        };
        for number in 0..ends.len() {
            let start = number.checked_sub(1).map_or(0, |before| ends[before]);
            let document = &text[start as usize..ends[number] as usize];
            assert_eq!(
                ids(&fast, number),
                ids(&slow, number),
                "{} in {}",
                document.escape_ascii(),
                self.name
            );
        }
    }
}

/// All texts of so many of the first characters.
fn texts(length: usize, characters: usize) -> Vec<Vec<u8>> {
    let mut texts = vec![Vec::new()];
    for _ in 0..length {
        texts = texts
            .iter()
            .flat_map(|text| {
                CHARACTERS[..characters]
                    .iter()
                    .map(|next| [text, *next].concat())
            })
            .collect();
    }
    texts
}

#[test]
fn all_short_texts_are_the_same_both_ways() {
    for ways in Ways::all() {
        for length in 1..=2 {
            ways.hold(&texts(length, CHARACTERS.len()), false);
        }
        ways.hold(&texts(4, MOST), false);
        for text in texts(2, CHARACTERS.len()) {
            ways.hold(&[text], true);
        }
    }
}

/// What need not be copied first becomes what it becomes when it is.
#[test]
fn a_text_that_is_read_from_its_original_becomes_the_same() {
    let mut texts = texts(3, CHARACTERS.len());
    texts.push(texts.concat());
    for ways in Ways::all() {
        let stages = &ways.fast.way.stages;
        let mut begun = Text::default();
        for text in &texts {
            let mut copied = Text::new(text, false);
            stages.normalize(&mut copied, INSIDE).unwrap();
            stages.begin(text, &mut begun, INSIDE).unwrap();
            assert_eq!(begun, copied, "{}", text.escape_ascii());
        }
    }
}

#[test]
fn texts_of_many_words_are_the_same_wherever_they_begin_and_end() {
    let text = "A few words, 55 of them: aaa aab  abab. Naïve «ﬁne» e\u{301}tudes  \n\n好好。 a▁b ▁ ab\u{3000}\
        internationalisations unintentionally-counterproductive \t x\u{302E}\u{301} 🙂a \r\n Σςa"
        .repeat(3)
        .into_bytes();
    for ways in Ways::all() {
        let mut documents = Vec::new();
        for offset in 0..70 {
            documents.push(text[offset..].to_vec());
            documents.push(text[..text.len() - offset].to_vec());
        }
        ways.hold(&documents, false);
        ways.hold(&documents, true);
    }
}

#[test]
fn sums_that_grow_are_rounded_as_if_words_were_not_told_apart() {
    let words = [
        "aaa",
        "ab..",
        "aaab",
        "a.a.",
        "好a好",
        "ée\u{301}",
        "zz",
        "aa▁a",
        "B5B",
        "eé",
    ];
    let mut draw = 12345_u32;
    let mut text = String::new();
    for _ in 0..30_000 {
        draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(words[(draw >> 16) as usize % words.len()]);
        text.push(' ');
    }
    for ways in Ways::all().iter().filter(|ways| ways.fast.way.carries) {
        ways.hold(&[text.clone().into_bytes()], false);
    }
}

#[test]
fn giant_words_and_runs_of_one_character_come_to_an_end() {
    for ways in Ways::all() {
        for character in CHARACTERS {
            ways.hold(&[character.repeat(5_000)], false);
        }
        ways.hold(
            &[
                "▁ ".repeat(2_000).into_bytes(),
                " ▁".repeat(2_000).into_bytes(),
            ],
            false,
        );
    }
}

/// Of a long run of spaces a few are left, whatever stands around it.
#[test]
fn long_runs_of_spaces_are_the_same_when_they_shrink() {
    let shrinks = |ways: &&Ways| {
        let plan = ways.fast.way.plan.as_ref();
        plan.is_some_and(|plan| plan.runs_shrink)
    };
    assert_eq!(shrink(&[b' '; 60]), Some(vec![b' '; 3]));
    let ways: Vec<_> = Ways::all().iter().filter(shrinks).collect();
    assert!(ways.len() >= 5, "{}", ways.len());
    let run = |length: usize| vec![b' '; length];
    let mut around = Vec::new();
    for unit in texts(2, CHARACTERS.len()) {
        around.push([&run(60), &unit[..], &run(61), &unit[..]].concat());
        around.push([&unit[..], &run(60)].concat());
    }
    for ways in ways {
        for (number, text) in around.iter().enumerate() {
            ways.hold(std::slice::from_ref(text), number % 3 == 0);
        }
        ways.hold(&around, false);
        ways.hold(&[run(60), run(50), Vec::new(), run(4000)], false);
    }
}

/// What windows come to is what the whole word becomes; and mostly they come to something.
#[test]
fn giant_words_are_the_same_by_windows() {
    let both = |staged: &Staged, text: &[u8], context| {
        let (mut part, mut whole) = (Part::default(), vec![7]);
        let mut counted = Part::counting();
        part.ids.push(7);
        counted.add(1);
        let mut worker = super::Worker::default();
        let is_done = staged.spell_by_windows(text, context, &mut worker, &mut part);
        let is_done = is_done.unwrap();
        let again = staged.spell_by_windows(text, context, &mut worker, &mut counted);
        assert_eq!((Ok(is_done), part.total()), (again, counted.total()));
        let ids = part.ids;
        let pieces = &mut worker.pieces;
        pieces.text.reset(text, false);
        staged.stages.normalize(&mut pieces.text, context).unwrap();
        let scratch = &mut worker.scratch;
        let done = staged
            .model
            .encode_ids(pieces.text.bytes(), scratch, &mut whole);
        done.unwrap();
        assert!(
            ids == if is_done { whole } else { vec![7] },
            "{}",
            text.escape_ascii()
        );
        is_done
    };
    let plan = |ways: &&Ways| {
        ways.fast
            .way
            .plan
            .as_ref()
            .is_some_and(|plan| plan.by_windows)
    };
    let ways: Vec<_> = Ways::all().iter().filter(plan).collect();
    assert_eq!(ways.len(), 2);
    let beginning = super::Context {
        continued: false,
        first: true,
    };
    for context in [INSIDE, beginning] {
        for ways in &ways {
            let mut done = 0;
            let units = texts(2, CHARACTERS.len());
            for unit in &units {
                for length in [49, 60, 301] {
                    let text: Vec<u8> = unit.iter().copied().cycle().take(length).collect();
                    done += usize::from(both(&ways.fast.way, &text, context));
                }
            }
            assert!(done > units.len() * 2, "{done} of {}", 3 * units.len());
            for seed in 0..2000_usize {
                let mut state = seed;
                let text = (0..200).flat_map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    CHARACTERS[(state >> 33) % (1 + seed % CHARACTERS.len())]
                });
                both(&ways.fast.way, &text.copied().collect::<Vec<_>>(), context);
            }
        }
    }
}

#[test]
fn a_byte_without_a_token_is_named_where_it_stands() {
    let mut text = b"a b ".repeat(100);
    text.extend("☃".as_bytes());
    let stages = Arc::new(Stages::from_json(MARKS).unwrap());
    let tables = Tables {
        tokens: TokenTable::new(b"\xE2\x96\x81ab"[..].into(), vec![3, 4, 5].into()).unwrap(),
        scores: vec![-1.0; 3],
        ..Tables::default()
    };
    let model = DOUBLE.replace(r#""unk_id": 0"#, r#""unk_id": null"#);
    let model = build(serde_json::from_str(&model).unwrap(), tables).unwrap();
    let pipeline = Encoder::staged(stages, model);
    assert!(pipeline.way.plan.is_some());
    let documents = Documents {
        text: &text,
        ends: &[text.len() as u64],
        continued: false,
    };
    let error = pipeline.encode(&documents, None, 1).unwrap_err();
    assert!(
        matches!(
            error,
            crate::error::Error::MissingByte {
                byte: 0xE2,
                offset: 400
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_text_whose_offsets_would_not_fit_is_refused() {
    use crate::encode::staged::run::LONGEST_STRETCH;
    let pipeline = pipeline(WORDS, WORD_PIECE);
    let encode = |length: usize| {
        let text = vec![b'a'; length];
        let ends = [length as u64];
        let documents = Documents {
            text: &text,
            ends: &ends,
            continued: false,
        };
        pipeline
            .encode(&documents, None, 2)
            .map(|encoded| encoded.ends)
    };
    assert_eq!(encode(LONGEST_STRETCH), Ok(vec![1]));
    let sentence = "a text without a safe place to cut it is longer than 4 GiB";
    assert_eq!(
        encode(LONGEST_STRETCH + 1).unwrap_err().to_string(),
        sentence
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn random_texts_are_the_same_both_ways(
        parts in prop::collection::vec(0..CHARACTERS.len() + 20, 0..400),
    ) {
        // Letters and blanks more often than the rest, so that there are words.
        let part = |&number: &usize| CHARACTERS.get(number).copied().unwrap_or(match number % 4 {
            0 => b" ",
            _ => b"a",
        });
        let text: Vec<u8> = parts.iter().flat_map(part).copied().collect();
        for ways in Ways::all() {
            ways.hold(&[text.clone(), text.clone()], false);
        }
    }
}

#[test]
fn caches_of_any_size_change_nothing() {
    let mut text = Vec::new();
    for number in 0_usize..20_000 {
        let word =
            ["ab", "好é", "b.a", "aaB\u{301}", "a好b"][number % 5].repeat(number * number % 8);
        text.extend_from_slice(format!("{word}{} ", number * number % 7919).as_bytes());
    }
    for ways in Ways::all().iter().step_by(3) {
        budgets_are_heeded(&ways.fast, &text, |text| {
            let ends = &[text.len() as u64];
            let documents = Documents {
                text,
                ends,
                continued: false,
            };
            ways.slow.encode(&documents, None, 1).unwrap().ids
        });
    }
}
