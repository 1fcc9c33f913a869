//! Where something says that a text may be cut, the parts become what the text becomes: see `src/boundaries.rs`.

use std::sync::LazyLock;

use bpe_core::encode::Encoder;
use bpe_core::models::bpe::Bpe;
use bpe_core::tables::TokenTable;
use proptest::prelude::*;

#[path = "support/components.rs"]
mod components;

use components::{Component, NORMALIZERS, PRE_TOKENIZERS};

static ALL: LazyLock<Vec<Component>> = LazyLock::new(components::all);

/// Texts of what hurts: letters around single spaces, marks, signs, characters that compose, stray bytes.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        6 => "[abAB]{1,3} ".prop_map(String::into_bytes),
        3 => "[.,'/5é \u{301}\u{A0}\u{3000}中_\t\n\r\u{2581}1s▁好🙂]{1,2}".prop_map(String::into_bytes),
        2 => "<?\\|?(ab)?\\|?>?".prop_map(String::into_bytes),
        2 => "(ab|a b|B| B|a\\.|<0x41>|5 |'s|▁a|e\u{301})".prop_map(String::into_bytes),
        2 => "[\u{7}\u{600}йЙи\u{306}İΣςk\u{212A}각\u{1100}\u{1161}\u{11A8}文，。ａ\u{93C}क<\u{338}]{1,4}".prop_map(String::into_bytes),
        2 => "(é|a|\\.|\n|\t|5|')? {1,6}".prop_map(String::into_bytes),
        1 => prop::sample::select(vec![vec![0xFF], vec![0xE4, 0xBD], vec![0x80], vec![0xE3, 0x80]]),
    ];
    prop::collection::vec(part, 1..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn parts_become_what_the_text_becomes(text in text(), known in 0..=100_usize) {
        let known = text.len() * known / 100;
        for component in ALL.iter() {
            component.hold(&text, known);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn so_they_do_after_several_stages(
        normalizers in prop::collection::vec(prop::sample::select(NORMALIZERS.to_vec()), 0..4),
        pre_tokenizers in prop::collection::vec(prop::sample::select(PRE_TOKENIZERS.to_vec()), 0..3),
        text in text(), known in 0..=100_usize,
    ) {
        let known = text.len() * known / 100;
        components::stages(&normalizers, &pre_tokenizers).hold(&text, known);
    }
}

/// A component that never says yes holds always.
#[test]
fn most_components_allow_cuts() {
    let texts = [
        &b"ab ba ab ba"[..],
        "b ab b ba é. b".as_bytes(),
        "▁a▁b a5好".as_bytes(),
        b"\n\na1",
        b"b    ",
    ];
    let cut = |component: &&Component| {
        let cuts = texts.iter().map(|text| component.hold(text, text.len()));
        cuts.sum::<usize>() > 0
    };
    let silent: Vec<_> = ALL
        .iter()
        .filter(|each| !cut(each))
        .map(|each| &each.name)
        .collect();
    assert!(
        silent.len() * 10 < ALL.len() * 6,
        "{} of {}: {silent:#?}",
        silent.len(),
        ALL.len()
    );
}

/// A model says yes only where no token holds two blanks, and a scanner where the run's piece begins with the run.
#[test]
fn runs_are_cut_where_both_allow_it() {
    let gpt2 = r#"{"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": false}"#;
    let cl100k = r#"{"words": "prefixed", "contractions": "folded", "digits": 3, "tail": "\r\n", "newlines": true}"#;
    let cut = |scanner: &str, more: &str, text: &str| {
        let tokens = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens = tokens.chain([more.as_bytes().to_vec()]);
        let scanner = bpe_core::Scanner::from_json(scanner).expect("a scanner");
        let (mut blob, mut ends) = (Vec::new(), Vec::new());
        for token in tokens {
            blob.extend(token);
            ends.push(blob.len() as u32);
        }
        let tokens = TokenTable::new(blob.into(), ends.into()).expect("tokens");
        let model = Bpe::from_ranks(tokens).expect("a model");
        Encoder::plain(scanner, model, false).cut_in_piece(text.as_bytes())
    };
    for scanner in [gpt2, cl100k] {
        assert_eq!(cut(scanner, " a", "     "), 3);
        assert_eq!(cut(scanner, " a", "   "), 1);
        assert_eq!(cut(scanner, " a", "  "), 0);
        assert_eq!(cut(scanner, " a", "a     "), 4);
        assert_eq!(cut(scanner, " a", "a     b"), 0);
        assert_eq!(cut(scanner, "  ", "     "), 0);
        assert_eq!(cut(scanner, "b  c", "     "), 0);
        assert_eq!(cut("null", " a", "     "), 0);
    }
    assert_eq!(cut(gpt2, " a", "\n     "), 4);
    assert_eq!(cut(cl100k, " a", "\n     "), 0);
}

/// Neighbours that are unknown become one token, so a text between them is not cut, however long it is.
#[test]
fn unknown_neighbours_become_one_token_across_tasks() {
    let which = components::pipelines::MODELS
        .iter()
        .position(|model| model.contains("WordLevel"));
    let pipelines = components::pipelines::all();
    // Behind stages that cut at white space.
    let pipeline = &pipelines[components::pipelines::MODELS.len() + which.expect("a model")];
    let text = b"xx yy ".repeat(200_000);
    let documents = bpe_core::Documents {
        text: &text,
        ends: &[text.len() as u64],
        continued: false,
    };
    assert_eq!(pipeline.encode(&documents, None, 1).expect("ids").ids, [0]);
}
