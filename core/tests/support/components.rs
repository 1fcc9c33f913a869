//! Everything that says where a text may be cut, as one table: what it says, and what it makes of a text.
//!
//! Length: each kind of component has a few lines of its own.

use std::sync::Arc;

use bpe_core::boundaries::last_cut;
use bpe_core::boundaries::pairs::{PLACES, Places};
use bpe_core::boundaries::seams::cut_at_borders;
use bpe_core::encode::Encoder;
use bpe_core::models::bpe::Bpe;
use bpe_core::models::model::Model;
use bpe_core::models::scratch::Scratch;
use bpe_core::normalize::Context;
use bpe_core::special::codebook::{Codebook, Tag};
use bpe_core::special::{LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD, Segment, SpecialMatcher};
use bpe_core::split::stage::Pieces;
use bpe_core::stages::Stages;
use bpe_core::tables::TokenTable;
use bpe_core::text::{Text, read_char};
use bpe_core::{Documents, Scanner};

#[path = "pipelines.rs"]
pub mod pipelines;

/// What a text becomes, in parts that can be put behind each other; None where it is refused.
type Made = Option<Vec<Vec<u8>>>;
/// The offsets at which a text can be cut, given its beginning, whatever follows.
type Cuts = Box<dyn Fn(&[u8]) -> Vec<usize> + Send + Sync>;
/// What a text becomes; the second argument says whether it goes on from an earlier part.
type Run = Box<dyn Fn(&[u8], bool) -> Made + Send + Sync>;

/// Something that says where a text may be cut.
pub struct Component {
    pub name: String,
    cuts: Cuts,
    run: Run,
}

impl Component {
    fn new(
        name: impl Into<String>,
        cuts: impl Fn(&[u8]) -> Vec<usize> + Send + Sync + 'static,
        run: impl Fn(&[u8], bool) -> Made + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            cuts: Box::new(cuts),
            run: Box::new(run),
        }
    }

    /// Cuts a text wherever its beginning, of so many bytes, allows it: the parts must become what the text becomes.
    /// Returns the number of cuts.
    ///
    /// # Panics
    /// When they do not.
    pub fn hold(&self, text: &[u8], known: usize) -> usize {
        let cuts = (self.cuts)(&text[..known]);
        if cuts.is_empty() {
            return 0;
        }
        let whole = (self.run)(text, false);
        for &cut in &cuts {
            let parts = (self.run)(&text[..cut], false).zip((self.run)(&text[cut..], true));
            let parts = parts.map(|(before, behind)| [before, behind].concat());
            assert!(
                parts == whole,
                "{}: {} cut at {cut}\nwhole: {whole:?}\nparts: {parts:?}",
                self.name,
                text.escape_ascii()
            );
        }
        cuts.len()
    }
}

const SCANNERS: [&str; 10] = [
    r#"{"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": false}"#,
    r#"{"words": "prefixed", "contractions": "folded", "digits": 3, "tail": "\r\n", "newlines": true, "final_space": true}"#,
    r#"{"words": "prefixed", "contractions": "folded", "digits": 1, "tail": "\r\n", "newlines": true}"#,
    r#"{"words": "cased", "contractions": "suffix", "digits": 3, "tail": "\r\n/", "newlines": true}"#,
    "null",
    r#"[{"type": "Pattern", "pattern": "\\s+|\\S+"}]"#,
    r#"[{"type": "Pattern", "pattern": "ab a|\\p{L}+|[.,]b\\.|\\s+(?!\\S)"}]"#,
    r#"[{"type": "Pattern", "pattern": "<\\|ab|'a|a\\.b|\\p{L}+|\\p{N}|[^\\s\\p{L}\\p{N}]+"}]"#,
    r#"[{"type": "Pattern", "pattern": "ab$(?=\n)|a|b|[^ab]"}]"#,
    r#"[{"type": "Pattern", "pattern": " +$(?!\\Z)|\\s|\\S+"}]"#,
];

pub const NORMALIZERS: [&str; 20] = [
    r#"{"type":"Replace","pattern":{"String":" "},"content":"_"}"#,
    r#"{"type":"Replace","pattern":{"String":"b"},"content":" "}"#,
    r#"{"type":"Replace","pattern":{"String":" "},"content":"▁"}"#,
    r#"{"type":"Strip","strip_left":true,"strip_right":true}"#,
    r#"{"type":"NFC"}"#,
    r#"{"type":"NFD"}"#,
    r#"{"type":"NFKC"}"#,
    r#"{"type":"NFKD"}"#,
    r#"{"type":"Nmt"}"#,
    r#"{"type":"Lowercase"}"#,
    r#"{"type":"StripAccents"}"#,
    r#"{"type":"Prepend","prepend":" "}"#,
    r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}"#,
    r#"{"type":"ByteLevel"}"#,
    r#"{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}"#,
    r#"{"type":"Replace","pattern":{"Regex":" {2,}"},"content":"_"}"#,
    r#"{"type":"Replace","pattern":{"String":". "},"content":"b"}"#,
    r#"{"type":"SpaceMarks","add_dummy_prefix":true,"remove_extra_whitespaces":true,"escape_whitespaces":true,"treat_whitespace_as_suffix":false}"#,
    r#"{"type":"SpaceMarks","add_dummy_prefix":true,"remove_extra_whitespaces":true,"escape_whitespaces":false,"treat_whitespace_as_suffix":false}"#,
    r#"{"type":"SpaceMarks","add_dummy_prefix":true,"remove_extra_whitespaces":false,"escape_whitespaces":true,"treat_whitespace_as_suffix":true}"#,
];

