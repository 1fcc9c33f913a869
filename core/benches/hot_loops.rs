//! The loops that time is spent in, on a megabyte of English and code, by one thread.
//!
//! `make bench` measures the program against others; this measures one loop before and after a change:
//! `cargo bench --features embedded`, or with a name behind `--`.

use std::sync::LazyLock;

use bpe_core::count::Counts;
use bpe_core::encode::Encoder;
use bpe_core::models::{build::build, model::Tables, spec::ModelSpec};
use bpe_core::stages::Stages;
use bpe_core::tables::TokenTable;
use bpe_core::trainers::bpe::{Options, Trainer};
use bpe_core::{Contractions, Documents, Scanner, ScannerSpec, Tail, Tokenizer, WordRule};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

const O200K: &str = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d";

/// This crate's page and this file, again and again, with numbers that make some of the pieces new.
static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut text = Vec::new();
    for number in 0_u32.. {
        text.extend_from_slice(include_bytes!("../README.md"));
        text.extend_from_slice(include_bytes!("hot_loops.rs"));
        text.extend_from_slice(
            format!(" item{} {number}\n", number.wrapping_mul(2_654_435_761)).as_bytes(),
        );
        if text.len() >= 1 << 20 {
            break;
        }
    }
    text
});

fn scanner(words: WordRule) -> Scanner {
    let (contractions, digits, tail) = match words {
        WordRule::Spaced => (Contractions::Exact, 0, Tail::Nothing),
        WordRule::Prefixed => (Contractions::Folded, 3, Tail::Newlines),
        WordRule::Cased => (Contractions::Suffix, 3, Tail::NewlinesAndSlashes),
    };
    let spec = ScannerSpec {
        words,
        contractions,
        digits,
        tail,
        newlines: words != WordRule::Spaced,
        final_space: false,
    };
    Scanner::new(Some(&spec)).expect("it is one")
}

fn whole<'a>(text: &'a [u8], ends: &'a [u64]) -> Documents<'a> {
    Documents {
        text,
        ends,
        continued: false,
    }
}

#[divan::bench(args = [WordRule::Spaced, WordRule::Prefixed, WordRule::Cased])]
fn split(bencher: Bencher, words: WordRule) {
    let scanner = scanner(words);
    bencher
        .counter(BytesCount::of_slice(&TEXT[..]))
        .bench(|| scanner.split(&TEXT));
}

fn o200k() -> Tokenizer {
    Tokenizer::embedded(O200K, scanner(WordRule::Cased)).expect("the feature is on")
}

/// Nothing is remembered from one text to the next: what the first megabyte costs.
#[divan::bench]
fn encode_cold(bencher: Bencher) {
    bencher
        .counter(BytesCount::of_slice(&TEXT[..]))
        .with_inputs(o200k)
        .bench_refs(|tokenizer| tokenizer.encode(&TEXT[..]));
}

#[divan::bench]
fn encode_warm(bencher: Bencher) {
    let tokenizer = o200k();
    bencher
        .counter(BytesCount::of_slice(&TEXT[..]))
        .bench(|| tokenizer.encode(&TEXT[..]));
}

#[divan::bench]
fn count_warm(bencher: Bencher) {
    let tokenizer = o200k();
    bencher
        .counter(BytesCount::of_slice(&TEXT[..]))
        .bench(|| tokenizer.count(&TEXT[..]));
}

/// Letters without a space are one piece: the merge loop alone.
#[divan::bench]
fn merge_a_long_piece(bencher: Bencher) {
    let tokenizer = o200k();
    let letters: Vec<u8> = TEXT
        .iter()
        .copied()
        .filter(u8::is_ascii_lowercase)
        .take(1 << 17)
        .collect();
    bencher
        .counter(BytesCount::of_slice(&letters[..]))
        .bench(|| tokenizer.encode(&letters));
}

#[divan::bench]
fn decode(bencher: Bencher) {
    let tokenizer = o200k();
    let ids = tokenizer.encode(&TEXT[..]).expect("every byte has a token");
    bencher
        .counter(BytesCount::of_slice(&TEXT[..]))
        .bench(|| tokenizer.decode(&ids));
}

fn counts() -> Counts {
    let mut counts = Counts::new(usize::MAX);
    let ends = [TEXT.len() as u64];
    counts
        .add_block(
            &scanner(WordRule::Prefixed),
            None,
            false,
            &whole(&TEXT, &ends),
            1,
        )
        .expect("they fit");
    counts
}

#[divan::bench]
fn count_pieces(bencher: Bencher) {
    bencher
        .counter(BytesCount::of_slice(&TEXT[..]))
        .bench(counts);
}

#[divan::bench]
fn train(bencher: Bencher) {
    let counts = counts();
    let options = Options {
        initial: (0..=u8::MAX).map(|byte| vec![byte]).collect(),
        symbols: (0..256).collect(),
        vocab_size: 1000,
        ..Options::default()
    };
    bencher.bench(|| Trainer::new(counts.iter(), &options)?.run(&mut |_| Ok(())));
}

/// BERT's stages and model, over the characters and the most frequent words.
#[divan::bench]
fn word_piece(bencher: Bencher) {
    let stages = r#"{"normalizers": [{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
        "strip_accents": null, "lowercase": true}], "pre_tokenizers": [{"type": "BertPreTokenizer"}]}"#;
    let mut tokens = vec!["[UNK]".to_owned(), "tokenizer".to_owned(), "the".to_owned()];
    for character in ' '..='~' {
        tokens.extend([character.to_string(), format!("##{character}")]);
    }
    tokens.dedup();
    let tables = Tables {
        tokens: TokenTable::of(&tokens).expect("tokens"),
        ..Tables::default()
    };
    let spec = ModelSpec::WordPiece {
        unk_id: 0,
        continuing_subword_prefix: "##".to_owned(),
        max_input_chars_per_word: 100,
    };
    let model = build(spec, tables).expect("a model");
    let stages = Stages::from_json(stages).expect("stages");
    let pipeline = Encoder::staged(std::sync::Arc::new(stages), model);
    let ends = [TEXT.len() as u64];
    bencher
        .counter(BytesCount::of_slice(&TEXT[..]))
        .bench(|| pipeline.encode(&whole(&TEXT, &ends), None, 1));
}
