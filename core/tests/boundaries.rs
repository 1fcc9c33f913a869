//! Where something says that a text may be cut, the parts become what the text becomes: see `src/boundaries.rs`.

use std::sync::LazyLock;

use proptest::prelude::*;

#[path = "support/components.rs"]
mod components;

use components::{Component, NORMALIZERS, PRE_TOKENIZERS};

static ALL: LazyLock<Vec<Component>> = LazyLock::new(components::all);

/// Texts of what hurts: letters around single spaces, marks, signs, characters that compose, stray bytes.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        6 => "[abAB]{1,3} ".prop_map(String::into_bytes),
        3 => "[.,'/5é \u{301}中_\t\n\r\u{2581}1s▁好🙂]{1,2}".prop_map(String::into_bytes),
        2 => "(ab|a b|B| B|a\\.|<0x41>|5 |'s|▁a|e\u{301})".prop_map(String::into_bytes),
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