pub const PRE_TOKENIZERS: [&str; 23] = [
    r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}"#,
    r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":false}"#,
    r#"{"type":"WhitespaceSplit"}"#,
    r#"{"type":"BertPreTokenizer"}"#,
    r#"{"type":"Whitespace"}"#,
    r#"{"type":"ByteLevel"}"#,
    r#"{"type":"PrefixSpace"}"#,
    r#"{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithNext","invert":false}"#,
    r#"{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false}"#,
    r#"{"type":"Split","pattern":{"String":" "},"behavior":"Contiguous","invert":true}"#,
    r#"{"type":"Split","pattern":{"Regex":"<\\|ab\\|>|'a|'b|\\p{L}+|\\p{N}|[^\\s\\p{L}\\p{N}]+"},"behavior":"Removed","invert":true}"#,
    r#"{"type":"Split","pattern":{"Regex":"\\s+"},"behavior":"Removed","invert":false}"#,
    r#"{"type":"Split","pattern":{"Regex":"[a.]b| ?\\p{L}+|\\s+(?!\\S)"},"behavior":"Isolated","invert":true}"#,
    r#"{"type":"Split","pattern":{"Regex":"\\s+|[.,]"},"behavior":"MergedWithNext","invert":false}"#,
    r#"{"type":"Punctuation","behavior":"Contiguous"}"#,
    r#"{"type":"Punctuation","behavior":"Isolated"}"#,
    r#"{"type":"Digits","individual_digits":false}"#,
    r#"{"type":"Digits","individual_digits":true}"#,
    r#"{"type":"UnicodeScripts"}"#,
    r#"{"type":"FixedLength","length":1}"#,
    r#"{"type":"FixedLength","length":3}"#,
    r#"{"type":"CharDelimiterSplit","delimiter":" "}"#,
    r#"{"type":"Scanner","scanner":{"words":"prefixed","contractions":"folded","digits":3,"tail":"\r\n","newlines":true}}"#,
];

/// All that answers for itself. Stages stand here one or two at a time; [`stages`] makes others.
pub fn all() -> Vec<Component> {
    let mut all: Vec<Component> = SCANNERS.iter().map(|json| scanner(json)).collect();
    all.extend(PRE_TOKENIZERS.iter().map(|each| stages(&[], &[each])));
    for normalizer in NORMALIZERS {
        let behind = PRE_TOKENIZERS.iter();
        all.extend(behind.map(|behind| stages(&[normalizer], &[behind])));
    }
    all.extend(models());
    for json in &SCANNERS[..4] {
        all.push(run_of_blanks(json, None));
        all.extend(matchers().map(|matcher| run_of_blanks(json, Some(matcher))));
    }
    all.extend(matchers().map(special));
    for which in 0..pipelines::all().len() {
        all.push(pipeline(which, None));
        all.extend(matchers().map(|matcher| pipeline(which, Some(matcher))));
    }
    all
}

fn scanner(json: &str) -> Component {
    let make = || Scanner::from_json(json).expect("a scanner");
    let (asked, scanner) = (make(), make());
    let cuts = move |known: &[u8]| inside(asked.safe_cut(known));
    Component::new(json, cuts, move |text, _| {
        let pieces = scanner.pieces(text);
        Some(
            pieces
                .map(|(start, end)| text[start..end].to_vec())
                .collect(),
        )
    })
}

/// What a scanner and a model say of a run of blanks, where text is a piece's beginning: cut there, ids are the same.
fn run_of_blanks(json: &str, matcher: Option<Arc<SpecialMatcher>>) -> Component {
    let more = [
        " a", "a ", " \n", "\n ", " \t", "\t ", "\n\n", " a b", "ab", "\n \n", " 5", " .",
    ];
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let tokens = bytes.chain(more.map(|token| token.as_bytes().to_vec()));
    let (mut blob, mut ends) = (Vec::new(), Vec::new());
    for token in tokens {
        blob.extend(token);
        ends.push(blob.len() as u32);
    }
    let tokens = TokenTable::new(blob.into(), ends.into()).expect("tokens");
    let scanner = Scanner::from_json(json).expect("a scanner");
    let model = Bpe::from_ranks(tokens).expect("a model");
    let encoder = Arc::new(Encoder::plain(scanner, model, json.contains("cased")));
    let (asked, asked_matcher) = (encoder.clone(), matcher.clone());
    let cuts = move |known: &[u8]| {
        let mut cuts = inside(asked.cut_in_piece(known));
        if let Some(matcher) = &asked_matcher {
            cuts.retain(|&cut| matcher.moves_cut(known, cut).is_none());
        }
        cuts
    };
    let name = format!("runs of {json} with {matcher:?}");
    Component::new(name, cuts, move |text, continued| {
        let documents = Documents {
            text,
            ends: &[text.len() as u64],
            continued,
        };
        let encoded = encoder.encode(&documents, matcher.as_deref(), 1).ok()?;
        let ids = encoded.ids.iter().map(|id| id.to_le_bytes().to_vec());
        Some(ids.collect())
    })
}

/// What normalizers and pre-tokenizers say together.
pub fn stages(normalizers: &[&str], pre_tokenizers: &[&str]) -> Component {
    let (normalizers, pre_tokenizers) = (normalizers.join(","), pre_tokenizers.join(","));
    let json = format!(r#"{{"normalizers":[{normalizers}],"pre_tokenizers":[{pre_tokenizers}]}}"#);
    let stages = Arc::new(Stages::from_json(&json).expect("stages"));
    let (asked, places) = (stages.clone(), stages.places());
    let cuts = move |known: &[u8]| {
        let mut cuts = inside(asked.safe_cut(known));
        cuts.extend(places.iter().flat_map(|places| cuts_between(places, known)));
        // What comes later may hold marks.
        if let Some(blanks) = asked
            .answers()
            .blanks()
            .filter(|blanks| !blanks.without_marks)
        {
            cuts.extend((1..known.len()).filter(|&at| blanks.bytes.contains(&known[at])));
        }
        cuts
    };
    Component::new(json, cuts, move |text, continued| {
        let context = Context {
            continued,
            first: !continued,
        };
        let mut pieces = Pieces {
            text: Text::new(text, false),
            ..Pieces::default()
        };
        stages.normalize(&mut pieces.text, context).ok()?;
        stages.pre_tokenize(&mut pieces, context).ok()?;
        let text = pieces.text.bytes();
        let ranges = pieces.ranges.iter();
        Some(ranges.map(|range| text[range.clone()].to_vec()).collect())
    })
}

/// Models whose pieces can be cut: where no token goes on across a mark, and between two characters.
fn models() -> Vec<Component> {
    let cut_at_marks = |model: &dyn Model, known: &[u8]| {
        let mut starts = Vec::new();
        let each = |part: std::ops::Range<usize>| {
            starts.extend(inside(part.start));
            Ok(())
        };
        cut_at_borders(known, 0..known.len(), model.border(), each).expect("no error");
        starts
    };
    let cut_at_joints = |model: &dyn Model, known: &[u8]| {
        let Some(joints) = model.seams().joints else {
            return Vec::new();
        };
        let (mut cuts, mut left, mut at) = (Vec::new(), None, 0);
        while at < known.len() {
            let (right, length) = read_char(known, at);
            let parts = |left, right| joints.parts(left, right);
            if left
                .zip(right)
                .is_some_and(|(left, right)| parts(left, right))
            {
                cuts.push(at);
            }
            (left, at) = (right, at + length);
        }
        cuts
    };
    let models = pipelines::MODELS.into_iter().enumerate();
    let models = models.map(|(which, name)| (name, Arc::from(pipelines::model(which))));
    models
        .filter(|(_, model): &(_, Arc<dyn Model>)| model.carrying().is_none())
        .flat_map(|(name, model)| {
            let runs = model.clone();
            let run = move |text: &[u8], _: bool| {
                let mut found = Vec::new();
                runs.encode_piece(text, &mut Scratch::default(), &mut found)
                    .ok()?;
                Some(
                    found
                        .iter()
                        .map(|found| found.id.to_le_bytes().to_vec())
                        .collect(),
                )
            };
            let asked = model.clone();
            [
                Component::new(
                    format!("marks of {name}"),
                    move |known| cut_at_marks(&*asked, known),
                    run.clone(),
                ),
                Component::new(
                    format!("joints of {name}"),
                    move |known| cut_at_joints(&*model, known),
                    run,
                ),
            ]
        })
        .collect()
}

/// Special tokens of all kinds, and a codebook.
/// Stages that put something before each stretch between special tokens.
const PREPENDING: &str = r#"{"normalizers": [{"type": "Prepend", "prepend": "x"}], "pre_tokenizers": [{"type": "WhitespaceSplit"}]}"#;

fn matchers() -> impl Iterator<Item = Arc<SpecialMatcher>> {
    let tokens = |tokens: &[(&str, u8)], stages: Option<&str>| {
        let contents = tokens
            .iter()
            .map(|token| token.0.as_bytes().to_vec())
            .collect();
        let flags: Vec<u8> = tokens.iter().map(|token| token.1).collect();
        let ids = (900..).take(tokens.len()).collect();
        let stages = stages.map(|json| Arc::new(Stages::from_json(json).expect("stages")));
        SpecialMatcher::new(contents, ids, &flags, stages).expect("a matcher")
    };
    let tag = |content: &str, id| Tag {
        content: content.as_bytes().to_vec(),
        id,
    };
    let words = [(b"AB".to_vec(), 990), (b"BB".to_vec(), 991)];
    let book = Codebook::new(tag("a.", 992), tag("5", 993), 994, 2, b'A', words);
    let lower = r#"{"normalizers": [{"type": "Lowercase"}]}"#;
    [
        tokens(&[("a b", 0), ("b", 0), (". ", 0)], None),
        tokens(
            &[("ab", LSTRIP), ("5", RSTRIP), ("é", LSTRIP | RSTRIP)],
            None,
        ),
        tokens(&[("a", SINGLE_WORD), (" B", SINGLE_WORD), ("ba ", 0)], None),
        tokens(&[("A B", NORMALIZED), ("b a", 0), ("é", NORMALIZED)], None),
        tokens(
            &[("A B", NORMALIZED), ("B", NORMALIZED | SINGLE_WORD)],
            Some(lower),
        ),
        // One with places inside it, and behind it, once it is normalized, one that is looked for then.
        tokens(&[("ab ab ab", 0), ("a b", NORMALIZED)], Some(PREPENDING)),
        tokens(&[("b b", 0)], None).with_codebook(Arc::new(book.expect("a codebook"))),
    ]
    .into_iter()
    .map(Arc::new)
}

/// What special tokens say by themselves: text between them is handled byte by byte.
fn special(matcher: Arc<SpecialMatcher>) -> Component {
    let asked = matcher.clone();
    let cuts = move |known: &[u8]| {
        let begins = |&at: &usize| known[at] & 0xC0 != 0x80;
        let may = |&at: &usize| asked.moves_cut(known, at).is_none();
        (1..known.len()).filter(begins).filter(may).collect()
    };
    Component::new(format!("{matcher:?}"), cuts, move |text, _| {
        let mut made = Vec::new();
        let each = |segment| {
            match segment {
                Segment::Text { start, end } => {
                    made.extend(text[start..end].iter().map(|&byte| vec![byte]));
                }
                Segment::Special { id, start, end } => {
                    made.push([&id.to_le_bytes(), &text[start..end]].concat());
                }
            }
            Ok(())
        };
        matcher.segments(text, each).ok()?;
        Some(made)
    })
}

/// A whole tokenizer, with special tokens or without.
fn pipeline(which: usize, matcher: Option<Arc<SpecialMatcher>>) -> Component {
    let pipeline = Arc::new(pipelines::all().swap_remove(which));
    let (asked, asked_matcher) = (pipeline.clone(), matcher.clone());
    let cuts = move |known: &[u8]| {
        let moves = |text: &[u8], at| asked_matcher.as_ref()?.moves_cut(text, at);
        let cut = last_cut(known, known.len(), |text| asked.safe_cut(text), moves);
        let inside = inside(asked.cut_in_piece(known)).into_iter();
        let allowed = inside.filter(|&cut| moves(known, cut).is_none());
        cut.into_iter().chain(allowed).collect()
    };
    Component::new(
        format!("tokenizer {which} with {matcher:?}"),
        cuts,
        move |text, continued| {
            let documents = Documents {
                text,
                ends: &[text.len() as u64],
                continued,
            };
            let encoded = pipeline.encode(&documents, matcher.as_deref(), 1).ok()?;
            Some(
                encoded
                    .ids
                    .iter()
                    .map(|id| id.to_le_bytes().to_vec())
                    .collect(),
            )
        },
    )
}

/// Where stages say that a text can be cut between two bytes. Of the last byte it is not known what stands behind it.
fn cuts_between(places: &Places, known: &[u8]) -> Vec<usize> {
    let blocks = (0..known.len()).step_by(PLACES);
    let places = blocks.flat_map(|block| {
        let ends = places.ends(known, block);
        (0..PLACES).filter_map(move |bit| (ends >> bit & 1 != 0).then_some(block + bit + 1))
    });
    places.filter(|&cut| cut + 1 < known.len()).collect()
}

fn inside(cut: usize) -> Vec<usize> {
    (cut > 0).then_some(cut).into_iter().collect()
}
